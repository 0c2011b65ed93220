//! Plugins: the skills that `skills.plugins` in `~/.agent/config.yaml` lists (preset `harness`), and their status.

use std::path::PathBuf;

use prowess::{HostEnv, Preset, Scope, Skill, SkillStatus, Snapshot};
use prowess_config::Configuration;

use prowess_config::edit::file::{self, EditFileError};
use prowess_config::edit::harness::{self, HarnessPlugin};

/// A plugin and its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPlugin {
    /// The entry in the file.
    pub plugin: HarnessPlugin,
    /// The line, counted from 1.
    pub line: u32,
    /// The status.
    pub status: PluginStatus,
    /// The reason why it is not available.
    pub reason: Option<String>,
}

prowess_format::named_enum! {
    /// The status of a plugin.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PluginStatus {
        /// Enabled.
        Enabled = "enabled",
        /// Disabled.
        Disabled = "disabled",
        /// Enabled, but not usable: its directory or a command is missing, or it is invalid.
        Unavailable = "unavailable",
        /// Enabled, but another skill with the same name is used.
        Shadowed = "shadowed",
    }
}

impl PluginStatus {
    /// Returns `✓`, `○` or `✗`.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Enabled => "✓",
            Self::Disabled | Self::Shadowed => "○",
            Self::Unavailable => "✗",
        }
    }

    /// Returns the status of a skill.
    pub fn from_skill(skill: &Skill) -> Self {
        match skill.status() {
            SkillStatus::Enabled => Self::Enabled,
            SkillStatus::Disabled(_) => Self::Disabled,
            SkillStatus::Shadowed(_) => Self::Shadowed,
            SkillStatus::Unavailable(_)
            | SkillStatus::Untrusted(_)
            | SkillStatus::Modified(_)
            | SkillStatus::Invalid => Self::Unavailable,
        }
    }
}

/// Returns the file that lists plugins; `None` if the preset has none.
pub fn plugin_config_path(configuration: &Configuration, host: &HostEnv) -> Option<PathBuf> {
    let is_harness = configuration.policy.preset == Preset::Harness;
    host.home.as_ref().filter(|_| is_harness).map(|home| home.join(".agent/config.yaml"))
}

/// Returns the plugins in the file, in its order.
pub fn list_plugins(
    configuration: &Configuration,
    host: &HostEnv,
    snapshot: &Snapshot,
) -> Result<Vec<ListedPlugin>, EditFileError> {
    let Some(path) = plugin_config_path(configuration, host) else { return Ok(Vec::new()) };
    let text = file::read_text(&path)?.unwrap_or_default();
    let plugins = harness::plugins(&text).map_err(|source| EditFileError::Edit { path, source })?;
    Ok(plugins.into_iter().map(|(plugin, line)| with_status(plugin, line, snapshot)).collect())
}

fn with_status(plugin: HarnessPlugin, line: u32, snapshot: &Snapshot) -> ListedPlugin {
    let name = plugin.effective_name();
    let mut skills = snapshot.all().iter().filter(|skill| skill.root().scope() == Scope::Plugin);
    let skill = skills.find(|skill| skill.name() == name || skill.id() == name);
    let (status, reason) = match skill {
        _ if !plugin.enabled => (PluginStatus::Disabled, None),
        Some(skill) => (PluginStatus::from_skill(skill), skill.reason()),
        None => (PluginStatus::Unavailable, Some("its directory is missing; install it again".to_owned())),
    };
    ListedPlugin { plugin, line, status, reason }
}
