//! All skills at one moment, immutable and cheap to share.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::discovery::RootProblem;
use crate::file_diagnostic::FileDiagnostic;
use crate::skill::{Root, Skill, SkillKey, SkillStatus};

/// A configured root that was not scanned, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentRoot {
    /// The root's path.
    pub path: PathBuf,
    /// Why it is not scanned.
    pub problem: RootProblem,
}

/// All discovered skills with their status.
#[derive(Debug, PartialEq)]
pub struct Snapshot {
    pub(crate) skills: Vec<Skill>,
    /// The index in `skills` of the skill that takes precedence for each key.
    pub(crate) index: HashMap<SkillKey, u32>,
    pub(crate) roots: Vec<Arc<Root>>,
    pub(crate) absent: Vec<AbsentRoot>,
    /// Diagnostics about roots, symlinks and collisions. Those about a skill are stored with the skill.
    pub(crate) diagnostics: Vec<FileDiagnostic>,
    pub(crate) skipped_dirs: Vec<PathBuf>,
}

/// The difference between two snapshots, by skill key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SnapshotDiff {
    /// Skills that are newly offered.
    pub added: Vec<SkillKey>,
    /// Skills that are no longer offered.
    pub removed: Vec<SkillKey>,
    /// Skills with different content or a different location.
    pub changed: Vec<SkillKey>,
}

impl SnapshotDiff {
    /// Returns `true` if nothing differs.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

impl Snapshot {
    pub(crate) fn new(
        skills: Vec<Skill>,
        roots: Vec<Arc<Root>>,
        absent: Vec<AbsentRoot>,
        diagnostics: Vec<FileDiagnostic>,
    ) -> Self {
        let is_effective = |skill: &Skill| {
            matches!(
                skill.status,
                SkillStatus::Enabled
                    | SkillStatus::Disabled(_)
                    | SkillStatus::Unavailable(_)
                    | SkillStatus::Modified(_)
            )
        };
        let index = skills
            .iter()
            .enumerate()
            .filter(|(_, skill)| is_effective(skill))
            .map(|(index, skill)| (skill.key.clone(), u32::try_from(index).unwrap_or(u32::MAX)))
            .collect();
        Self { skills, index, roots, absent, diagnostics, skipped_dirs: Vec::new() }
    }

    /// Returns the skills that are offered to models, in catalog order.
    pub fn enabled(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| skill.is_enabled())
    }

    /// Returns all discovered skills, including those that are not available.
    pub fn all(&self) -> &[Skill] {
        &self.skills
    }

    /// Returns all discovered skills without symlinks to skills that were also found directly, such as those that Prowess
    /// creates for other agents.
    pub fn without_links(&self) -> impl Iterator<Item = &Skill> {
        let is_link = |skill: &Skill| skill.link().is_some_and(|link| link.is_known && link.is_dir);
        let direct: HashSet<PathBuf> = match self.skills.iter().any(is_link) {
            true => self
                .skills
                .iter()
                .filter(|skill| !is_link(skill))
                .map(|skill| skill.canonical_dir())
                .collect(),
            false => HashSet::new(),
        };
        self.skills.iter().filter(move |skill| !is_link(skill) || !direct.contains(&skill.canonical_dir()))
    }

    /// Returns the skill that takes precedence for a key: enabled, disabled, unavailable or modified.
    pub fn get(&self, key: &str) -> Option<&Skill> {
        self.index.get(key).and_then(|index| self.skills.get(*index as usize))
    }

    /// Returns every skill with this name or directory name, the one that takes precedence first.
    pub fn copies<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Skill> {
        self.skills.iter().filter(move |skill| skill.name() == name || skill.id() == name)
    }

    /// Returns the scanned roots, in order of precedence.
    pub fn roots(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter().map(|root| &**root)
    }

    /// Returns the roots that were not scanned.
    pub fn absent_roots(&self) -> &[AbsentRoot] {
        &self.absent
    }

    /// Returns the directories in the roots that were not searched: hidden ones except `.git`, and those with
    /// dependencies or build output.
    pub fn skipped_dirs(&self) -> &[PathBuf] {
        &self.skipped_dirs
    }

    /// Returns all diagnostics: first about roots and collisions, then about each skill.
    pub fn diagnostics(&self) -> impl Iterator<Item = FileDiagnostic> {
        let about_skills = self.skills.iter().flat_map(|skill| {
            skill
                .diagnostics()
                .iter()
                .map(|diagnostic| FileDiagnostic::new(skill.skill_md_path(), diagnostic.clone()))
        });
        self.diagnostics.iter().cloned().chain(about_skills)
    }

    /// Returns the diagnostics about roots, symlinks and collisions, without those about each skill.
    pub fn general_diagnostics(&self) -> impl Iterator<Item = &FileDiagnostic> {
        self.diagnostics.iter()
    }

    /// Returns the difference from an earlier snapshot.
    pub fn diff_from(&self, earlier: &Self) -> SnapshotDiff {
        let mut difference = SnapshotDiff::default();
        for skill in self.enabled() {
            match earlier.get(&skill.key).filter(|skill| skill.is_enabled()) {
                None => difference.added.push(skill.key.clone()),
                Some(previous) if previous.discovered != skill.discovered => {
                    difference.changed.push(skill.key.clone());
                }
                Some(_) => {}
            }
        }
        let is_removed = |skill: &&Skill| !self.get(&skill.key).is_some_and(Skill::is_enabled);
        difference.removed.extend(earlier.enabled().filter(is_removed).map(|skill| skill.key.clone()));
        difference
    }
}
