//! The files of one skill, ready to be packed.

use std::path::Path;

use prowess_format::{NameRule, Rules, Severity, hidden, parse};

use super::PackError;
use crate::{Entry, EntryKind, FolderTree, InnerPath, MemoryFile, Tree};
use prowess_archive::limits::{FILES_MAX, TOTAL_MAX};

/// The specification's limit.
const NAME_MAX: usize = 64;

/// A skill, with all its files in memory.
pub(super) struct Skill {
    pub(super) name: String,
    pub(super) description: String,
    /// By path, from the skill's folder.
    pub(super) files: Vec<MemoryFile>,
}

pub(super) fn skill(folder: &Path) -> Result<Skill, PackError> {
    let tree = FolderTree::open(folder)?;
    let mut files = Vec::new();
    let mut total = 0;
    for (at, entry) in tree.entries().iter().enumerate() {
        let path = path(folder, entry)?;
        let EntryKind::File { executable, .. } = entry.kind else {
            let entry = path.as_str().to_owned();
            return Err(PackError::NotRegular { folder: folder.to_owned(), entry });
        };
        // What macOS leaves behind is nobody's business, and dropped on the other side.
        if path.as_str().rsplit('/').next() == Some(".DS_Store") {
            continue;
        }
        let bytes = tree.read(at)?;
        total += bytes.len() as u64;
        if files.len() >= FILES_MAX || total > TOTAL_MAX {
            return Err(PackError::TooLarge(folder.to_owned()));
        }
        files.push(MemoryFile { path, executable, bytes });
    }
    let (name, description) = manifest(folder, &files)?;
    Ok(Skill { name, description, files })
}

fn path(folder: &Path, entry: &Entry) -> Result<InnerPath, PackError> {
    InnerPath::parse(&entry.path).map_err(|why| {
        let entry = hidden::shown(&String::from_utf8_lossy(&entry.path)).into_owned();
        PackError::Name { folder: folder.to_owned(), entry, why }
    })
}

/// Name and description, of a skill that loads and has a name that can stand in a path and an index.
fn manifest(folder: &Path, files: &[MemoryFile]) -> Result<(String, String), PackError> {
    let wrong = |why: String| PackError::NotASkill { folder: folder.to_owned(), why };
    let file = files.iter().find(|file| file.path.as_str() == "SKILL.md");
    let file = file.ok_or_else(|| wrong("it has no SKILL.md".to_owned()))?;
    let parsed = parse(&file.bytes, None, &Rules::standard());
    let Some(document) = parsed.document else {
        let worst = parsed.diagnostics.into_iter().find(|diagnostic| diagnostic.severity == Severity::Error);
        return Err(wrong(worst.map_or_else(|| "it does not load".to_owned(), |worst| worst.message)));
    };
    let name = document.manifest.name();
    if let Some(broken) = name.breaks(NameRule::Ascii).first() {
        return Err(wrong(format!("the name “{name}” is not well formed: {broken}")));
    }
    if name.length() > NAME_MAX {
        return Err(wrong(format!("its name has more than {NAME_MAX} characters")));
    }
    Ok((name.as_str().to_owned(), document.manifest.description().to_owned()))
}
