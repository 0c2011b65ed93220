//! The skills that a source holds.

use std::collections::HashSet;
use std::ops::Range;

use prowess_format::{Parsed, Rules, parse};

use crate::error::PackageError;
use prowess_archive::limits::FILE_MAX;
use prowess_archive::{Entry, EntryKind, Tree};

/// A skill in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The folder, as the source has it; empty where the source is the skill.
    pub folder: String,
    /// The name: the manifest's, or the folder's where that cannot be read.
    pub name: String,
    /// What it says it does.
    pub description: String,
    /// Where its files stand among the entries.
    pub(crate) entries: Range<usize>,
}

/// What candidates are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// As their manifests say, which are read: somebody will choose among them.
    OfManifests,
    /// As their folders: nothing is read yet.
    OfFolders,
}

/// Finds the skills of a source, sorted by folder. A skill inside another belongs to that one, unless `nested`.
pub fn candidates(tree: &dyn Tree, nested: bool) -> Result<Vec<Candidate>, PackageError> {
    find(tree, nested, Names::OfManifests)
}

pub(crate) fn find(tree: &dyn Tree, nested: bool, names: Names) -> Result<Vec<Candidate>, PackageError> {
    let entries = tree.entries();
    let folders: Vec<(usize, &[u8])> =
        entries.iter().enumerate().filter_map(|(at, entry)| Some((at, skill_folder(entry)?))).collect();
    let known: HashSet<&[u8]> = folders.iter().map(|(_, folder)| *folder).collect();
    let mut found: Vec<Candidate> = Vec::new();
    for (at, folder) in folders {
        if !nested && above(folder).any(|outer| known.contains(outer)) {
            continue;
        }
        let Ok(text) = std::str::from_utf8(folder) else { continue };
        let (name, description) = match names {
            Names::OfFolders if !text.is_empty() => (last_step(text), String::new()),
            // The top of a source has no name of its own.
            Names::OfFolders | Names::OfManifests => told(tree, at, text)?,
        };
        found.push(Candidate { folder: text.to_owned(), name, description, entries: range(entries, folder) });
    }
    found.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(found)
}

/// The folders that a folder lies in, up to the top.
fn above(folder: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = folder.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &folder[..at]);
    let top = (!folder.is_empty()).then(|| &folder[..0]);
    slashes.chain(top)
}

/// The folder of an entry that is a `SKILL.md`.
fn skill_folder(entry: &Entry) -> Option<&[u8]> {
    if !matches!(entry.kind, EntryKind::File { .. }) {
        return None;
    }
    let path = &entry.path;
    let folder = match path.as_ref() {
        b"SKILL.md" => &path[..0],
        path => path.strip_suffix(b"/SKILL.md")?,
    };
    (!folder.split(|byte| *byte == b'/').any(prowess::check::is_passed_over)).then_some(folder)
}

/// Where the files below a folder stand.
fn range(entries: &[Entry], folder: &[u8]) -> Range<usize> {
    if folder.is_empty() {
        return 0..entries.len();
    }
    let mut below = folder.to_vec();
    below.push(b'/');
    let start = entries.partition_point(|entry| entry.path.as_ref() < below.as_slice());
    let length = entries[start..].partition_point(|entry| entry.path.starts_with(&below));
    start..start + length
}

fn last_step(folder: &str) -> String {
    folder.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Name and description, read leniently: whether it loads is judged when it is installed.
fn told(tree: &dyn Tree, at: usize, folder: &str) -> Result<(String, String), PackageError> {
    let last = last_step(folder);
    let size = |entry: &Entry| match entry.kind {
        EntryKind::File { bytes, .. } => bytes,
        _ => 0,
    };
    if tree.entries().get(at).is_none_or(|entry| size(entry) > FILE_MAX) {
        return Ok((last, String::new()));
    }
    let bytes = tree.read(at)?;
    Ok(match parse(&bytes, None, &Rules::standard()) {
        Parsed { document: Some(document), .. } => {
            let manifest = document.manifest;
            (manifest.name().to_string(), manifest.description().to_owned())
        }
        Parsed { document: None, .. } => (last, String::new()),
    })
}
