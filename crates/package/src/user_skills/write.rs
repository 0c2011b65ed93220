//! Writes a file of a skill atomically, without overwriting changes of other programs.
//!
//! The file is written next to the skill and exchanged with the old file by one rename. If the old file is not the
//! one that the editor read, the exchange is undone.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use prowess::{ErrorCode, FileListing, HostEnv, Policy, Skill, digest};
use prowess_format::{Diagnostic, Rules, parse};
use prowess_fs::{
    Dir, Errno, ExpectedTarget, FileType, MoveOutcome, ReadError, create_new, describe_errno, read_whole,
    set_permissions,
};

use super::UserSkillError;
use super::accept::AcceptedChange;
use crate::error::PackageError;
use crate::install::check_collisions;
use crate::install_target::InstallTarget;
use crate::install_target::stage::Stage;
use prowess_archive::InnerPath;
use prowess_archive::errno_to_code;
use prowess_archive::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};

/// The contents that the editor expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedContent {
    /// Any file, or no file.
    Any,
    /// No file.
    Absent,
    /// A file with this digest.
    Digest(String),
}

/// A written file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// The path in the skill's directory.
    pub path: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The digest.
    pub digest: String,
    /// Warnings about the manifest; no errors. Empty for other files.
    pub diagnostics: Vec<Diagnostic>,
}

/// Writes a file of a user's skill.
pub fn write_skill_file(
    skill: &Skill,
    path: &str,
    bytes: &[u8],
    expected: &ExpectedContent,
    policy: &Policy,
    host: &HostEnv,
) -> Result<WrittenFile, UserSkillError> {
    let not_editable = |reason| UserSkillError::NotEditable { name: skill.name().into_owned(), reason };
    let install_target = InstallTarget::for_editing(skill, policy, host).map_err(not_editable)?;
    let parsed = InnerPath::parse(path.as_bytes());
    let inner = parsed.map_err(|reason| UserSkillError::InvalidPath { path: path.to_owned(), reason })?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(PackageError::Limit { subject: format!("the size of {inner}"), limit: FILE_MAX }.into());
    }
    let diagnostics = check_manifest(skill, &inner, bytes, &policy.manifest)?;
    install_target.check_writable()?;
    let _guard = install_target.lock()?;
    install_target.clean_up_locked()?;
    let dir = skill.canonical_dir();
    let target = TargetFile { dir: Dir::open_resolved(&dir).map_err(target_error(&inner))?, inner };
    let existing = target.existing()?;
    check_limits(skill, &target.inner, bytes, existing.as_ref())?;
    target.check_expected(existing.as_ref().map(|existing| existing.digest.as_deref()), expected)?;
    let executable = existing.as_ref().is_some_and(|existing| existing.mode & 0o111 != 0);
    let accepted = AcceptedChange::accept(&install_target, &skill.dir(), &dir, |tree| {
        tree.replace(target.inner.as_str(), executable, bytes);
    })?;
    let stage = Stage::create(dir.parent().unwrap_or(&dir))?;
    let mode = existing.as_ref().map(|existing| existing.mode);
    let staged = stage_file(&stage, bytes, mode).map_err(PackageError::io("write", &dir))?;
    let moved = target.replace(&staged, expected, existing.is_some());
    moved.inspect_err(|_| accepted.revert(host, &dir))?;
    // A power failure could undo the rename before this.
    let _ = File::open(&dir).and_then(|dir| dir.sync_all());
    let (path, size) = (target.inner.to_string(), bytes.len() as u64);
    Ok(WrittenFile { path, bytes: size, digest: digest(bytes), diagnostics })
}

/// Rejects an invalid manifest.
fn check_manifest(
    skill: &Skill,
    inner: &InnerPath,
    bytes: &[u8],
    rules: &Rules,
) -> Result<Vec<Diagnostic>, UserSkillError> {
    if !is_manifest(skill, inner) {
        return Ok(Vec::new());
    }
    let parsed = parse(bytes, Some(&skill.id()), rules);
    match parsed.document.is_none() || parsed.diagnostics.iter().any(Diagnostic::is_error) {
        true => {
            Err(UserSkillError::InvalidManifest { path: inner.to_string(), diagnostics: parsed.diagnostics })
        }
        false => Ok(parsed.diagnostics),
    }
}

/// Returns whether a path is that of the manifest.
pub(super) fn is_manifest(skill: &Skill, inner: &InnerPath) -> bool {
    inner.as_str() == "SKILL.md"
        || skill.skill_md_path().file_name().is_some_and(|name| name == inner.as_str())
}

/// Rejects a file with which the skill could not be installed: limits and collisions.
fn check_limits(
    skill: &Skill,
    inner: &InnerPath,
    bytes: &[u8],
    existing: Option<&ExistingFile>,
) -> Result<(), UserSkillError> {
    let contents = FileListing::for_skill(skill);
    let limit = |subject: &str, limit| Err(PackageError::Limit { subject: subject.to_owned(), limit }.into());
    if existing.is_none() && (contents.truncated || contents.files.len() >= FILES_MAX) {
        return limit("the number of files", FILES_MAX as u64);
    }
    let old = existing.map_or(0, |existing| existing.size);
    if contents.total_bytes().saturating_sub(old) + bytes.len() as u64 > TOTAL_MAX {
        return limit("the size of the skill", TOTAL_MAX);
    }
    if existing.is_some() {
        return Ok(());
    }
    let others = contents
        .files
        .iter()
        .map(|file| file.path.as_str())
        .chain(contents.skipped.iter().map(String::as_str));
    // Other paths were not written by Prowess and cannot collide with a valid path.
    let others: Vec<InnerPath> = others.filter_map(|path| InnerPath::parse(path.as_bytes()).ok()).collect();
    Ok(check_collisions(std::iter::once(inner).chain(&others))?)
}

/// A file of a skill that is changed.
pub(super) struct TargetFile {
    pub(super) dir: Dir,
    pub(super) inner: InnerPath,
}

pub(super) struct ExistingFile {
    /// `None` if the file is too large to be read.
    pub(super) digest: Option<String>,
    size: u64,
    mode: u32,
}

impl TargetFile {
    pub(super) fn path(&self) -> &Path {
        Path::new(self.inner.as_str())
    }

    pub(super) fn existing(&self) -> Result<Option<ExistingFile>, UserSkillError> {
        let (file, stat) = match self.dir.open_file(self.path()) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(target_error(&self.inner)(error)),
        };
        let file_error = |code, message: &str| UserSkillError::File {
            path: self.inner.to_string(),
            code,
            message: message.to_owned(),
        };
        let digest = match read_whole(&file, &stat, FILE_MAX) {
            Ok(bytes) => Some(digest(&bytes)),
            Err(ReadError::TooLarge(_)) => None,
            Err(ReadError::NotAFile(FileType::Directory)) => {
                return Err(file_error(ErrorCode::IsDirectory, "it is a directory"));
            }
            Err(ReadError::NotAFile(_)) => {
                return Err(file_error(ErrorCode::AccessDenied, "it is not a regular file"));
            }
            Err(ReadError::Changing) => return Err(self.concurrent_change(None)),
            Err(ReadError::Os(error)) => return Err(target_error(&self.inner)(error)),
        };
        let size = stat.size();
        Ok(Some(ExistingFile { digest, size, mode: stat.permissions() & 0o777 }))
    }

    pub(super) fn concurrent_change(&self, current_digest: Option<String>) -> UserSkillError {
        UserSkillError::ConcurrentChange { path: self.inner.to_string(), current_digest }
    }

    pub(super) fn check_expected(
        &self,
        existing: Option<Option<&str>>,
        expected: &ExpectedContent,
    ) -> Result<(), UserSkillError> {
        let is_expected = match (expected, existing) {
            (ExpectedContent::Any, _) | (ExpectedContent::Absent, None) => true,
            (ExpectedContent::Digest(digest), Some(Some(existing))) => digest == existing,
            (ExpectedContent::Absent, Some(_)) | (ExpectedContent::Digest(_), None | Some(None)) => false,
        };
        if is_expected { Ok(()) } else { Err(self.concurrent_change(existing.flatten().map(str::to_owned))) }
    }

    /// Moves the staged file to its path.
    fn replace(&self, staged: &Path, expected: &ExpectedContent, exists: bool) -> Result<(), UserSkillError> {
        let failed = target_error(&self.inner);
        if !exists {
            let created = self.dir.create_parents(self.path()).map_err(failed)?;
            let put = self.dir.move_in(staged, self.path(), ExpectedTarget::Absent);
            return put.map(drop).map_err(|error| {
                self.dir.remove_created(&created);
                match error {
                    Errno::EXIST => self.concurrent_change(None),
                    error => target_error(&self.inner)(error),
                }
            });
        }
        let put =
            self.dir.move_in(staged, self.path(), ExpectedTarget::File).map_err(|error| match error {
                // The file was deleted in the meantime.
                Errno::NOENT => self.concurrent_change(None),
                error => failed(error),
            })?;
        let ExpectedContent::Digest(expected_digest) = expected else { return Ok(()) };
        if put == MoveOutcome::Replaced {
            return Ok(());
        }
        // If the replaced file is not the one that the editor read, the exchange is undone.
        let replaced = prowess::read_bounded(staged, FILE_MAX).map(|bytes| digest(&bytes));
        if replaced.as_ref() == Some(expected_digest) {
            return Ok(());
        }
        let undone = self.dir.move_in(staged, self.path(), ExpectedTarget::File);
        undone.map_err(target_error(&self.inner))?;
        Err(self.concurrent_change(replaced))
    }
}

fn stage_file(stage: &Stage, bytes: &[u8], mode: Option<u32>) -> std::io::Result<PathBuf> {
    let path = stage.path().join("file");
    let mut file = create_new(&path, 0o644)?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        set_permissions(&file, mode)?;
    }
    file.sync_all()?;
    Ok(path)
}

pub(super) fn target_error(inner: &InnerPath) -> impl Fn(Errno) -> UserSkillError + use<> {
    let path = inner.to_string();
    move |error| {
        let message = match error {
            Errno::NOTDIR => "a parent is not a directory".to_owned(),
            error => describe_errno(error),
        };
        UserSkillError::File { path: path.clone(), code: errno_to_code(error), message }
    }
}
