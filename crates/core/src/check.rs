//! Checks skill directories, `SKILL.md` files and whole trees.
//!
//! Unlike discovery, a check reads whole files including the body, and searches everything below a path. It is
//! for authors of skills.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic, Manifest, ParseOutcome, RuleLevel, Rules, parse};

use prowess_fs::{Errno, FileType, Stat, parallel_map};

use crate::discovery::{ManifestRead, ScanProgress, read_and_parse, read_frontmatter};
use prowess_fs::{Dir, DirEntry, EntryKind, describe_errno};

/// The maximum depth of a tree.
const DEPTH_MAX: usize = 32;

/// The maximum number of directories in a tree.
const DIRS_MAX: usize = 500_000;

/// A checked skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedSkill {
    /// Its `SKILL.md`, or its directory if there is none.
    pub path: PathBuf,
    /// Its name, if it could be read.
    pub name: Option<String>,
    /// The diagnostics, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The toolsets listed in its frontmatter; empty if the skill is invalid.
    pub toolsets: Vec<Box<str>>,
}

impl CheckedSkill {
    /// Returns the result for a path without a valid skill.
    fn failed(path: PathBuf, diagnostic: Diagnostic) -> Self {
        Self { path, name: None, diagnostics: vec![diagnostic], toolsets: Vec::new() }
    }

    fn new(path: PathBuf, manifest: Option<&Manifest>, diagnostics: Vec<Diagnostic>) -> Self {
        let name = manifest.map(|manifest| manifest.name().to_string());
        let toolsets = manifest.map_or_else(Vec::new, |manifest| manifest.toolsets().to_vec());
        Self { path, name, diagnostics, toolsets }
    }

    /// Returns `true` if the skill loads under the rules.
    pub fn is_valid(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// The reason why a path could not be checked at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// It does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// It cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// It is a file that is not a `SKILL.md`.
    #[error("{} is not a SKILL.md", .0.display())]
    NotASkill(PathBuf),
}

/// Checks a skill directory, a `SKILL.md`, or every skill in a tree.
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
pub fn check(path: &Path, rules: &Rules, progress: &ScanProgress) -> Result<Vec<CheckedSkill>, CheckError> {
    check_tree(path, rules, progress).map(|tree| tree.checked)
}

/// The skills of a tree, and the directories that were not searched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckedTree {
    /// The skills, sorted by path.
    pub checked: Vec<CheckedSkill>,
    /// Dependency directories and symlinks to directories, sorted by path.
    pub skipped_dirs: Vec<PathBuf>,
    /// Directories with a `SKILL.md` inside another skill, sorted by path. They belong to that skill: no
    /// command lists or installs them. [`find_skills`] does not look for them.
    pub nested: Vec<PathBuf>,
}

/// Checks everything that [`check`] checks, and also returns the directories that were not searched.
///
/// The search finds every skill that `install --all` and `list` would find. It includes hidden directories and
/// build output, but not [dependency directories and `.git`](is_skipped_dir).
pub fn check_tree(path: &Path, rules: &Rules, progress: &ScanProgress) -> Result<CheckedTree, CheckError> {
    search(path, rules, true, progress)
}

/// Finds the skills that [`check_tree`] checks and reads only their frontmatter, without recommendations.
pub fn find_skills(path: &Path, rules: &Rules, progress: &ScanProgress) -> Result<CheckedTree, CheckError> {
    search(path, rules, false, progress)
}

fn search(
    path: &Path,
    rules: &Rules,
    with_advice: bool,
    progress: &ScanProgress,
) -> Result<CheckedTree, CheckError> {
    let path = &std::path::absolute(path).map_err(|_| CheckError::Missing(path.to_owned()))?;
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => CheckError::Missing(path.clone()),
        kind => CheckError::Unreadable { path: path.clone(), reason: kind.to_string() },
    };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_dir() {
        let name = path.file_name().unwrap_or_default();
        if !name.eq_ignore_ascii_case("SKILL.md") {
            return Err(CheckError::NotASkill(path.clone()));
        }
        let root = open_dir(path.parent().unwrap_or(Path::new("/")))?;
        let checker = TreeChecker { rules, root, links: LinkPolicy::Followed, with_advice };
        let checked = vec![checker.skill(Path::new("."), name)];
        return Ok(CheckedTree { checked, ..CheckedTree::default() });
    }
    let links = LinkPolicy::Within(std::fs::canonicalize(path).map_err(unreadable)?);
    let checker = TreeChecker { rules, root: open_dir(path)?, links, with_advice };
    let SearchResult { mut checked, failed, mut skipped, mut nested } = checker.search(progress);
    let failed = failed.into_iter();
    checked.extend(
        failed.map(|(inner, diagnostic)| CheckedSkill::failed(normalize(&path.join(inner)), diagnostic)),
    );
    if checked.is_empty() {
        // A directory that was passed explicitly should contain a skill.
        let diagnostic = Diagnostic::error(Code::MissingFile, "there is no SKILL.md in this directory");
        let diagnostic = diagnostic.help("create one: prowess new NAME --description TEXT");
        checked.push(CheckedSkill::failed(path.clone(), diagnostic));
    }
    for paths in [&mut skipped, &mut nested] {
        paths.iter_mut().for_each(|inner| *inner = normalize(&path.join(&*inner)));
        paths.sort();
    }
    Ok(CheckedTree { checked, skipped_dirs: skipped, nested })
}

/// Returns `true` for the names of directories that no command searches for skills: `.git`, and copies of
/// published packages.
pub fn is_skipped_dir(name: &[u8]) -> bool {
    matches!(name, b".git" | b"node_modules" | b"__MACOSX")
}

/// The directories that hold a skill's own files. A `SKILL.md` in them is not a nested skill.
const RESOURCE_DIRS: [&str; 3] = ["references", "scripts", "assets"];

/// Checks the bytes of a `SKILL.md` without a directory, such as standard input. `path` is only used for
/// display.
///
/// ```
/// use prowess::check::check_source;
/// use prowess::format::Rules;
///
/// let checked = check_source("<stdin>".as_ref(), b"---\nname: pdf\n---\nDo it.", &Rules::strict());
/// assert!(!checked.is_valid());
/// ```
pub fn check_source(path: &Path, source: &[u8], rules: &Rules) -> CheckedSkill {
    let mut parsed = parse(source, None, rules);
    // Assume that all files exist, since there is no directory.
    add_advice(&mut parsed, source, |_| true);
    let read = ManifestRead::from(parsed);
    CheckedSkill::new(path.to_owned(), read.manifest.as_ref(), read.diagnostics)
}

/// Adds recommendations and problems with references, which go beyond the rules.
fn add_advice(parsed: &mut ParseOutcome, source: &[u8], exists: impl Fn(&Path) -> bool) {
    let body = parsed.document.as_ref().map_or(source.len(), |document| document.body as usize);
    if let Some(document) = &parsed.document {
        parsed.diagnostics.extend(crate::advice::advise(document, source));
    }
    parsed.diagnostics.extend(crate::references::check_references(source, body, exists));
}

fn open_dir(path: &Path) -> Result<Dir, CheckError> {
    Dir::open(path)
        .map_err(|error| CheckError::Unreadable { path: path.to_owned(), reason: describe_errno(error) })
}

struct TreeChecker<'a> {
    rules: &'a Rules,
    root: Dir,
    links: LinkPolicy,
    /// Whether to read bodies and add recommendations.
    with_advice: bool,
}

/// Where a `SKILL.md` that is a symlink may point.
enum LinkPolicy {
    /// Anywhere: the file was passed explicitly.
    Followed,
    /// Into the checked tree. An untrusted tree must not reveal files from elsewhere.
    Within(PathBuf),
}

/// The result of searching a tree.
#[derive(Default)]
struct SearchResult {
    /// The skills, sorted by path.
    checked: Vec<CheckedSkill>,
    /// The directories that could not be searched, and the reasons.
    failed: Vec<(PathBuf, Diagnostic)>,
    /// The directories and symlinks that are never searched, except `.git`.
    skipped: Vec<PathBuf>,
    /// The directories with a `SKILL.md` inside a skill.
    nested: Vec<PathBuf>,
}

/// A directory to search.
struct SearchTask {
    inner: PathBuf,
    /// Whether it is inside a skill.
    in_skill: bool,
}

impl TreeChecker<'_> {
    /// Searches the tree, level by level.
    fn search(&self, progress: &ScanProgress) -> SearchResult {
        let mut tree = SearchResult::default();
        let mut level = vec![SearchTask { inner: PathBuf::from("."), in_skill: false }];
        let mut remaining = DIRS_MAX;
        for _ in 0..DEPTH_MAX {
            if level.is_empty() {
                break;
            }
            let visits = parallel_map(&level, 32, |task| {
                progress.add(1);
                if task.in_skill { self.visit_in_skill(&task.inner) } else { self.visit(&task.inner) }
            });
            let mut next = Vec::new();
            for (SearchTask { inner, .. }, visit) in level.into_iter().zip(visits) {
                let in_dirs = |names: Vec<Box<OsStr>>, in_skill: bool| {
                    names.into_iter().map(move |name| (name, in_skill))
                };
                let task = |(name, in_skill): (Box<OsStr>, bool)| SearchTask {
                    inner: child(&inner, &name),
                    in_skill,
                };
                match visit {
                    DirVisit::Skill { checked, dirs } => {
                        tree.checked.push(checked);
                        next.extend(in_dirs(dirs, true).map(task));
                    }
                    DirVisit::InSkill { nested, dirs } => {
                        next.extend(in_dirs(dirs, true).map(task));
                        if nested {
                            tree.nested.push(inner);
                        }
                    }
                    DirVisit::Dirs { skill, dirs, skipped } => {
                        tree.checked.extend(skill);
                        next.extend(in_dirs(dirs, false).map(task));
                        tree.skipped.extend(skipped.iter().map(|name| child(&inner, name)));
                    }
                    DirVisit::Failed(diagnostic) => tree.failed.push((inner, diagnostic)),
                }
            }
            if next.len() > remaining {
                let message = format!("there are more than {DIRS_MAX} directories; some were not searched");
                tree.failed.push((PathBuf::from("."), limit_reached(message)));
                next.truncate(remaining);
            }
            remaining -= next.len();
            level = next;
        }
        let (in_skill, others): (Vec<SearchTask>, Vec<SearchTask>) =
            level.into_iter().partition(|task| task.in_skill);
        tree.skipped.extend(in_skill.into_iter().map(|task| task.inner));
        if let Some(first) = others.first() {
            let message = format!(
                "{} directories are deeper than {DEPTH_MAX} levels and were not searched",
                others.len()
            );
            tree.failed.push((first.inner.clone(), limit_reached(message)));
        }
        tree.checked.sort_by(|a, b| a.path.cmp(&b.path));
        tree
    }

    fn visit(&self, inner: &Path) -> DirVisit {
        let holds_skills = holds_skills(&self.absolute(inner));
        // Most visited directories are skills, and opening the file is cheaper than listing the directory.
        if !holds_skills {
            match self.root.open_file(&inner.join("SKILL.md")) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
                opened => {
                    let checked = self.check_opened(inner, OsStr::new("SKILL.md"), opened);
                    return DirVisit::Skill { checked, dirs: self.nested_dirs(inner) };
                }
            }
        }
        let entries = match self.root.open_dir(inner).and_then(|dir| dir.entries(DIRS_MAX)) {
            Ok(entries) => entries,
            // It existed when its parent was listed.
            Err(Errno::NOENT | Errno::NOTDIR) => return DirVisit::empty(),
            Err(error) => {
                let message = format!("cannot read the directory: {}", describe_errno(error));
                return DirVisit::Failed(Diagnostic::error(Code::DirectoryUnreadable, message));
            }
        };
        if entries.truncated {
            return DirVisit::Failed(limit_reached(format!(
                "the directory has more than {DIRS_MAX} entries"
            )));
        }
        let is_skill_md = |entry: &&DirEntry| entry.name.eq_ignore_ascii_case("SKILL.md");
        let skill = entries.entries.iter().find(|entry| is_skill_md(entry) && entry.kind != EntryKind::Dir);
        let skill = skill.map(|entry| self.skill(inner, &entry.name));
        // In a directory of skills, some commands accept a SKILL.md as a skill, and all commands search the
        // subdirectories.
        if let Some(skill) = skill {
            if !holds_skills {
                return DirVisit::Skill { checked: skill, dirs: self.nested_dirs(inner) };
            }
            return self.list_dirs(inner, entries.entries, Some(skill));
        }
        self.list_dirs(inner, entries.entries, None)
    }

    /// Returns the subdirectories of a skill that may hold other skills.
    fn nested_dirs(&self, inner: &Path) -> Vec<Box<OsStr>> {
        if !self.with_advice || self.has_resource_dirs_only(inner) {
            return Vec::new();
        }
        match self.visit_in_skill(inner) {
            DirVisit::InSkill { dirs, .. } => dirs,
            DirVisit::Skill { .. } | DirVisit::Dirs { .. } | DirVisit::Failed(_) => Vec::new(),
        }
    }

    /// Returns `true` if the link count shows that a skill has no directories besides [`RESOURCE_DIRS`].
    ///
    /// On most file systems a directory has two links and one more for each subdirectory, so a few `stat` calls
    /// replace a listing. Directories have one link on file systems that do not count, and are listed there.
    fn has_resource_dirs_only(&self, inner: &Path) -> bool {
        let Some(mut dirs) = self.root.stat(inner).ok().and_then(|stat| stat.link_count().checked_sub(2))
        else {
            return false;
        };
        for name in RESOURCE_DIRS {
            if dirs == 0 {
                break;
            }
            let stat = self.root.stat(&inner.join(name));
            if stat.is_ok_and(|stat| stat.kind() == FileType::Directory) {
                dirs -= 1;
            }
        }
        dirs == 0
    }

    /// Returns the absolute path of a directory in the tree.
    fn absolute(&self, inner: &Path) -> PathBuf {
        match inner == Path::new(".") {
            true => self.root.path().to_owned(),
            false => self.root.path().join(inner),
        }
    }

    /// Visits a directory inside a skill. One that cannot be read is not an error of the skill.
    fn visit_in_skill(&self, inner: &Path) -> DirVisit {
        let entries = self.root.open_dir(inner).and_then(|dir| dir.entries(DIRS_MAX));
        let entries = entries.map_or_else(|_| Vec::new(), |entries| entries.entries);
        let nested = entries
            .iter()
            .any(|entry| entry.kind == EntryKind::File && *entry.name == *OsStr::new("SKILL.md"));
        let is_searched = |entry: &DirEntry| {
            let name = entry.name.as_encoded_bytes();
            let is_resource_dir = RESOURCE_DIRS.iter().any(|dir| dir.as_bytes() == name);
            entry.kind == EntryKind::Dir && !is_skipped_dir(name) && !is_resource_dir
        };
        let dirs = entries.into_iter().filter(is_searched).map(|entry| entry.name).collect();
        DirVisit::InSkill { nested, dirs }
    }

    fn list_dirs(&self, inner: &Path, entries: Vec<DirEntry>, skill: Option<CheckedSkill>) -> DirVisit {
        let (mut dirs, mut skipped) = (Vec::new(), Vec::new());
        for entry in entries {
            match entry.kind {
                EntryKind::Dir if !is_skipped_dir(entry.name.as_encoded_bytes()) => dirs.push(entry.name),
                EntryKind::Dir if entry.name.as_encoded_bytes() != b".git" => skipped.push(entry.name),
                EntryKind::Symlink if self.root.path().join(inner).join(&*entry.name).is_dir() => {
                    skipped.push(entry.name);
                }
                EntryKind::Dir | EntryKind::Symlink | EntryKind::File | EntryKind::Special => {}
            }
        }
        DirVisit::Dirs { skill, dirs, skipped }
    }

    fn skill(&self, inner: &Path, name: &OsStr) -> CheckedSkill {
        self.check_opened(inner, name, self.root.open_file(&inner.join(name)))
    }

    fn check_opened(
        &self,
        inner: &Path,
        name: &OsStr,
        opened: Result<(OwnedFd, Stat), Errno>,
    ) -> CheckedSkill {
        let dir = self.absolute(inner);
        let id = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let opened = match opened {
            Err(Errno::LOOP) => self.follow(&dir.join(name)),
            opened => opened.map_err(open_error),
        };
        let ManifestRead { manifest, mut diagnostics } = match opened {
            Ok((file, stat)) if !self.with_advice => read_frontmatter(&file, &stat, &id, self.rules),
            Ok((file, stat)) => {
                let (mut parsed, bytes) = read_and_parse(&file, &stat, &id, self.rules);
                // A file that cannot be opened exists nevertheless.
                let is_missing = |error: Errno| matches!(error, Errno::NOENT | Errno::NOTDIR);
                let exists = |path: &Path| !self.root.stat(&inner.join(path)).is_err_and(is_missing);
                add_advice(&mut parsed, &bytes, exists);
                parsed.into()
            }
            Err(diagnostic) => ManifestRead { manifest: None, diagnostics: vec![diagnostic] },
        };
        if name != "SKILL.md" {
            diagnostics.insert(0, file_name_diagnostic(&name.to_string_lossy(), self.rules));
        }
        CheckedSkill::new(dir.join(name), manifest.as_ref(), diagnostics)
    }

    /// Opens the target of a `SKILL.md` that is a symlink.
    fn follow(&self, link: &Path) -> Result<(OwnedFd, Stat), Diagnostic> {
        let Ok(target) = std::fs::canonicalize(link) else {
            let diagnostic = Diagnostic::error(Code::LinkBroken, "SKILL.md is a broken symlink");
            return Err(diagnostic.help("delete or fix the symlink"));
        };
        if let LinkPolicy::Within(tree) = &self.links
            && !target.starts_with(tree)
        {
            let message =
                format!("SKILL.md is a symlink to outside the checked directory: {}", target.display());
            let help = format!("check it on its own: prowess check {}", crate::shell::quote_path(link));
            return Err(Diagnostic::error(Code::LinkOutside, message).help(help));
        }
        let (dir, name) = (target.parent().unwrap_or(&target), target.file_name().unwrap_or_default());
        Dir::open_resolved(dir).and_then(|dir| dir.open_file(Path::new(name))).map_err(open_error)
    }
}

enum DirVisit {
    Skill {
        checked: CheckedSkill,
        dirs: Vec<Box<OsStr>>,
    },
    /// A directory inside a skill.
    InSkill {
        /// Whether it has a `SKILL.md`.
        nested: bool,
        dirs: Vec<Box<OsStr>>,
    },
    Dirs {
        /// The result for a SKILL.md in a directory of skills.
        skill: Option<CheckedSkill>,
        dirs: Vec<Box<OsStr>>,
        skipped: Vec<Box<OsStr>>,
    },
    Failed(Diagnostic),
}

impl DirVisit {
    fn empty() -> Self {
        Self::Dirs { skill: None, dirs: Vec::new(), skipped: Vec::new() }
    }
}

fn limit_reached(message: String) -> Diagnostic {
    Diagnostic::error(Code::ScanBound, message).help("check its subdirectories one by one")
}

/// Returns `true` if a directory has one of the usual names of skill directories.
fn holds_skills(dir: &Path) -> bool {
    let name = dir.file_name().unwrap_or_default();
    ["skills", ".skills", "sys.skills", "plugins"].iter().any(|usual| name == *usual)
}

fn file_name_diagnostic(name: &str, rules: &Rules) -> Diagnostic {
    let message = format!("the file is named {name}, not SKILL.md");
    let is_allowed = name == "skill.md" && rules.lowercase_file != RuleLevel::Reject;
    let diagnostic = match is_allowed {
        true => Diagnostic::warning(Code::FileName, message),
        false => Diagnostic::error(Code::FileName, message),
    };
    diagnostic.help(format!("rename it: git mv {name} SKILL.md"))
}

fn open_error(error: Errno) -> Diagnostic {
    match error {
        Errno::NXIO => Diagnostic::error(Code::NotAFile, "SKILL.md is a socket"),
        error => {
            Diagnostic::error(Code::Unreadable, format!("cannot read the file: {}", describe_errno(error)))
        }
    }
}

/// Returns the path of an entry relative to the tree. Only the tree itself is `.`.
fn child(inner: &Path, name: &OsStr) -> PathBuf {
    match inner == Path::new(".") {
        true => PathBuf::from(name),
        false => inner.join(name),
    }
}

/// Removes the `.` that a relative walk leaves in a path.
fn normalize(path: &Path) -> PathBuf {
    path.components().filter(|component| !matches!(component, std::path::Component::CurDir)).collect()
}
