//! One file of a skill: the old bytes or the new ones, and never over what somebody else wrote meanwhile.
//!
//! The file is written beside the skill and put in with one rename that exchanges the two. Then what came out is looked
//! at: where it is not what the editor had read, it goes back.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use prowess::{Contents, ErrorCode, Policy, Skill, Surroundings, digest};
use prowess_format::{Diagnostic, Rules, parse};
use prowess_fs::{
    Errno, FileType, Folder, Put, ReadError, Replaces, create_new, read_whole, set_permissions, words,
};

use super::OwnError;
use super::accepted::Accepted;
use crate::error::PackageError;
use crate::install::no_collisions;
use crate::place::Place;
use crate::place::stage::Stage;
use prowess_archive::InnerPath;
use prowess_archive::code;
use prowess_archive::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};

/// What the editor thinks is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Anything, or nothing.
    Any,
    /// Nothing.
    Nothing,
    /// A file with this digest.
    Digest(String),
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its path below the skill's folder.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its digest.
    pub digest: String,
    /// What there is to say about it, where it is the manifest; no errors.
    pub diagnostics: Vec<Diagnostic>,
}

/// Writes a file of a skill of the user's.
pub fn write(
    skill: &Skill,
    path: &str,
    bytes: &[u8],
    expected: &Expected,
    policy: &Policy,
    world: &Surroundings,
) -> Result<Written, OwnError> {
    let not_own = |why| OwnError::NotOwn { name: skill.name().into_owned(), why };
    let place = Place::of_own(skill, policy, world).map_err(not_own)?;
    let parsed = InnerPath::parse(path.as_bytes());
    let inner = parsed.map_err(|why| OwnError::Path { path: path.to_owned(), why })?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(PackageError::Limit { what: format!("the size of {inner}"), limit: FILE_MAX }.into());
    }
    let diagnostics = judged(skill, &inner, bytes, &policy.manifest)?;
    place.is_writable()?;
    let _guard = place.guard()?;
    place.clear()?;
    let folder = skill.canonical_folder();
    let target = Target { folder: Folder::open_resolved(&folder).map_err(target_error(&inner))?, inner };
    let there = target.there()?;
    fits(skill, &target.inner, bytes, there.as_ref())?;
    target.is_expected(there.as_ref().map(|there| there.digest.as_deref()), expected)?;
    let executable = there.as_ref().is_some_and(|there| there.mode & 0o111 != 0);
    let after = (target.inner.as_str(), executable, bytes);
    let accepted = Accepted::before(&place, &skill.folder(), &folder, after)?;
    let stage = Stage::make(folder.parent().unwrap_or(&folder))?;
    let mode = there.as_ref().map(|there| there.mode);
    let staged = staged(&stage, bytes, mode).map_err(PackageError::io("written", &folder))?;
    let put = target.put(&staged, expected, there.is_some());
    put.inspect_err(|_| accepted.take_back(world, &folder))?;
    // Nobody who kills a process can take a rename back; a power cut could, before this.
    let _ = File::open(&folder).and_then(|folder| folder.sync_all());
    let (path, size) = (target.inner.to_string(), bytes.len() as u64);
    Ok(Written { path, bytes: size, digest: digest(bytes), diagnostics })
}

/// A manifest must load.
fn judged(
    skill: &Skill,
    inner: &InnerPath,
    bytes: &[u8],
    rules: &Rules,
) -> Result<Vec<Diagnostic>, OwnError> {
    let location = skill.location();
    let own = location.file_name().is_some_and(|name| name == inner.as_str());
    if !own && inner.as_str() != "SKILL.md" {
        return Ok(Vec::new());
    }
    let parsed = parse(bytes, Some(&skill.id()), rules);
    match parsed.document.is_none() || parsed.diagnostics.iter().any(Diagnostic::is_error) {
        true => Err(OwnError::Invalid { path: inner.to_string(), diagnostics: parsed.diagnostics }),
        false => Ok(parsed.diagnostics),
    }
}

/// A skill does not grow beyond what could be installed.
fn fits(skill: &Skill, inner: &InnerPath, bytes: &[u8], there: Option<&There>) -> Result<(), OwnError> {
    let contents = Contents::of(skill);
    let limit = |what: &str, limit| Err(PackageError::Limit { what: what.to_owned(), limit }.into());
    if there.is_none() && (contents.cut || contents.files.len() >= FILES_MAX) {
        return limit("the number of files", contents.files.len() as u64);
    }
    let old = there.map_or(0, |there| there.size);
    if contents.bytes().saturating_sub(old) + bytes.len() as u64 > TOTAL_MAX {
        return limit("the size of the skill", TOTAL_MAX);
    }
    if there.is_some() {
        return Ok(());
    }
    let others = contents
        .files
        .iter()
        .map(|file| file.path.as_str())
        .chain(contents.refused.iter().map(String::as_str));
    // Names that cannot be paths were not written by us, and collide with nothing that can be.
    let others: Vec<InnerPath> = others.filter_map(|path| InnerPath::parse(path.as_bytes()).ok()).collect();
    Ok(no_collisions(std::iter::once(inner).chain(&others))?)
}

/// A place in a skill.
struct Target {
    folder: Folder,
    inner: InnerPath,
}

/// A file that is there.
struct There {
    /// None where it is too large to have been read by anybody.
    digest: Option<String>,
    size: u64,
    mode: u32,
}

impl Target {
    fn path(&self) -> &Path {
        Path::new(self.inner.as_str())
    }

    /// What is there now.
    fn there(&self) -> Result<Option<There>, OwnError> {
        let (file, stat) = match self.folder.file(self.path()) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(target_error(&self.inner)(error)),
        };
        let refused =
            |code, why: &str| OwnError::File { path: self.inner.to_string(), code, why: why.to_owned() };
        let read = match read_whole(&file, &stat, FILE_MAX) {
            Ok(bytes) => Some(digest(&bytes)),
            Err(ReadError::TooLarge(_)) => None,
            Err(ReadError::NotAFile(FileType::Directory)) => {
                return Err(refused(ErrorCode::IsDirectory, "it is a folder"));
            }
            Err(ReadError::NotAFile(_)) => {
                return Err(refused(ErrorCode::AccessDenied, "it is not a regular file"));
            }
            Err(ReadError::Changing) => return Err(self.changed(None)),
            Err(ReadError::Os(error)) => return Err(target_error(&self.inner)(error)),
        };
        let size = stat.size();
        Ok(Some(There { digest: read, size, mode: stat.permissions() & 0o777 }))
    }

    fn changed(&self, now: Option<String>) -> OwnError {
        OwnError::Changed { path: self.inner.to_string(), now }
    }

    fn is_expected(&self, there: Option<Option<&str>>, expected: &Expected) -> Result<(), OwnError> {
        let fine = match (expected, there) {
            (Expected::Any, _) | (Expected::Nothing, None) => true,
            (Expected::Digest(wanted), Some(Some(there))) => wanted == there,
            (Expected::Nothing, Some(_)) | (Expected::Digest(_), None | Some(None)) => false,
        };
        if fine { Ok(()) } else { Err(self.changed(there.flatten().map(str::to_owned))) }
    }

    /// Puts the file in its place.
    fn put(&self, staged: &Path, expected: &Expected, is_there: bool) -> Result<(), OwnError> {
        let failed = target_error(&self.inner);
        if !is_there {
            let made = self.folder.make_folders(self.path()).map_err(failed)?;
            let put = self.folder.put(staged, self.path(), Replaces::Nothing);
            return put.map(drop).map_err(|error| {
                self.folder.remove_folders(&made);
                match error {
                    Errno::EXIST => self.changed(None),
                    error => target_error(&self.inner)(error),
                }
            });
        }
        let put = self.folder.put(staged, self.path(), Replaces::File).map_err(|error| match error {
            // Somebody deleted it just now.
            Errno::NOENT => self.changed(None),
            error => failed(error),
        })?;
        let Expected::Digest(wanted) = expected else { return Ok(()) };
        if put == Put::Gone {
            return Ok(());
        }
        // What came out is what the editor had read, or it goes back.
        let came = prowess::read_bounded(staged, FILE_MAX).map(|bytes| digest(&bytes));
        if came.as_ref() == Some(wanted) {
            return Ok(());
        }
        let back = self.folder.put(staged, self.path(), Replaces::File);
        back.map_err(target_error(&self.inner))?;
        Err(self.changed(came))
    }
}

fn staged(stage: &Stage, bytes: &[u8], mode: Option<u32>) -> std::io::Result<PathBuf> {
    let path = stage.path().join("file");
    let mut file = create_new(&path, 0o644)?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        set_permissions(&file, mode)?;
    }
    file.sync_all()?;
    Ok(path)
}

fn target_error(inner: &InnerPath) -> impl Fn(Errno) -> OwnError + use<> {
    let path = inner.to_string();
    move |error| {
        let why = match error {
            Errno::NOTDIR => "a file is where a folder should be".to_owned(),
            error => words(error),
        };
        OwnError::File { path: path.clone(), code: code(error), why }
    }
}
