//! Scans one root, level by level.

mod commands;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use prowess_format::{Code, Diagnostic, Rules};

use super::links::LinkTargets;
use super::visit::{LinkedDir, VisitOutcome, VisitTask, Visitor};
use super::{ScanCache, ScanProgress, discover_bundled};
use crate::file_diagnostic::FileDiagnostic;
use crate::policy::ScanPolicy;
use crate::skill::{ContentCache, DiscoveredSkill, FileName, Root, SkillLink};
use prowess_fs::{Dir, DirEntry, EntryKind, Fingerprint, describe_errno, unix_now};
use prowess_fs::{Errno, parallel_map};

/// The result of scanning one root.
#[derive(Debug, PartialEq)]
pub(crate) struct RootScan {
    pub(crate) root: Arc<Root>,
    /// Sorted by path.
    pub(crate) skills: Vec<Arc<DiscoveredSkill>>,
    pub(crate) diagnostics: Vec<FileDiagnostic>,
    /// The directories that were listed: a changed fingerprint reveals added entries.
    listed: Vec<ListedDir>,
    /// Symlinks to plain files, and their targets.
    file_links: Vec<(PathBuf, PathBuf)>,
    /// The directories that were not searched: hidden ones except `.git`, and those with dependencies or build
    /// output.
    pub(crate) skipped_dirs: Vec<PathBuf>,
}

#[derive(Debug, PartialEq)]
struct ListedDir {
    inner: PathBuf,
    /// The canonical path, if it was found through a symlink.
    real: Option<PathBuf>,
    fingerprint: Fingerprint,
    settled: bool,
}

/// The inputs that all roots of a scan share.
pub(crate) struct ScanContext<'a> {
    pub(crate) scan: &'a ScanPolicy,
    pub(crate) rules: &'a Rules,
    pub(crate) link_targets: &'a LinkTargets<'a>,
    pub(crate) progress: &'a ScanProgress,
    /// The frontmatter of earlier scans.
    pub(crate) cache: &'a ScanCache,
}

impl RootScan {
    /// Returns `true` if nothing in this root has changed according to the file system.
    pub(crate) fn is_unchanged(&self) -> bool {
        if self.root.is_embedded() {
            return true;
        }
        let Ok(dir) = Dir::open_resolved(self.root.canonical()) else { return false };
        let is_same = |inner: &Path, fingerprint: &Fingerprint| {
            dir.stat(inner).is_ok_and(|stat| Fingerprint::from_stat(&stat) == *fingerprint)
        };
        let is_same_listing = |listed: &ListedDir| {
            listed.settled
                && match &listed.real {
                    None => is_same(&listed.inner, &listed.fingerprint),
                    Some(real) => {
                        self.points_to(&listed.inner, real)
                            && Fingerprint::from_path(real) == Some(listed.fingerprint)
                    }
                }
        };
        let is_same_file =
            |(inner, target): &(PathBuf, PathBuf)| self.points_to(inner, target) && !target.is_dir();
        self.listed.iter().all(is_same_listing)
            && self.file_links.iter().all(is_same_file)
            && parallel_map(&self.skills, 32, |skill| match skill.link() {
                Some(link) => self.is_link_unchanged(skill, link),
                // A file that appears changes the fingerprint of the directory.
                None if skill.file == FileName::Missing => true,
                None => skill.settled && is_same(&skill.relative_file(), &skill.fingerprint),
            })
            .into_iter()
            .all(|is_unchanged| is_unchanged)
    }

    /// Returns `true` if a symlink still points to the same skill, and the skill's file is the same. Targets
    /// outside the known directories are not read and only have to exist.
    fn is_link_unchanged(&self, skill: &DiscoveredSkill, link: &SkillLink) -> bool {
        if skill.diagnostics().iter().any(|diagnostic| diagnostic.code == Code::LinkBroken) {
            return self.is_still_broken(skill, link);
        }
        let dir = skill.canonical_dir();
        let is_there = self.points_to(&skill.relative_dir, &dir)
            && (link.is_dir || self.points_to(&skill.relative_dir.join(skill.file.as_str()), &link.target));
        let file = if link.is_dir { dir.join(skill.file.as_str()) } else { link.target.clone() };
        is_there
            && match link.is_known {
                true => skill.settled && Fingerprint::from_path(&file) == Some(skill.fingerprint),
                false => !link.is_dir || link.target.is_dir(),
            }
    }

    /// Returns `true` if a broken symlink, or one to a directory above itself, is unchanged. The recorded
    /// target of a broken symlink is the symlink itself.
    fn is_still_broken(&self, skill: &DiscoveredSkill, link: &SkillLink) -> bool {
        let path = match link.is_dir {
            true => self.root.path().join(&skill.relative_dir),
            false if self.points_to(&skill.relative_dir, &skill.canonical_dir()) => {
                skill.canonical_file(skill.file.as_str())
            }
            false => return false,
        };
        match std::fs::canonicalize(&path) {
            Err(_) => link.target == path,
            Ok(target) => link.target != path && link.target == target,
        }
    }

    fn points_to(&self, inner: &Path, target: &Path) -> bool {
        std::fs::canonicalize(self.root.canonical().join(inner)).is_ok_and(|path| path == target)
    }
}

/// Scans one root. `earlier` is the previous result.
pub(crate) fn scan_root(root: &Arc<Root>, context: &ScanContext<'_>, earlier: Option<&RootScan>) -> RootScan {
    let mut scan = RootScan {
        root: Arc::clone(root),
        skills: Vec::new(),
        diagnostics: Vec::new(),
        listed: Vec::new(),
        file_links: Vec::new(),
        skipped_dirs: Vec::new(),
    };
    if root.is_embedded() {
        scan.skills = discover_bundled(root, context.rules);
        return scan;
    }
    if let Some(dialect) = root.command_dialect() {
        commands::scan_commands(&mut scan, dialect, context, &earlier.map(by_dir).unwrap_or_default());
        return scan;
    }
    let mut walk = RootWalker {
        context,
        earlier: earlier.map(by_dir).unwrap_or_default(),
        bounds: ScanBudget::new(context.scan),
        without_skill_md: Vec::new(),
        linked_groups: HashSet::new(),
        scan: &mut scan,
    };
    if let Err(error) = walk.run(root) {
        let message = format!("cannot read the directory: {}", describe_errno(error));
        walk.scan
            .diagnostics
            .push(FileDiagnostic::new(root.path(), Diagnostic::warning(Code::DirectoryUnreadable, message)));
    }
    scan.skills.sort_by(|a, b| a.relative_dir.cmp(&b.relative_dir));
    scan.skipped_dirs.sort();
    scan
}

fn by_dir(scan: &RootScan) -> HashMap<&Path, &Arc<DiscoveredSkill>> {
    scan.skills.iter().map(|skill| (&*skill.relative_dir, skill)).collect()
}

/// What remains of the scan's limits, and the limits that were reached.
struct ScanBudget {
    directories: usize,
    /// Shared by all threads, so that no level lists more than is left.
    entries: AtomicUsize,
    depth: u32,
    cut_directories: usize,
    cut_entries: bool,
    cut_depth: BTreeSet<PathBuf>,
}

impl ScanBudget {
    fn new(scan: &ScanPolicy) -> Self {
        Self {
            directories: scan.max_directories as usize,
            entries: AtomicUsize::new(scan.max_entries as usize),
            depth: scan.depth,
            cut_directories: 0,
            cut_entries: false,
            cut_depth: BTreeSet::new(),
        }
    }
}

struct RootWalker<'a, 's> {
    context: &'a ScanContext<'a>,
    earlier: HashMap<&'a Path, &'a Arc<DiscoveredSkill>>,
    bounds: ScanBudget,
    /// Direct children without a `SKILL.md`. Reported unless a skill is found below them.
    without_skill_md: Vec<PathBuf>,
    /// The targets of symlinks to directories of skills. Each is visited only once: a few symlinks between a
    /// few directories can create an exponential number of paths.
    linked_groups: HashSet<PathBuf>,
    scan: &'s mut RootScan,
}

impl RootWalker<'_, '_> {
    fn run(&mut self, root: &Arc<Root>) -> Result<(), Errno> {
        let dir = Dir::open_resolved(root.canonical())?;
        let fingerprint = Fingerprint::from_stat(&dir.stat_self()?);
        let now = unix_now();
        let listing = dir.entries(*self.bounds.entries.get_mut())?;
        self.add_listed(PathBuf::from("."), None, fingerprint, now);
        self.bounds.cut_entries |= listing.truncated;
        *self.bounds.entries.get_mut() -= listing.entries.len();
        if let Some(stray) = listing.entries.iter().find(|entry| *entry.name == *OsStr::new("SKILL.md")) {
            let message = "a SKILL.md at the top level of a skills directory is ignored";
            let diagnostic = Diagnostic::warning(Code::StrayFile, message);
            let diagnostic = diagnostic.help("move it into a directory with the skill's name");
            self.scan.diagnostics.push(FileDiagnostic::new(root.path().join(&*stray.name), diagnostic));
        }
        let top = VisitTask { inner: PathBuf::new(), through: None, depth: 0, is_link: false };
        let mut level = self.children(&top, &listing.entries);
        while !level.is_empty() {
            if level.len() > self.bounds.directories {
                self.bounds.cut_directories += level.len() - self.bounds.directories;
                level.truncate(self.bounds.directories);
            }
            self.bounds.directories -= level.len();
            let visitor = Visitor {
                root,
                dir: &dir,
                rules: self.context.rules,
                link_targets: self.context.link_targets,
                entries: &self.bounds.entries,
                now,
                cache: self.context.cache,
            };
            let (earlier, progress) = (&self.earlier, self.context.progress);
            let visits = parallel_map(&level, 32, |task| {
                progress.add(1);
                visitor.visit(task, earlier.get(task.inner.as_path()).copied())
            });
            let mut next = Vec::new();
            for (task, visit) in level.into_iter().zip(visits) {
                self.record_visit(task, visit, now, &mut next);
            }
            level = next;
        }
        self.finish(root);
        Ok(())
    }

    fn add_listed(&mut self, inner: PathBuf, real: Option<PathBuf>, fingerprint: Fingerprint, now: i64) {
        self.scan.listed.push(ListedDir { inner, real, fingerprint, settled: fingerprint.is_settled(now) });
    }

    fn record_visit(&mut self, task: VisitTask, visit: VisitOutcome, now: i64, next: &mut Vec<VisitTask>) {
        match visit {
            VisitOutcome::Skill(skill, listing) => {
                if let Some(fingerprint) = listing {
                    self.add_listed(
                        task.inner.clone(),
                        skill.canonical_path.as_deref().map(Path::to_owned),
                        fingerprint,
                        now,
                    );
                }
                self.scan.skills.push(self.reuse_earlier(skill));
            }
            VisitOutcome::Link(skill) => self.scan.skills.push(self.reuse_earlier(skill)),
            VisitOutcome::File(target) => self.scan.file_links.push((task.inner, target)),
            // Always scan again: no listing reveals whether it becomes a directory.
            VisitOutcome::Gone => self.add_listed(task.inner, None, Fingerprint::synthetic(0), 0),
            VisitOutcome::Failed(diagnostic) => {
                self.scan
                    .diagnostics
                    .push(FileDiagnostic::new(self.scan.root.path().join(&task.inner), diagnostic));
                // Always scan again: no listing reveals whether it becomes readable.
                self.add_listed(task.inner, None, Fingerprint::synthetic(0), 0);
            }
            VisitOutcome::Group { entries, fingerprint, through } => {
                self.bounds.cut_entries |= entries.truncated;
                let real = through.as_ref().map(|through| through.target.clone());
                self.add_listed(task.inner.clone(), real, fingerprint, now);
                if task.depth == 1 && !task.is_link && !is_pruned(&task.inner) {
                    self.without_skill_md.push(task.inner.clone());
                }
                if is_pruned(&task.inner) {
                    return self.skip_dir(&task.inner);
                }
                let was_visited = |through: &LinkedDir| !self.linked_groups.insert(through.target.clone());
                if task.is_link && through.as_ref().is_some_and(was_visited) {
                    return;
                }
                let task = VisitTask { through, is_link: false, ..task };
                let deeper = self.children(&task, &entries.entries);
                if task.depth < self.bounds.depth {
                    next.extend(deeper);
                } else if !deeper.is_empty() {
                    self.bounds.cut_depth.insert(task.inner);
                }
            }
        }
    }

    /// Returns the directories and symlinks among the entries that may hold skills.
    fn children(&mut self, task: &VisitTask, entries: &[DirEntry]) -> Vec<VisitTask> {
        let mut children = Vec::new();
        for entry in entries {
            match entry.kind {
                EntryKind::File | EntryKind::Special => {}
                EntryKind::Dir | EntryKind::Symlink if !is_hidden(&entry.name) => {
                    children.push(task.child(&entry.name, entry.kind == EntryKind::Symlink));
                }
                EntryKind::Dir | EntryKind::Symlink if *entry.name == *OsStr::new(".git") => {}
                EntryKind::Dir => self.skip_dir(&task.inner.join(&*entry.name)),
                EntryKind::Symlink => {
                    let inner = task.inner.join(&*entry.name);
                    if self.scan.root.path().join(&inner).is_dir() {
                        self.skip_dir(&inner);
                    }
                }
            }
        }
        children
    }

    fn skip_dir(&mut self, inner: &Path) {
        let path = self.scan.root.path().join(inner);
        self.scan.skipped_dirs.push(path);
    }

    /// Returns the earlier result if nothing changed, so that snapshots share it.
    fn reuse_earlier(&self, skill: Arc<DiscoveredSkill>) -> Arc<DiscoveredSkill> {
        match self.earlier.get(&*skill.relative_dir) {
            Some(earlier) if earlier.settled == skill.settled && ***earlier == *skill => Arc::clone(earlier),
            _ => skill,
        }
    }

    fn finish(&mut self, root: &Arc<Root>) {
        let non_empty: HashSet<&OsStr> =
            self.scan.skills.iter().filter_map(|skill| skill.relative_dir.iter().next()).collect();
        let empty: Vec<_> =
            self.without_skill_md.drain(..).filter(|inner| !non_empty.contains(inner.as_os_str())).collect();
        let cut: HashSet<PathBuf> =
            self.bounds.cut_depth.iter().map(|cut| cut.iter().take(1).collect()).collect();
        for inner in empty {
            let deeper = cut.contains(&inner);
            let (message, help) = match (deeper, self.bounds.depth) {
                (false, _) => (
                    "there is no SKILL.md in this directory".to_owned(),
                    "add a SKILL.md with a name and a description",
                ),
                (true, 1) => (
                    "there is no SKILL.md in this directory, and its subdirectories are not searched"
                        .to_owned(),
                    "move its skills up, or raise scan.depth in the configuration",
                ),
                (true, depth) => (
                    format!("there is no SKILL.md in the {depth} searched levels of this directory"),
                    "move its skills up, or raise scan.depth in the configuration",
                ),
            };
            let diagnostic = Diagnostic::error(Code::MissingFile, message).help(help);
            self.scan.skills.push(self.reuse_earlier(Arc::new(DiscoveredSkill {
                root: Arc::clone(root),
                relative_dir: inner.into(),
                file: FileName::Missing,
                fingerprint: Fingerprint::synthetic(0),
                settled: false,
                manifest: None,
                diagnostics: Box::new([diagnostic]),
                link: None,
                canonical_path: None,
                remote: None,
                content: ContentCache::default(),
            })));
        }
        self.report_bounds(root);
    }

    fn report_bounds(&mut self, root: &Arc<Root>) {
        let scan = self.context.scan;
        let mut report = |message: String, help: &str| {
            let diagnostic = Diagnostic::warning(Code::ScanBound, message).help(help);
            self.scan.diagnostics.push(FileDiagnostic::new(root.path(), diagnostic));
        };
        if self.bounds.cut_directories > 0 {
            let (skipped, limit) = (self.bounds.cut_directories, scan.max_directories);
            report(
                format!(
                    "{skipped} directories were not searched: the limit of {limit} directories was reached"
                ),
                "raise scan.max-directories in the configuration, or remove directories",
            );
        }
        if self.bounds.cut_entries {
            let limit = scan.max_entries;
            report(
                format!(
                    "some directories were not read completely: the limit of {limit} entries was reached"
                ),
                "raise scan.max-entries in the configuration, or remove files",
            );
        }
        if let Some(first) = self.bounds.cut_depth.first()
            && scan.depth > 1
        {
            let (count, limit, first) = (self.bounds.cut_depth.len(), scan.depth, first.display());
            report(
                match count {
                    1 => format!("a directory is deeper than {limit} levels and was not searched: {first}"),
                    count => format!(
                        "{count} directories are deeper than {limit} levels and were not searched, such as {first}"
                    ),
                },
                "raise scan.depth in the configuration, or move the skills up",
            );
        }
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Returns `true` for directories that may be skills but are never searched for others, because they can be
/// huge.
fn is_pruned(inner: &Path) -> bool {
    inner.file_name().is_some_and(|name| name == "node_modules" || name == "target")
}
