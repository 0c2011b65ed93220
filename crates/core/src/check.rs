//! Judging skill folders, `SKILL.md` files, and trees of them.
//!
//! Unlike a scan, a check reads whole files, body included, and looks at everything below a path: it is for authors.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic, Level, Rules};
use rustix::io::Errno;

use crate::files::{EntryKind, Folder};
use crate::scan::{Progress, check_file, parallel};

/// How deep a tree is looked into.
const DEPTH_MAX: usize = 32;

/// The most folders of one tree.
const FOLDERS_MAX: usize = 500_000;

/// One skill, judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its `SKILL.md`, or its folder where there is none.
    pub path: PathBuf,
    /// Its name, where it could be read.
    pub name: Option<String>,
    /// What there is to say, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// Whether it loads under the rules it was judged by.
    pub fn is_valid(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// A path that cannot be checked at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// It does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// It cannot be read.
    #[error("{} cannot be read: {why}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A file that is not a `SKILL.md`.
    #[error("{} is not a SKILL.md", .0.display())]
    NotASkill(PathBuf),
}

/// Checks a skill folder, a `SKILL.md`, or every skill in a tree.
///
/// ```
/// use prowess::check::check;
/// use prowess::format::Rules;
///
/// let tree = tempfile::tempdir().unwrap();
/// std::fs::create_dir(tree.path().join("pdf")).unwrap();
/// std::fs::write(tree.path().join("pdf/SKILL.md"), "---\nname: pdf\ndescription: Reads.\n---\nDo it.").unwrap();
/// let checked = check(tree.path(), &Rules::strict(), &Default::default()).unwrap();
/// assert!(checked[0].is_valid());
/// ```
pub fn check(path: &Path, rules: &Rules, progress: &Progress) -> Result<Vec<Checked>, CheckError> {
    let path = &std::path::absolute(path).map_err(|_| CheckError::Missing(path.to_owned()))?;
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => CheckError::Missing(path.clone()),
        kind => CheckError::Unreadable { path: path.clone(), why: kind.to_string() },
    };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_dir() {
        let name = path.file_name().unwrap_or_default();
        if !name.eq_ignore_ascii_case("SKILL.md") {
            return Err(CheckError::NotASkill(path.clone()));
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        return Ok(vec![Checker { rules, root: open(folder)? }.skill(Path::new("."), name)]);
    }
    let checker = Checker { rules, root: open(path)? };
    let tree = checker.tree(progress);
    let mut checked = parallel(&tree, |(inner, name)| {
        progress.add(1);
        checker.skill(inner, name)
    });
    if checked.is_empty() {
        // Naming a folder means that there should be a skill.
        let diagnostic = Diagnostic::error(Code::MissingFile, "there is no SKILL.md in this folder");
        let diagnostic = diagnostic.help("make one: prowess new NAME --description TEXT");
        checked.push(Checked { path: path.clone(), name: None, diagnostics: vec![diagnostic] });
    }
    Ok(checked)
}

fn open(path: &Path) -> Result<Folder, CheckError> {
    Folder::open(path).map_err(|error| CheckError::Unreadable {
        path: path.to_owned(),
        why: std::io::Error::from(error).kind().to_string(),
    })
}

struct Checker<'a> {
    rules: &'a Rules,
    root: Folder,
}

impl Checker<'_> {
    /// Every folder below the root that holds a file named like `SKILL.md`, with that name.
    fn tree(&self, progress: &Progress) -> Vec<(PathBuf, Box<OsStr>)> {
        let mut skills = Vec::new();
        let mut level = vec![PathBuf::from(".")];
        for _ in 0..DEPTH_MAX {
            let looks = parallel(&level, |inner| {
                progress.add(1);
                self.look(inner)
            });
            let mut next = Vec::new();
            for (inner, look) in level.into_iter().zip(looks) {
                match look {
                    Look::Skill(name) => skills.push((inner, name)),
                    Look::Folders(names) => next.extend(names.into_iter().map(|name| inner.join(&*name))),
                }
            }
            next.truncate(FOLDERS_MAX.saturating_sub(skills.len()));
            level = next;
        }
        skills.sort();
        skills
    }

    fn look(&self, inner: &Path) -> Look {
        // Most folders that are looked at are skills, and asking for the file is cheaper than listing them.
        // A SKILL.md that strayed into a directory of skills must not hide them.
        let is_skill = self.root.stat(&inner.join("SKILL.md")).is_ok();
        if is_skill && !holds_skills(inner) {
            return Look::Skill(OsStr::new("SKILL.md").into());
        }
        let entries = match self.root.folder(inner).and_then(|folder| folder.entries(FOLDERS_MAX)) {
            Ok(entries) => entries.list,
            Err(_) => return Look::Folders(Vec::new()),
        };
        let named = |entry: &&crate::files::Entry| entry.name.eq_ignore_ascii_case("SKILL.md");
        let skill = entries.iter().find(|entry| named(entry) && entry.kind != EntryKind::Folder);
        if let Some(entry) = skill.filter(|_| !holds_skills(inner)) {
            return Look::Skill(entry.name.clone());
        }
        let folders =
            entries.into_iter().filter(|entry| entry.kind == EntryKind::Folder && !is_skipped(&entry.name));
        Look::Folders(folders.map(|entry| entry.name).collect())
    }

    fn skill(&self, inner: &Path, name: &OsStr) -> Checked {
        let folder = normal(&self.root.path().join(inner));
        let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (manifest, mut diagnostics) = match self.root.file(&inner.join(name)) {
            Ok((file, stat)) => {
                let (read, bytes) = check_file(&file, &stat, &id, self.rules);
                let mut diagnostics = read.diagnostics;
                diagnostics.extend(self.references(inner, &bytes));
                (read.manifest, diagnostics)
            }
            Err(error) => (None, vec![refused(error)]),
        };
        if name != "SKILL.md" {
            diagnostics.insert(0, misnamed(&name.to_string_lossy(), self.rules));
        }
        let name_of = |manifest: prowess_format::Manifest| manifest.name().to_string();
        Checked { path: folder.join(name), name: manifest.map(name_of), diagnostics }
    }

    /// Links of the body to files that are not there.
    fn references(&self, inner: &Path, source: &[u8]) -> Vec<Diagnostic> {
        crate::references::missing(source, |path| self.root.stat(&inner.join(path)).is_ok())
    }
}

enum Look {
    Skill(Box<OsStr>),
    Folders(Vec<Box<OsStr>>),
}

/// Version control, dependencies and build output; hidden folders are looked into only where agents keep skills.
fn is_skipped(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let agents = [&b".agents"[..], b".agent", b".claude", b".prowess", b".skills", b".codex", b".github"];
    matches!(name, b"node_modules" | b"target") || (name.starts_with(b".") && !agents.contains(&name))
}

/// Whether a folder is called what directories of skills are called.
fn holds_skills(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    ["skills", ".skills", "sys.skills", "plugins"].iter().any(|known| name == *known)
}

fn misnamed(name: &str, rules: &Rules) -> Diagnostic {
    let message = format!("the file is named {name}, not SKILL.md");
    let accepted = name == "skill.md" && rules.lowercase_file != Level::Reject;
    let diagnostic = match accepted {
        true => Diagnostic::warning(Code::FileName, message),
        false => Diagnostic::error(Code::FileName, message),
    };
    diagnostic.help(format!("rename it: git mv {name} SKILL.md"))
}

fn refused(error: Errno) -> Diagnostic {
    match error {
        Errno::LOOP => {
            Diagnostic::error(Code::LinkOutside, "SKILL.md is a link; it is checked where it leads")
                .help("check the folder it leads to")
        }
        Errno::NXIO => Diagnostic::error(Code::NotAFile, "SKILL.md is a socket"),
        error => {
            let words = std::io::Error::from(error).kind();
            Diagnostic::error(Code::Unreadable, format!("the file cannot be read: {words}"))
        }
    }
}

/// Without the `.` that a relative walk leaves in a path.
fn normal(path: &Path) -> PathBuf {
    path.components().filter(|component| !matches!(component, std::path::Component::CurDir)).collect()
}
