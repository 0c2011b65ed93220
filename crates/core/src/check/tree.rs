//! Searches a tree for skills, level by level.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use prowess_format::dialects::{Client, OPENAI_YAML, OpenAiYaml, SkillFile};
use prowess_format::{Code, Diagnostic, RuleLevel, Rules, parse};
use prowess_fs::{Dir, DirEntry, EntryKind, Errno, FileType, Stat, describe_errno, parallel_map};

use super::{CheckOptions, CheckedSkill, add_advice, clients, is_skipped_dir};
use crate::FileDiagnostic;
use crate::discovery::{ManifestRead, ScanProgress, read_and_parse, read_frontmatter, read_openai_yaml};

/// The maximum depth of a tree.
const DEPTH_MAX: usize = 32;

/// The maximum number of directories in a tree.
const DIRS_MAX: usize = 500_000;

/// The directories that hold a skill's own files. A `SKILL.md` in them is not a nested skill.
const RESOURCE_DIRS: [&str; 3] = ["references", "scripts", "assets"];
/// Searches a tree and checks its skills.
pub(super) struct TreeChecker<'a> {
    pub(super) options: CheckOptions<'a>,
    pub(super) root: Dir,
    pub(super) links: LinkPolicy,
}

/// Where a `SKILL.md` that is a symlink may point.
pub(super) enum LinkPolicy {
    /// Anywhere: the file was passed explicitly.
    Followed,
    /// Into the checked tree. An untrusted tree must not reveal files from elsewhere.
    Within(PathBuf),
}

/// The result of searching a tree.
#[derive(Default)]
pub(super) struct SearchResult {
    /// The skills, sorted by path.
    pub(super) checked: Vec<CheckedSkill>,
    /// The directories that could not be searched, and the reasons.
    pub(super) failed: Vec<(PathBuf, Diagnostic)>,
    /// The directories and symlinks that are never searched, except `.git`.
    pub(super) skipped: Vec<PathBuf>,
    /// The directories with a `SKILL.md` inside a skill.
    pub(super) nested: Vec<PathBuf>,
}

/// A directory to search.
struct SearchTask {
    inner: PathBuf,
    /// Whether it is inside a skill.
    in_skill: bool,
}

impl TreeChecker<'_> {
    /// Searches the tree, level by level.
    pub(super) fn search(&self, progress: &ScanProgress) -> SearchResult {
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
        if !self.options.with_advice || self.has_resource_dirs_only(inner) {
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

    pub(super) fn skill(&self, inner: &Path, name: &OsStr) -> CheckedSkill {
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
        let mut client_diagnostics = Vec::new();
        let ManifestRead { manifest, mut diagnostics } = match opened {
            Ok((file, stat)) if !self.options.with_advice => {
                read_frontmatter(&file, &stat, &id, self.options.rules)
            }
            Ok((file, stat)) => {
                let (mut parsed, bytes) = read_and_parse(&file, &stat, &id, self.options.rules);
                add_advice(&mut parsed, &bytes, |path| self.exists(&inner.join(path)));
                client_diagnostics = self.check_clients(inner, name, &bytes);
                parsed.into()
            }
            Err(diagnostic) => ManifestRead { manifest: None, diagnostics: vec![diagnostic] },
        };
        if name != "SKILL.md" {
            diagnostics.insert(0, file_name_diagnostic(&name.to_string_lossy(), self.options.rules));
        }
        CheckedSkill {
            client_diagnostics,
            ..CheckedSkill::new(dir.join(name), manifest.as_ref(), diagnostics)
        }
    }

    /// Checks a text that is not saved yet, as the file `name` of the root.
    pub(super) fn check_text(&self, name: &OsStr, source: &[u8]) -> CheckedSkill {
        let (dir, inner) = (self.root.path(), Path::new("."));
        let id = dir.file_name().unwrap_or_default().to_string_lossy();
        let mut parsed = parse(source, Some(&id), self.options.rules);
        add_advice(&mut parsed, source, |path| self.exists(path));
        let client_diagnostics = self.check_clients(inner, name, source);
        let ManifestRead { manifest, mut diagnostics } = parsed.into();
        if name != "SKILL.md" {
            diagnostics.insert(0, file_name_diagnostic(&name.to_string_lossy(), self.options.rules));
        }
        CheckedSkill {
            client_diagnostics,
            ..CheckedSkill::new(dir.join(name), manifest.as_ref(), diagnostics)
        }
    }

    /// Returns `true` if a path beneath the root exists. A file that cannot be opened exists nevertheless.
    fn exists(&self, inner: &Path) -> bool {
        let is_missing = |error: Errno| matches!(error, Errno::NOENT | Errno::NOTDIR);
        !self.root.stat(inner).is_err_and(is_missing)
    }

    /// Returns what the requested clients do with a skill.
    fn check_clients(&self, inner: &Path, name: &OsStr, source: &[u8]) -> Vec<FileDiagnostic> {
        let requested = self.options.clients;
        if requested.is_empty() {
            return Vec::new();
        }
        let dir = self.absolute(inner);
        let openai_yaml = read_openai_yaml(&self.root, inner);
        let file = SkillFile {
            source,
            file_name: name.to_str(),
            dir_name: dir.file_name().and_then(OsStr::to_str),
            depth: depth_below_skills(&dir),
            hidden_by_openai_yaml: openai_yaml
                .as_ref()
                .is_some_and(|file: &OpenAiYaml| file.hides_skill() && !file.is_ignored),
        };
        let mut diagnostics = clients::check_clients(requested, &dir.join(name), &file);
        if let Some(openai_yaml) = openai_yaml.filter(|_| requested.contains(&Client::Codex)) {
            let path = dir.join(OPENAI_YAML);
            diagnostics.extend(
                openai_yaml.diagnostics.into_iter().map(|diagnostic| FileDiagnostic::new(&path, diagnostic)),
            );
        }
        diagnostics
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

/// Returns the number of levels below the nearest directory of skills; `None` if there is none.
fn depth_below_skills(dir: &Path) -> Option<usize> {
    dir.ancestors().skip(1).position(holds_skills).map(|levels| levels + 1)
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
