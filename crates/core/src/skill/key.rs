//! What a skill is called.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::DiscoveredSkill;
use crate::policy::SkillIdentity;

/// What a skill is called in a registry: its name, or the name of its directory if that is the policy's
/// [`SkillIdentity`]. [`Snapshot::get`](crate::Snapshot::get) finds skills by key, and at most one skill is
/// available under each key.
///
/// ```
/// use prowess::{Policy, Registry};
///
/// let registry = Registry::open(Policy::default())?;
/// let snapshot = registry.snapshot();
/// let skill = snapshot.get("hello-world").ok_or("not found")?;
/// assert_eq!(skill.key().as_str(), "hello-world");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillKey(Arc<str>);

impl SkillKey {
    pub(crate) fn new(skill: &DiscoveredSkill, identity: SkillIdentity) -> Self {
        Self(match identity {
            SkillIdentity::Id => skill.id().into(),
            SkillIdentity::Name => skill.resolved_name().map_or_else(|| skill.id(), Cow::from).into(),
        })
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for SkillKey {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for SkillKey {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for SkillKey {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<str> for SkillKey {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for SkillKey {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for SkillKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<&SkillKey> for String {
    fn from(key: &SkillKey) -> Self {
        key.as_str().to_owned()
    }
}

impl serde::Serialize for SkillKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
