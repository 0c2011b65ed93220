//! All skills at one moment: immutable, and cheap to share.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::located::Located;
use crate::policy::Identity;
use crate::scan::RootProblem;
use crate::skill::{Root, Skill, Status};

/// A root of the policy that is not scanned, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentRoot {
    /// Its path.
    pub path: PathBuf,
    /// Why it is not scanned.
    pub problem: RootProblem,
}

/// All skills that were found, with their status.
#[derive(Debug, PartialEq)]
pub struct Snapshot {
    pub(crate) skills: Vec<Skill>,
    /// The skill that counts under each name.
    pub(crate) index: HashMap<Box<str>, u32>,
    identity: Identity,
    pub(crate) roots: Vec<Arc<Root>>,
    pub(crate) absent: Vec<AbsentRoot>,
    /// What is said about roots, collisions and the like; what is said about a skill is with the skill.
    pub(crate) diagnostics: Vec<Located>,
    pub(crate) passed_over: Vec<PathBuf>,
}

/// What differs between two snapshots, by what the skills are called by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Difference {
    /// Offered now and not before.
    pub added: Vec<String>,
    /// Offered before and not now.
    pub removed: Vec<String>,
    /// Offered before and now, with another text or from another place.
    pub changed: Vec<String>,
}

impl Difference {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

impl Snapshot {
    pub(crate) fn new(
        skills: Vec<Skill>,
        identity: Identity,
        roots: Vec<Arc<Root>>,
        absent: Vec<AbsentRoot>,
        diagnostics: Vec<Located>,
    ) -> Self {
        let counts = |skill: &Skill| {
            matches!(
                skill.status,
                Status::Enabled | Status::Disabled(_) | Status::Unavailable(_) | Status::Modified(_)
            )
        };
        let index = skills
            .iter()
            .enumerate()
            .filter(|(_, skill)| counts(skill))
            .map(|(at, skill)| (key(identity, skill).into(), u32::try_from(at).unwrap_or(u32::MAX)))
            .collect();
        Self { skills, index, identity, roots, absent, diagnostics, passed_over: Vec::new() }
    }

    /// The skills a model is offered, in the order of the catalog.
    pub fn enabled(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| skill.is_enabled())
    }

    /// Every skill that was found, whatever became of it.
    pub fn all(&self) -> &[Skill] {
        &self.skills
    }

    /// The skill of this name that counts: offered, disabled, unavailable, or modified.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.index.get(name).and_then(|at| self.skills.get(*at as usize))
    }

    /// The name under which [`Snapshot::get`] finds a skill, as a text that lives as long as the snapshot.
    pub fn known_name(&self, name: &str) -> Option<&str> {
        self.index.get_key_value(name).map(|(known, _)| &**known)
    }

    /// Every copy of this name or folder, the one that counts first.
    pub fn copies<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Skill> {
        self.skills.iter().filter(move |skill| skill.name() == name || skill.id() == name)
    }

    /// The roots that were scanned, the one that wins first.
    pub fn roots(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter().map(|root| &**root)
    }

    /// The roots that were not.
    pub fn absent_roots(&self) -> &[AbsentRoot] {
        &self.absent
    }

    /// The folders in the roots that were not searched: hidden ones but for git's own, and those of dependencies and
    /// build output.
    pub fn passed_over(&self) -> &[PathBuf] {
        &self.passed_over
    }

    /// All there is to say: about roots and collisions first, then skill by skill.
    pub fn diagnostics(&self) -> impl Iterator<Item = Located> {
        let of_skills = self.skills.iter().flat_map(|skill| {
            skill.diagnostics().iter().map(|diagnostic| Located::new(skill.location(), diagnostic.clone()))
        });
        self.diagnostics.iter().cloned().chain(of_skills)
    }

    /// What there is to say about roots, links and collisions, without what is said about each skill.
    pub fn general_diagnostics(&self) -> impl Iterator<Item = &Located> {
        self.diagnostics.iter()
    }

    /// What differs from an earlier snapshot.
    pub fn since(&self, earlier: &Self) -> Difference {
        let mut difference = Difference::default();
        for skill in self.enabled() {
            let name = key(self.identity, skill).into_owned();
            match earlier.get(&name).filter(|skill| skill.is_enabled()) {
                None => difference.added.push(name),
                Some(before) if before.found != skill.found => difference.changed.push(name),
                Some(_) => {}
            }
        }
        let names = earlier.enabled().map(|skill| key(earlier.identity, skill));
        let gone = names.filter(|name| !self.get(name).is_some_and(Skill::is_enabled));
        difference.removed.extend(gone.map(Cow::into_owned));
        difference
    }
}

/// What a skill is called by.
fn key(identity: Identity, skill: &Skill) -> Cow<'_, str> {
    match identity {
        Identity::Id => skill.id(),
        Identity::Name => skill.name(),
    }
}
