//! One root, level by level.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use prowess_format::{Code, Diagnostic, Rules};

use super::links::Doors;
use super::visit::{Task, Through, Visit, Visitor};
use super::{Progress, embedded};
use crate::located::Located;
use crate::policy::Scan;
use crate::skill::{FileName, Found, Link, Root};
use prowess_fs::{Entry, EntryKind, Fingerprint, Folder, now, words};
use prowess_fs::{Errno, parallel};

/// What one root holds.
#[derive(Debug, PartialEq)]
pub(crate) struct RootScan {
    pub(crate) root: Arc<Root>,
    /// In the order of their paths.
    pub(crate) found: Vec<Arc<Found>>,
    pub(crate) diagnostics: Vec<Located>,
    /// Folders whose listing was read: they tell of what was added.
    listed: Vec<Listed>,
    /// Links to plain files, and where each leads.
    file_links: Vec<(PathBuf, PathBuf)>,
    /// Folders that were not searched: hidden ones but for git's own, and those of dependencies and build output.
    pub(crate) passed_over: Vec<PathBuf>,
}

#[derive(Debug, PartialEq)]
struct Listed {
    inner: PathBuf,
    /// Where it is without links, if a link led there.
    real: Option<PathBuf>,
    fingerprint: Fingerprint,
    settled: bool,
}

/// What all roots of a scan share.
pub(crate) struct Settings<'a> {
    pub(crate) scan: &'a Scan,
    pub(crate) rules: &'a Rules,
    pub(crate) doors: &'a Doors<'a>,
    pub(crate) progress: &'a Progress,
}

impl RootScan {
    /// Whether the file system says that nothing in this root has changed.
    pub(crate) fn is_unchanged(&self) -> bool {
        if self.root.is_embedded() {
            return true;
        }
        let Ok(folder) = Folder::open_resolved(self.root.canonical()) else { return false };
        let same = |inner: &Path, fingerprint: &Fingerprint| {
            folder.stat(inner).is_ok_and(|stat| Fingerprint::of(&stat) == *fingerprint)
        };
        let same_listing = |listed: &Listed| {
            listed.settled
                && match &listed.real {
                    None => same(&listed.inner, &listed.fingerprint),
                    Some(real) => {
                        self.leads_to(&listed.inner, real)
                            && Fingerprint::at(real) == Some(listed.fingerprint)
                    }
                }
        };
        let same_file =
            |(inner, target): &(PathBuf, PathBuf)| self.leads_to(inner, target) && !target.is_dir();
        self.listed.iter().all(same_listing)
            && self.file_links.iter().all(same_file)
            && parallel(&self.found, 32, |found| match found.link() {
                Some(link) => self.is_link_unchanged(found, link),
                // That there is no file is known from the listing.
                None if found.file == FileName::Missing => true,
                None => found.settled && same(&found.inner.join(found.file.as_str()), &found.fingerprint),
            })
            .into_iter()
            .all(|same| same)
    }

    /// Whether a link still leads to the same skill, and the skill's file is the same. What is outside the known places is
    /// not read, and need only be there.
    fn is_link_unchanged(&self, found: &Found, link: &Link) -> bool {
        if found.diagnostics().iter().any(|said| said.code == Code::LinkBroken) {
            return self.is_still_broken(found, link);
        }
        let folder = found.canonical_folder();
        let is_there = self.leads_to(&found.inner, &folder)
            && (link.folder || self.leads_to(&found.inner.join(found.file.as_str()), &link.target));
        let file = if link.folder { folder.join(found.file.as_str()) } else { link.target.clone() };
        is_there
            && match link.known {
                true => found.settled && Fingerprint::at(&file) == Some(found.fingerprint),
                false => !link.folder || link.target.is_dir(),
            }
    }

    /// Whether a link that led to no skill, because it leads nowhere or back to a folder above it, still does. The target
    /// of one that leads nowhere is the link itself.
    fn is_still_broken(&self, found: &Found, link: &Link) -> bool {
        let path = match link.folder {
            true => self.root.path().join(&found.inner),
            false if self.leads_to(&found.inner, &found.canonical_folder()) => {
                found.canonical_file(found.file.as_str())
            }
            false => return false,
        };
        match std::fs::canonicalize(&path) {
            Err(_) => link.target == path,
            Ok(target) => link.target != path && link.target == target,
        }
    }

    fn leads_to(&self, inner: &Path, target: &Path) -> bool {
        std::fs::canonicalize(self.root.canonical().join(inner)).is_ok_and(|path| path == target)
    }
}

/// Scans one root; `earlier` is what it held the last time.
pub(crate) fn walk(root: &Arc<Root>, settings: &Settings<'_>, earlier: Option<&RootScan>) -> RootScan {
    let mut scan = RootScan {
        root: Arc::clone(root),
        found: Vec::new(),
        diagnostics: Vec::new(),
        listed: Vec::new(),
        file_links: Vec::new(),
        passed_over: Vec::new(),
    };
    if root.is_embedded() {
        scan.found = embedded(root, settings.rules);
        return scan;
    }
    let mut walk = Walk {
        settings,
        earlier: earlier.map(by_folder).unwrap_or_default(),
        bounds: Bounds::new(settings.scan),
        ungrouped: Vec::new(),
        linked_groups: HashSet::new(),
        scan: &mut scan,
    };
    if let Err(error) = walk.run(root) {
        let message = format!("the directory cannot be read: {}", words(error));
        walk.scan
            .diagnostics
            .push(Located::new(root.path(), Diagnostic::warning(Code::DirectoryUnreadable, message)));
    }
    scan.found.sort_by(|a, b| a.inner.cmp(&b.inner));
    scan.passed_over.sort();
    scan
}

fn by_folder(scan: &RootScan) -> HashMap<&Path, &Arc<Found>> {
    scan.found.iter().map(|found| (&*found.inner, found)).collect()
}

/// What is left of the scan's bounds, and which were reached.
struct Bounds {
    directories: usize,
    /// Taken from by all threads, so that no level lists more than is left.
    entries: AtomicUsize,
    depth: u32,
    cut_directories: usize,
    cut_entries: bool,
    cut_depth: BTreeSet<PathBuf>,
}

impl Bounds {
    fn new(scan: &Scan) -> Self {
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

struct Walk<'a, 's> {
    settings: &'a Settings<'a>,
    earlier: HashMap<&'a Path, &'a Arc<Found>>,
    bounds: Bounds,
    /// Immediate children that turned out to hold no skill themselves, with what else may explain it.
    ungrouped: Vec<PathBuf>,
    /// Folders of skills that a link led to. A second link there tells nothing new, and a few links between a few
    /// folders make more ways than anybody could go.
    linked_groups: HashSet<PathBuf>,
    scan: &'s mut RootScan,
}

impl Walk<'_, '_> {
    fn run(&mut self, root: &Arc<Root>) -> Result<(), Errno> {
        let folder = Folder::open_resolved(root.canonical())?;
        let fingerprint = Fingerprint::of(&folder.own_stat()?);
        let now = now();
        let listing = folder.entries(*self.bounds.entries.get_mut())?;
        self.listed(PathBuf::from("."), None, fingerprint, now);
        self.bounds.cut_entries |= listing.cut;
        *self.bounds.entries.get_mut() -= listing.list.len();
        if let Some(stray) = listing.list.iter().find(|entry| *entry.name == *OsStr::new("SKILL.md")) {
            let message = "a SKILL.md directly in a directory of skills is not a skill";
            let diagnostic = Diagnostic::warning(Code::StrayFile, message);
            let diagnostic = diagnostic.help("move it into a folder with the skill's name");
            self.scan.diagnostics.push(Located::new(root.path().join(&*stray.name), diagnostic));
        }
        let top = Task { inner: PathBuf::new(), through: None, depth: 0, is_link: false };
        let mut level = self.children(&top, &listing.list);
        while !level.is_empty() {
            if level.len() > self.bounds.directories {
                self.bounds.cut_directories += level.len() - self.bounds.directories;
                level.truncate(self.bounds.directories);
            }
            self.bounds.directories -= level.len();
            let visitor = Visitor {
                root,
                folder: &folder,
                rules: self.settings.rules,
                doors: self.settings.doors,
                entries: &self.bounds.entries,
                now,
            };
            let (earlier, progress) = (&self.earlier, self.settings.progress);
            let visits = parallel(&level, 32, |task| {
                progress.add(1);
                visitor.visit(task, earlier.get(task.inner.as_path()).copied())
            });
            let mut next = Vec::new();
            for (task, visit) in level.into_iter().zip(visits) {
                self.take(task, visit, now, &mut next);
            }
            level = next;
        }
        self.finish(root);
        Ok(())
    }

    fn listed(&mut self, inner: PathBuf, real: Option<PathBuf>, fingerprint: Fingerprint, now: i64) {
        self.scan.listed.push(Listed { inner, real, fingerprint, settled: fingerprint.is_settled(now) });
    }

    fn take(&mut self, task: Task, visit: Visit, now: i64, next: &mut Vec<Task>) {
        match visit {
            Visit::Skill(found, listing) => {
                if let Some(fingerprint) = listing {
                    self.listed(
                        task.inner.clone(),
                        found.real.as_deref().map(Path::to_owned),
                        fingerprint,
                        now,
                    );
                }
                self.scan.found.push(self.shared(found));
            }
            Visit::Link(found) => self.scan.found.push(self.shared(found)),
            Visit::File(target) => self.scan.file_links.push((task.inner, target)),
            // Whether it is a folder tomorrow is not seen in any listing.
            Visit::Nothing => self.listed(task.inner, None, Fingerprint::none(0), 0),
            Visit::Failed(diagnostic) => {
                self.scan.diagnostics.push(Located::new(self.scan.root.path().join(&task.inner), diagnostic));
                // Whether it can be read tomorrow is not seen in any listing.
                self.listed(task.inner, None, Fingerprint::none(0), 0);
            }
            Visit::Group { entries, fingerprint, through } => {
                self.bounds.cut_entries |= entries.cut;
                let real = through.as_ref().map(|through| through.target.clone());
                self.listed(task.inner.clone(), real, fingerprint, now);
                if task.depth == 1 && !task.is_link && !is_pruned(&task.inner) {
                    self.ungrouped.push(task.inner.clone());
                }
                if is_pruned(&task.inner) {
                    return self.pass_over(&task.inner);
                }
                let known = |through: &Through| !self.linked_groups.insert(through.target.clone());
                if task.is_link && through.as_ref().is_some_and(known) {
                    return;
                }
                let task = Task { through, is_link: false, ..task };
                let deeper = self.children(&task, &entries.list);
                if task.depth < self.bounds.depth {
                    next.extend(deeper);
                } else if !deeper.is_empty() {
                    self.bounds.cut_depth.insert(task.inner);
                }
            }
        }
    }

    /// The folders and links among the entries that may hold skills.
    fn children(&mut self, task: &Task, entries: &[Entry]) -> Vec<Task> {
        let mut children = Vec::new();
        for entry in entries {
            match entry.kind {
                EntryKind::File | EntryKind::Special => {}
                EntryKind::Folder | EntryKind::Link if !is_hidden(&entry.name) => {
                    children.push(task.child(&entry.name, entry.kind == EntryKind::Link));
                }
                EntryKind::Folder | EntryKind::Link if *entry.name == *OsStr::new(".git") => {}
                EntryKind::Folder => self.pass_over(&task.inner.join(&*entry.name)),
                EntryKind::Link => {
                    let inner = task.inner.join(&*entry.name);
                    if self.scan.root.path().join(&inner).is_dir() {
                        self.pass_over(&inner);
                    }
                }
            }
        }
        children
    }

    fn pass_over(&mut self, inner: &Path) {
        let path = self.scan.root.path().join(inner);
        self.scan.passed_over.push(path);
    }

    /// The earlier find, if nothing about it changed: snapshots share it.
    fn shared(&self, found: Arc<Found>) -> Arc<Found> {
        match self.earlier.get(&*found.inner) {
            Some(earlier) if earlier.settled == found.settled && ***earlier == *found => Arc::clone(earlier),
            _ => found,
        }
    }

    fn finish(&mut self, root: &Arc<Root>) {
        let holds: HashSet<&OsStr> =
            self.scan.found.iter().filter_map(|found| found.inner.iter().next()).collect();
        let empty: Vec<_> =
            self.ungrouped.drain(..).filter(|inner| !holds.contains(inner.as_os_str())).collect();
        let cut: HashSet<PathBuf> =
            self.bounds.cut_depth.iter().map(|cut| cut.iter().take(1).collect()).collect();
        for inner in empty {
            let deeper = cut.contains(&inner);
            let (message, help) = match (deeper, self.bounds.depth) {
                (false, _) => (
                    "there is no SKILL.md in this folder".to_owned(),
                    "add a SKILL.md with name and description",
                ),
                (true, 1) => (
                    "there is no SKILL.md in this folder, and folders in it are not looked into".to_owned(),
                    "move the skills in it up, or raise scan.depth in the configuration",
                ),
                (true, depth) => (
                    format!("there is no SKILL.md in the {depth} levels of this folder that are looked into"),
                    "move the skills in it up, or raise scan.depth in the configuration",
                ),
            };
            let diagnostic = Diagnostic::error(Code::MissingFile, message).help(help);
            self.scan.found.push(self.shared(Arc::new(Found {
                root: Arc::clone(root),
                inner: inner.into(),
                file: FileName::Missing,
                fingerprint: Fingerprint::none(0),
                settled: false,
                manifest: None,
                diagnostics: Box::new([diagnostic]),
                link: None,
                real: None,
                supplied: None,
            })));
        }
        self.report_bounds(root);
    }

    fn report_bounds(&mut self, root: &Arc<Root>) {
        let scan = self.settings.scan;
        let mut say = |message: String, help: &str| {
            let diagnostic = Diagnostic::warning(Code::ScanBound, message).help(help);
            self.scan.diagnostics.push(Located::new(root.path(), diagnostic));
        };
        if self.bounds.cut_directories > 0 {
            let (left, limit) = (self.bounds.cut_directories, scan.max_directories);
            say(
                format!("{left} folders were not looked at: the bound of {limit} directories was reached"),
                "raise scan.max-directories in the configuration, or make the tree smaller",
            );
        }
        if self.bounds.cut_entries {
            let limit = scan.max_entries;
            say(
                format!("some folders were not read to the end: the bound of {limit} entries was reached"),
                "raise scan.max-entries in the configuration, or make the tree smaller",
            );
        }
        if let Some(first) = self.bounds.cut_depth.first()
            && scan.depth > 1
        {
            let (count, limit, first) = (self.bounds.cut_depth.len(), scan.depth, first.display());
            say(
                match count {
                    1 => format!("a folder lies deeper than {limit} and was not looked into: {first}"),
                    count => format!(
                        "{count} folders lie deeper than {limit} and were not looked into, such as {first}"
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

/// Folders that may be skills by their name but never group any: looking into them would take for ever.
fn is_pruned(inner: &Path) -> bool {
    inner.file_name().is_some_and(|name| name == "node_modules" || name == "target")
}
