//! Writes a candidate to the stage: parses, checks, audits and hashes the bytes that are written.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use prowess::HashedTree;
use prowess::lock::{AuditRecord, Capabilities};
use prowess_format::{Diagnostic, Manifest, ParseOutcome, Rules, SkillName, parse};

use super::InstallChecks;
use super::collisions::check_collisions;
use super::rename::rename_skill;
use crate::acquire::Candidate;
use crate::error::PackageError;
use crate::install_target::stage::Stage;
use crate::task::Task;
use prowess_archive::InnerPath;
use prowess_archive::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};
use prowess_archive::{SourceEntryKind, SourceTree};
use prowess_audit::{self as audit, AuditFile, FindingSeverity, Verdict};

/// A staged skill that is ready to be installed.
#[derive(Debug)]
pub struct PreparedSkill {
    /// The name, which is also the name of the directory.
    pub name: String,
    /// The name at the source, if it was changed.
    pub renamed_from: Option<String>,
    /// The name in the manifest.
    pub title: String,
    /// The description in the manifest.
    pub description: String,
    /// The directory in the source; empty if the source is the skill.
    pub dir_in_source: String,
    /// The files.
    pub tree: HashedTree,
    /// Warnings about the manifest; no errors.
    pub diagnostics: Vec<Diagnostic>,
    /// The result of the audit.
    pub verdict: Verdict,
    /// The capabilities.
    pub capabilities: Capabilities,
    /// The environment variables that it requires.
    pub required_variables: Vec<String>,
}

impl PreparedSkill {
    /// Returns the audit record for the lock file, which ignores local suppressions.
    pub(crate) fn audit_record(&self) -> AuditRecord {
        let worst = self.verdict.findings.iter().map(|finding| finding.severity).max();
        let verdict = worst.map_or("clean", FindingSeverity::as_str).to_owned();
        AuditRecord { rules: self.verdict.rules_version.to_owned(), verdict }
    }
}

/// A file to write.
struct StagedFile {
    path: InnerPath,
    executable: bool,
    bytes: Vec<u8>,
}

/// The name of the installed skill.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TargetName<'a> {
    Manifest,
    /// This name, which is written into the manifest.
    Name(&'a str),
    /// A directory with this name; the manifest is not changed. For policies that identify skills by directory.
    Directory(&'a str),
}

/// Writes a candidate to the stage. `name` replaces the name in the manifest.
pub(crate) fn prepare_skill(
    tree: &dyn SourceTree,
    candidate: &Candidate,
    name: Option<&str>,
    checks: &InstallChecks<'_>,
    stage: &Stage,
    task: &Task,
) -> Result<PreparedSkill, PackageError> {
    prepare_skill_as(
        tree,
        candidate,
        name.map_or(TargetName::Manifest, TargetName::Name),
        checks,
        stage,
        task,
    )
}

/// Writes a candidate to the stage; see [`prepare_skill`]. `target_name` determines the name and the directory.
pub(crate) fn prepare_skill_as(
    tree: &dyn SourceTree,
    candidate: &Candidate,
    target_name: TargetName<'_>,
    checks: &InstallChecks<'_>,
    stage: &Stage,
    task: &Task,
) -> Result<PreparedSkill, PackageError> {
    let (name, dir) = match target_name {
        TargetName::Manifest => (None, None),
        TargetName::Name(name) => (Some(name), Some(name)),
        TargetName::Directory(dir) => (None, Some(dir)),
    };
    let mut files = read_files(tree, candidate, task)?;
    let manifest = files.iter_mut().find(|file| file.path.as_str() == "SKILL.md");
    let Some(manifest) = manifest else { return Err(PackageError::NoSkills(candidate.dir.clone())) };
    let own_name = manifest_name(&manifest.bytes);
    let mut renamed_from = None;
    if let (Some(name), Some(own_name)) = (name, &own_name)
        && name != own_name
    {
        let hint = "install it under its own name, or copy it and edit the name";
        let rejected = || PackageError::InvalidArgument {
            message: format!("cannot change the name of {} in its SKILL.md", display_name(candidate)),
            hint: hint.to_owned(),
        };
        manifest.bytes = rename_skill(&manifest.bytes, name).ok_or_else(rejected)?;
        renamed_from = Some(own_name.clone());
    }
    if own_name.is_none() {
        // Report errors of the manifest rather than its missing name.
        let dir_name = dir.or(Some(candidate.name.as_str())).filter(|name| !name.is_empty());
        check_manifest(&manifest.bytes, dir_name, checks.rules, candidate)?;
    }
    let name = dir.map(str::to_owned).or(own_name).unwrap_or_else(|| candidate.name.clone());
    let name = parse_dir_name(&name)?;
    let (parsed, diagnostics) = check_manifest(&manifest.bytes, Some(&name), checks.rules, candidate)?;
    let dir = stage.new_dir(&name);
    let hashed = write_files(&dir, &files)?;
    let audited =
        || files.iter().map(|file| AuditFile::new(file.path.as_str(), file.executable, &file.bytes));
    let mut verdict = audit::audit(audited());
    checks.suppressions.iter().for_each(|list| list.apply(&name, &mut verdict));
    Ok(PreparedSkill {
        name,
        renamed_from,
        title: parsed.name().to_string(),
        description: parsed.description().to_owned(),
        required_variables: prowess::grants::needed_variables(&parsed),
        dir_in_source: candidate.dir.clone(),
        tree: hashed,
        diagnostics,
        verdict,
        capabilities: audit::capabilities(audited()),
    })
}

fn display_name(candidate: &Candidate) -> String {
    prowess_format::hidden::escape_for_display(&candidate.name).into_owned()
}

/// Reads all files of a candidate. All paths are validated before the first file is read.
fn read_files(
    tree: &dyn SourceTree,
    candidate: &Candidate,
    task: &Task,
) -> Result<Vec<StagedFile>, PackageError> {
    let entries = tree.entries();
    let prefix_length = if candidate.dir.is_empty() { 0 } else { candidate.dir.len() + 1 };
    let mut paths: Vec<(usize, InnerPath, bool)> = Vec::with_capacity(candidate.entries.len());
    for index in candidate.entries.clone() {
        let Some(entry) = entries.get(index) else { continue };
        let raw = entry.path.get(prefix_length..).unwrap_or_default();
        let path = || String::from_utf8_lossy(raw).into_owned();
        let executable = match entry.kind {
            SourceEntryKind::File { bytes, .. } if bytes > FILE_MAX => {
                let subject = format!("the size of {}", prowess_format::hidden::escape_for_display(&path()));
                return Err(PackageError::Limit { subject, limit: FILE_MAX });
            }
            SourceEntryKind::File { executable, .. } => executable,
            SourceEntryKind::Link => return Err(PackageError::NotAFile { path: path(), kind: "a symlink" }),
            SourceEntryKind::Submodule => {
                return Err(PackageError::NotAFile { path: path(), kind: "a submodule" });
            }
            SourceEntryKind::Special => {
                return Err(PackageError::NotAFile { path: path(), kind: "a FIFO, socket or device" });
            }
        };
        let inner =
            InnerPath::parse(raw).map_err(|reason| PackageError::InvalidPath { path: path(), reason })?;
        paths.push((index, inner, executable));
        if paths.len() > FILES_MAX {
            let subject = format!("the number of files of {}", display_name(candidate));
            return Err(PackageError::Limit { subject, limit: FILES_MAX as u64 });
        }
    }
    check_collisions(paths.iter().map(|(_, path, _)| path))?;
    let mut files = Vec::with_capacity(paths.len());
    let mut total = 0;
    for (index, path, executable) in paths {
        task.check_cancelled()?;
        let bytes = tree.read_entry(index)?;
        total += bytes.len() as u64;
        if total > TOTAL_MAX {
            let subject = format!("the size of {}", display_name(candidate));
            return Err(PackageError::Limit { subject, limit: TOTAL_MAX });
        }
        files.push(StagedFile { path, executable, bytes });
    }
    Ok(files)
}

fn manifest_name(bytes: &[u8]) -> Option<String> {
    match parse(bytes, None, &Rules::standard()) {
        ParseOutcome { document: Some(document), .. } => Some(document.manifest.name().to_string()),
        ParseOutcome { document: None, .. } => None,
    }
}

/// Validates the name of a directory.
pub(crate) fn parse_dir_name(name: &str) -> Result<String, PackageError> {
    let invalid = |reason: String| PackageError::InvalidName { name: name.to_owned(), reason };
    let parsed = SkillName::parse(name).map_err(|error| invalid(error.to_string()))?;
    let name = parsed.as_str();
    if name.contains('/') {
        return Err(invalid("it contains a slash".to_owned()));
    }
    if name.starts_with(['.', '-']) {
        return Err(invalid("it starts with a dot or a hyphen".to_owned()));
    }
    InnerPath::parse(name.as_bytes()).map_err(|error| invalid(error.to_string()))?;
    Ok(name.to_owned())
}

fn check_manifest(
    bytes: &[u8],
    name: Option<&str>,
    rules: &Rules,
    candidate: &Candidate,
) -> Result<(Manifest, Vec<Diagnostic>), PackageError> {
    let ParseOutcome { document, diagnostics } = parse(bytes, name, rules);
    match document {
        Some(document) if !diagnostics.iter().any(Diagnostic::is_error) => {
            Ok((document.manifest, diagnostics))
        }
        _ => {
            let path = match candidate.dir.as_str() {
                "" => "SKILL.md".to_owned(),
                dir => format!("{dir}/SKILL.md"),
            };
            Err(PackageError::InvalidManifest { path, diagnostics, text: bytes.to_vec() })
        }
    }
}

/// Writes the files and returns their hashes.
fn write_files(dir: &Path, files: &[StagedFile]) -> Result<HashedTree, PackageError> {
    let failed = |error| PackageError::io("write", dir)(error);
    fs::create_dir_all(dir.parent().unwrap_or(dir)).map_err(failed)?;
    fs::create_dir(dir).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            PackageError::ChoiceRequired {
                message: format!("two of the skills would have the name {name}"),
                hint: "select one by its directory in the source: --skill DIR".to_owned(),
            }
        }
        _ => failed(error),
    })?;
    let mut tree = HashedTree::default();
    let mut last_parent = dir.to_owned();
    for file in files {
        let path = dir.join(file.path.as_str());
        let parent = path.parent().unwrap_or(dir);
        if parent != last_parent {
            fs::create_dir_all(parent).map_err(failed)?;
            last_parent = parent.to_owned();
        }
        let mode = if file.executable { 0o755 } else { 0o644 };
        let created = prowess_fs::create_new(&path, mode);
        created.and_then(|mut file_handle| file_handle.write_all(&file.bytes)).map_err(failed)?;
        tree.add(file.path.as_str(), file.executable, &file.bytes);
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_directory_names_are_rejected() {
        assert_eq!(parse_dir_name("pdf").unwrap(), "pdf");
        for invalid in ["../x", "a/b", "..", ".", ".hidden", "-x", "", "a\\b", "C:", "a\u{202e}b", ".git"] {
            assert!(parse_dir_name(invalid).is_err(), "{invalid}");
        }
    }
}
