//! The plugin that an installed skill belongs to.

use serde::{Deserialize, Serialize};

/// The plugin that a skill was installed with. A record only: nothing is loaded from the plugin because of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LockedPlugin {
    /// The name.
    pub name: String,
    /// The version in its manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The directory of the plugin inside the source; `None` if the source is the plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The name of the marketplace that lists it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marketplace: Option<String>,
}

impl LockedPlugin {
    /// Returns the name and the version.
    pub fn describe(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.name),
            None => self.name.clone(),
        }
    }
}
