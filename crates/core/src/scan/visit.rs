//! One folder: is it a skill, does it group skills, or is it neither?

use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use prowess_format::{Code, Diagnostic, Level, Rules};

use super::head::{self, Read};
use super::links::{Doors, HOPS_MAX, Target};
use crate::shell::quote_path;
use crate::skill::{FileName, Found, Link, Root};
use prowess_fs::{Entries, EntryKind, Errno, Fingerprint, Folder, Stat, words};

const SKILL_MD: &str = "SKILL.md";

/// A folder to look at.
#[derive(Debug)]
pub(super) struct Task {
    /// Below the root, as people see it.
    pub(super) inner: PathBuf,
    /// Where it really is, if a link led here.
    pub(super) through: Option<Through>,
    pub(super) depth: u32,
    /// Whether it is a link itself, which has still to be followed.
    pub(super) is_link: bool,
}

/// The known place that a link led into.
#[derive(Debug, Clone)]
pub(super) struct Through {
    place: Arc<Folder>,
    inner: PathBuf,
    /// The whole path, without links.
    pub(super) target: PathBuf,
    /// The folders that held the links on the way, without links.
    passed: Vec<PathBuf>,
}

impl Task {
    /// A folder in this one.
    pub(super) fn child(&self, name: &std::ffi::OsStr, is_link: bool) -> Self {
        let through = self.through.clone().map(|through| Through {
            inner: through.inner.join(name),
            target: through.target.join(name),
            ..through
        });
        Self { inner: self.inner.join(name), through, depth: self.depth + 1, is_link }
    }

    /// The folder it lies in, without links.
    fn holder(&self, root: &Root) -> PathBuf {
        match &self.through {
            Some(through) => through.target.parent().unwrap_or(&through.target).to_owned(),
            None => root.canonical().join(self.inner.parent().unwrap_or(Path::new(""))),
        }
    }
}

/// What a folder turned out to be.
pub(super) enum Visit {
    /// A skill, or what should be one. The listing is there if it had to be read.
    Skill(Arc<Found>, Option<Fingerprint>),
    /// A folder without a `SKILL.md`.
    Group { entries: Entries, fingerprint: Fingerprint, through: Option<Through> },
    /// Neither: it could not be looked at.
    Failed(Diagnostic),
    /// A link that leads outside, or nowhere.
    Link(Arc<Found>),
    /// A link to this plain file.
    File(PathBuf),
    /// What is gone since it was listed.
    Nothing,
}

/// What every visit of a scan needs.
pub(super) struct Visitor<'a> {
    pub(super) root: &'a Arc<Root>,
    pub(super) folder: &'a Folder,
    pub(super) rules: &'a Rules,
    pub(super) doors: &'a Doors<'a>,
    /// How many entries may still be listed.
    pub(super) entries: &'a AtomicUsize,
    pub(super) now: i64,
}

impl Visitor<'_> {
    /// Looks at one folder. `earlier` is what was found there the last time.
    pub(super) fn visit(&self, task: &Task, earlier: Option<&Arc<Found>>) -> Visit {
        if !task.is_link {
            let link = |through: &Through| Link { target: through.target.clone(), known: true, folder: true };
            return self.look(task, task.through.as_ref(), task.through.as_ref().map(link), earlier);
        }
        let path = self.root.path().join(&task.inner);
        let mut passed = task.through.as_ref().map_or_else(Vec::new, |through| through.passed.clone());
        passed.push(task.holder(self.root));
        match self.doors.follow(&path) {
            Target::Known { target, .. } if passed.iter().any(|folder| folder.starts_with(&target)) => {
                self.link(task, &target, "the link leads back to a folder above it", Code::LinkBroken)
            }
            Target::Known { target, .. } if passed.len() > HOPS_MAX => {
                let message = format!("there are more than {HOPS_MAX} links on the way to it");
                self.link(task, &target, &message, Code::LinkBroken)
            }
            Target::Known { place, inner, target } => {
                let link = Link { target: target.clone(), known: true, folder: true };
                self.look(task, Some(&Through { place, inner, target, passed }), Some(link), earlier)
            }
            // Plain files are linked into such folders, too; only what could be a skill is worth a word.
            Target::Outside(target) if !target.is_dir() => Visit::File(target),
            Target::Outside(target) => {
                let message =
                    format!("the link leads outside the known directories, to {}", target.display());
                self.link(task, &target, &message, Code::LinkOutside)
            }
            Target::Broken => self.link(task, &path, "the link leads nowhere", Code::LinkBroken),
        }
    }

    fn link(&self, task: &Task, target: &Path, message: &str, code: Code) -> Visit {
        let help = match code {
            Code::LinkOutside => format!("if you know that folder: prowess trust {}", quote_path(target)),
            _ => "delete the link or mend it".to_owned(),
        };
        let diagnostic = Diagnostic::warning(code, message).help(help);
        let known = code != Code::LinkOutside;
        Visit::Link(Arc::new(Found {
            diagnostics: Box::new([diagnostic]),
            link: Some(Box::new(Link { target: target.to_owned(), known, folder: true })),
            real: Some(target.into()),
            ..self.found(task, Fingerprint::none(0))
        }))
    }

    fn found(&self, task: &Task, fingerprint: Fingerprint) -> Found {
        Found {
            root: Arc::clone(self.root),
            inner: task.inner.as_path().into(),
            file: FileName::Standard,
            fingerprint,
            settled: fingerprint.is_settled(self.now),
            manifest: None,
            diagnostics: Box::new([]),
            link: None,
            real: None,
            supplied: None,
        }
    }

    fn look(
        &self,
        task: &Task,
        through: Option<&Through>,
        link: Option<Link>,
        earlier: Option<&Arc<Found>>,
    ) -> Visit {
        let (folder, inner) = match through {
            Some(through) => (&*through.place, through.inner.as_path()),
            None => (self.folder, task.inner.as_path()),
        };
        let file = inner.join(SKILL_MD);
        if let Some(earlier) = earlier
            && self.is_unchanged(earlier, link.as_ref(), folder, &file)
        {
            return Visit::Skill(Arc::clone(earlier), None);
        }
        let real: Option<Box<Path>> = through.map(|through| through.target.as_path().into());
        let link = link.map(Box::new);
        let skill = |found: Found| Visit::Skill(Arc::new(found), None);
        match folder.file(&file) {
            Ok((file, stat)) => skill(Found { link, real, ..self.read(task, &file, &stat) }),
            Err(Errno::LOOP) => skill(Found { real, ..self.linked_file(task, folder, &file) }),
            Err(Errno::NOENT) => self.list(task, folder, inner, through, link),
            Err(Errno::NOTDIR) => match through {
                Some(through) if task.is_link => Visit::File(through.target.clone()),
                Some(_) | None => Visit::Nothing,
            },
            // A socket as SKILL.md cannot even be opened.
            Err(Errno::NXIO) => {
                let diagnostic = Diagnostic::error(Code::NotAFile, "SKILL.md is a socket");
                let diagnostic = diagnostic.help("replace it by a text file");
                skill(Found { link, real, ..self.refused(task, diagnostic) })
            }
            Err(error) => match folder.folder(inner) {
                Ok(_) => skill(Found { link, real, ..self.refused(task, head::unreadable(error)) }),
                Err(error) => Visit::Failed(unreadable_folder(error)),
            },
        }
    }

    fn is_unchanged(&self, earlier: &Found, link: Option<&Link>, folder: &Folder, file: &Path) -> bool {
        let same = |stat: &Stat| Fingerprint::of(stat) == earlier.fingerprint;
        earlier.settled
            && earlier.link() == link
            && earlier.file == FileName::Standard
            && folder.stat(file).is_ok_and(|s| same(&s))
    }

    fn read(&self, task: &Task, file: &OwnedFd, stat: &Stat) -> Found {
        let Read { manifest, diagnostics } = head::head(file, stat, &folder_name(task), self.rules);
        Found { manifest, diagnostics: diagnostics.into(), ..self.found(task, Fingerprint::of(stat)) }
    }

    fn refused(&self, task: &Task, diagnostic: Diagnostic) -> Found {
        Found { diagnostics: Box::new([diagnostic]), ..self.found(task, Fingerprint::none(0)) }
    }

    /// `SKILL.md` itself is a link.
    fn linked_file(&self, task: &Task, folder: &Folder, file: &Path) -> Found {
        let path = folder.path().join(file);
        let (found, target, known) = match self.doors.follow(&path) {
            Target::Known { place, inner, target } => match place.file(&inner) {
                Ok((file, stat)) => (self.read(task, &file, &stat), target, true),
                Err(error) => (self.refused(task, head::unreadable(error)), target, true),
            },
            Target::Outside(target) => {
                let message = format!("SKILL.md is a link that leads outside, to {}", target.display());
                let place = quote_path(target.parent().unwrap_or(&target));
                let diagnostic = Diagnostic::warning(Code::LinkOutside, message);
                let found = self.refused(
                    task,
                    diagnostic.help(format!("if you know that folder: prowess trust {place}")),
                );
                (found, target, false)
            }
            Target::Broken => {
                let diagnostic = Diagnostic::error(Code::LinkBroken, "SKILL.md is a link that leads nowhere");
                (self.refused(task, diagnostic.help("delete the link or mend it")), path, true)
            }
        };
        Found { link: Some(Box::new(Link { target, known, folder: false })), ..found }
    }

    /// There is no `SKILL.md`; look for one under another name, and for folders to go into.
    fn list(
        &self,
        task: &Task,
        folder: &Folder,
        inner: &Path,
        through: Option<&Through>,
        link: Option<Box<Link>>,
    ) -> Visit {
        let max = self.entries.load(Ordering::Relaxed);
        let opened = folder.folder(inner).and_then(|folder| Ok((folder.own_stat()?, folder.entries(max)?)));
        let (stat, entries) = match opened {
            Ok(listing) => listing,
            // It was there when its name was listed.
            Err(Errno::NOENT) => return Visit::Nothing,
            Err(error) => return Visit::Failed(unreadable_folder(error)),
        };
        let less = |left: usize| Some(left.saturating_sub(entries.list.len()));
        let _ = self.entries.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        let fingerprint = Fingerprint::of(&stat);
        let variant = entries.list.iter().find(|entry| {
            entry.kind == EntryKind::File
                && entry.name.eq_ignore_ascii_case(SKILL_MD)
                && entry.name.to_str().is_some()
        });
        let Some(name) = variant.and_then(|entry| entry.name.to_str()) else {
            return Visit::Group { entries, fingerprint, through: through.cloned() };
        };
        // `skill.md` is what the reference library accepts besides; other spellings only work by accident.
        let level = if name == "skill.md" { self.rules.lowercase_file } else { Level::Reject };
        let message = format!("the file is named {name}, not SKILL.md");
        let help = format!("rename it: git mv {name} SKILL.md");
        let found = match (level, folder.file(&inner.join(name))) {
            (Level::Reject, _) => self.refused(task, Diagnostic::error(Code::FileName, message).help(help)),
            (_, Err(error)) => self.refused(task, head::unreadable(error)),
            (level, Ok((file, stat))) => {
                let found = self.read(task, &file, &stat);
                let said = Diagnostic::warning(Code::FileName, message).help(help);
                let said = (level == Level::Warn).then_some(said);
                let diagnostics = said.into_iter().chain(found.diagnostics.iter().cloned()).collect();
                Found { diagnostics, ..found }
            }
        };
        let real = through.map(|through| through.target.as_path().into());
        let found = Found { file: FileName::Other(name.into()), link, real, ..found };
        Visit::Skill(Arc::new(found), Some(fingerprint))
    }
}

fn folder_name(task: &Task) -> Cow<'_, str> {
    task.inner.file_name().unwrap_or_default().to_string_lossy()
}

fn unreadable_folder(error: Errno) -> Diagnostic {
    let message = format!("the folder cannot be read: {}", words(error));
    let diagnostic = Diagnostic::warning(Code::DirectoryUnreadable, message);
    match error {
        Errno::ACCESS | Errno::PERM => diagnostic.help("make it readable for you: chmod u+rx FOLDER"),
        _ => diagnostic,
    }
}
