//! Where skills are installed, and which lock speaks for them.

pub(crate) mod clock;
pub(crate) mod commit;
mod own;
pub(crate) mod stage;
mod tidy;
mod track;
pub(crate) mod verify;

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use prowess::grants::Grantee;
use prowess::lock::{self, Granted, Lock, Locked};
use prowess::policy::{ProjectTrust, RootPlace, Run};
use prowess::{Policy, Preset, RootSpec, Scope, Surroundings};
use prowess_format::hidden;
use prowess_fs::{Durable, Guard, busy, write_whole};

use crate::error::PackageError;
use prowess_archive::InnerPath;

pub use clock::iso_time;
pub use own::NotOwn;
pub use verify::{Verification, Verified, accept, verify};

/// For whom skills are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// For everybody who works in the project; the lock is committed.
    Project,
    /// For the user, wherever they work.
    User,
}

impl For {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }

    /// For whom where nobody says: the project if this looks like one, else the user.
    pub fn usual(policy: &Policy, world: &Surroundings) -> Self {
        let marks = [".git", lock::FILE, ".agents", ".prowess"];
        let is_home = world.home.as_deref() == Some(&world.project);
        let is_project = !is_home && marks.iter().any(|mark| world.project.join(mark).exists());
        let has_user_root = user_root(policy, world).is_some();
        match policy.preset {
            // Document 002 installs plugins for the user; document 000 has no place but the application's own.
            Preset::Harness => Self::User,
            _ if is_project || world.git_root().is_some() || !has_user_root => Self::Project,
            _ => Self::User,
        }
    }
}

/// A directory of skills and its lock.
#[derive(Debug, Clone)]
pub struct Place {
    /// For whom.
    pub scope: For,
    /// The directory that skills are installed into.
    pub root: PathBuf,
    /// The lock.
    pub lock: PathBuf,
    /// The project; `None` where the user's state keeps the lock.
    pub(crate) base: Option<PathBuf>,
    pub(crate) world: Surroundings,
    /// Whether skills there wait for the user's trust.
    pub(crate) needs_trust: bool,
    /// Document 002's configuration, where plugins are kept track of.
    pub(crate) plugins: Option<PathBuf>,
    /// What the user grants, to write down what of it is for a skill.
    run: Run,
    /// Whether skills there count as a project's.
    of_project: bool,
}

impl Place {
    /// The place for a scope under a policy.
    pub fn new(scope: For, policy: &Policy, world: &Surroundings) -> Result<Self, PackageError> {
        let no_home = || PackageError::Call {
            message: "there is no home directory to keep track of skills in".to_owned(),
            hint: "set HOME, or name one with --home".to_owned(),
        };
        let given = policy.scan.roots.iter().find(|spec| spec.given).map(|spec| spec.path().to_owned());
        let user_lock = || lock::user_file(world).ok_or_else(no_home);
        let world = world.clone();
        let needs_trust = false;
        let plugins = None;
        let run = policy.run.clone();
        let of_project = given.is_some() || scope == For::Project;
        if let Some(root) = given {
            let lock = user_lock()?;
            let scope = For::User;
            return Ok(Self { scope, root, lock, base: None, world, needs_trust, plugins, run, of_project });
        }
        match scope {
            For::Project => {
                let root = project_root(policy).ok_or_else(|| PackageError::Call {
                    message: "this configuration has no project directory to install into".to_owned(),
                    hint: "install for the user: --user".to_owned(),
                })?;
                let base = world.project.clone();
                let (root, lock) = (base.join(root), lock::project_file(&base));
                let needs_trust = policy.trust == ProjectTrust::Required;
                let base = Some(base);
                Ok(Self { scope, root, lock, base, world, needs_trust, plugins, run, of_project })
            }
            For::User => {
                let root = user_root(policy, &world).ok_or_else(|| match world.home {
                    None => no_home(),
                    Some(_) => PackageError::Call {
                        message: "this configuration has no directory of the user's to install into"
                            .to_owned(),
                        hint: "install into the project: --project".to_owned(),
                    },
                })?;
                let home = world.home.clone().ok_or_else(no_home)?;
                let plugins = (policy.preset == Preset::Harness).then(|| home.join(".agent/config.yaml"));
                let lock = user_lock()?;
                Ok(Self { scope, root, lock, base: None, world, needs_trust, plugins, run, of_project })
            }
        }
    }

    /// What the user grants to a skill that lies here.
    pub(crate) fn granted(&self, name: &str, needs: &[String]) -> Granted {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let (name, folder) = (name.to_owned(), Some(root.join(name)));
        Grantee { name, folder, of_project: self.of_project }.granted(needs, &self.run, &self.world)
    }

    /// The name of a folder in the lock.
    pub(crate) fn key(&self, folder: &Path) -> String {
        let home = self.world.home.as_deref();
        let (prefix, inner) = match (&self.base, home.and_then(|home| folder.strip_prefix(home).ok())) {
            (Some(base), _) => ("", folder.strip_prefix(base).unwrap_or(folder)),
            (None, Some(inner)) => ("~/", inner),
            (None, None) => ("", folder),
        };
        format!("{prefix}{}", inner.to_string_lossy())
    }

    /// The folder that everything of this scope lies in: the project, or the home.
    pub fn base(&self) -> Option<&Path> {
        self.base.as_deref().or(self.world.home.as_deref())
    }

    /// Where a folder of the lock lies.
    pub fn folder(&self, locked: &Locked) -> Result<PathBuf, PackageError> {
        let folder = self.named(locked)?;
        self.contains(&folder)?;
        Ok(folder)
    }

    /// Where the folders of many entries of the lock lie. Each directory that they lie in is resolved once.
    pub(crate) fn folders(&self, all: &[Locked]) -> Result<Vec<PathBuf>, PackageError> {
        let mut known: HashSet<PathBuf> = HashSet::new();
        let one = |locked: &Locked| {
            let folder = self.named(locked)?;
            if let Some(parent) = folder.parent().filter(|parent| !known.contains(*parent)) {
                self.contains(&folder)?;
                known.insert(parent.to_owned());
            }
            Ok(folder)
        };
        all.iter().map(one).collect()
    }

    /// Where a folder of the lock lies, unless links lead elsewhere.
    fn named(&self, locked: &Locked) -> Result<PathBuf, PackageError> {
        let folder = self.joined(&locked.folder)?;
        // Whoever names a skill means its folder, not whatever else a lock from strangers puts behind the name.
        if folder.file_name().is_none_or(|name| name != locked.name.as_str()) {
            return Err(
                self.bad_entry(&locked.folder, &format!("is no folder for a skill named {}", locked.name))
            );
        }
        Ok(folder)
    }

    /// The same as [`folder`](Self::folder) for a folder alone.
    pub(crate) fn locate(&self, folder: &str) -> Result<PathBuf, PackageError> {
        let path = self.joined(folder)?;
        self.contains(&path)?;
        Ok(path)
    }

    /// Where a folder lies by its name in the lock, unless links lead elsewhere.
    fn joined(&self, folder: &str) -> Result<PathBuf, PackageError> {
        let locked = Locked { folder: folder.to_owned(), ..Locked::default() };
        let path = locked.place(self.base.as_deref(), self.world.home.as_deref());
        let path = path.ok_or_else(|| self.bad_entry(folder, "lies outside"))?;
        if self.base.is_some() {
            InnerPath::parse(folder.as_bytes())
                .map_err(|why| self.bad_entry(folder, &format!("is no place for a skill: {why}")))?;
        }
        Ok(path)
    }

    /// Refuses a folder where links lead out of the project on the way to it.
    fn contains(&self, folder: &Path) -> Result<(), PackageError> {
        self.base.as_deref().map_or(Ok(()), |base| within(base, folder.parent().unwrap_or(base)))
    }

    fn bad_entry(&self, folder: &str, why: &str) -> PackageError {
        let folder = if folder.is_empty() { "“”" } else { folder };
        let (folder, why) = (hidden::shown(folder), hidden::shown(why));
        PackageError::Call {
            message: format!("{} names {folder}, which {why}", self.lock.display()),
            hint: "take that entry out of the lock".to_owned(),
        }
    }

    /// Refuses a directory of skills that a project's links lead out of it.
    pub(crate) fn is_writable(&self) -> Result<(), PackageError> {
        self.base.as_deref().map_or(Ok(()), |base| within(base, &self.root))
    }

    /// Keeps others from changing anything here.
    pub(crate) fn guard(&self) -> Result<Guard, PackageError> {
        Guard::take(&self.lock).map_err(PackageError::io("locked", &busy(&self.lock)))
    }

    /// Writes the lock; an empty one is no file.
    pub(crate) fn write(&self, lock: &Lock) -> Result<(), PackageError> {
        if lock.skills.is_empty() && lock.pending.is_none() {
            return match std::fs::remove_file(&self.lock) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(PackageError::io("removed", &self.lock)(error))
                }
                _ => Ok(()),
            };
        }
        let mode = if self.base.is_some() { 0o644 } else { 0o600 };
        let durable = if lock.pending.is_some() { Durable::No } else { Durable::Yes };
        write_whole(&self.lock, &lock.to_bytes(), mode, durable)
            .map_err(PackageError::io("written", &self.lock))
    }
}

fn project_root(policy: &Policy) -> Option<PathBuf> {
    let writable =
        |spec: &&RootSpec| matches!(spec.place, RootPlace::Project(_)) && spec.scope != Scope::Bundled;
    policy.scan.roots.iter().find(writable).map(|spec| spec.path().to_owned())
}

fn user_root(policy: &Policy, world: &Surroundings) -> Option<PathBuf> {
    let wanted = if policy.preset == Preset::Harness { Scope::Plugin } else { Scope::User };
    let of_user = |spec: &&RootSpec| spec.scope == wanted && !matches!(spec.place, RootPlace::Project(_));
    let spec = policy.scan.roots.iter().find(of_user)?;
    match &spec.place {
        RootPlace::Home(inner) => Some(world.home.as_ref()?.join(inner)),
        RootPlace::Absolute(path) => Some(path.clone()),
        RootPlace::Project(_) | RootPlace::Embedded => None,
    }
}

/// Refuses a folder that links lead out of the project, or into its `.git`. It need not be there yet.
fn within(base: &Path, folder: &Path) -> Result<(), PackageError> {
    let outside = |why| PackageError::Outside { path: folder.to_owned(), why };
    let there = folder.ancestors().find(|above| fs::symlink_metadata(above).is_ok()).unwrap_or(folder);
    let real = fs::canonicalize(there).map_err(|_| outside("it is a link that leads nowhere"))?;
    let base = fs::canonicalize(base).map_err(PackageError::io("found", base))?;
    let Ok(inner) = real.strip_prefix(base) else { return Err(outside("a link leads out of the project")) };
    match inner.components().any(|step| step == Component::Normal(".git".as_ref())) {
        true => Err(outside("a link leads into the project's .git")),
        false => Ok(()),
    }
}
