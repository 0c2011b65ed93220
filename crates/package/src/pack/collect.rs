//! Collects the files of a skill or plugin for packing.

use std::path::Path;

use prowess_format::{NameRule, Rules, Severity, hidden, parse};

use super::PackError;
use crate::agent_plugins::{has_manifest, load_plugin};
use crate::{DirTree, InnerPath, MemoryFile, MemoryTree, SourceEntry, SourceEntryKind, SourceTree};
use prowess_archive::limits::{FILES_MAX, TOTAL_MAX};

/// The limit of the specification.
const NAME_MAX: usize = 64;

/// A skill or plugin with all its files in memory.
pub(super) struct CollectedSkill {
    pub(super) name: String,
    pub(super) description: String,
    /// The files by path, relative to the directory.
    pub(super) files: Vec<MemoryFile>,
}

pub(super) fn collect_skill(dir: &Path) -> Result<CollectedSkill, PackError> {
    let files = collect_files(dir)?;
    let (name, description) = read_manifest(dir, &files)?;
    Ok(CollectedSkill { name, description, files })
}

/// Reads all files of a directory.
fn collect_files(dir: &Path) -> Result<Vec<MemoryFile>, PackError> {
    let tree = DirTree::open(dir)?;
    let mut files = Vec::new();
    let mut total = 0;
    for (index, entry) in tree.entries().iter().enumerate() {
        let path = parse_path(dir, entry)?;
        let SourceEntryKind::File { executable, .. } = entry.kind else {
            let entry = path.as_str().to_owned();
            return Err(PackError::NotRegularFile { dir: dir.to_owned(), entry });
        };
        // Files that macOS creates are dropped.
        if path.as_str().rsplit('/').next() == Some(".DS_Store") {
            continue;
        }
        let bytes = tree.read_entry(index)?;
        total += bytes.len() as u64;
        if files.len() >= FILES_MAX || total > TOTAL_MAX {
            return Err(PackError::TooLarge(dir.to_owned()));
        }
        files.push(MemoryFile { path, executable, bytes });
    }
    Ok(files)
}

/// Reads the plugin in a directory; `None` if there is none. A directory with a `SKILL.md` is a skill.
pub(super) fn collect_plugin(dir: &Path) -> Result<Option<CollectedSkill>, PackError> {
    if !has_manifest(dir) || dir.join("SKILL.md").exists() {
        return Ok(None);
    }
    let files = collect_files(dir)?;
    let load = load_plugin(&MemoryTree::new(files.clone()), "", None)?;
    let error = load.files.iter().find_map(|file| {
        let error = file.diagnostics.iter().find(|diagnostic| diagnostic.is_error())?;
        Some(format!("{}: {}", hidden::escape_for_display(&file.path), error.message))
    });
    let invalid = |reason: String| PackError::InvalidPlugin { dir: dir.to_owned(), reason };
    match (load.plugin, error) {
        (_, Some(error)) => Err(invalid(error)),
        (None, None) => Ok(None),
        (Some(plugin), None) => {
            let name = plugin.manifest.name.as_str().to_owned();
            // The name becomes the name of the archive and of the directory in it.
            InnerPath::parse(name.as_bytes())
                .map_err(|error| invalid(format!("invalid name “{name}”: {error}")))?;
            let description = plugin.manifest.description.unwrap_or_default();
            Ok(Some(CollectedSkill { name, description, files }))
        }
    }
}

fn parse_path(dir: &Path, entry: &SourceEntry) -> Result<InnerPath, PackError> {
    InnerPath::parse(&entry.path).map_err(|reason| {
        let entry = hidden::escape_for_display(&String::from_utf8_lossy(&entry.path)).into_owned();
        PackError::InvalidPath { dir: dir.to_owned(), entry, reason }
    })
}

/// Returns the name and the description. Rejects an invalid manifest, and a name that cannot be used in an index.
fn read_manifest(dir: &Path, files: &[MemoryFile]) -> Result<(String, String), PackError> {
    let not_a_skill = |reason: String| PackError::NotASkill { dir: dir.to_owned(), reason };
    let file = files.iter().find(|file| file.path.as_str() == "SKILL.md");
    let file = file.ok_or_else(|| not_a_skill("it has no SKILL.md".to_owned()))?;
    let parsed = parse(&file.bytes, None, &Rules::standard());
    let Some(document) = parsed.document else {
        let error = parsed.diagnostics.into_iter().find(|diagnostic| diagnostic.severity == Severity::Error);
        return Err(not_a_skill(
            error.map_or_else(|| "its SKILL.md is invalid".to_owned(), |error| error.message),
        ));
    };
    let name = document.manifest.name();
    if let Some(violation) = name.violations(NameRule::Ascii).first() {
        return Err(not_a_skill(format!("invalid name “{name}”: {violation}")));
    }
    if name.char_count() > NAME_MAX {
        return Err(not_a_skill(format!("its name has more than {NAME_MAX} characters")));
    }
    Ok((name.as_str().to_owned(), document.manifest.description().to_owned()))
}
