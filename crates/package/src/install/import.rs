//! Importing: what somebody sends, an archive or the files of a folder, to one skill in a place.

use prowess::ErrorCode;
use prowess::lock::Lock;
use prowess_format::{SkillName, hidden};

use super::group::UPLOADED;
use super::plan::{Action, Item, Plan};
use super::prepare::{Called, Prepared, folder_name, prepare_as};
use super::{Asks, Conflict, Decided, Judge, OnConflict, admit, decide, locked};
use crate::acquire::{Candidate, Names, Origin, candidate};
use crate::error::PackageError;
use crate::place::Place;
use crate::work::Work;
use prowess_archive::InnerPath;
use prowess_archive::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};
use prowess_archive::{self as archive, MemoryFile, MemoryTree};

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upload {
    /// An archive, with the name of its file.
    Archive(String, Vec<u8>),
    /// Files, each with its path.
    Files(Vec<(String, Vec<u8>)>),
}

/// What skills are known by, and so what becomes of a name that is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// By their names: the manifest takes the name that is given.
    ByName,
    /// By their folders: the manifest stays as it is.
    ByFolder,
}

/// What is to become of it.
#[derive(Debug, Clone)]
pub struct Import<'a> {
    /// What is sent.
    pub upload: &'a Upload,
    /// What the skill is to be called, if not what it calls itself, or its folder.
    pub id: Option<&'a str>,
    /// What skills are known by.
    pub known: Known,
    /// Whether it may take the place of a skill.
    pub overwrite: bool,
    /// Whether what the audit refuses is taken all the same.
    pub accept_risk: bool,
    /// Whether findings of high severity are accepted. Accepting the risk includes this.
    pub accept_findings: bool,
}

/// Decides what becomes of what was sent: one item, staged and checked. Nothing is changed before [`Plan::commit`].
pub fn plan_import(
    import: &Import<'_>,
    place: &Place,
    judge: &Judge<'_>,
    work: &Work,
) -> Result<Plan, PackageError> {
    let tree = tree(import.upload)?;
    let candidate = only(&tree, import.upload)?;
    let id = id(import, &candidate)?;
    let called = match (import.known, &id) {
        (_, None) => Called::Itself,
        (Known::ByName, Some(id)) => Called::Name(id),
        (Known::ByFolder, Some(id)) => Called::Folder(id),
    };
    let mut plan = Plan::begin(place)?;
    let prepared = prepare_as(&tree, &candidate, called, judge, plan.stage()?, work)?;
    let origin = Origin { source: source(import.upload), reference: None, commit: None };
    let after = locked(&origin, &prepared, place);
    let lock = Lock::read(&place.lock)?;
    let mut asks = Answers {
        overwrite: import.overwrite,
        accept_risk: import.accept_risk,
        accept_findings: import.accept_findings || import.accept_risk,
    };
    let Decided::Item(item) = decide(prepared, after, &lock, place, &mut asks)? else {
        return Err(PackageError::Taken(place.root.clone()));
    };
    if let Some(prepared) = &item.prepared {
        admit(prepared, &mut asks)?;
    }
    // The same again is nothing that changes, but it is there all the same.
    if item.action == Action::Keep && !import.overwrite {
        return Err(PackageError::Taken(item.folder));
    }
    plan.items.push(*item);
    Ok(plan)
}

/// What the caller decided beforehand.
struct Answers {
    overwrite: bool,
    accept_risk: bool,
    accept_findings: bool,
}

impl Asks for Answers {
    fn pick(&mut self, _: &str, there: &[Candidate]) -> Result<Vec<usize>, PackageError> {
        Ok((0..there.len()).collect())
    }

    fn conflict(&mut self, conflict: &Conflict<'_>) -> Result<OnConflict, PackageError> {
        match self.overwrite {
            true => Ok(OnConflict::Overwrite),
            false => Err(PackageError::Taken(conflict.folder.to_owned())),
        }
    }

    fn risk(&mut self, _: &Prepared) -> Result<bool, PackageError> {
        Ok(self.accept_risk)
    }

    fn confirm_findings(&mut self, _: &Prepared) -> Result<bool, PackageError> {
        Ok(self.accept_findings)
    }

    fn increase(&mut self, _: &Item) -> Result<bool, PackageError> {
        Ok(true)
    }
}

fn tree(upload: &Upload) -> Result<MemoryTree, PackageError> {
    match upload {
        Upload::Archive(_, bytes) => Ok(archive::read(bytes)?),
        Upload::Files(files) => of_files(files),
    }
}

/// Files with names from strangers, each made a path first.
fn of_files(files: &[(String, Vec<u8>)]) -> Result<MemoryTree, PackageError> {
    let limit = |what: String, limit| Err(PackageError::Limit { what, limit });
    if files.len() > FILES_MAX {
        return limit("the number of files".to_owned(), FILES_MAX as u64);
    }
    let (mut total, mut taken) = (0, Vec::with_capacity(files.len()));
    for (raw, bytes) in files {
        let path =
            InnerPath::parse(raw.as_bytes()).map_err(|why| PackageError::Path { path: raw.clone(), why })?;
        total += bytes.len() as u64;
        if bytes.len() as u64 > FILE_MAX {
            return limit(format!("the size of {path}"), FILE_MAX);
        }
        if total > TOTAL_MAX {
            return limit("the size of all files".to_owned(), TOTAL_MAX);
        }
        taken.push(MemoryFile { path, executable: false, bytes: bytes.clone() });
    }
    let mut paths: Vec<&InnerPath> = taken.iter().map(|file| &file.path).collect();
    paths.sort();
    if let Some([twice, _]) = paths.array_windows().find(|[a, b]| a == b) {
        return Err(PackageError::Collision(twice.to_string(), twice.to_string()));
    }
    Ok(MemoryTree::new(taken))
}

/// The one skill that is in it.
fn only(tree: &MemoryTree, upload: &Upload) -> Result<Candidate, PackageError> {
    let mut there = candidate::find(tree, false, Names::OfManifests)?;
    match there.len() {
        0 => Err(PackageError::NoSkill(name(upload))),
        1 => Ok(there.remove(0)),
        _ => {
            let there = there.into_iter().map(|candidate| candidate.name).collect();
            Err(PackageError::Many { source_text: name(upload), there })
        }
    }
}

/// What the folder is to be called; `None` where the manifest decides.
fn id(import: &Import<'_>, candidate: &Candidate) -> Result<Option<String>, PackageError> {
    if let Some(id) = import.id {
        return folder_name(id).map(Some);
    }
    if import.known == Known::ByName {
        return Ok(None);
    }
    let inner = candidate.folder.rsplit('/').next().unwrap_or_default();
    let stem = match import.upload {
        Upload::Archive(name, _) => name.rsplit('/').next().unwrap_or_default().split('.').next(),
        Upload::Files(_) => None,
    };
    let names = [Some(inner), stem, Some(candidate.name.as_str())];
    let names = names.into_iter().flatten().filter_map(|name| SkillName::parse(name).ok());
    let first = names.map(|name| name.suggestion()).find(|name| !name.is_empty());
    first.map(|name| folder_name(name.trim_end_matches('-'))).transpose()?.map(Some).ok_or_else(|| {
        PackageError::Acquire {
            code: ErrorCode::InvalidParam,
            message: "what was sent has no name to make an id of".to_owned(),
            hint: Some("give it an id".to_owned()),
        }
    })
}

/// What was sent, as people call it.
fn name(upload: &Upload) -> String {
    match upload {
        Upload::Archive(name, _) if !name.is_empty() => hidden::shown(name).into_owned(),
        Upload::Archive(..) | Upload::Files(_) => "what was sent".to_owned(),
    }
}

/// What the lock says of where it came from. The name of a file says nothing about anybody's machine.
fn source(upload: &Upload) -> String {
    let file = match upload {
        Upload::Archive(name, _) => name.rsplit(['/', '\\']).next().unwrap_or_default(),
        Upload::Files(_) => "folder",
    };
    let plain = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    format!("{UPLOADED}{}", file.chars().filter(plain).take(100).collect::<String>())
}
