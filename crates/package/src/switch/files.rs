//! The configuration files that enable or disable skills.

use std::path::{Path, PathBuf};

use prowess::{HostEnv, Preset};
use prowess_config::{ConfigInputs, ConfigLayer, Configuration};

use super::{ConfigLocation, ConfigScope, SwitchError};
use prowess_config::edit::file::{self, SymlinkPolicy};
use prowess_config::edit::list::{self, ListFormat};
use prowess_config::edit::{EditError, harness};

/// A list of enabled or disabled skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkillList {
    Disabled,
    Enabled,
    DisabledBundled,
    EnabledBundled,
}

/// The names of the lists in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListDialect {
    Prowess,
    Harness,
}

/// A loaded configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigFile {
    pub(super) path: PathBuf,
    pub(super) layer: ConfigLayer,
    dialect: ListDialect,
    format: ListFormat,
}

/// Returns the loaded configuration files that can contain skill lists, lowest precedence first.
pub(super) fn config_files(configuration: &Configuration, inputs: &ConfigInputs) -> Vec<ConfigFile> {
    let HostEnv { home, project, .. } = &inputs.host;
    let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let is_chat = configuration.policy.preset == Preset::Chat;
    let config_file = |path: &PathBuf| {
        let (layer, dialect) = match Some(path) {
            path if path == in_home(".prowess/config.toml").as_ref() => {
                (ConfigLayer::User, ListDialect::Prowess)
            }
            path if path == in_home(".agent/config.yaml").as_ref() => {
                (ConfigLayer::User, ListDialect::Harness)
            }
            Some(path) if *path == project.join(".prowess/config.toml") => {
                (ConfigLayer::Project, ListDialect::Prowess)
            }
            // The configuration file of preset `chat` has no such lists.
            Some(path) if is_chat && *path == project.join("config.toml") => return None,
            _ => (ConfigLayer::Explicit, ListDialect::Prowess),
        };
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => ListFormat::Yaml,
            _ => ListFormat::Toml,
        };
        Some(ConfigFile { path: path.clone(), layer, dialect, format })
    };
    configuration.files.iter().filter_map(|(path, _)| config_file(path)).collect()
}

/// Returns the files of a scope that may be changed; new entries go to the last one.
pub(super) fn editable_files(
    configuration: &Configuration,
    inputs: &ConfigInputs,
    scope: ConfigScope,
) -> Result<Vec<ConfigFile>, SwitchError> {
    let layer = match scope {
        ConfigScope::User => ConfigLayer::User,
        ConfigScope::Project => ConfigLayer::Project,
    };
    let files: Vec<_> =
        config_files(configuration, inputs).into_iter().filter(|file| file.layer == layer).collect();
    match (files.is_empty(), scope) {
        (false, _) => Ok(files),
        (true, ConfigScope::User) if inputs.host.home.is_none() => Err(SwitchError::NoHome),
        (true, ConfigScope::User) => {
            let reason =
                "--config is your user configuration file; run the command without --config to change it";
            Err(SwitchError::NoConfigFile { reason })
        }
        (true, ConfigScope::Project) => Err(SwitchError::NoConfigFile {
            reason: match configuration.policy.preset {
                Preset::Chat => {
                    "in preset chat, a project file cannot enable or disable single skills; use --user"
                }
                _ => "the home directory has no project configuration, only yours; use --user",
            },
        }),
    }
}

impl ConfigFile {
    fn list_path(&self, list: SkillList) -> [&'static str; 2] {
        let name = match (self.dialect, list) {
            (_, SkillList::Disabled) => "disabled",
            (_, SkillList::Enabled) => "enabled",
            (ListDialect::Prowess, SkillList::DisabledBundled) => "disabled-bundled",
            (ListDialect::Prowess, SkillList::EnabledBundled) => "enabled-bundled",
            (ListDialect::Harness, SkillList::DisabledBundled) => "disabledBundled",
            (ListDialect::Harness, SkillList::EnabledBundled) => "enabledBundled",
        };
        ["skills", name]
    }

    /// Returns `true` for the configuration file of preset `harness`, which has plugins and its own keys for bundled
    /// skills.
    pub(super) fn is_harness(&self) -> bool {
        self.dialect == ListDialect::Harness
    }

    fn text(&self) -> String {
        // Errors are reported when the configuration is loaded.
        file::read_text(&self.path).ok().flatten().unwrap_or_default()
    }

    /// Returns the entries of a list with their locations.
    pub(super) fn entries(&self, list: SkillList) -> Vec<(String, ConfigLocation)> {
        let entries = list::find(&self.text(), self.format, self.list_path(list)).unwrap_or_default();
        entries.into_iter().map(|entry| (entry.text, self.location(entry.line))).collect()
    }

    /// Returns the names of the plugins, whether they are enabled, and their locations.
    pub(super) fn plugins(&self) -> Vec<(String, bool, ConfigLocation)> {
        if !self.is_harness() {
            return Vec::new();
        }
        let plugins = harness::plugins(&self.text()).unwrap_or_default();
        let describe = |(plugin, line): (harness::HarnessPlugin, u32)| {
            (plugin.effective_name().to_owned(), plugin.enabled, self.location(line))
        };
        plugins.into_iter().map(describe).collect()
    }

    fn location(&self, line: u32) -> ConfigLocation {
        ConfigLocation { path: self.path.clone(), layer: self.layer, line }
    }

    /// Adds an item to a list. Returns `true` if the file changed.
    pub(super) fn add(&self, project: &Path, list: SkillList, item: &str) -> Result<bool, SwitchError> {
        self.change(project, |text| list::add(text, self.format, self.list_path(list), item))
    }

    /// Removes an item from a list. Returns `true` if the file changed.
    pub(super) fn remove(&self, project: &Path, list: SkillList, item: &str) -> Result<bool, SwitchError> {
        self.change(project, |text| list::remove(text, self.format, self.list_path(list), item))
    }

    /// Enables or disables a plugin. Returns `true` if the file changed.
    pub(super) fn set_plugin(&self, project: &Path, name: &str, enabled: bool) -> Result<bool, SwitchError> {
        self.change(project, |text| harness::set_plugin_enabled(text, name, enabled))
    }

    /// Applies an edit to the text of the file. Returns `true` if the file changed.
    fn change(
        &self,
        project: &Path,
        edit: impl FnOnce(&str) -> Result<String, EditError>,
    ) -> Result<bool, SwitchError> {
        let symlinks = if self.layer == ConfigLayer::Project {
            SymlinkPolicy::Rejected(project)
        } else {
            SymlinkPolicy::Followed
        };
        Ok(file::edit_file(&self.path, symlinks, edit)?)
    }
}

/// Returns the file for a list: the last file that has it, because it overrides the others, else the last file.
pub(super) fn file_for_list(files: &[ConfigFile], list: SkillList) -> Option<&ConfigFile> {
    files.iter().rev().find(|file| !file.entries(list).is_empty()).or(files.last())
}
