//! The interface of document 002: whole instructions as tier 2, files as tier 3, `None` where there is
//! nothing.

use crate::activate::activate_as;
use crate::disclose::{Request, catalog};
use crate::policy::{Activation, CatalogFormat, Identity, Location, Policy};
use crate::registry::{Skill, Snapshot};
use crate::resource::{self, Kind};

/// Skills by name, tier by tier. Only skills that are offered have anything to give.
#[derive(Debug, Clone, Copy)]
pub struct TierApi<'a> {
    /// All skills.
    pub snapshot: &'a Snapshot,
    /// What they are held to.
    pub policy: &'a Policy,
}

impl<'a> TierApi<'a> {
    /// The skills of a snapshot.
    pub fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        Self { snapshot, policy }
    }

    /// The skill of this name.
    pub fn skill(&self, name: &str) -> Option<&'a Skill> {
        self.snapshot.get(name).filter(|skill| skill.is_enabled())
    }

    /// The names of all skills that are offered, in the order of the catalog.
    pub fn skill_names(&self) -> Vec<String> {
        let name = |skill: &Skill| match self.policy.scan.identity {
            Identity::Id => skill.id().into_owned(),
            Identity::Name => skill.name().into_owned(),
        };
        self.snapshot.enabled().map(name).collect()
    }

    /// Tier 1: `<available_skills>` with name, description and location of each, and nothing else.
    pub fn tier1_context(&self) -> String {
        let policy = Policy { activation: Activation::FullFile, ..self.policy.clone() };
        let request =
            Request { format: CatalogFormat::Xml, location: Location::Shown, ..Request::of(self.policy) };
        catalog(self.snapshot, &policy, &request).text
    }

    /// Tier 2: the whole `SKILL.md`, whatever the policy's form of activation.
    pub fn tier2_context(&self, name: &str) -> Option<String> {
        let activated = activate_as(self.skill(name)?, None, self.policy, Activation::FullFile);
        Some(activated.ok()?.content())
    }

    /// Tier 3: the paths of the files in one of the three folders.
    pub fn tier3_resource_list(&self, name: &str, kind: Kind) -> Vec<String> {
        let contents = self.skill(name).and_then(|skill| resource::list(skill, Some(kind)).ok());
        contents.unwrap_or_default().files.into_iter().map(|file| file.path).collect()
    }

    /// Tier 3: the text of one file.
    pub fn tier3_resource(&self, name: &str, path: &str) -> Option<String> {
        let resource = resource::read(self.skill(name)?, path, &self.policy.limits);
        Some(resource.ok()?.content)
    }
}
