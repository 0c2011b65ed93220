//! Imports an uploaded archive or directory as one skill.

use prowess::ErrorCode;
use prowess::lock::LockFile;
use prowess_format::{SkillName, hidden};

use super::plan::{InstallPlan, PlanAction, PlanItem};
use super::prepare::{PreparedSkill, TargetName, parse_dir_name, prepare_skill_as};
use super::source_group::UPLOAD_PREFIX;
use super::{
    Decision, InstallChecks, InstallConflict, OnConflict, Prompter, check_findings, decide_action,
    new_lock_entry,
};
use crate::acquire::{Candidate, NameSource, SourceOrigin, candidate};
use crate::error::PackageError;
use crate::install_target::InstallTarget;
use crate::task::Task;
use prowess_archive::InnerPath;
use prowess_archive::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};
use prowess_archive::{self as archive, MemoryFile, MemoryTree};

/// An uploaded skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upload {
    /// An archive and its file name.
    Archive(String, Vec<u8>),
    /// Paths and contents of files.
    Files(Vec<(String, Vec<u8>)>),
}

/// What identifies a skill, which determines where a requested id goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentifiedBy {
    /// The name: the id is written into the manifest.
    Name,
    /// The directory: the manifest is not changed.
    Directory,
}

/// A request to import a skill.
#[derive(Debug, Clone)]
pub struct ImportRequest<'a> {
    /// The uploaded data.
    pub upload: &'a Upload,
    /// The id, if it is not derived from the manifest or the directory.
    pub id: Option<&'a str>,
    /// What identifies a skill.
    pub identified_by: IdentifiedBy,
    /// Whether an existing skill may be replaced.
    pub overwrite: bool,
    /// Whether a skill that the audit rejects is installed.
    pub accept_risk: bool,
    /// Whether findings of high severity are accepted; implied by `accept_risk`.
    pub accept_findings: bool,
}

/// Plans the import: one item, staged and checked. Nothing is changed before [`InstallPlan::commit`].
pub fn plan_import(
    import: &ImportRequest<'_>,
    target: &InstallTarget,
    checks: &InstallChecks<'_>,
    task: &Task,
) -> Result<InstallPlan, PackageError> {
    let tree = read_upload(import.upload)?;
    let candidate = find_only_skill(&tree, import.upload)?;
    let id = choose_id(import, &candidate)?;
    let target_name = match (import.identified_by, &id) {
        (_, None) => TargetName::Manifest,
        (IdentifiedBy::Name, Some(id)) => TargetName::Name(id),
        (IdentifiedBy::Directory, Some(id)) => TargetName::Directory(id),
    };
    let mut plan = InstallPlan::begin(target)?;
    let prepared = prepare_skill_as(&tree, &candidate, target_name, checks, plan.stage()?, task)?;
    let origin = SourceOrigin { source: locked_source(import.upload), reference: None, commit: None };
    let after = new_lock_entry(&origin, &prepared, target);
    let lock = LockFile::read(&target.lock_path)?;
    let mut answers = FixedAnswers {
        overwrite: import.overwrite,
        accept_risk: import.accept_risk,
        accept_findings: import.accept_findings || import.accept_risk,
    };
    let Decision::Item(item) = decide_action(prepared, after, &lock, target, &mut answers)? else {
        return Err(PackageError::AlreadyExists(target.root.clone()));
    };
    if let Some(prepared) = &item.prepared {
        check_findings(prepared, &mut answers)?;
    }
    // Reinstalling the same skill changes nothing, but it still exists.
    if item.action == PlanAction::Keep && !import.overwrite {
        return Err(PackageError::AlreadyExists(item.dir));
    }
    plan.items.push(*item);
    Ok(plan)
}

/// Answers that the caller gave beforehand.
struct FixedAnswers {
    overwrite: bool,
    accept_risk: bool,
    accept_findings: bool,
}

impl Prompter for FixedAnswers {
    fn pick_skills(&mut self, _: &str, candidates: &[Candidate]) -> Result<Vec<usize>, PackageError> {
        Ok((0..candidates.len()).collect())
    }

    fn resolve_conflict(&mut self, conflict: &InstallConflict<'_>) -> Result<OnConflict, PackageError> {
        match self.overwrite {
            true => Ok(OnConflict::Overwrite),
            false => Err(PackageError::AlreadyExists(conflict.dir.to_owned())),
        }
    }

    fn accept_risk(&mut self, _: &PreparedSkill) -> Result<bool, PackageError> {
        Ok(self.accept_risk)
    }

    fn confirm_findings(&mut self, _: &PreparedSkill) -> Result<bool, PackageError> {
        Ok(self.accept_findings)
    }

    fn accept_increase(&mut self, _: &PlanItem) -> Result<bool, PackageError> {
        Ok(true)
    }

    fn accept_removal(&mut self, _: &PlanItem) -> Result<bool, PackageError> {
        Ok(false)
    }
}

fn read_upload(upload: &Upload) -> Result<MemoryTree, PackageError> {
    match upload {
        Upload::Archive(_, bytes) => Ok(archive::read_archive(bytes)?),
        Upload::Files(files) => tree_from_files(files),
    }
}

/// Builds a tree from files with untrusted paths.
fn tree_from_files(files: &[(String, Vec<u8>)]) -> Result<MemoryTree, PackageError> {
    let limit = |subject: String, limit| Err(PackageError::Limit { subject, limit });
    if files.len() > FILES_MAX {
        return limit("the number of files".to_owned(), FILES_MAX as u64);
    }
    let (mut total, mut memory_files) = (0, Vec::with_capacity(files.len()));
    for (raw, bytes) in files {
        let path = InnerPath::parse(raw.as_bytes())
            .map_err(|reason| PackageError::InvalidPath { path: raw.clone(), reason })?;
        total += bytes.len() as u64;
        if bytes.len() as u64 > FILE_MAX {
            return limit(format!("the size of {path}"), FILE_MAX);
        }
        if total > TOTAL_MAX {
            return limit("the size of all files".to_owned(), TOTAL_MAX);
        }
        memory_files.push(MemoryFile { path, executable: false, bytes: bytes.clone() });
    }
    let mut paths: Vec<&InnerPath> = memory_files.iter().map(|file| &file.path).collect();
    paths.sort();
    if let Some([duplicate, _]) = paths.array_windows().find(|[a, b]| a == b) {
        return Err(PackageError::DuplicatePath(duplicate.to_string()));
    }
    Ok(MemoryTree::new(memory_files))
}

fn find_only_skill(tree: &MemoryTree, upload: &Upload) -> Result<Candidate, PackageError> {
    let mut candidates = candidate::find_candidates_named(tree, false, NameSource::Manifest)?;
    match candidates.len() {
        0 => Err(PackageError::NoSkills(display_name(upload))),
        1 => Ok(candidates.remove(0)),
        _ => {
            let available = candidates.into_iter().map(|candidate| candidate.name).collect();
            Err(PackageError::MultipleSkills { source_text: display_name(upload), available })
        }
    }
}

/// Returns the name of the directory; `None` if the manifest determines it.
fn choose_id(import: &ImportRequest<'_>, candidate: &Candidate) -> Result<Option<String>, PackageError> {
    if let Some(id) = import.id {
        return parse_dir_name(id).map(Some);
    }
    if import.identified_by == IdentifiedBy::Name {
        return Ok(None);
    }
    let dir_name = candidate.dir.rsplit('/').next().unwrap_or_default();
    let stem = match import.upload {
        Upload::Archive(name, _) => name.rsplit('/').next().unwrap_or_default().split('.').next(),
        Upload::Files(_) => None,
    };
    let names = [Some(dir_name), stem, Some(candidate.name.as_str())];
    let names = names.into_iter().flatten().filter_map(|name| SkillName::parse(name).ok());
    let first = names.map(|name| name.suggestion()).find(|name| !name.is_empty());
    first.map(|name| parse_dir_name(name.trim_end_matches('-'))).transpose()?.map(Some).ok_or_else(|| {
        PackageError::FetchFailed {
            code: ErrorCode::InvalidParam,
            message: "cannot derive an id from the uploaded files".to_owned(),
            hint: Some("specify an id".to_owned()),
        }
    })
}

/// Returns the name of the upload for messages.
fn display_name(upload: &Upload) -> String {
    match upload {
        Upload::Archive(name, _) if !name.is_empty() => hidden::escape_for_display(name).into_owned(),
        Upload::Archive(..) | Upload::Files(_) => "the upload".to_owned(),
    }
}

/// Returns the source for the lock file. Only the file name is recorded, because it reveals no local path.
fn locked_source(upload: &Upload) -> String {
    let file = match upload {
        Upload::Archive(name, _) => name.rsplit(['/', '\\']).next().unwrap_or_default(),
        Upload::Files(_) => "folder",
    };
    let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    format!("{UPLOAD_PREFIX}{}", file.chars().filter(is_plain).take(100).collect::<String>())
}
