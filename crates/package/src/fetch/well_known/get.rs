//! An index from a site, and the bytes of one of its skills.

use prowess::ErrorCode;
use url::Url;

use super::{Artifact, Fetch, FetchFailure, INDEX_MAX, Index, IndexEntry, PLACES, WellKnownError, is_index};
use prowess_archive::limits::{FILE_MAX, TOTAL_MAX};
use prowess_archive::{self as archive, ARCHIVE_MAX};
use prowess_archive::{InnerPath, MemoryFile, MemoryTree};

impl Index {
    /// Gets the index of a site, or the one at exactly this address.
    pub fn fetch(site: &Url, fetch: &dyn Fetch) -> Result<Self, WellKnownError> {
        if is_index(site) {
            return Self::parse(&fetch.get(site, INDEX_MAX)?, site);
        }
        for place in PLACES {
            let mut url = site.clone();
            url.set_query(None);
            url.set_fragment(None);
            url.set_path(&format!("{}/{place}", site.path().trim_end_matches('/')));
            match fetch.get(&url, INDEX_MAX) {
                Ok(bytes) => return Self::parse(&bytes, &url),
                Err(FetchFailure { code: ErrorCode::NotFound, .. }) => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        Err(WellKnownError::NoIndex { site: site.clone() })
    }

    /// Gets a skill of this index. The top of the tree is the skill's folder.
    pub fn tree(&self, entry: &IndexEntry, fetch: &dyn Fetch) -> Result<MemoryTree, WellKnownError> {
        let name = || entry.name.as_str().to_owned();
        let tree = match &entry.artifact {
            Artifact::SkillMd { url, digest } => {
                let bytes = checked(entry, digest, fetch.get(url, FILE_MAX)?)?;
                if bytes.len() as u64 > FILE_MAX {
                    return Err(WellKnownError::SkillTooLarge(name()));
                }
                let path = InnerPath::parse(b"SKILL.md").ok();
                MemoryTree::new(path.map(|path| MemoryFile { path, executable: false, bytes }))
            }
            Artifact::Archive { url, digest } => {
                let bytes = checked(entry, digest, fetch.get(url, ARCHIVE_MAX)?)?;
                archive::read(&bytes).map_err(|error| WellKnownError::Archive { name: name(), error })?
            }
            Artifact::Files(files) => each(entry, files, fetch)?,
        };
        let has_skill = tree.files().iter().any(|file| file.path.as_str() == "SKILL.md");
        if has_skill { Ok(tree) } else { Err(WellKnownError::NoSkill(name())) }
    }
}

/// The bytes, if they are those that the index speaks of.
fn checked(entry: &IndexEntry, expected: &str, bytes: Vec<u8>) -> Result<Vec<u8>, WellKnownError> {
    let found = prowess::digest(&bytes);
    if found == expected {
        return Ok(bytes);
    }
    let (name, expected) = (entry.name.as_str().to_owned(), expected.to_owned());
    Err(WellKnownError::Digest { name, expected, found })
}

fn each(
    entry: &IndexEntry,
    files: &[(InnerPath, Url)],
    fetch: &dyn Fetch,
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
