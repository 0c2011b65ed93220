//! The plugins that document 002's `~/.agent/config.yaml` lists, and what became of each.

use std::path::PathBuf;

use prowess::{Preset, Scope, Skill, Snapshot, Status, Surroundings};
use prowess_config::Configuration;

use prowess_config::edit::file::{self, FileError};
use prowess_config::edit::harness::{self, Plugin};

/// A plugin and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPlugin {
    /// What the file says.
    pub plugin: Plugin,
    /// Its line, counted from 1.
    pub line: u32,
    /// How it stands.
    pub standing: Standing,
    /// Why it is not offered, where it is not.
    pub reason: Option<String>,
}

/// How a plugin stands, as document 002 marks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// On.
    Enabled,
    /// Switched off.
    Disabled,
    /// On, and not usable: its folder or a command is missing, or it cannot be loaded.
    Unavailable,
    /// On, and another skill of its name is used.
    Shadowed,
}

impl Standing {
    /// `✓`, `○` or `✗`.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Enabled => "✓",
            Self::Disabled | Self::Shadowed => "○",
            Self::Unavailable => "✗",
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Unavailable => "unavailable",
            Self::Shadowed => "shadowed",
        }
    }

    /// How a skill stands.
    pub fn of(skill: &Skill) -> Self {
        match skill.status() {
            Status::Enabled => Self::Enabled,
            Status::Disabled(_) => Self::Disabled,
            Status::Shadowed(_) => Self::Shadowed,
            Status::Unavailable(_) | Status::Untrusted(_) | Status::Modified(_) | Status::Invalid => {
                Self::Unavailable
            }
        }
    }
}

/// The file that lists plugins; `None` where the preset has none.
pub fn plugins_file(configuration: &Configuration, world: &Surroundings) -> Option<PathBuf> {
    let harness = configuration.policy.preset == Preset::Harness;
    world.home.as_ref().filter(|_| harness).map(|home| home.join(".agent/config.yaml"))
}

/// The plugins of that file, in its order.
pub fn listed(
    configuration: &Configuration,
    world: &Surroundings,
    snapshot: &Snapshot,
) -> Result<Vec<ListedPlugin>, FileError> {
    let Some(path) = plugins_file(configuration, world) else { return Ok(Vec::new()) };
    let text = file::read(&path)?.unwrap_or_default();
    let plugins = harness::plugins(&text).map_err(|source| FileError::Edit { path, source })?;
    Ok(plugins.into_iter().map(|(plugin, line)| judge(plugin, line, snapshot)).collect())
}

fn judge(plugin: Plugin, line: u32, snapshot: &Snapshot) -> ListedPlugin {
    let name = plugin.called();
    let mut skills = snapshot.all().iter().filter(|skill| skill.root().scope() == Scope::Plugin);
    let skill = skills.find(|skill| skill.name() == name || skill.id() == name);
    let (standing, reason) = match skill {
        _ if !plugin.enabled => (Standing::Disabled, None),
        Some(skill) => (Standing::of(skill), skill.reason()),
        None => (Standing::Unavailable, Some("its folder is missing; install it again".to_owned())),
    };
    ListedPlugin { plugin, line, standing, reason }
}
