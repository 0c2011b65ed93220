//! Renames and deletes files of a skill, without losing changes of other programs.
//!
//! A file is deleted by moving it next to the skill. If it is not the one that the editor read, it is moved back.

use std::fs::File;
use std::path::{Path, PathBuf};

use prowess::{ErrorCode, FileListing, HostEnv, Policy, Skill, digest};
use prowess_fs::{Dir, Errno, ExpectedTarget};

use super::UserSkillError;
use super::accept::AcceptedChange;
use super::write::{ExistingFile, ExpectedContent, TargetFile, is_manifest, target_error};
use crate::install::check_collisions;
use crate::install_target::InstallTarget;
use crate::install_target::stage::Stage;
use prowess_archive::InnerPath;
use prowess_archive::limits::FILE_MAX;

/// Deletes a file of a user's skill, and the directories that are empty afterwards. The manifest cannot be deleted.
pub fn delete_skill_file(
    skill: &Skill,
    path: &str,
    expected: &ExpectedContent,
    policy: &Policy,
    host: &HostEnv,
) -> Result<(), UserSkillError> {
    let (install_target, inner) = changeable(skill, path, policy, host)?;
    let _guard = install_target.lock()?;
    install_target.clean_up_locked()?;
    let dir = skill.canonical_dir();
    let target = TargetFile { dir: Dir::open_resolved(&dir).map_err(target_error(&inner))?, inner };
    expect_existing(&target, expected)?;
    let accepted = AcceptedChange::accept(&install_target, &skill.dir(), &dir, |tree| {
        tree.remove(target.inner.as_str());
    })?;
    let stage = Stage::create(dir.parent().unwrap_or(&dir))?;
    let deleted = take_out(&target, &stage, expected);
    deleted.inspect_err(|_| accepted.revert(host, &dir))?;
    remove_empty_parents(&target.dir, target.path());
    sync(&dir);
    Ok(())
}

/// Renames a file of a user's skill. Nothing may exist at the new path. The manifest cannot be renamed.
pub fn rename_skill_file(
    skill: &Skill,
    from: &str,
    to: &str,
    expected: &ExpectedContent,
    policy: &Policy,
    host: &HostEnv,
) -> Result<(), UserSkillError> {
    let (install_target, from) = changeable(skill, from, policy, host)?;
    let to = parse_path(to)?;
    let _guard = install_target.lock()?;
    install_target.clean_up_locked()?;
    let dir = skill.canonical_dir();
    let target = TargetFile { dir: Dir::open_resolved(&dir).map_err(target_error(&from))?, inner: from };
    expect_existing(&target, expected)?;
    check_free(skill, &target.inner, &to)?;
    let new_path = Path::new(to.as_str());
    let accepted = AcceptedChange::accept(&install_target, &skill.dir(), &dir, |tree| {
        tree.rename(target.inner.as_str(), to.as_str());
    })?;
    let created = target.dir.create_parents(new_path).map_err(target_error(&to));
    let created = created.inspect_err(|_| accepted.revert(host, &dir))?;
    let moved = target.dir.move_from(&target.dir, target.path(), new_path, ExpectedTarget::Absent);
    if let Err(error) = moved {
        target.dir.remove_created(&created);
        accepted.revert(host, &dir);
        return Err(match error {
            Errno::EXIST => exists(&to),
            Errno::NOENT => target.concurrent_change(None),
            error => target_error(&to)(error),
        });
    }
    remove_empty_parents(&target.dir, target.path());
    sync(&dir);
    Ok(())
}

/// Returns where the skill is and the parsed path of a file that may be renamed or deleted.
fn changeable(
    skill: &Skill,
    path: &str,
    policy: &Policy,
    host: &HostEnv,
) -> Result<(InstallTarget, InnerPath), UserSkillError> {
    let not_editable = |reason| UserSkillError::NotEditable { name: skill.name().into_owned(), reason };
    let install_target = InstallTarget::for_editing(skill, policy, host).map_err(not_editable)?;
    let inner = parse_path(path)?;
    if is_manifest(skill, &inner) {
        let message = "a skill needs this file; delete the skill instead".to_owned();
        return Err(UserSkillError::File { path: inner.to_string(), code: ErrorCode::InvalidParam, message });
    }
    install_target.check_writable()?;
    Ok((install_target, inner))
}

fn parse_path(path: &str) -> Result<InnerPath, UserSkillError> {
    let invalid = |reason| UserSkillError::InvalidPath { path: path.to_owned(), reason };
    InnerPath::parse(path.as_bytes()).map_err(invalid)
}

/// Fails if the file does not exist or is not the one that the editor read.
fn expect_existing(target: &TargetFile, expected: &ExpectedContent) -> Result<(), UserSkillError> {
    let ExistingFile { digest, .. } =
        target.existing()?.ok_or_else(|| target_error(&target.inner)(Errno::NOENT))?;
    target.check_expected(Some(digest.as_deref()), expected)
}

/// Fails if the new path is taken, also by a path that differs only in case.
fn check_free(skill: &Skill, from: &InnerPath, to: &InnerPath) -> Result<(), UserSkillError> {
    let contents = FileListing::for_skill(skill);
    let files = contents.files.iter().map(|file| file.path.as_str());
    let others = files.chain(contents.skipped.iter().map(String::as_str));
    let others: Vec<InnerPath> = others
        .filter(|path| *path != from.as_str())
        .filter_map(|path| InnerPath::parse(path.as_bytes()).ok())
        .collect();
    if from == to || others.contains(to) {
        return Err(exists(to));
    }
    Ok(check_collisions(std::iter::once(to).chain(&others))?)
}

fn exists(path: &InnerPath) -> UserSkillError {
    let message = "it already exists".to_owned();
    UserSkillError::File { path: path.to_string(), code: ErrorCode::Conflict, message }
}

/// Moves the file out of the skill, and back if it is not the expected one.
fn take_out(target: &TargetFile, stage: &Stage, expected: &ExpectedContent) -> Result<(), UserSkillError> {
    let failed = target_error(&target.inner);
    let taken: PathBuf = stage.path().join("file");
    let stage_dir = Dir::open_resolved(stage.path()).map_err(&failed)?;
    let moved = stage_dir.move_from(&target.dir, target.path(), Path::new("file"), ExpectedTarget::Absent);
    moved.map_err(|error| match error {
        Errno::NOENT => target.concurrent_change(None),
        error => failed(error),
    })?;
    let ExpectedContent::Digest(expected) = expected else { return Ok(()) };
    let current = prowess::read_bounded(&taken, FILE_MAX).map(|bytes| digest(&bytes));
    if current.as_ref() == Some(expected) {
        return Ok(());
    }
    target.dir.move_in(&taken, target.path(), ExpectedTarget::Absent).map_err(&failed)?;
    Err(target.concurrent_change(current))
}

/// Removes the parent directories of a path that are empty now.
fn remove_empty_parents(dir: &Dir, path: &Path) {
    let parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    // The first one that is not empty ends it.
    let _ = parents.map(|parent| dir.remove_empty_dir(parent)).take_while(Result::is_ok).count();
}

/// A power failure could undo a rename before this.
fn sync(dir: &Path) {
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
}
