//! A candidate, written out beside its destination: parsed, judged, audited and hashed from the bytes that are written.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use prowess::HashedTree;
use prowess::lock::{AuditRecord, Capabilities};
use prowess_format::{Diagnostic, Manifest, Parsed, Rules, SkillName, parse};

use super::Judge;
use super::collide::no_collisions;
use super::rename::rename;
use crate::acquire::Candidate;
use crate::error::PackageError;
use crate::place::stage::Stage;
use crate::work::Work;
use prowess_archive::InnerPath;
use prowess_archive::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};
use prowess_archive::{EntryKind, Tree};
use prowess_audit::{self as audit, AuditFile, Severity, Verdict};

/// A skill that is ready to be swapped in.
#[derive(Debug)]
pub struct Prepared {
    /// Its name, which is its folder's.
    pub name: String,
    /// The name at the source, where it was given another.
    pub renamed_from: Option<String>,
    /// What it calls itself.
    pub title: String,
    /// What it says it does.
    pub description: String,
    /// The folder inside the source; empty where the source is the skill.
    pub inner: String,
    /// Its files.
    pub tree: HashedTree,
    /// What there is to say about its manifest; no errors.
    pub diagnostics: Vec<Diagnostic>,
    /// What the audit says.
    pub verdict: Verdict,
    /// What it brings.
    pub capabilities: Capabilities,
    /// The variables that it asks for.
    pub needs: Vec<String>,
}

impl Prepared {
    /// For the lock: what the rules say, whatever somebody suppresses on this machine.
    pub(crate) fn audit_record(&self) -> AuditRecord {
        let worst = self.verdict.findings.iter().map(|finding| finding.severity).max();
        let verdict = worst.map_or("clean", Severity::as_str).to_owned();
        AuditRecord { rules: self.verdict.rules.to_owned(), verdict }
    }
}

/// A file that is about to be written.
struct SkillFile {
    path: InnerPath,
    executable: bool,
    bytes: Vec<u8>,
}

/// What a skill is called here.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Called<'a> {
    /// As it calls itself.
    Itself,
    /// This; its manifest is changed to say so.
    Name(&'a str),
    /// What it calls itself, in a folder of this name: where a skill is known by its folder, a name is a title.
    Folder(&'a str),
}

/// Writes a candidate into the stage. `name` is what it shall be called, if not what it calls itself.
pub(crate) fn prepare(
    tree: &dyn Tree,
    candidate: &Candidate,
    name: Option<&str>,
    judge: &Judge<'_>,
    stage: &Stage,
    work: &Work,
) -> Result<Prepared, PackageError> {
    prepare_as(tree, candidate, name.map_or(Called::Itself, Called::Name), judge, stage, work)
}

/// The same, with a say in what its folder is called.
pub(crate) fn prepare_as(
    tree: &dyn Tree,
    candidate: &Candidate,
    called: Called<'_>,
    judge: &Judge<'_>,
    stage: &Stage,
    work: &Work,
) -> Result<Prepared, PackageError> {
    let (name, folder) = match called {
        Called::Itself => (None, None),
        Called::Name(name) => (Some(name), Some(name)),
        Called::Folder(folder) => (None, Some(folder)),
    };
    let mut files = read(tree, candidate, work)?;
    let manifest = files.iter_mut().find(|file| file.path.as_str() == "SKILL.md");
    let Some(manifest) = manifest else { return Err(PackageError::NoSkill(candidate.folder.clone())) };
    let own_name = manifest_name(&manifest.bytes);
    let mut renamed_from = None;
    if let (Some(name), Some(own)) = (name, &own_name)
        && name != own
    {
        let hint = "install it under its own name, or copy it and edit the name by hand";
        let refused = || PackageError::Call {
            message: format!("the name of {} cannot be changed in its SKILL.md", shown(candidate)),
            hint: hint.to_owned(),
        };
        manifest.bytes = rename(&manifest.bytes, name).ok_or_else(refused)?;
        renamed_from = Some(own.clone());
    }
    if own_name.is_none() {
        // What is wrong with the manifest says more than what is wrong with the name that it has not.
        judge_manifest(&manifest.bytes, None, judge.manifest, candidate)?;
    }
    let name = folder.map(str::to_owned).or(own_name).unwrap_or_else(|| candidate.name.clone());
    let name = folder_name(&name)?;
    let (own, diagnostics) = judge_manifest(&manifest.bytes, Some(&name), judge.manifest, candidate)?;
    let folder = stage.new_folder(&name);
    let hashed = write(&folder, &files)?;
    let audited =
        || files.iter().map(|file| AuditFile::new(file.path.as_str(), file.executable, &file.bytes));
    let mut verdict = audit::audit(audited());
    judge.suppressions.iter().for_each(|list| list.apply(&name, &mut verdict));
    Ok(Prepared {
        name,
        renamed_from,
        title: own.name().to_string(),
        description: own.description().to_owned(),
        needs: prowess::grants::needs(&own),
        inner: candidate.folder.clone(),
        tree: hashed,
        diagnostics,
        verdict,
        capabilities: audit::capabilities(audited()),
    })
}

fn shown(candidate: &Candidate) -> String {
    prowess_format::hidden::shown(&candidate.name).into_owned()
}

/// Reads all files of a candidate, each made safe to write before the first one is.
fn read(tree: &dyn Tree, candidate: &Candidate, work: &Work) -> Result<Vec<SkillFile>, PackageError> {
    let entries = tree.entries();
    let below = if candidate.folder.is_empty() { 0 } else { candidate.folder.len() + 1 };
    let mut paths: Vec<(usize, InnerPath, bool)> = Vec::with_capacity(candidate.entries.len());
    for at in candidate.entries.clone() {
        let Some(entry) = entries.get(at) else { continue };
        let raw = entry.path.get(below..).unwrap_or_default();
        let path = || String::from_utf8_lossy(raw).into_owned();
        let executable = match entry.kind {
            EntryKind::File { bytes, .. } if bytes > FILE_MAX => {
                let what = format!("the size of {}", prowess_format::hidden::shown(&path()));
                return Err(PackageError::Limit { what, limit: FILE_MAX });
            }
            EntryKind::File { executable, .. } => executable,
            EntryKind::Link => return Err(PackageError::NotAFile { path: path(), what: "a link" }),
            EntryKind::Submodule => return Err(PackageError::NotAFile { path: path(), what: "a submodule" }),
            EntryKind::Special => {
                return Err(PackageError::NotAFile { path: path(), what: "a FIFO, socket or device" });
            }
        };
        let inner = InnerPath::parse(raw).map_err(|why| PackageError::Path { path: path(), why })?;
        paths.push((at, inner, executable));
        if paths.len() > FILES_MAX {
            let what = format!("the number of files of {}", shown(candidate));
            return Err(PackageError::Limit { what, limit: FILES_MAX as u64 });
        }
    }
    no_collisions(paths.iter().map(|(_, path, _)| path))?;
    let mut files = Vec::with_capacity(paths.len());
    let mut total = 0;
    for (at, path, executable) in paths {
        work.go_on()?;
        let bytes = tree.read(at)?;
        total += bytes.len() as u64;
        if total > TOTAL_MAX {
            let what = format!("the size of {}", shown(candidate));
            return Err(PackageError::Limit { what, limit: TOTAL_MAX });
        }
        files.push(SkillFile { path, executable, bytes });
    }
    Ok(files)
}

fn manifest_name(bytes: &[u8]) -> Option<String> {
    match parse(bytes, None, &Rules::standard()) {
        Parsed { document: Some(document), .. } => Some(document.manifest.name().to_string()),
        Parsed { document: None, .. } => None,
    }
}

/// A name that can be a folder's.
pub(crate) fn folder_name(name: &str) -> Result<String, PackageError> {
    let refused = |why: String| PackageError::Name { name: name.to_owned(), why };
    let parsed = SkillName::parse(name).map_err(|error| refused(error.to_string()))?;
    let name = parsed.as_str();
    if name.contains('/') {
        return Err(refused("it could be taken for a path".to_owned()));
    }
    if name.starts_with(['.', '-']) {
        return Err(refused("it begins with a point or a hyphen".to_owned()));
    }
    InnerPath::parse(name.as_bytes()).map_err(|error| refused(error.to_string()))?;
    Ok(name.to_owned())
}

fn judge_manifest(
    bytes: &[u8],
    name: Option<&str>,
    rules: &Rules,
    candidate: &Candidate,
) -> Result<(Manifest, Vec<Diagnostic>), PackageError> {
    let Parsed { document, diagnostics } = parse(bytes, name, rules);
    match document {
        Some(document) if !diagnostics.iter().any(Diagnostic::is_error) => {
            Ok((document.manifest, diagnostics))
        }
        _ => {
            let path = match candidate.folder.as_str() {
                "" => "SKILL.md".to_owned(),
                folder => format!("{folder}/SKILL.md"),
            };
            Err(PackageError::Invalid { path, diagnostics, text: bytes.to_vec() })
        }
    }
}

/// Writes the files and hashes what is written.
fn write(folder: &Path, files: &[SkillFile]) -> Result<HashedTree, PackageError> {
    let failed = |error| PackageError::io("written", folder)(error);
    fs::create_dir_all(folder.parent().unwrap_or(folder)).map_err(failed)?;
    fs::create_dir(folder).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            PackageError::Choose {
                message: format!("two of these skills would be called {name}"),
                hint: "choose one by its folder in the source: --skill FOLDER".to_owned(),
            }
        }
        _ => failed(error),
    })?;
    let mut tree = HashedTree::default();
    let mut last = folder.to_owned();
    for file in files {
        let path = folder.join(file.path.as_str());
        let parent = path.parent().unwrap_or(folder);
        if parent != last {
            fs::create_dir_all(parent).map_err(failed)?;
            last = parent.to_owned();
        }
        let mode = if file.executable { 0o755 } else { 0o644 };
        let written = prowess_fs::create_new(&path, mode);
        written.and_then(|mut open| open.write_all(&file.bytes)).map_err(failed)?;
        tree.add(file.path.as_str(), file.executable, &file.bytes);
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_by_a_name_and_nothing_else() {
        assert_eq!(folder_name("pdf").unwrap(), "pdf");
        for bad in ["../x", "a/b", "..", ".", ".hidden", "-x", "", "a\\b", "C:", "a\u{202e}b", ".git"] {
            assert!(folder_name(bad).is_err(), "{bad}");
        }
    }
}
