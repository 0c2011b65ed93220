//! The interface of preset `harness` (document 002), which discloses skills in three tiers: the list of skills,
//! the instructions of one skill, and its other files. Missing skills and files are `None`.

use crate::activation::activate_with_mode;
use crate::catalog::{CatalogRequest, render_catalog};
use crate::policy::{ActivationMode, CatalogFormat, LocationVisibility, Policy};
use crate::registry::{Skill, Snapshot};
use crate::resources::{self, ResourceKind};

/// Access to enabled skills by name, tier by tier.
#[derive(Debug, Clone, Copy)]
pub struct SkillTiers<'a> {
    /// All skills.
    pub snapshot: &'a Snapshot,
    /// The policy.
    pub policy: &'a Policy,
}

impl<'a> SkillTiers<'a> {
    /// Returns the tiers of a snapshot.
    pub fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        Self { snapshot, policy }
    }

    /// Returns the enabled skill of this name.
    pub fn skill(&self, name: &str) -> Option<&'a Skill> {
        self.snapshot.get(name).filter(|skill| skill.is_enabled())
    }

    /// Returns the names of all enabled skills, in catalog order.
    pub fn skill_names(&self) -> Vec<String> {
        self.snapshot.enabled().map(|skill| skill.key().into()).collect()
    }

    /// Returns tier 1: `<available_skills>` with the name, description and location of each skill.
    pub fn tier1_context(&self) -> String {
        let policy = Policy { activation: ActivationMode::FullFile, ..self.policy.clone() };
        let request = CatalogRequest {
            format: CatalogFormat::Xml,
            location: LocationVisibility::Shown,
            ..CatalogRequest::from_policy(self.policy)
        };
        render_catalog(self.snapshot, &policy, &request).text
    }

    /// Returns tier 2: the whole `SKILL.md`, regardless of the policy's activation mode.
    pub fn tier2_context(&self, name: &str) -> Option<String> {
        let activated = activate_with_mode(self.skill(name)?, None, self.policy, ActivationMode::FullFile);
        Some(activated.ok()?.content())
    }

    /// Returns tier 3: the paths of the files in one of the standard directories.
    pub fn tier3_resource_list(&self, name: &str, kind: ResourceKind) -> Vec<String> {
        let contents = self.skill(name).and_then(|skill| resources::list_files(skill, Some(kind)).ok());
        contents.unwrap_or_default().files.into_iter().map(|file| file.path).collect()
    }

    /// Returns tier 3: the text of one file.
    pub fn tier3_resource(&self, name: &str, path: &str) -> Option<String> {
        let resource = resources::read_text(self.skill(name)?, path, &self.policy.limits);
        Some(resource.ok()?.content)
    }
}
