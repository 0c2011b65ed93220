//! Fetches the index of a site and the files of a skill.

use prowess::ErrorCode;
use url::Url;

use super::{
    FetchUrlError, Fetcher, INDEX_MAX, INDEX_PATHS, IndexArtifact, IndexEntry, SkillIndex, WellKnownError,
    is_index_url,
};
use prowess_archive::limits::{FILE_MAX, TOTAL_MAX};
use prowess_archive::{self as archive, ARCHIVE_MAX};
use prowess_archive::{InnerPath, MemoryFile, MemoryTree};

impl SkillIndex {
    /// Fetches the index of a site, or the one at this URL.
    pub fn fetch(site: &Url, fetch: &dyn Fetcher) -> Result<Self, WellKnownError> {
        if is_index_url(site) {
            return Self::parse(&fetch.get(site, INDEX_MAX)?, site);
        }
        for path in INDEX_PATHS {
            let mut url = site.clone();
            url.set_query(None);
            url.set_fragment(None);
            url.set_path(&format!("{}/{path}", site.path().trim_end_matches('/')));
            match fetch.get(&url, INDEX_MAX) {
                Ok(bytes) => return Self::parse(&bytes, &url),
                Err(FetchUrlError { code: ErrorCode::NotFound, .. }) => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        Err(WellKnownError::NoIndex { site: site.clone() })
    }

    /// Fetches a skill. The root of the tree is the skill's directory.
    pub fn fetch_skill(&self, entry: &IndexEntry, fetch: &dyn Fetcher) -> Result<MemoryTree, WellKnownError> {
        let name = || entry.name.as_str().to_owned();
        let tree = match &entry.artifact {
            IndexArtifact::SkillMd { url, digest } => {
                let bytes = verify_digest(entry, digest, fetch.get(url, FILE_MAX)?)?;
                if bytes.len() as u64 > FILE_MAX {
                    return Err(WellKnownError::SkillTooLarge(name()));
                }
                let path = InnerPath::parse(b"SKILL.md").ok();
                MemoryTree::new(path.map(|path| MemoryFile { path, executable: false, bytes }))
            }
            IndexArtifact::Archive { url, digest } => {
                let bytes = verify_digest(entry, digest, fetch.get(url, ARCHIVE_MAX)?)?;
                archive::read_archive(&bytes)
                    .map_err(|error| WellKnownError::Archive { name: name(), error })?
            }
            IndexArtifact::Files(files) => fetch_files(entry, files, fetch)?,
        };
        let has_skill = tree.files().iter().any(|file| file.path.as_str() == "SKILL.md");
        if has_skill { Ok(tree) } else { Err(WellKnownError::NoSkill(name())) }
    }
}

/// Returns the bytes if their digest matches the index.
fn verify_digest(entry: &IndexEntry, expected: &str, bytes: Vec<u8>) -> Result<Vec<u8>, WellKnownError> {
    let actual = prowess::digest(&bytes);
    if actual == expected {
        return Ok(bytes);
    }
    let (name, expected) = (entry.name.as_str().to_owned(), expected.to_owned());
    Err(WellKnownError::DigestMismatch { name, expected, actual })
}

fn fetch_files(
    entry: &IndexEntry,
    files: &[(InnerPath, Url)],
    fetch: &dyn Fetcher,
) -> Result<MemoryTree, WellKnownError> {
    let mut total = 0;
    let mut list = Vec::with_capacity(files.len());
    for (path, url) in files {
        let bytes = fetch.get(url, FILE_MAX.min(TOTAL_MAX - total))?;
        total += bytes.len() as u64;
        if bytes.len() as u64 > FILE_MAX || total > TOTAL_MAX {
            return Err(WellKnownError::SkillTooLarge(entry.name.as_str().to_owned()));
        }
        list.push(MemoryFile { path: path.clone(), executable: false, bytes });
    }
    Ok(MemoryTree::new(list))
}
