//! Which skills are the user's own to change, and where new ones go.

use std::path::Path;

use prowess::policy::RootPlace;
use prowess::{Policy, Preset, Scope, Skill, Surroundings, lock};

use super::{For, Place};
use crate::error::PackageError;

/// Why a skill is not the user's to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotOwn {
    /// It is a server's.
    #[error("it lies at its server")]
    Served,
    /// It is part of the program.
    #[error("it is bundled with Prowess")]
    Embedded,
    /// It came with the application.
    #[error("it comes with the application and is read-only")]
    Bundled,
    /// It is the project's.
    #[error("it belongs to the project; change it there")]
    Project,
    /// It was installed as a plugin.
    #[error("it is a plugin; install it anew to change it")]
    Plugin,
    /// A link led to it.
    #[error("a link leads to it; change it where it lies")]
    Link,
    /// There is nowhere to keep track of it.
    #[error("there is no home directory to keep track of it in")]
    NoHome,
}

impl Place {
    /// Where the user's own new skills go: the first directory of theirs, whether it lies in the home or, as in preset
    /// `app`, in the project; or the first one that was named for this call.
    pub fn own(policy: &Policy, world: &Surroundings) -> Result<Self, PackageError> {
        if policy.scan.roots.iter().any(|spec| spec.given) {
            return Self::new(For::User, policy, world);
        }
        let own = policy.scan.roots.iter().find(|spec| spec.scope == Scope::User);
        let no_place = || PackageError::Call {
            message: "this configuration has no directory for the user's own skills".to_owned(),
            hint: "name one in scan.roots, or with --root".to_owned(),
        };
        let root = match &own.ok_or_else(no_place)?.place {
            RootPlace::Project(inner) => world.project.join(inner),
            RootPlace::Absolute(path) => path.clone(),
            RootPlace::Home(inner) => world.home.as_ref().ok_or_else(no_home)?.join(inner),
            RootPlace::Embedded => return Err(no_place()),
        };
        Self::of_user(&root, policy, world).ok_or_else(no_home)
    }

    /// The place of a skill that the user may change, or why not.
    pub fn of_own(skill: &Skill, policy: &Policy, world: &Surroundings) -> Result<Self, NotOwn> {
        let root = skill.root();
        let named = policy.scan.roots.iter().any(|spec| spec.given && spec.path() == root.path());
        match root.scope() {
            Scope::Served => return Err(NotOwn::Served),
            Scope::Bundled if root.is_embedded() => return Err(NotOwn::Embedded),
            Scope::Bundled => return Err(NotOwn::Bundled),
            Scope::User => {}
            // Whoever names a directory for this call means to work with it.
            Scope::Project | Scope::Plugin if named => {}
            Scope::Project => return Err(NotOwn::Project),
            Scope::Plugin => return Err(NotOwn::Plugin),
        }
        if skill.link().is_some() || skill.is_outside() {
            return Err(NotOwn::Link);
        }
        let place = Self::of_user(root.path(), policy, world).ok_or(NotOwn::NoHome)?;
        // What is staged for a skill, or moved away, stays in the folder that the skill lies in.
        let root = skill.folder().parent().map_or_else(|| root.path().to_owned(), Path::to_owned);
        Ok(Self { root, ..place })
    }

    /// A directory of the user's, with the lock that speaks for it; `None` where there is nowhere to keep that.
    fn of_user(root: &Path, policy: &Policy, world: &Surroundings) -> Option<Self> {
        let in_project = |spec: &prowess::RootSpec| match &spec.place {
            RootPlace::Project(inner) => world.project.join(inner) == root,
            _ => false,
        };
        let in_project = policy.scan.roots.iter().any(in_project);
        let given = policy.scan.roots.iter().any(|spec| spec.given);
        Some(Self {
            scope: if in_project { For::Project } else { For::User },
            root: root.to_owned(),
            lock: if in_project { lock::project_file(&world.project) } else { lock::user_file(world)? },
            base: in_project.then(|| world.project.clone()),
            world: world.clone(),
            needs_trust: false,
            plugins: None,
            run: policy.run.clone(),
            of_project: given || in_project && policy.preset != Preset::App,
        })
    }
}

fn no_home() -> PackageError {
    PackageError::Call {
        message: "there is no home directory to keep skills in".to_owned(),
        hint: "set HOME, or name one with --home".to_owned(),
    }
}
