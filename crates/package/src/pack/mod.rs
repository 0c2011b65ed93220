//! Packs skill directories into files for distribution.
//!
//! | function | result |
//! |---|---|
//! | [`pack_skill`] | a `.skill`: a zip with the skill's directory at its root; a `.zip` for a plugin |
//! | [`build_artifact`], [`build_index`] | a file for a skill, and the index of several, for custom servers |
//! | [`publish_site`] | a tree for a web server: the index of version 0.2.0, and one file per skill |
//!
//! Invariants: the same files result in the same bytes on every machine; everything that is packed is read back, so
//! that nothing is packed that would be rejected when installing it.

mod collect;
mod error;
mod publish;
mod zip;

use std::io;
use std::path::{Path, PathBuf};

use prowess_archive as archive;
use prowess_fs::{AtomicFile, SyncPolicy, failed_path};

pub use error::PackError;
pub use publish::{PublishedSite, PublishedSkill, SkillArtifact, build_artifact, build_index, publish_site};

prowess_format::named_enum! {
    /// What was packed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PackedKind {
        /// A skill.
        Skill = "skill",
        /// A plugin with all its files.
        Plugin = "plugin",
    }
}

/// A packed skill or plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedSkill {
    /// What was packed.
    pub kind: PackedKind,
    /// The name of the skill or plugin.
    pub name: String,
    /// The written file.
    pub path: PathBuf,
    /// The digest of the file.
    pub digest: String,
    /// The size of the file.
    pub bytes: u64,
    /// The number of files in the archive.
    pub files: usize,
}

/// Returns the bytes of a `.skill` for a skill's directory.
///
/// ```
/// let dir = tempfile::tempdir().unwrap();
/// std::fs::write(dir.path().join("SKILL.md"), "---\nname: pdf\ndescription: Fill forms.\n---\n").unwrap();
/// let bytes = prowess_package::pack::skill_bytes(dir.path()).unwrap();
/// let tree = prowess_package::archive::read_archive(&bytes).unwrap();
/// assert_eq!(tree.files()[0].path.as_str(), "pdf/SKILL.md");
/// ```
pub fn skill_bytes(dir: &Path) -> Result<Vec<u8>, PackError> {
    Ok(build(dir)?.1)
}

/// Writes a `.skill` for a skill's directory, or a `.zip` for a plugin's: at `output`, or under its name in `output` if
/// that is a directory. An existing file is replaced atomically.
pub fn pack_skill(dir: &Path, output: &Path) -> Result<PackedSkill, PackError> {
    let (kind, skill, bytes) = match collect::collect_plugin(dir)? {
        Some(plugin) => {
            let bytes = archive_bytes(&plugin)?;
            (PackedKind::Plugin, plugin, bytes)
        }
        None => {
            let (skill, bytes) = build(dir)?;
            (PackedKind::Skill, skill, bytes)
        }
    };
    let extension = if kind == PackedKind::Plugin { "zip" } else { "skill" };
    let path =
        if output.is_dir() { output.join(format!("{}.{extension}", skill.name)) } else { output.to_owned() };
    if is_inside(&path, dir) {
        return Err(PackError::OutputInsideSkill(path));
    }
    write_file(&path, &bytes)?;
    let digest = prowess::digest(&bytes);
    let (name, files, size) = (skill.name, skill.files.len(), bytes.len() as u64);
    Ok(PackedSkill { kind, name, path, digest, bytes: size, files })
}

/// Writes a file atomically.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), PackError> {
    let written = match path.file_name() {
        Some(_) => {
            AtomicFile::with_existing_metadata(path, bytes).and_then(|staged| staged.commit(SyncPolicy::Sync))
        }
        None => Err(io::ErrorKind::InvalidFilename.into()),
    };
    written.map_err(|error| write_error(&failed_path(path, &error), &error))
}

fn write_error(path: &Path, error: &io::Error) -> PackError {
    PackError::Write { path: path.to_owned(), reason: error.kind().to_string() }
}

/// Returns `true` if a file would be inside the directory, so that it would be packed the next time.
fn is_inside(path: &Path, dir: &Path) -> bool {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (parent.canonicalize(), dir.canonicalize()) {
        (Ok(parent), Ok(dir)) => parent.starts_with(dir),
        _ => false,
    }
}

fn build(dir: &Path) -> Result<(collect::CollectedSkill, Vec<u8>), PackError> {
    let skill = collect::collect_skill(dir)?;
    let bytes = archive_bytes(&skill)?;
    Ok((skill, bytes))
}

/// Returns an archive with the directory of a skill or plugin at its root.
fn archive_bytes(collected: &collect::CollectedSkill) -> Result<Vec<u8>, PackError> {
    let bytes = zip::write_zip(&collected.files, &format!("{}/", collected.name));
    check_readable(&bytes)?;
    Ok(bytes)
}

/// Checks that an archive can be read back.
fn check_readable(bytes: &[u8]) -> Result<(), PackError> {
    archive::read_archive(bytes).map(drop).map_err(PackError::InvalidArchive)
}

#[cfg(test)]
mod tests;
