//! Archives and skill indexes that are fetched over HTTPS.

use std::io::Read;
use std::sync::Arc;

use url::Url;

use super::candidate::Candidate;
use crate::error::PackageError;
use crate::fetch::http::{HttpClient, HttpError};
use crate::fetch::well_known::{FetchUrlError, Fetcher, SkillIndex};
use crate::task::Task;
use prowess_archive::InnerPath;
use prowess_archive::{self as archive, ARCHIVE_MAX};
use prowess_archive::{MemoryFile, MemoryTree};

impl Fetcher for HttpClient {
    fn get(&self, url: &Url, max: u64) -> Result<Vec<u8>, FetchUrlError> {
        let failed = |error: &HttpError| FetchUrlError {
            code: error.code(),
            message: error.to_string(),
            hint: error.hint(),
        };
        let response = Self::get(self, url.as_str(), max, "*/*")
            .and_then(crate::fetch::http::HttpResponse::error_for_status);
        let mut response = response.map_err(|error| failed(&error))?;
        let mut bytes = Vec::new();
        match response.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(HttpError::from_io(&error).map_or_else(
                || FetchUrlError {
                    code: prowess::ErrorCode::ExecutionError,
                    message: error.to_string(),
                    hint: None,
                },
                failed,
            )),
        }
    }
}

pub(crate) fn fetch_archive(url: &Url, task: &Arc<Task>) -> Result<MemoryTree, PackageError> {
    let bytes = Fetcher::get(&HttpClient::new(Arc::clone(task)), url, ARCHIVE_MAX)?;
    Ok(archive::read_archive(&bytes)?)
}

/// Fetches the index of a site.
pub(crate) fn fetch_index(url: &Url, task: &Arc<Task>) -> Result<SkillIndex, PackageError> {
    Ok(SkillIndex::fetch(url, &HttpClient::new(Arc::clone(task)))?)
}

/// A site with an index of skills.
pub(crate) struct SkillSite {
    index: SkillIndex,
    http: HttpClient,
    task: Arc<Task>,
}

impl SkillSite {
    pub(crate) fn open(url: &Url, task: &Arc<Task>) -> Result<Self, PackageError> {
        let http = HttpClient::new(Arc::clone(task));
        let index = SkillIndex::fetch(url, &http)?;
        Ok(Self { index, http, task: Arc::clone(task) })
    }

    /// Returns the site's skills. Each one is in a directory with its name.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        let candidate = |entry: &crate::fetch::well_known::IndexEntry| Candidate {
            dir: entry.name.as_str().to_owned(),
            name: entry.name.as_str().to_owned(),
            description: entry.description.clone(),
            entries: 0..0,
        };
        self.index.entries.iter().map(candidate).collect()
    }

    /// Fetches the files of these skills.
    pub(crate) fn fetch(&self, chosen: &[Candidate]) -> Result<MemoryTree, PackageError> {
        let mut files: Vec<MemoryFile> = Vec::new();
        for candidate in chosen {
            self.task.check_cancelled()?;
            let Some(entry) = self.index.get(&candidate.name) else { continue };
            for file in self.index.fetch_skill(entry, &self.http)?.files() {
                let path = format!("{}/{}", candidate.dir, file.path);
                let path = InnerPath::parse(path.as_bytes())
                    .map_err(|reason| PackageError::InvalidPath { path: path.clone(), reason })?;
                files.push(MemoryFile { path, ..file.clone() });
            }
        }
        Ok(MemoryTree::new(files))
    }
}
