//! Groups locked skills by source, so that each source is fetched once.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use prowess::lock::LockEntry;

use crate::acquire::{
    Candidate, FileUrls, NameSource, SelectedSkills, SourceContents, SourceOrigin, acquire_source,
};
use crate::error::PackageError;
use crate::install_target::InstallTarget;
use crate::source::{self, Source};
use crate::task::Task;

/// Locked skills with the same source and reference.
pub(crate) struct SourceGroup<'l> {
    /// The source, as recorded in the lock file.
    source_text: String,
    /// The commit, tag or branch to fetch.
    pub(crate) reference: Option<String>,
    pub(crate) skills: Vec<&'l LockEntry>,
}

/// Groups skills by source. `reference_for` returns the reference to fetch for a skill.
pub(crate) fn group_by_source<'l>(
    skills: impl IntoIterator<Item = &'l LockEntry>,
    reference_for: impl Fn(&LockEntry) -> Option<String>,
) -> Vec<SourceGroup<'l>> {
    let mut groups: Vec<SourceGroup<'l>> = Vec::new();
    for locked in skills {
        let reference = reference_for(locked);
        match groups
            .iter_mut()
            .find(|group| group.source_text == locked.source && group.reference == reference)
        {
            Some(group) => group.skills.push(locked),
            None => groups.push(SourceGroup {
                source_text: locked.source.clone(),
                reference,
                skills: vec![locked],
            }),
        }
    }
    groups
}

/// The prefix of the source of an uploaded skill in the lock file.
pub(crate) const UPLOAD_PREFIX: &str = "upload:";

/// Parses a source from the lock file. Relative paths are relative to the project.
pub(crate) fn parse_locked_source(text: &str, target: &InstallTarget) -> Result<Source, PackageError> {
    if text.starts_with(UPLOAD_PREFIX) {
        return Err(PackageError::FetchFailed {
            code: prowess::ErrorCode::NotFound,
            message: "the skill was uploaded, so its source is unknown".to_owned(),
            hint: Some("import it again to change it".to_owned()),
        });
    }
    let base = target.project.as_deref().unwrap_or(Path::new("/"));
    let home = target.host.home.as_deref();
    let source =
        source::parse_source(text, |path| source::kind_on_disk(&source::absolute_path(path, base, home)))?;
    Ok(source.resolved(base, home))
}

impl SourceGroup<'_> {
    pub(crate) fn source(&self, target: &InstallTarget) -> Result<Source, PackageError> {
        parse_locked_source(&self.source_text, target)
    }

    /// Fetches the source and selects those of the requested skills that it still contains. Of a source whose files
    /// are all present, every skill is selected.
    pub(crate) fn acquire(
        &self,
        requested: &[&LockEntry],
        scratch: &Path,
        target: &InstallTarget,
        file_urls: FileUrls,
        task: &Arc<Task>,
    ) -> Result<(SelectedSkills, SourceOrigin), PackageError> {
        let acquired =
            acquire_source(&self.source(target)?, self.reference.as_deref(), file_urls, scratch, task)?;
        let origin = SourceOrigin { reference: self.reference.clone(), ..acquired.origin(target) };
        let dirs: HashSet<&str> = requested.iter().map(|locked| dir_in_source(locked)).collect();
        let mut candidates = acquired.candidates(true, NameSource::Directory)?;
        if matches!(acquired.contents, SourceContents::Site(_)) {
            candidates.retain(|candidate| dirs.contains(candidate.dir.as_str()));
        }
        Ok((acquired.select(candidates)?, origin))
    }
}

/// Returns the directory of a skill in its source.
fn dir_in_source(locked: &LockEntry) -> &str {
    locked.path.as_deref().unwrap_or_default()
}

/// Returns the skill in the directory that the lock file names.
pub(crate) fn find_locked<'f>(
    selected: &'f SelectedSkills,
    locked: &LockEntry,
) -> Result<&'f Candidate, PackageError> {
    let dir = dir_in_source(locked);
    let index = selected.skills.binary_search_by(|candidate| candidate.dir.as_str().cmp(dir));
    index.ok().and_then(|index| selected.skills.get(index)).ok_or_else(|| {
        let file = if dir.is_empty() { "SKILL.md".to_owned() } else { format!("{dir}/SKILL.md") };
        let name = prowess_format::hidden::escape_for_display(&locked.name);
        PackageError::FetchFailed {
            code: prowess::ErrorCode::NotFound,
            message: format!("{name} no longer exists at its source: no {file} in {}", locked.source),
            hint: Some(format!("run `prowess remove {name}` to remove it here, too")),
        }
    })
}
