//! Reads a skill's files on demand, never from outside the skill.
//!
//! Invariants: a path is validated as text and then opened relative to the skill's open directory without
//! following symlinks, so that nothing can change between the check and the use; special files never block; no
//! more than 16 MiB are read; and no message contains a path of this machine.
//!
//! Files of a skill that is disabled, untrusted, shadowed or invalid cannot be read. Those of an unavailable
//! skill can: they may explain what the missing commands are for.

mod error;
mod list;
mod list_dir;
mod mime;
pub(crate) mod open;
mod path;
pub mod read_file;
mod skill_files;
mod stamp;
pub(crate) mod text;

use serde::Serialize;

pub use error::ReadResourceError;
pub(crate) use error::describe_file_type;
pub use list::{ResourceKind, list_files};
pub use list_dir::{ChildEntry, list_dir};
pub use mime::{guess_mime_type, mime_type_for_path};
pub use read_file::ReadFileTool;
pub use skill_files::{LoadedFile, SkillFiles, read_instruction_files, read_skill_files};
pub use stamp::{SkillStamp, stamp_skill};
pub use text::Truncation;

use crate::file_listing::is_git_path;
use crate::policy::ReadLimits;
use crate::remote::{RemoteFile, RemoteSkill};
pub use crate::skill::ResourceUnavailable;
use crate::skill::{DiscoveredSkill, Skill, SkillLink, display_name, display_text};
use open::{FILE_MAX, OpenFileError};
use path::RelativePath;
use prowess_fs::{Dir, Errno, read_whole};

/// A text file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resource {
    /// The skill's name; empty if the file does not belong to a skill.
    pub name: String,
    /// The path relative to the skill's directory, with `/`.
    pub path: String,
    /// The text without terminal escapes, with a notice at the end if it was truncated.
    pub content: String,
    /// How much of the file that is, if not all.
    pub truncated: Option<Truncation>,
    /// The size of the whole file in bytes.
    pub bytes: u64,
}

/// The bytes of a file, for clients that can show more than text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawResource {
    /// The skill's name.
    pub name: String,
    /// The path relative to the skill's directory, with `/`.
    pub path: String,
    /// The unmodified contents.
    pub bytes: Vec<u8>,
    /// The guessed media type.
    pub mime: &'static str,
}

/// Reads a file of a skill as text.
///
/// Truncates the text at `limits.resource_bytes`, with a notice. Fails for files of more than 16 MiB.
///
/// ```
/// use prowess::{ErrorCode, Policy, Registry, resources};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::open(Policy::default())?;
/// let snapshot = registry.snapshot();
/// let skill = snapshot.get("skills-system-validation").ok_or("missing bundled skill")?;
///
/// let limits = &registry.policy().limits;
/// let reference = resources::read_text(skill, "references/REFERENCE.md", limits)?;
/// assert!(reference.content.contains("PROWESS_REFERENCE_MARKER_"));
///
/// let error = resources::read_text(skill, "references/../../../../etc/passwd", limits).unwrap_err();
/// assert_eq!(error.code(), ErrorCode::AccessDenied);
/// # Ok(())
/// # }
/// ```
pub fn read_text(skill: &Skill, path: &str, limits: &ReadLimits) -> Result<Resource, ReadResourceError> {
    let (inner, bytes) = read_verified(skill, path)?;
    to_text_resource(skill.name().into_owned(), inner, bytes, limits.resource_bytes)
}

/// Reads the bytes of a file, at most 16 MiB.
pub fn read_bytes(skill: &Skill, path: &str) -> Result<RawResource, ReadResourceError> {
    let (inner, bytes) = read_verified(skill, path)?;
    let mime = mime::guess_mime_type(inner.as_str(), &bytes);
    Ok(RawResource { name: skill.name().into_owned(), path: inner.into_string(), bytes, mime })
}

fn read_verified(skill: &Skill, path: &str) -> Result<(RelativePath, Vec<u8>), ReadResourceError> {
    if let Some(unavailable) = ResourceUnavailable::for_reading(skill) {
        return Err(unavailable.into());
    }
    let inner = RelativePath::parse(path)?;
    if inner.is_root() {
        return Err(ReadResourceError::Directory { path: ".".to_owned() });
    }
    if is_git_path(inner.as_str()) {
        return Err(ReadResourceError::NotFound { path: display_text(inner.as_str()), nearest: None });
    }
    let bytes = match skill.remote() {
        Some(remote) => from_remote(skill, remote, &inner),
        None if skill.root().is_embedded() => from_binary(skill, &inner),
        None => from_disk(skill, &inner),
    };
    match bytes {
        Ok(bytes) => {
            skill.verifier.verify_file(skill, inner.as_str(), &bytes)?;
            Ok((inner, bytes))
        }
        Err(ReadResourceError::NotFound { path, nearest: None }) => {
            Err(ReadResourceError::NotFound { nearest: list::suggest_file(skill, inner.as_str()), path })
        }
        Err(error) => Err(error),
    }
}

/// Reads a file of a remote skill. Only listed files are requested: any other file would be a change of the
/// skill.
fn from_remote(
    skill: &Skill,
    remote: &RemoteSkill,
    inner: &RelativePath,
) -> Result<Vec<u8>, ReadResourceError> {
    let path = inner.as_str();
    let is_inside =
        |file: &RemoteFile| file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    let entry = remote.entry();
    if entry.file(path).is_none() && entry.files.iter().any(is_inside) {
        return Err(ReadResourceError::Directory { path: display_text(path) });
    }
    Ok(skill.verifier.fetch(remote, path)?)
}

fn from_binary(skill: &DiscoveredSkill, inner: &RelativePath) -> Result<Vec<u8>, ReadResourceError> {
    let files = skill.bundled().map(|skill| skill.files).unwrap_or_default();
    let path = inner.as_str();
    if let Some((_, bytes)) = files.iter().find(|(file, _)| *file == path) {
        return Ok(bytes.to_vec());
    }
    let is_inside = |file: &str| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    let path = display_text(path);
    Err(if files.iter().any(|(file, _)| is_inside(file)) {
        ReadResourceError::Directory { path }
    } else {
        ReadResourceError::NotFound { path, nearest: None }
    })
}

fn from_disk(skill: &Skill, inner: &RelativePath) -> Result<Vec<u8>, ReadResourceError> {
    let path = inner.as_str();
    let is_own_link =
        matches!(skill.link(), Some(SkillLink { is_dir: false, .. })) && path == skill.file.as_str();
    let (file, stat) = if is_own_link {
        open::open_skill_md(skill).map_err(|error| ReadResourceError::from_errno(path, error))?
    } else {
        open::open_file(skill, path).map_err(|error| match error {
            OpenFileError::Dir(error) => dir_error(skill, error),
            OpenFileError::File(error) => ReadResourceError::from_errno(path, error),
        })?
    };
    read_whole(&file, &stat, FILE_MAX)
        .map_err(|error| ReadResourceError::from_read_error(path, error, FILE_MAX))
}

/// Opens the skill's directory, if it is unchanged since discovery.
fn open_skill_dir(skill: &Skill) -> Result<Dir, ReadResourceError> {
    open::open_dir(skill).map_err(|error| dir_error(skill, error))
}

fn dir_error(skill: &Skill, error: Errno) -> ReadResourceError {
    match error {
        _ if skill.is_command() => ReadResourceError::Command { name: display_name(skill) },
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => ReadResourceError::Gone { name: display_name(skill) },
        errno => ReadResourceError::from_errno("the skill's directory", errno),
    }
}

/// Converts bytes to text: rejects binary data, removes escapes and truncates it.
fn to_text_resource(
    name: String,
    inner: RelativePath,
    bytes: Vec<u8>,
    limit: u64,
) -> Result<Resource, ReadResourceError> {
    let size = bytes.len() as u64;
    // Check the whole file, not only the part that is shown.
    let Ok(mut content) = String::from_utf8(bytes) else {
        return Err(ReadResourceError::Binary { path: display_text(inner.as_str()) });
    };
    let has_controls = text::has_controls(content.as_bytes());
    if has_controls && content.contains('\0') {
        return Err(ReadResourceError::Binary { path: display_text(inner.as_str()) });
    }
    let truncated = text::truncate_text(&mut content, limit);
    if has_controls {
        text::strip_escapes(&mut content, 0);
    }
    if let Some(truncated) = truncated {
        content.push_str(&format!("\n\n{truncated}"));
        content.shrink_to_fit();
    }
    Ok(Resource { name, path: inner.into_string(), content, truncated, bytes: size })
}
