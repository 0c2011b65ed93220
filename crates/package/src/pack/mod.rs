//! Skill folders to files that others can get them from.
//!
//! | function | makes |
//! |---|---|
//! | [`pack`] | a `.skill`: a zip with the skill's folder at its top |
//! | [`artifact`], [`index`] | one file for a skill, and the index of some, for whoever serves them by himself |
//! | [`publish`] | a tree for a web server: the index of version 0.2.0, and one file for each skill |
//!
//! What must always hold: the same files give the same bytes, on every machine and in every run; and whatever is packed
//! is read back before anybody gets it, so that nothing is packed that would be refused on the other side.

mod collect;
mod error;
mod publish;
mod zip;

use std::io;
use std::path::{Path, PathBuf};

use prowess_archive as archive;
use prowess_fs::{Durable, Staged};

pub use error::PackError;
pub use publish::{Artifact, Published, PublishedSkill, artifact, index, publish};

/// What was packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The skill.
    pub name: String,
    /// The file that was written.
    pub path: PathBuf,
    /// The digest of its bytes.
    pub digest: String,
    /// How many they are.
    pub bytes: u64,
    /// How many files are in it.
    pub files: usize,
}

/// The bytes of a `.skill` made from a skill's folder.
///
/// ```
/// let world = tempfile::tempdir().unwrap();
/// std::fs::write(world.path().join("SKILL.md"), "---\nname: pdf\ndescription: Fill forms.\n---\n").unwrap();
/// let bytes = prowess_package::pack::skill_bytes(world.path()).unwrap();
/// let tree = prowess_package::archive::read(&bytes).unwrap();
/// assert_eq!(tree.files()[0].path.as_str(), "pdf/SKILL.md");
/// ```
pub fn skill_bytes(folder: &Path) -> Result<Vec<u8>, PackError> {
    Ok(make(folder)?.1)
}

/// Makes a `.skill` from a skill's folder: at `to`, or in it under the skill's name where it is a folder. A file that
/// is there is replaced, whole.
pub fn pack(folder: &Path, to: &Path) -> Result<Packed, PackError> {
    let (skill, bytes) = make(folder)?;
    let path = if to.is_dir() { to.join(format!("{}.skill", skill.name)) } else { to.to_owned() };
    if is_inside(&path, folder) {
        return Err(PackError::Inside(path));
    }
    write(&path, &bytes)?;
    let digest = prowess::digest(&bytes);
    Ok(Packed { name: skill.name, path, digest, bytes: bytes.len() as u64, files: skill.files.len() })
}

/// Writes a file whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<(), PackError> {
    let written = match path.file_name() {
        Some(_) => Staged::like_present(path, bytes).and_then(|staged| staged.commit(Durable::Yes)),
        None => Err(io::ErrorKind::InvalidFilename.into()),
    };
    written.map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &io::Error) -> PackError {
    PackError::Write { path: path.to_owned(), why: error.kind().to_string() }
}

/// A skill that is packed into its own folder would be in itself the next time.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (parent.canonicalize(), folder.canonicalize()) {
        (Ok(parent), Ok(folder)) => parent.starts_with(folder),
        _ => false,
    }
}

fn make(folder: &Path) -> Result<(collect::Skill, Vec<u8>), PackError> {
    let skill = collect::skill(folder)?;
    let bytes = zip::write(&skill.files, &format!("{}/", skill.name));
    readable(&bytes)?;
    Ok((skill, bytes))
}

/// Whether what was packed can be got out again.
fn readable(bytes: &[u8]) -> Result<(), PackError> {
    archive::read(bytes).map(drop).map_err(PackError::Refused)
}

#[cfg(test)]
mod tests;
