//! Visits one directory: it is a skill, a group of skills, or neither.

use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use prowess_format::{Code, Diagnostic, KnownKeys, Manifest, RuleLevel, Rules};

use super::ScanCache;
use super::links::{HOPS_MAX, LinkTargets, ResolvedLink};
use super::manifest::{self, ManifestRead, read_openai_yaml};
use crate::shell::quote_path;
use crate::skill::{ContentCache, DiscoveredSkill, FileName, Root, SkillLink};
use prowess_fs::{Dir, DirEntries, EntryKind, Errno, Fingerprint, Stat, describe_errno};

const SKILL_MD: &str = "SKILL.md";

/// A directory to visit.
#[derive(Debug)]
pub(super) struct VisitTask {
    /// The path relative to the root, with symlinks.
    pub(super) inner: PathBuf,
    /// Its real location, if it was found through a symlink.
    pub(super) through: Option<LinkedDir>,
    pub(super) depth: u32,
    /// Whether it is a symlink that has not been followed yet.
    pub(super) is_link: bool,
}

/// A directory that was found through a symlink, inside a known directory.
#[derive(Debug, Clone)]
pub(super) struct LinkedDir {
    known_dir: Arc<Dir>,
    inner: PathBuf,
    /// The canonical path.
    pub(super) target: PathBuf,
    /// The canonical directories that held the symlinks on the way.
    link_parents: Vec<PathBuf>,
}

impl VisitTask {
    /// Returns the task for a subdirectory.
    pub(super) fn child(&self, name: &std::ffi::OsStr, is_link: bool) -> Self {
        let through = self.through.clone().map(|through| LinkedDir {
            inner: through.inner.join(name),
            target: through.target.join(name),
            ..through
        });
        Self { inner: self.inner.join(name), through, depth: self.depth + 1, is_link }
    }

    /// Returns the canonical directory that contains it.
    fn canonical_parent(&self, root: &Root) -> PathBuf {
        match &self.through {
            Some(through) => through.target.parent().unwrap_or(&through.target).to_owned(),
            None => root.canonical().join(self.inner.parent().unwrap_or(Path::new(""))),
        }
    }
}

/// The result of visiting a directory.
pub(super) enum VisitOutcome {
    /// A skill, valid or not, and the directory's fingerprint if its entries were listed.
    Skill(Arc<DiscoveredSkill>, Option<Fingerprint>),
    /// A directory without a `SKILL.md`.
    Group { entries: DirEntries, fingerprint: Fingerprint, through: Option<LinkedDir> },
    /// The directory could not be read.
    Failed(Diagnostic),
    /// A broken symlink, or one to outside the known directories.
    Link(Arc<DiscoveredSkill>),
    /// A symlink to this plain file.
    File(PathBuf),
    /// The directory was deleted after it was listed.
    Gone,
}

/// The inputs that all visits of one root share.
pub(super) struct Visitor<'a> {
    pub(super) root: &'a Arc<Root>,
    pub(super) dir: &'a Dir,
    pub(super) rules: &'a Rules,
    pub(super) link_targets: &'a LinkTargets<'a>,
    /// How many more entries may be listed.
    pub(super) entries: &'a AtomicUsize,
    pub(super) now: i64,
    /// The frontmatter of earlier scans.
    pub(super) cache: &'a ScanCache,
}

impl Visitor<'_> {
    /// Visits one directory. `earlier` is the previous result.
    pub(super) fn visit(&self, task: &VisitTask, earlier: Option<&Arc<DiscoveredSkill>>) -> VisitOutcome {
        if !task.is_link {
            let link = |through: &LinkedDir| SkillLink {
                target: through.target.clone(),
                is_known: true,
                is_dir: true,
            };
            return self.visit_dir(task, task.through.as_ref(), task.through.as_ref().map(link), earlier);
        }
        let path = self.root.path().join(&task.inner);
        let mut link_parents =
            task.through.as_ref().map_or_else(Vec::new, |through| through.link_parents.clone());
        link_parents.push(task.canonical_parent(self.root));
        match self.link_targets.follow(&path) {
            ResolvedLink::Known { target, .. } if link_parents.iter().any(|dir| dir.starts_with(&target)) => {
                self.rejected_link(
                    task,
                    &target,
                    "the symlink points to a directory above it",
                    Code::LinkBroken,
                )
            }
            ResolvedLink::Known { target, .. } if link_parents.len() > HOPS_MAX => {
                let message = format!("there are more than {HOPS_MAX} symlinks on the path to it");
                self.rejected_link(task, &target, &message, Code::LinkBroken)
            }
            ResolvedLink::Known { known_dir, inner, target } => {
                let link = SkillLink { target: target.clone(), is_known: true, is_dir: true };
                let through = LinkedDir { known_dir, inner, target, link_parents };
                self.visit_dir(task, Some(&through), Some(link), earlier)
            }
            // Symlinks to plain files are normal; only directories could be skills.
            ResolvedLink::Outside(target) if !target.is_dir() => VisitOutcome::File(target),
            ResolvedLink::Outside(target) => {
                let message =
                    format!("the symlink points outside the known directories: {}", target.display());
                self.rejected_link(task, &target, &message, Code::LinkOutside)
            }
            ResolvedLink::Broken => self.rejected_link(task, &path, "broken symlink", Code::LinkBroken),
        }
    }

    fn rejected_link(&self, task: &VisitTask, target: &Path, message: &str, code: Code) -> VisitOutcome {
        let help = match code {
            Code::LinkOutside => {
                format!("if you trust that directory: prowess trust {}", quote_path(target))
            }
            _ => "delete or fix the symlink".to_owned(),
        };
        let diagnostic = Diagnostic::warning(code, message).help(help);
        let is_known = code != Code::LinkOutside;
        VisitOutcome::Link(Arc::new(DiscoveredSkill {
            diagnostics: Box::new([diagnostic]),
            link: Some(Box::new(SkillLink { target: target.to_owned(), is_known, is_dir: true })),
            canonical_path: Some(target.into()),
            ..self.new_skill(task, Fingerprint::synthetic(0))
        }))
    }

    fn new_skill(&self, task: &VisitTask, fingerprint: Fingerprint) -> DiscoveredSkill {
        DiscoveredSkill {
            root: Arc::clone(self.root),
            relative_dir: task.inner.as_path().into(),
            file: FileName::Standard,
            fingerprint,
            settled: fingerprint.is_settled(self.now),
            manifest: None,
            diagnostics: Box::new([]),
            link: None,
            canonical_path: None,
            remote: None,
            content: ContentCache::default(),
        }
    }

    fn visit_dir(
        &self,
        task: &VisitTask,
        through: Option<&LinkedDir>,
        link: Option<SkillLink>,
        earlier: Option<&Arc<DiscoveredSkill>>,
    ) -> VisitOutcome {
        let (dir, inner) = match through {
            Some(through) => (&*through.known_dir, through.inner.as_path()),
            None => (self.dir, task.inner.as_path()),
        };
        let file = inner.join(SKILL_MD);
        if let Some(earlier) = earlier
            && self.is_unchanged(earlier, link.as_ref(), dir, &file)
        {
            return VisitOutcome::Skill(Arc::clone(earlier), None);
        }
        if through.is_none()
            && let Some(skill) = self.read_cached(task, &file)
        {
            return VisitOutcome::Skill(Arc::new(skill), None);
        }
        let canonical_path: Option<Box<Path>> = through.map(|through| through.target.as_path().into());
        let link = link.map(Box::new);
        let skill = |discovered: DiscoveredSkill| VisitOutcome::Skill(Arc::new(discovered), None);
        match dir.open_file(&file) {
            Ok((file, stat)) => {
                let read = self.read(task, &file, &stat);
                let manifest = read.manifest.map(|manifest| self.apply_openai_yaml(manifest, dir, inner));
                skill(DiscoveredSkill { link, canonical_path, manifest, ..read })
            }
            Err(Errno::LOOP) => {
                skill(DiscoveredSkill { canonical_path, ..self.linked_file(task, dir, &file) })
            }
            Err(Errno::NOENT) => self.list_dir(task, dir, inner, through, link),
            Err(Errno::NOTDIR) => match through {
                Some(through) if task.is_link => VisitOutcome::File(through.target.clone()),
                Some(_) | None => VisitOutcome::Gone,
            },
            // A socket cannot even be opened.
            Err(Errno::NXIO) => {
                let diagnostic = Diagnostic::error(Code::NotAFile, "SKILL.md is a socket");
                let diagnostic = diagnostic.help("replace it with a text file");
                skill(DiscoveredSkill { link, canonical_path, ..self.invalid(task, diagnostic) })
            }
            Err(error) => match dir.open_dir(inner) {
                Ok(_) => skill(DiscoveredSkill {
                    link,
                    canonical_path,
                    ..self.invalid(task, manifest::open_error_diagnostic(error))
                }),
                Err(error) => VisitOutcome::Failed(unreadable_dir(error)),
            },
        }
    }

    fn is_unchanged(
        &self,
        earlier: &DiscoveredSkill,
        link: Option<&SkillLink>,
        dir: &Dir,
        file: &Path,
    ) -> bool {
        let is_same = |stat: &Stat| Fingerprint::from_stat(stat) == earlier.fingerprint;
        earlier.settled
            && earlier.link() == link
            && earlier.file == FileName::Standard
            && dir.stat(file).is_ok_and(|stat| is_same(&stat))
    }

    fn read(&self, task: &VisitTask, file: &OwnedFd, stat: &Stat) -> DiscoveredSkill {
        let ManifestRead { manifest, diagnostics } =
            manifest::read_frontmatter(file, stat, &dir_name(task), self.rules);
        DiscoveredSkill {
            manifest,
            diagnostics: diagnostics.into(),
            ..self.new_skill(task, Fingerprint::from_stat(stat))
        }
    }

    /// Returns a skill whose file has not changed since its frontmatter was stored.
    fn read_cached(&self, task: &VisitTask, file: &Path) -> Option<DiscoveredSkill> {
        let stat =
            || self.dir.stat(file).ok().filter(Stat::is_file).map(|stat| Fingerprint::from_stat(&stat));
        let root = self.root.canonical();
        let (read, fingerprint) = self.cache.get(root, &task.inner, stat, &dir_name(task), self.rules)?;
        let ManifestRead { manifest, diagnostics } = read;
        let manifest = manifest.map(|manifest| self.apply_openai_yaml(manifest, self.dir, &task.inner));
        Some(DiscoveredSkill {
            manifest,
            diagnostics: diagnostics.into(),
            ..self.new_skill(task, fingerprint)
        })
    }

    /// Hides the skill from the model if its `agents/openai.yaml` does, as Codex does.
    fn apply_openai_yaml(&self, manifest: Manifest, dir: &Dir, inner: &Path) -> Manifest {
        if self.rules.known_keys != KnownKeys::All || manifest.disable_model_invocation() {
            return manifest;
        }
        match read_openai_yaml(dir, inner).is_some_and(|file| file.hides_skill()) {
            true => manifest.with_model_invocation_disabled(),
            false => manifest,
        }
    }

    fn invalid(&self, task: &VisitTask, diagnostic: Diagnostic) -> DiscoveredSkill {
        DiscoveredSkill {
            diagnostics: Box::new([diagnostic]),
            ..self.new_skill(task, Fingerprint::synthetic(0))
        }
    }

    /// Handles a `SKILL.md` that is a symlink.
    fn linked_file(&self, task: &VisitTask, dir: &Dir, file: &Path) -> DiscoveredSkill {
        let path = dir.path().join(file);
        let (skill, target, is_known) = match self.link_targets.follow(&path) {
            ResolvedLink::Known { known_dir, inner, target } => match known_dir.open_file(&inner) {
                Ok((file, stat)) => (self.read(task, &file, &stat), target, true),
                Err(error) => (self.invalid(task, manifest::open_error_diagnostic(error)), target, true),
            },
            ResolvedLink::Outside(target) => {
                let message =
                    format!("SKILL.md is a symlink to outside the known directories: {}", target.display());
                let dir = quote_path(target.parent().unwrap_or(&target));
                let diagnostic = Diagnostic::warning(Code::LinkOutside, message);
                let skill = self.invalid(
                    task,
                    diagnostic.help(format!("if you trust that directory: prowess trust {dir}")),
                );
                (skill, target, false)
            }
            ResolvedLink::Broken => {
                let diagnostic = Diagnostic::error(Code::LinkBroken, "SKILL.md is a broken symlink");
                (self.invalid(task, diagnostic.help("delete or fix the symlink")), path, true)
            }
        };
        DiscoveredSkill { link: Some(Box::new(SkillLink { target, is_known, is_dir: false })), ..skill }
    }

    /// Handles a directory without `SKILL.md`: looks for other spellings and for subdirectories.
    fn list_dir(
        &self,
        task: &VisitTask,
        dir: &Dir,
        inner: &Path,
        through: Option<&LinkedDir>,
        link: Option<Box<SkillLink>>,
    ) -> VisitOutcome {
        let max = self.entries.load(Ordering::Relaxed);
        let opened = dir.open_dir(inner).and_then(|dir| Ok((dir.stat_self()?, dir.entries(max)?)));
        let (stat, entries) = match opened {
            Ok(listing) => listing,
            // It existed when its parent was listed.
            Err(Errno::NOENT) => return VisitOutcome::Gone,
            Err(error) => return VisitOutcome::Failed(unreadable_dir(error)),
        };
        let subtract = |remaining: usize| Some(remaining.saturating_sub(entries.entries.len()));
        let _ = self.entries.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
        let fingerprint = Fingerprint::from_stat(&stat);
        let variant = entries.entries.iter().find(|entry| {
            entry.kind == EntryKind::File
                && entry.name.eq_ignore_ascii_case(SKILL_MD)
                && entry.name.to_str().is_some()
        });
        let Some(name) = variant.and_then(|entry| entry.name.to_str()) else {
            return VisitOutcome::Group { entries, fingerprint, through: through.cloned() };
        };
        // The reference library also accepts `skill.md`. Other spellings only work on case-insensitive file
        // systems.
        let level = if name == "skill.md" { self.rules.lowercase_file } else { RuleLevel::Reject };
        let message = format!("the file is named {name}, not SKILL.md");
        let help = format!("rename it: git mv {name} SKILL.md");
        let skill = match (level, dir.open_file(&inner.join(name))) {
            (RuleLevel::Reject, _) => {
                self.invalid(task, Diagnostic::error(Code::FileName, message).help(help))
            }
            (_, Err(error)) => self.invalid(task, manifest::open_error_diagnostic(error)),
            (level, Ok((file, stat))) => {
                let skill = self.read(task, &file, &stat);
                let warning = Diagnostic::warning(Code::FileName, message).help(help);
                let warning = (level == RuleLevel::Warn).then_some(warning);
                let diagnostics = warning.into_iter().chain(skill.diagnostics.iter().cloned()).collect();
                DiscoveredSkill { diagnostics, ..skill }
            }
        };
        let canonical_path = through.map(|through| through.target.as_path().into());
        let skill = DiscoveredSkill { file: FileName::Other(name.into()), link, canonical_path, ..skill };
        VisitOutcome::Skill(Arc::new(skill), Some(fingerprint))
    }
}

fn dir_name(task: &VisitTask) -> Cow<'_, str> {
    task.inner.file_name().unwrap_or_default().to_string_lossy()
}

fn unreadable_dir(error: Errno) -> Diagnostic {
    let message = format!("cannot read the directory: {}", describe_errno(error));
    let diagnostic = Diagnostic::warning(Code::DirectoryUnreadable, message);
    match error {
        Errno::ACCESS | Errno::PERM => diagnostic.help("make it readable: chmod u+rx DIRECTORY"),
        _ => diagnostic,
    }
}
