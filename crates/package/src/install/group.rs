//! Skills of one lock that come from one source, so that each source is fetched once.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use prowess::lock::Locked;

use crate::acquire::{Candidate, FileUrls, Found, Names, Origin, acquire};
use crate::error::PackageError;
use crate::place::Place;
use crate::source::{self, Source};
use crate::work::Work;

/// Locked skills with one source, at one commit or ref.
pub(crate) struct Group<'l> {
    /// As the lock has it.
    text: String,
    /// The commit, tag or branch to get them at.
    pub(crate) at: Option<String>,
    pub(crate) skills: Vec<&'l Locked>,
}

/// Sorts skills into groups. `at` says where each is to be got.
pub(crate) fn groups<'l>(
    skills: impl IntoIterator<Item = &'l Locked>,
    at: impl Fn(&Locked) -> Option<String>,
) -> Vec<Group<'l>> {
    let mut groups: Vec<Group<'l>> = Vec::new();
    for locked in skills {
        let wanted = at(locked);
        match groups.iter_mut().find(|group| group.text == locked.source && group.at == wanted) {
            Some(group) => group.skills.push(locked),
            None => groups.push(Group { text: locked.source.clone(), at: wanted, skills: vec![locked] }),
        }
    }
    groups
}

/// What the lock says of what somebody sent, before the name that it had there.
pub(crate) const UPLOADED: &str = "upload:";

/// A source as the lock has it: relative paths are the project's.
pub(crate) fn from_lock(text: &str, place: &Place) -> Result<Source, PackageError> {
    if text.starts_with(UPLOADED) {
        return Err(PackageError::Acquire {
            code: prowess::ErrorCode::NotFound,
            message: "it was uploaded, and nobody knows from where".to_owned(),
            hint: Some("import it again to change it".to_owned()),
        });
    }
    let base = place.base.as_deref().unwrap_or(Path::new("/"));
    let home = place.world.home.as_deref();
    let source = source::parse(text, |path| source::kind_on_disk(&source::absolute(path, base, home)))?;
    Ok(source.resolved(base, home))
}

impl Group<'_> {
    /// Where to get them.
    pub(crate) fn source(&self, place: &Place) -> Result<Source, PackageError> {
        from_lock(&self.text, place)
    }

    /// Fetches the source and finds in it those of the skills that are wanted and still there.
    pub(crate) fn acquire(
        &self,
        wanted: &[&Locked],
        scratch: &Path,
        place: &Place,
        file_urls: FileUrls,
        work: &Arc<Work>,
    ) -> Result<(Found, Origin), PackageError> {
        let acquired = acquire(&self.source(place)?, self.at.as_deref(), file_urls, scratch, work)?;
        let origin = Origin { reference: self.at.clone(), ..acquired.origin(place) };
        let folders: HashSet<&str> = wanted.iter().map(|locked| folder(locked)).collect();
        let mut there = acquired.there(true, Names::OfFolders)?;
        there.retain(|candidate| folders.contains(candidate.folder.as_str()));
        Ok((acquired.take(there)?, origin))
    }
}

/// The folder of a skill inside its source.
fn folder(locked: &Locked) -> &str {
    locked.path.as_deref().unwrap_or_default()
}

/// The skill in the folder that the lock names.
pub(crate) fn at_path<'f>(found: &'f Found, locked: &Locked) -> Result<&'f Candidate, PackageError> {
    let wanted = folder(locked);
    let at = found.skills.binary_search_by(|candidate| candidate.folder.as_str().cmp(wanted));
    at.ok().and_then(|at| found.skills.get(at)).ok_or_else(|| {
        let file = if wanted.is_empty() { "SKILL.md".to_owned() } else { format!("{wanted}/SKILL.md") };
        let name = prowess_format::hidden::shown(&locked.name);
        PackageError::Acquire {
            code: prowess::ErrorCode::NotFound,
            message: format!("{name} is gone from its source: there is no {file} in {}", locked.source),
            hint: Some(format!("prowess remove {name} removes it here, too")),
        }
    })
}
