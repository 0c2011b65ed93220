//! Judging skill folders, `SKILL.md` files, and trees of them.
//!
//! Unlike a scan, a check reads whole files, body included, and looks at everything below a path: it is for authors.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic, Level, Manifest, Parsed, Rules, parse};

use prowess_fs::{Errno, FileType, Stat, parallel};

use crate::scan::{Progress, Read, check_file, head};
use prowess_fs::{Entry, EntryKind, Folder, words};

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
    /// The toolsets that its frontmatter names; none where it does not load.
    pub toolsets: Vec<Box<str>>,
}

impl Checked {
    /// A path without a skill that loads.
    fn failed(path: PathBuf, diagnostic: Diagnostic) -> Self {
        Self { path, name: None, diagnostics: vec![diagnostic], toolsets: Vec::new() }
    }

    fn of(path: PathBuf, manifest: Option<&Manifest>, diagnostics: Vec<Diagnostic>) -> Self {
        let name = manifest.map(|manifest| manifest.name().to_string());
        let toolsets = manifest.map_or_else(Vec::new, |manifest| manifest.toolsets().to_vec());
        Self { path, name, diagnostics, toolsets }
    }

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
    check_tree(path, rules, progress).map(|tree| tree.checked)
}

/// The skills of a tree, and the folders of it that were not searched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckedTree {
    /// The skills, in the order of their paths.
    pub checked: Vec<Checked>,
    /// Folders of dependencies and links to folders, in the order of their paths.
    pub passed_over: Vec<PathBuf>,
    /// Folders with a `SKILL.md` that are inside a skill, in the order of their paths. They belong to that skill: no
    /// command lists or installs them. [`find_tree`] does not look for them.
    pub nested: Vec<PathBuf>,
}

/// Checks what [`check`] checks, and also returns the folders that were not searched.
///
/// The search finds every skill that `install --all` and `list` would take: it goes into hidden folders and build
/// output, but not into [folders of dependencies and git](is_passed_over).
pub fn check_tree(path: &Path, rules: &Rules, progress: &Progress) -> Result<CheckedTree, CheckError> {
    tree(path, rules, true, progress)
}

/// Finds the skills that [`check_tree`] checks and reads their frontmatter. Nothing is said about bodies, and nothing that
/// goes beyond the rules.
pub fn find_tree(path: &Path, rules: &Rules, progress: &Progress) -> Result<CheckedTree, CheckError> {
    tree(path, rules, false, progress)
}

fn tree(path: &Path, rules: &Rules, advises: bool, progress: &Progress) -> Result<CheckedTree, CheckError> {
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
        let root = open(path.parent().unwrap_or(Path::new("/")))?;
        let checker = Checker { rules, root, links: Links::Followed, advises };
        let checked = vec![checker.skill(Path::new("."), name)];
        return Ok(CheckedTree { checked, ..CheckedTree::default() });
    }
    let links = Links::Within(std::fs::canonicalize(path).map_err(unreadable)?);
    let checker = Checker { rules, root: open(path)?, links, advises };
    let Tree { mut checked, failed, mut passed_over, mut nested } = checker.tree(progress);
    let failed = failed.into_iter();
    checked.extend(failed.map(|(inner, diagnostic)| Checked::failed(normal(&path.join(inner)), diagnostic)));
    if checked.is_empty() {
        // Naming a folder means that there should be a skill.
        let diagnostic = Diagnostic::error(Code::MissingFile, "there is no SKILL.md in this folder");
        let diagnostic = diagnostic.help("make one: prowess new NAME --description TEXT");
        checked.push(Checked::failed(path.clone(), diagnostic));
    }
    for paths in [&mut passed_over, &mut nested] {
        paths.iter_mut().for_each(|inner| *inner = normal(&path.join(&*inner)));
        paths.sort();
    }
    Ok(CheckedTree { checked, passed_over, nested })
}

/// Whether no command looks for skills in a folder of this name: git's own, and copies of what others publish.
pub fn is_passed_over(name: &[u8]) -> bool {
    matches!(name, b".git" | b"node_modules" | b"__MACOSX")
}

/// The directories that hold a skill's own files. A `SKILL.md` in them is not a nested skill.
const OWN_DIRECTORIES: [&str; 3] = ["references", "scripts", "assets"];

/// Checks the bytes of a `SKILL.md` that is in no folder, such as standard input; `path` is only what it is called.
///
/// ```
/// use prowess::check::check_source;
/// use prowess::format::Rules;
///
/// let checked = check_source("<stdin>".as_ref(), b"---\nname: pdf\n---\nDo it.", &Rules::strict());
/// assert!(!checked.is_valid());
/// ```
pub fn check_source(path: &Path, source: &[u8], rules: &Rules) -> Checked {
    let mut parsed = parse(source, None, rules);
    // Which files are beside it is not known.
    advise(&mut parsed, source, |_| true);
    let read = Read::from(parsed);
    Checked::of(path.to_owned(), read.manifest.as_ref(), read.diagnostics)
}

/// Adds what goes beyond the rules: recommendations, and the files that the body refers to.
fn advise(parsed: &mut Parsed, source: &[u8], exists: impl Fn(&Path) -> bool) {
    let body = parsed.document.as_ref().map_or(source.len(), |document| document.body as usize);
    if let Some(document) = &parsed.document {
        parsed.diagnostics.extend(crate::advice::advise(document, source));
    }
    parsed.diagnostics.extend(crate::references::check(source, body, exists));
}

fn open(path: &Path) -> Result<Folder, CheckError> {
    Folder::open(path).map_err(|error| CheckError::Unreadable { path: path.to_owned(), why: words(error) })
}

struct Checker<'a> {
    rules: &'a Rules,
    root: Folder,
    links: Links,
    /// Whether it looks at bodies, and says what goes beyond the rules.
    advises: bool,
}

/// Where a `SKILL.md` that is a link may lead.
enum Links {
    /// Anywhere: whoever names the file means what is in it.
    Followed,
    /// Into the tree that is checked. What is elsewhere is nobody's to show, whatever a tree from strangers says.
    Within(PathBuf),
}

/// What a tree holds.
#[derive(Default)]
struct Tree {
    /// The skills, in the order of their paths.
    checked: Vec<Checked>,
    /// The folders that were not looked into, and why.
    failed: Vec<(PathBuf, Diagnostic)>,
    /// The folders and links that are never looked into, but for git's own.
    passed_over: Vec<PathBuf>,
    /// The folders with a `SKILL.md` inside a skill.
    nested: Vec<PathBuf>,
}

/// A folder to look at.
struct Task {
    inner: PathBuf,
    /// Whether it is inside a skill.
    in_skill: bool,
}

impl Checker<'_> {
    /// Looks through the tree, level by level.
    fn tree(&self, progress: &Progress) -> Tree {
        let mut tree = Tree::default();
        let mut level = vec![Task { inner: PathBuf::from("."), in_skill: false }];
        let mut left = FOLDERS_MAX;
        for _ in 0..DEPTH_MAX {
            if level.is_empty() {
                break;
            }
            let looks = parallel(&level, 32, |task| {
                progress.add(1);
                if task.in_skill { self.look_in_skill(&task.inner) } else { self.look(&task.inner) }
            });
            let mut next = Vec::new();
            for (Task { inner, .. }, look) in level.into_iter().zip(looks) {
                let below = |names: Vec<Box<OsStr>>, in_skill: bool| {
                    names.into_iter().map(move |name| (name, in_skill))
                };
                let task =
                    |(name, in_skill): (Box<OsStr>, bool)| Task { inner: beneath(&inner, &name), in_skill };
                match look {
                    Look::Skill { checked, folders } => {
                        tree.checked.push(checked);
                        next.extend(below(folders, true).map(task));
                    }
                    Look::InSkill { nested, folders } => {
                        next.extend(below(folders, true).map(task));
                        if nested {
                            tree.nested.push(inner);
                        }
                    }
                    Look::Folders { skill, folders, passed_over } => {
                        tree.checked.extend(skill);
                        next.extend(below(folders, false).map(task));
                        tree.passed_over.extend(passed_over.iter().map(|name| beneath(&inner, name)));
                    }
                    Look::Failed(diagnostic) => tree.failed.push((inner, diagnostic)),
                }
            }
            if next.len() > left {
                let message = format!("there are more than {FOLDERS_MAX} folders; not all were looked into");
                tree.failed.push((PathBuf::from("."), bound(message)));
                next.truncate(left);
            }
            left -= next.len();
            level = next;
        }
        let (in_skill, others): (Vec<Task>, Vec<Task>) = level.into_iter().partition(|task| task.in_skill);
        tree.passed_over.extend(in_skill.into_iter().map(|task| task.inner));
        if let Some(first) = others.first() {
            let message =
                format!("{} folders lie deeper than {DEPTH_MAX} and were not looked into", others.len());
            tree.failed.push((first.inner.clone(), bound(message)));
        }
        tree.checked.sort_by(|a, b| a.path.cmp(&b.path));
        tree
    }

    fn look(&self, inner: &Path) -> Look {
        let holds_skills = holds_skills(&self.absolute(inner));
        // Most folders that are looked at are skills, and asking for the file is cheaper than listing them.
        if !holds_skills {
            match self.root.file(&inner.join("SKILL.md")) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
                opened => {
                    let checked = self.judge(inner, OsStr::new("SKILL.md"), opened);
                    return Look::Skill { checked, folders: self.folders_of_skill(inner) };
                }
            }
        }
        let entries = match self.root.folder(inner).and_then(|folder| folder.entries(FOLDERS_MAX)) {
            Ok(entries) => entries,
            // It was there when its name was listed.
            Err(Errno::NOENT | Errno::NOTDIR) => return Look::empty(),
            Err(error) => {
                let message = format!("the folder cannot be read: {}", words(error));
                return Look::Failed(Diagnostic::error(Code::DirectoryUnreadable, message));
            }
        };
        if entries.cut {
            return Look::Failed(bound(format!("the folder has more than {FOLDERS_MAX} entries")));
        }
        let named = |entry: &&Entry| entry.name.eq_ignore_ascii_case("SKILL.md");
        let skill = entries.list.iter().find(|entry| named(entry) && entry.kind != EntryKind::Folder);
        let skill = skill.map(|entry| self.skill(inner, &entry.name));
        // A SKILL.md in a directory of skills is a skill to some commands and hides the others from none.
        if let Some(skill) = skill {
            if !holds_skills {
                return Look::Skill { checked: skill, folders: self.folders_of_skill(inner) };
            }
            return self.folders(inner, entries.list, Some(skill));
        }
        self.folders(inner, entries.list, None)
    }

    /// The folders of a skill that may hold other skills.
    fn folders_of_skill(&self, inner: &Path) -> Vec<Box<OsStr>> {
        if !self.advises || self.has_own_directories_only(inner) {
            return Vec::new();
        }
        match self.look_in_skill(inner) {
            Look::InSkill { folders, .. } => folders,
            Look::Skill { .. } | Look::Folders { .. } | Look::Failed(_) => Vec::new(),
        }
    }

    /// Whether a skill has no directories but its own, as far as the link count shows. On most file systems a directory
    /// has two links and one more for each subdirectory, and a few calls of `stat` are cheaper than listing it. File
    /// systems that do not count have one link, so that the directory is listed.
    fn has_own_directories_only(&self, inner: &Path) -> bool {
        let Some(mut directories) = self.root.stat(inner).ok().and_then(|stat| stat.links().checked_sub(2))
        else {
            return false;
        };
        for name in OWN_DIRECTORIES {
            if directories == 0 {
                break;
            }
            let stat = self.root.stat(&inner.join(name));
            if stat.is_ok_and(|stat| stat.kind() == FileType::Directory) {
                directories -= 1;
            }
        }
        directories == 0
    }

    /// The absolute path of a directory in the tree.
    fn absolute(&self, inner: &Path) -> PathBuf {
        match inner == Path::new(".") {
            true => self.root.path().to_owned(),
            false => self.root.path().join(inner),
        }
    }

    /// Looks at a folder inside a skill. One that cannot be read is not an error of the skill.
    fn look_in_skill(&self, inner: &Path) -> Look {
        let entries = self.root.folder(inner).and_then(|folder| folder.entries(FOLDERS_MAX));
        let entries = entries.map_or_else(|_| Vec::new(), |entries| entries.list);
        let nested = entries
            .iter()
            .any(|entry| entry.kind == EntryKind::File && *entry.name == *OsStr::new("SKILL.md"));
        let is_searched = |entry: &Entry| {
            let name = entry.name.as_encoded_bytes();
            let is_own = OWN_DIRECTORIES.iter().any(|own| own.as_bytes() == name);
            entry.kind == EntryKind::Folder && !is_passed_over(name) && !is_own
        };
        let folders = entries.into_iter().filter(is_searched).map(|entry| entry.name).collect();
        Look::InSkill { nested, folders }
    }

    fn folders(&self, inner: &Path, entries: Vec<Entry>, skill: Option<Checked>) -> Look {
        let (mut folders, mut passed_over) = (Vec::new(), Vec::new());
        for entry in entries {
            match entry.kind {
                EntryKind::Folder if !is_passed_over(entry.name.as_encoded_bytes()) => {
                    folders.push(entry.name)
                }
                EntryKind::Folder if entry.name.as_encoded_bytes() != b".git" => passed_over.push(entry.name),
                EntryKind::Link if self.root.path().join(inner).join(&*entry.name).is_dir() => {
                    passed_over.push(entry.name);
                }
                EntryKind::Folder | EntryKind::Link | EntryKind::File | EntryKind::Special => {}
            }
        }
        Look::Folders { skill, folders, passed_over }
    }

    fn skill(&self, inner: &Path, name: &OsStr) -> Checked {
        self.judge(inner, name, self.root.file(&inner.join(name)))
    }

    fn judge(&self, inner: &Path, name: &OsStr, opened: Result<(OwnedFd, Stat), Errno>) -> Checked {
        let folder = self.absolute(inner);
        let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let opened = match opened {
            Err(Errno::LOOP) => self.follow(&folder.join(name)),
            opened => opened.map_err(refused),
        };
        let Read { manifest, mut diagnostics } = match opened {
            Ok((file, stat)) if !self.advises => head(&file, &stat, &id, self.rules),
            Ok((file, stat)) => {
                let (mut parsed, bytes) = check_file(&file, &stat, &id, self.rules);
                // What cannot be opened is there all the same.
                let gone = |error: Errno| matches!(error, Errno::NOENT | Errno::NOTDIR);
                let exists = |path: &Path| !self.root.stat(&inner.join(path)).is_err_and(gone);
                advise(&mut parsed, &bytes, exists);
                parsed.into()
            }
            Err(diagnostic) => Read { manifest: None, diagnostics: vec![diagnostic] },
        };
        if name != "SKILL.md" {
            diagnostics.insert(0, misnamed(&name.to_string_lossy(), self.rules));
        }
        Checked::of(folder.join(name), manifest.as_ref(), diagnostics)
    }

    /// Opens a `SKILL.md` that is a link where it leads.
    fn follow(&self, link: &Path) -> Result<(OwnedFd, Stat), Diagnostic> {
        let Ok(target) = std::fs::canonicalize(link) else {
            let diagnostic = Diagnostic::error(Code::LinkBroken, "SKILL.md is a link that leads nowhere");
            return Err(diagnostic.help("delete the link or mend it"));
        };
        if let Links::Within(tree) = &self.links
            && !target.starts_with(tree)
        {
            let message =
                format!("SKILL.md is a link that leads out of what is checked, to {}", target.display());
            let help = format!("check it by its name: prowess check {}", crate::shell::quote_path(link));
            return Err(Diagnostic::error(Code::LinkOutside, message).help(help));
        }
        let (folder, name) = (target.parent().unwrap_or(&target), target.file_name().unwrap_or_default());
        Folder::open_resolved(folder).and_then(|folder| folder.file(Path::new(name))).map_err(refused)
    }
}

enum Look {
    Skill {
        checked: Checked,
        folders: Vec<Box<OsStr>>,
    },
    /// A folder inside a skill.
    InSkill {
        /// Whether it has a `SKILL.md`.
        nested: bool,
        folders: Vec<Box<OsStr>>,
    },
    Folders {
        /// What a SKILL.md in a directory of skills says.
        skill: Option<Checked>,
        folders: Vec<Box<OsStr>>,
        passed_over: Vec<Box<OsStr>>,
    },
    Failed(Diagnostic),
}

impl Look {
    fn empty() -> Self {
        Self::Folders { skill: None, folders: Vec::new(), passed_over: Vec::new() }
    }
}

fn bound(message: String) -> Diagnostic {
    Diagnostic::error(Code::ScanBound, message).help("check the folders in it one by one")
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
        Errno::NXIO => Diagnostic::error(Code::NotAFile, "SKILL.md is a socket"),
        error => Diagnostic::error(Code::Unreadable, format!("the file cannot be read: {}", words(error))),
    }
}

/// The path of an entry, relative to the tree. Only the tree itself is called `.`.
fn beneath(inner: &Path, name: &OsStr) -> PathBuf {
    match inner == Path::new(".") {
        true => PathBuf::from(name),
        false => inner.join(name),
    }
}

/// Without the `.` that a relative walk leaves in a path.
fn normal(path: &Path) -> PathBuf {
    path.components().filter(|component| !matches!(component, std::path::Component::CurDir)).collect()
}
