//! Which skills the user may edit, and where new ones are created.

use std::path::Path;

use prowess::policy::RootLocation;
use prowess::{HostEnv, Policy, Preset, Scope, Skill, lock};

use super::{InstallScope, InstallTarget, no_home};
use crate::error::PackageError;

/// The reason why the user may not edit a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotEditableReason {
    /// It is on a server.
    #[error("it is provided by a server")]
    Remote,
    /// It is bundled with Prowess, in its binary.
    #[error("it is bundled with Prowess and read-only")]
    BundledWithProwess,
    /// It is bundled with the application, in a directory.
    #[error("it is bundled with the application and read-only")]
    BundledWithApplication,
    /// It belongs to the project.
    #[error("it belongs to the project; edit it there")]
    Project,
    /// It is a plugin: a skill that `skills.plugins` in `~/.agent/config.yaml` lists.
    #[error("it is a plugin; install it again to change it")]
    Plugin,
    /// It was found through a symlink.
    #[error("it is a symlink; edit the original")]
    Symlink,
    /// It is a custom command of another agent.
    #[error("it is a custom command of another agent; edit its file")]
    Command,
    /// There is no home directory for the lock file.
    #[error("no home directory to record it in")]
    NoHome,
}

impl InstallTarget {
    /// Returns the target for the user's new skills: the first user directory, in the home directory or, as in preset
    /// `app`, in the project; or the first explicit root.
    pub fn user_skills(policy: &Policy, host: &HostEnv) -> Result<Self, PackageError> {
        if policy.scan.roots.iter().any(|spec| spec.is_explicit) {
            return Self::new(InstallScope::User, policy, host);
        }
        let user_root = policy.scan.roots.iter().find(|spec| spec.scope == Scope::User);
        let no_root = || PackageError::InvalidArgument {
            message: "this configuration has no directory for the user's skills".to_owned(),
            hint: "add one to scan.roots, or pass --root DIR".to_owned(),
        };
        let root = match &user_root.ok_or_else(no_root)?.location {
            RootLocation::Project(inner) => host.project.join(inner),
            RootLocation::Absolute(path) => path.clone(),
            RootLocation::Home(inner) => host.home.as_ref().ok_or_else(no_home)?.join(inner),
            RootLocation::Embedded => return Err(no_root()),
        };
        Self::for_user_root(&root, policy, host).ok_or_else(no_home)
    }

    /// Returns the target of a skill that the user may edit, or the reason why not.
    pub fn for_editing(skill: &Skill, policy: &Policy, host: &HostEnv) -> Result<Self, NotEditableReason> {
        let root = skill.root();
        let is_explicit = policy.scan.roots.iter().any(|spec| spec.is_explicit && spec.path() == root.path());
        if skill.is_command() {
            return Err(NotEditableReason::Command);
        }
        match root.scope() {
            Scope::Remote => return Err(NotEditableReason::Remote),
            Scope::Bundled if root.is_embedded() => return Err(NotEditableReason::BundledWithProwess),
            Scope::Bundled => return Err(NotEditableReason::BundledWithApplication),
            Scope::User => {}
            // An explicit root is editable.
            Scope::Project | Scope::Plugin if is_explicit => {}
            Scope::Project => return Err(NotEditableReason::Project),
            Scope::Plugin => return Err(NotEditableReason::Plugin),
        }
        if skill.link().is_some() || skill.is_outside_known_dirs() {
            return Err(NotEditableReason::Symlink);
        }
        let target = Self::for_user_root(root.path(), policy, host).ok_or(NotEditableReason::NoHome)?;
        // Staged and replaced files of a skill stay in the directory that contains the skill.
        let root = skill.dir().parent().map_or_else(|| root.path().to_owned(), Path::to_owned);
        Ok(Self { root, ..target })
    }

    /// Returns the target for a user directory; `None` without a home directory for the lock file.
    fn for_user_root(root: &Path, policy: &Policy, host: &HostEnv) -> Option<Self> {
        let in_project = |spec: &prowess::RootSpec| match &spec.location {
            RootLocation::Project(inner) => host.project.join(inner) == root,
            _ => false,
        };
        let in_project = policy.scan.roots.iter().any(in_project);
        let is_explicit = policy.scan.roots.iter().any(|spec| spec.is_explicit);
        Some(Self {
            scope: if in_project { InstallScope::Project } else { InstallScope::User },
            root: root.to_owned(),
            lock_path: if in_project {
                lock::project_lock_path(&host.project)
            } else {
                lock::user_lock_path(host)?
            },
            project: in_project.then(|| host.project.clone()),
            host: host.clone(),
            needs_trust: false,
            plugin_config: None,
            run_policy: policy.run.clone(),
            is_project: is_explicit || in_project && policy.preset != Preset::App,
        })
    }
}
