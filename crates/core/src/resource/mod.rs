//! A skill's files, on demand: a name and a path to a text, never from outside the skill.
//!
//! What must always hold: a path is checked as text first, and then opened through the skill's open folder
//! with links refused, so that there is no moment between the check and the use. Nothing that could block is
//! waited for, nothing is read beyond a hard cap of 16 MiB, and no message says where on the machine a skill
//! lies.
//!
//! A skill that is disabled, untrusted, shadowed or invalid gives nothing away. One that is merely
//! unavailable does: its files say what the missing commands are for.

mod children;
mod error;
mod list;
mod material;
mod mime;
mod path;
pub(crate) mod place;
pub mod read_file;
mod stamp;
pub(crate) mod text;

use serde::Serialize;

pub use children::{Child, children};
pub use error::AccessError;
pub(crate) use error::noun;
pub use list::{Kind, list};
pub use material::{Material, MaterialFile, material};
pub use mime::mime_of_name;
pub use read_file::ReadFile;
pub use stamp::{Stamp, stamp};
pub use text::Truncation;

use crate::contents::is_gits;
use crate::policy::Limits;
pub use crate::skill::Closed;
use crate::skill::{Found, Link, Skill, shown, shown_name};
use crate::supply::{OfferedFile, Supplied};
use path::Inner;
use place::{FILE_MAX, PlaceError};
use prowess_fs::{Errno, Folder, read_whole};

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resource {
    /// The skill, or nothing where the file belongs to none.
    pub name: String,
    /// The path below the skill's folder, with `/`.
    pub path: String,
    /// The text without terminal escapes, with a notice at its end where it was cut.
    pub content: String,
    /// How much of it that is, where it is not all.
    pub truncated: Option<Truncation>,
    /// The size of the whole file.
    pub bytes: u64,
}

/// The bytes of a file, for whoever can show what is not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawResource {
    /// The skill.
    pub name: String,
    /// The path below the skill's folder, with `/`.
    pub path: String,
    /// All bytes, as they are.
    pub bytes: Vec<u8>,
    /// The media type, as well as it can be guessed.
    pub mime: &'static str,
}

/// Reads a file of a skill as text.
///
/// More than `limits.resource_bytes` is cut at a character, and said; more than 16 MiB is refused.
///
/// ```
/// use prowess::{ErrorCode, Policy, Registry, resource};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::open(Policy::default())?;
/// let snapshot = registry.snapshot();
/// let skill = snapshot.get("skills-system-validation").ok_or("it is bundled")?;
///
/// let limits = &registry.policy().limits;
/// let reference = resource::read(skill, "references/REFERENCE.md", limits)?;
/// assert!(reference.content.contains("PROWESS_REFERENCE_MARKER_"));
///
/// let refused = resource::read(skill, "references/../../../../etc/passwd", limits).unwrap_err();
/// assert_eq!(refused.code(), ErrorCode::AccessDenied);
/// # Ok(())
/// # }
/// ```
pub fn read(skill: &Skill, path: &str, limits: &Limits) -> Result<Resource, AccessError> {
    let (inner, bytes) = fetch(skill, path)?;
    as_text(skill.name().into_owned(), inner, bytes, limits.resource_bytes)
}

/// Reads a file of a skill as it is, at most 16 MiB.
pub fn read_bytes(skill: &Skill, path: &str) -> Result<RawResource, AccessError> {
    let (inner, bytes) = fetch(skill, path)?;
    let mime = mime::guess(inner.as_str(), &bytes);
    Ok(RawResource { name: skill.name().into_owned(), path: inner.into_string(), bytes, mime })
}

fn fetch(skill: &Skill, path: &str) -> Result<(Inner, Vec<u8>), AccessError> {
    if let Some(closed) = Closed::to_reading(skill) {
        return Err(closed.into());
    }
    let inner = Inner::parse(path)?;
    if inner.is_folder() {
        return Err(AccessError::Directory { path: ".".to_owned() });
    }
    if is_gits(inner.as_str()) {
        return Err(AccessError::NotFound { path: shown(inner.as_str()), nearest: None });
    }
    let bytes = match skill.supplied() {
        Some(supplied) => from_supply(skill, supplied, &inner),
        None if skill.root().is_embedded() => from_binary(skill, &inner),
        None => from_disk(skill, &inner),
    };
    match bytes {
        Ok(bytes) => {
            skill.verify.admit_file(skill, inner.as_str(), &bytes)?;
            Ok((inner, bytes))
        }
        Err(AccessError::NotFound { path, nearest: None }) => {
            Err(AccessError::NotFound { nearest: list::nearest(skill, inner.as_str()), path })
        }
        Err(error) => Err(error),
    }
}

/// Nothing but what was listed is asked for: whatever else the server may have is a change of the skill.
fn from_supply(skill: &Skill, supplied: &Supplied, inner: &Inner) -> Result<Vec<u8>, AccessError> {
    let path = inner.as_str();
    let is_folder =
        |file: &OfferedFile| file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    let offered = supplied.offered();
    if offered.file(path).is_none() && offered.files.iter().any(is_folder) {
        return Err(AccessError::Directory { path: shown(path) });
    }
    Ok(skill.verify.fetch(supplied, path)?)
}

fn from_binary(skill: &Found, inner: &Inner) -> Result<Vec<u8>, AccessError> {
    let files = place::bundled(skill).map(|skill| skill.files).unwrap_or_default();
    let path = inner.as_str();
    if let Some((_, bytes)) = files.iter().find(|(known, _)| *known == path) {
        return Ok(bytes.to_vec());
    }
    let is_folder = |known: &str| known.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    let path = shown(path);
    Err(if files.iter().any(|(known, _)| is_folder(known)) {
        AccessError::Directory { path }
    } else {
        AccessError::NotFound { path, nearest: None }
    })
}

fn from_disk(skill: &Skill, inner: &Inner) -> Result<Vec<u8>, AccessError> {
    let path = inner.as_str();
    let is_own_link = matches!(skill.link(), Some(Link { folder: false, .. })) && path == skill.file.as_str();
    let (file, stat) = if is_own_link {
        place::skill_md(skill).map_err(|error| AccessError::os(path, error))?
    } else {
        place::file(skill, path).map_err(|error| match error {
            PlaceError::Folder(error) => no_folder(skill, error),
            PlaceError::File(error) => AccessError::os(path, error),
        })?
    };
    read_whole(&file, &stat, FILE_MAX).map_err(|error| AccessError::read(path, error, FILE_MAX))
}

/// The skill's folder, if it is still what it was.
fn open_folder(skill: &Skill) -> Result<Folder, AccessError> {
    place::folder(skill).map_err(|error| no_folder(skill, error))
}

fn no_folder(skill: &Skill, error: Errno) -> AccessError {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => AccessError::Gone { name: shown_name(skill) },
        other => AccessError::os("the skill's folder", other),
    }
}

/// Bytes to text that may be shown: nothing binary, no escapes, not more than the limit.
fn as_text(name: String, inner: Inner, bytes: Vec<u8>, limit: u64) -> Result<Resource, AccessError> {
    let size = bytes.len() as u64;
    // The whole file is looked at, not only what is shown of it.
    let Ok(mut content) = String::from_utf8(bytes) else {
        return Err(AccessError::Binary { path: shown(inner.as_str()) });
    };
    let has_controls = text::has_controls(content.as_bytes());
    if has_controls && content.contains('\0') {
        return Err(AccessError::Binary { path: shown(inner.as_str()) });
    }
    let truncated = text::cut_text(&mut content, limit);
    if has_controls {
        text::strip_escapes(&mut content, 0);
    }
    if let Some(truncated) = truncated {
        content.push_str(&format!("\n\n{truncated}"));
        content.shrink_to_fit();
    }
    Ok(Resource { name, path: inner.into_string(), content, truncated, bytes: size })
}
