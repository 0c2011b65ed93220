//! The directory into which skills are installed, and its lock file.

mod cleanup;
pub(crate) mod clock;
pub(crate) mod commit;
mod editable;
mod links;
mod plugin_records;
pub(crate) mod stage;
pub(crate) mod verify;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use prowess::grants::Grantee;
use prowess::lock::{self, GrantedAccess, LockEntry, LockFile};
use prowess::policy::{ProjectTrust, RootLocation, RunPolicy};
use prowess::{HostEnv, Policy, Preset, RootSpec, Scope};
use prowess_format::hidden;
use prowess_fs::{LockGuard, SyncPolicy, failed_path, lock_path, write_atomic};

use crate::containment::{NotContained, resolve_within};
use crate::error::PackageError;
use prowess_archive::InnerPath;

pub use clock::format_iso_time;
pub use editable::NotEditableReason;
pub(crate) use links::remove_dangling_links;
pub use links::{LinkChange, LinkEffect};
pub use verify::{VerificationStatus, VerifiedSkill, accept_modified, verify_skills};

prowess_format::named_enum! {
    /// For whom skills are installed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum InstallScope {
        /// For everyone who works on the project; the lock file is committed.
        Project = "project",
        /// For the user, in all projects.
        User = "user",
    }
}

impl InstallScope {
    /// Returns the default scope: the project if the directory looks like one, else the user.
    pub fn default_for(policy: &Policy, host: &HostEnv) -> Self {
        let markers = [".git", lock::LOCK_FILE_NAME, ".agents", ".prowess", ".claude", ".codex"];
        // The home directory has such directories as well, and may be reached through a symlink.
        let canonical = |dir: &Path| fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
        let is_home = host.home.as_deref().is_some_and(|home| canonical(home) == canonical(&host.project));
        let is_project = !is_home && markers.iter().any(|marker| host.project.join(marker).exists());
        let has_user_root = user_root(policy, host).is_some();
        match policy.preset {
            // Preset `harness` installs plugins for the user; preset `app` only has the application's directory.
            Preset::Harness => Self::User,
            _ if is_project || host.git_root().is_some() || !has_user_root => Self::Project,
            _ => Self::User,
        }
    }
}

fn no_home() -> PackageError {
    PackageError::InvalidArgument {
        message: "no home directory to install skills in".to_owned(),
        hint: "set HOME, or pass --home DIR".to_owned(),
    }
}

/// A directory of skills and its lock file.
#[derive(Debug, Clone)]
pub struct InstallTarget {
    /// The scope.
    pub scope: InstallScope,
    /// The directory that skills are installed into.
    pub root: PathBuf,
    /// The lock file.
    pub lock_path: PathBuf,
    /// The project; `None` if the lock file is in the user's state directory.
    pub(crate) project: Option<PathBuf>,
    pub(crate) host: HostEnv,
    /// Whether skills in it require trust.
    pub(crate) needs_trust: bool,
    /// The configuration of preset `harness`, in which plugins are recorded.
    pub(crate) plugin_config: Option<PathBuf>,
    /// The user's grants, which are recorded in the lock file.
    run_policy: RunPolicy,
    /// Whether skills in it are project skills.
    is_project: bool,
}

impl InstallTarget {
    /// Returns the target for a scope under a policy.
    pub fn new(scope: InstallScope, policy: &Policy, host: &HostEnv) -> Result<Self, PackageError> {
        let explicit =
            policy.scan.roots.iter().find(|spec| spec.is_explicit).map(|spec| spec.path().to_owned());
        let is_project = explicit.is_some() || scope == InstallScope::Project;
        let scope = if explicit.is_some() { InstallScope::User } else { scope };
        let (root, plugin_config) = match (explicit, scope) {
            (Some(root), _) => (root, None),
            (None, InstallScope::Project) => {
                let root = project_root(policy).ok_or_else(|| PackageError::InvalidArgument {
                    message: "this configuration has no project directory for skills".to_owned(),
                    hint: "install for the current user with --user".to_owned(),
                })?;
                (host.project.join(root), None)
            }
            (None, InstallScope::User) => {
                let home = host.home.as_ref().ok_or_else(no_home)?;
                let root = user_root(policy, host).ok_or_else(|| PackageError::InvalidArgument {
                    message: "this configuration has no user directory for skills".to_owned(),
                    hint: "install into the project with --project".to_owned(),
                })?;
                (root, (policy.preset == Preset::Harness).then(|| home.join(".agent/config.yaml")))
            }
        };
        let in_project = scope == InstallScope::Project;
        Ok(Self {
            scope,
            root,
            lock_path: match scope {
                InstallScope::Project => lock::project_lock_path(&host.project),
                InstallScope::User => lock::user_lock_path(host).ok_or_else(no_home)?,
            },
            project: in_project.then(|| host.project.clone()),
            host: host.clone(),
            needs_trust: in_project && policy.trust == ProjectTrust::Required,
            plugin_config,
            run_policy: policy.run.clone(),
            is_project,
        })
    }

    /// Returns what the user grants to a skill in this target.
    pub(crate) fn grants_for(&self, name: &str, needs: &[String]) -> GrantedAccess {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let (name, dir) = (name.to_owned(), Some(root.join(name)));
        Grantee { name, dir, is_project_skill: self.is_project }.grants(needs, &self.run_policy, &self.host)
    }

    /// Returns the key of a directory in the lock file.
    pub(crate) fn lock_key(&self, dir: &Path) -> String {
        let home = self.host.home.as_deref();
        let (prefix, inner) = match (&self.project, home.and_then(|home| dir.strip_prefix(home).ok())) {
            (Some(base), _) => ("", dir.strip_prefix(base).unwrap_or(dir)),
            (None, Some(inner)) => ("~/", inner),
            (None, None) => ("", dir),
        };
        format!("{prefix}{}", inner.to_string_lossy())
    }

    /// Returns the project, or the home directory.
    pub fn base(&self) -> Option<&Path> {
        self.project.as_deref().or(self.host.home.as_deref())
    }

    /// Returns the directory of a lock entry.
    pub fn dir(&self, locked: &LockEntry) -> Result<PathBuf, PackageError> {
        let dir = self.unresolved_dir(locked)?;
        self.check_contained(&dir)?;
        Ok(dir)
    }

    /// Returns the directories of many lock entries. Each parent directory is resolved once.
    pub(crate) fn dirs(&self, all: &[LockEntry]) -> Result<Vec<PathBuf>, PackageError> {
        let mut checked_parents: HashSet<PathBuf> = HashSet::new();
        let resolve = |locked: &LockEntry| {
            let dir = self.unresolved_dir(locked)?;
            if let Some(parent) = dir.parent().filter(|parent| !checked_parents.contains(*parent)) {
                self.check_contained(&dir)?;
                checked_parents.insert(parent.to_owned());
            }
            Ok(dir)
        };
        all.iter().map(resolve).collect()
    }

    /// Returns the directory of a lock entry, without resolving symlinks.
    fn unresolved_dir(&self, locked: &LockEntry) -> Result<PathBuf, PackageError> {
        let dir = self.unresolved_dir_for_key(&locked.folder)?;
        // The directory must have the name of the skill, because the lock file is untrusted.
        if dir.file_name().is_none_or(|name| name != locked.name.as_str()) {
            return Err(self.bad_entry(
                &locked.folder,
                &format!("is not a directory for a skill named {}", locked.name),
            ));
        }
        Ok(dir)
    }

    /// Returns the directory with this key in the lock file; see [`dir`](Self::dir).
    pub(crate) fn dir_for_key(&self, dir: &str) -> Result<PathBuf, PackageError> {
        let path = self.unresolved_dir_for_key(dir)?;
        self.check_contained(&path)?;
        Ok(path)
    }

    /// Returns the directory with this key in the lock file, without resolving symlinks.
    fn unresolved_dir_for_key(&self, dir: &str) -> Result<PathBuf, PackageError> {
        let locked = LockEntry { folder: dir.to_owned(), ..LockEntry::default() };
        let path = locked.resolve_dir(self.project.as_deref(), self.host.home.as_deref());
        let path =
            path.ok_or_else(|| self.bad_entry(dir, "is not inside the project or your home directory"))?;
        if self.project.is_some() {
            InnerPath::parse(dir.as_bytes())
                .map_err(|error| self.bad_entry(dir, &format!("is not a valid path: {error}")))?;
        }
        Ok(path)
    }

    /// Rejects a directory if symlinks on its path point out of the project or into its `.git`.
    fn check_contained(&self, dir: &Path) -> Result<(), NotContained> {
        let Some(project) = self.project.as_deref() else { return Ok(()) };
        resolve_within(project, dir.parent().unwrap_or(project)).map(drop)
    }

    fn bad_entry(&self, dir: &str, problem: &str) -> PackageError {
        let dir = if dir.is_empty() { "“”" } else { dir };
        let (dir, problem) = (hidden::escape_for_display(dir), hidden::escape_for_display(problem));
        PackageError::InvalidArgument {
            message: format!("{} contains {dir}, which {problem}", self.lock_path.display()),
            hint: "remove the entry from the lock file".to_owned(),
        }
    }

    /// Rejects a skill directory that is outside of the project because of symlinks.
    pub(crate) fn check_writable(&self) -> Result<(), PackageError> {
        let Some(project) = self.project.as_deref() else { return Ok(()) };
        resolve_within(project, &self.root)?;
        Ok(())
    }

    /// Locks the target against changes by other processes.
    pub(crate) fn lock(&self) -> Result<LockGuard, PackageError> {
        LockGuard::acquire(&self.lock_path).map_err(PackageError::io("lock", &lock_path(&self.lock_path)))
    }

    /// Writes the lock file; removes it if it is empty.
    pub(crate) fn write_lock(&self, lock: &LockFile) -> Result<(), PackageError> {
        if lock.skills.is_empty() && lock.pending.is_none() {
            return match std::fs::remove_file(&self.lock_path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(PackageError::io("remove", &self.lock_path)(error))
                }
                _ => Ok(()),
            };
        }
        let mode = if self.project.is_some() { 0o644 } else { 0o600 };
        let sync = if lock.pending.is_some() { SyncPolicy::NoSync } else { SyncPolicy::Sync };
        write_atomic(&self.lock_path, &lock.to_bytes(), mode, sync)
            .map_err(|error| PackageError::io("write", &failed_path(&self.lock_path, &error))(error))
    }
}

fn project_root(policy: &Policy) -> Option<PathBuf> {
    let is_writable =
        |spec: &&RootSpec| matches!(spec.location, RootLocation::Project(_)) && spec.scope != Scope::Bundled;
    policy.scan.roots.iter().find(is_writable).map(|spec| spec.path().to_owned())
}

fn user_root(policy: &Policy, host: &HostEnv) -> Option<PathBuf> {
    let scope = if policy.preset == Preset::Harness { Scope::Plugin } else { Scope::User };
    let is_user_root =
        |spec: &&RootSpec| spec.scope == scope && !matches!(spec.location, RootLocation::Project(_));
    let spec = policy.scan.roots.iter().find(is_user_root)?;
    match &spec.location {
        RootLocation::Home(inner) => Some(host.home.as_ref()?.join(inner)),
        RootLocation::Absolute(path) => Some(path.clone()),
        RootLocation::Project(_) | RootLocation::Embedded => None,
    }
}
