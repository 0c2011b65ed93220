//! What is fetched over https besides repositories: archives, and the skills of sites that have an index.

use std::io::Read;
use std::sync::Arc;

use url::Url;

use super::candidate::Candidate;
use crate::error::PackageError;
use crate::fetch::http::{Http, HttpError};
use crate::fetch::well_known::{Fetch, FetchFailure, Index};
use crate::work::Work;
use prowess_archive::InnerPath;
use prowess_archive::{self as archive, ARCHIVE_MAX};
use prowess_archive::{MemoryFile, MemoryTree};

impl Fetch for Http {
    fn get(&self, url: &Url, max: u64) -> Result<Vec<u8>, FetchFailure> {
        let failed = |error: &HttpError| FetchFailure {
            code: error.code(),
            message: error.to_string(),
            hint: error.hint(),
        };
        let response = Self::get(self, url.as_str(), max, "*/*").and_then(crate::fetch::http::Response::ok);
        let mut response = response.map_err(|error| failed(&error))?;
        let mut bytes = Vec::new();
        match response.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(HttpError::from_io(&error).map_or_else(
                || FetchFailure {
                    code: prowess::ErrorCode::ExecutionError,
                    message: error.to_string(),
                    hint: None,
                },
                failed,
            )),
        }
    }
}

/// An archive from an address.
pub(crate) fn archive(url: &Url, work: &Arc<Work>) -> Result<MemoryTree, PackageError> {
    let bytes = Fetch::get(&Http::new(Arc::clone(work)), url, ARCHIVE_MAX)?;
    Ok(archive::read(&bytes)?)
}

/// A site with an index.
pub(crate) struct Site {
    index: Index,
    http: Http,
    work: Arc<Work>,
}

impl Site {
    pub(crate) fn open(url: &Url, work: &Arc<Work>) -> Result<Self, PackageError> {
        let http = Http::new(Arc::clone(work));
        let index = Index::fetch(url, &http)?;
        Ok(Self { index, http, work: Arc::clone(work) })
    }

    /// Its skills, each in a folder of its name.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        let candidate = |entry: &crate::fetch::well_known::IndexEntry| Candidate {
            folder: entry.name.as_str().to_owned(),
            name: entry.name.as_str().to_owned(),
            description: entry.description.clone(),
            entries: 0..0,
        };
        self.index.entries.iter().map(candidate).collect()
    }

    /// The files of these skills.
    pub(crate) fn fetch(&self, chosen: &[Candidate]) -> Result<MemoryTree, PackageError> {
        let mut files: Vec<MemoryFile> = Vec::new();
        for candidate in chosen {
            self.work.go_on()?;
            let Some(entry) = self.index.get(&candidate.name) else { continue };
            for file in self.index.tree(entry, &self.http)?.files() {
                let path = format!("{}/{}", candidate.folder, file.path);
                let path = InnerPath::parse(path.as_bytes())
                    .map_err(|why| PackageError::Path { path: path.clone(), why })?;
                files.push(MemoryFile { path, ..file.clone() });
            }
        }
        Ok(MemoryTree::new(files))
    }
}
