//! Finds the skills in a source.

use std::collections::HashSet;
use std::ops::Range;

use prowess_format::{ParseOutcome, Rules, parse};

use crate::error::PackageError;
use prowess_archive::limits::FILE_MAX;
use prowess_archive::{SourceEntry, SourceEntryKind, SourceTree};

/// A skill in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The directory in the source; empty if the source is the skill.
    pub dir: String,
    /// The name in the manifest, or the directory's name if the manifest cannot be parsed.
    pub name: String,
    /// The description in the manifest.
    pub description: String,
    /// The range of its files in the entries of the source.
    pub(crate) entries: Range<usize>,
}

/// Where the names of candidates come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameSource {
    /// Their manifests, which are read. Used if a user chooses among them.
    Manifest,
    /// Their directories; no file is read.
    Directory,
}

/// Finds the skills in a source, sorted by directory. A skill inside another skill is part of that skill, unless
/// `nested` is set.
pub fn find_candidates(tree: &dyn SourceTree, nested: bool) -> Result<Vec<Candidate>, PackageError> {
    find_candidates_named(tree, nested, NameSource::Manifest)
}

pub(crate) fn find_candidates_named(
    tree: &dyn SourceTree,
    nested: bool,
    names: NameSource,
) -> Result<Vec<Candidate>, PackageError> {
    let entries = tree.entries();
    let dirs: Vec<(usize, &[u8])> =
        entries.iter().enumerate().filter_map(|(index, entry)| Some((index, skill_dir(entry)?))).collect();
    let skill_dirs: HashSet<&[u8]> = dirs.iter().map(|(_, dir)| *dir).collect();
    let mut candidates: Vec<Candidate> = Vec::new();
    for (index, dir) in dirs {
        if !nested && ancestors(dir).any(|outer| skill_dirs.contains(outer)) {
            continue;
        }
        let Ok(text) = std::str::from_utf8(dir) else { continue };
        let (name, description) = match names {
            NameSource::Directory if !text.is_empty() => (last_component(text), String::new()),
            // The root of a source has no name.
            NameSource::Directory | NameSource::Manifest => read_name_and_description(tree, index, text)?,
        };
        let entries = entries_below(entries, dir);
        candidates.push(Candidate { dir: text.to_owned(), name, description, entries });
    }
    candidates.sort_by(|a, b| a.dir.cmp(&b.dir));
    Ok(candidates)
}

/// Returns the directories that contain a directory, up to the root.
fn ancestors(dir: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = dir.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(slash, _)| &dir[..slash]);
    let root = (!dir.is_empty()).then(|| &dir[..0]);
    slashes.chain(root)
}

/// Returns the directory of an entry that is a `SKILL.md`.
fn skill_dir(entry: &SourceEntry) -> Option<&[u8]> {
    if !matches!(entry.kind, SourceEntryKind::File { .. }) {
        return None;
    }
    let path = &entry.path;
    let dir = match path.as_ref() {
        b"SKILL.md" => &path[..0],
        path => path.strip_suffix(b"/SKILL.md")?,
    };
    (!dir.split(|byte| *byte == b'/').any(prowess::check::is_skipped_dir)).then_some(dir)
}

/// Returns the range of the files below a directory.
fn entries_below(entries: &[SourceEntry], dir: &[u8]) -> Range<usize> {
    if dir.is_empty() {
        return 0..entries.len();
    }
    let mut prefix = dir.to_vec();
    prefix.push(b'/');
    let start = entries.partition_point(|entry| entry.path.as_ref() < prefix.as_slice());
    let length = entries[start..].partition_point(|entry| entry.path.starts_with(&prefix));
    start..start + length
}

fn last_component(dir: &str) -> String {
    dir.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Returns the name and the description. Errors are ignored: the manifest is checked when the skill is installed.
fn read_name_and_description(
    tree: &dyn SourceTree,
    index: usize,
    dir: &str,
) -> Result<(String, String), PackageError> {
    let fallback = last_component(dir);
    let size = |entry: &SourceEntry| match entry.kind {
        SourceEntryKind::File { bytes, .. } => bytes,
        _ => 0,
    };
    if tree.entries().get(index).is_none_or(|entry| size(entry) > FILE_MAX) {
        return Ok((fallback, String::new()));
    }
    let bytes = tree.read_entry(index)?;
    // A skill without a name is named after its directory; the root of a source has none.
    let dir_name = Some(fallback.as_str()).filter(|name| !name.is_empty());
    Ok(match parse(&bytes, dir_name, &Rules::standard()) {
        ParseOutcome { document: Some(document), .. } => {
            let manifest = document.manifest;
            (manifest.name().to_string(), manifest.description().to_owned())
        }
        ParseOutcome { document: None, .. } => (fallback, String::new()),
    })
}
