//! The files that can switch something, and what they say.

use std::path::{Path, PathBuf};

use prowess::{Preset, Surroundings};
use prowess_config::{Configuration, Inputs, Layer};

use super::{Mention, SwitchError, Whose};
use prowess_config::edit::file::{self, Links};
use prowess_config::edit::list::{self, Form};
use prowess_config::edit::{EditError, harness};

/// A list that switches skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Disabled,
    Enabled,
    DisabledBundled,
    EnabledBundled,
}

/// How a file names the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Prowess,
    Harness,
}

/// A file that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigFile {
    pub(super) path: PathBuf,
    pub(super) layer: Layer,
    dialect: Dialect,
    form: Form,
}

/// All files that count and have such lists, the last one over the others.
pub(super) fn all(configuration: &Configuration, inputs: &Inputs) -> Vec<ConfigFile> {
    let Surroundings { home, project, .. } = &inputs.surroundings;
    let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let chat = configuration.policy.preset == Preset::Chat;
    let known = |path: &PathBuf| {
        let (layer, dialect) = match Some(path) {
            path if path == in_home(".prowess/config.toml").as_ref() => (Layer::User, Dialect::Prowess),
            path if path == in_home(".agent/config.yaml").as_ref() => (Layer::User, Dialect::Harness),
            Some(path) if *path == project.join(".prowess/config.toml") => (Layer::Project, Dialect::Prowess),
            // The file of document 004 has no such lists.
            Some(path) if chat && *path == project.join("config.toml") => return None,
            _ => (Layer::Given, Dialect::Prowess),
        };
        let form = match path.extension().and_then(|ending| ending.to_str()) {
            Some("yaml" | "yml") => Form::Yaml,
            _ => Form::Toml,
        };
        Some(ConfigFile { path: path.clone(), layer, dialect, form })
    };
    configuration.files.iter().filter_map(|(path, _)| known(path)).collect()
}

/// The files that may be changed for somebody; the last is the one for what is new.
pub(super) fn own(
    configuration: &Configuration,
    inputs: &Inputs,
    whose: Whose,
) -> Result<Vec<ConfigFile>, SwitchError> {
    let layer = match whose {
        Whose::User => Layer::User,
        Whose::Project => Layer::Project,
    };
    let files: Vec<_> = all(configuration, inputs).into_iter().filter(|file| file.layer == layer).collect();
    match (files.is_empty(), whose) {
        (false, _) => Ok(files),
        (true, Whose::User) if inputs.surroundings.home.is_none() => Err(SwitchError::NoHome),
        (true, Whose::User) => {
            let why = "your own configuration file is the one of --config; leave out --config to change it";
            Err(SwitchError::NoFile { why })
        }
        (true, Whose::Project) => Err(SwitchError::NoFile {
            why: match configuration.policy.preset {
                Preset::Chat => "in preset chat, a project's file cannot switch single skills; use --user",
                _ => "in the home, the project's file would be your own; use --user",
            },
        }),
    }
}

impl ConfigFile {
    fn list(&self, key: Key) -> [&'static str; 2] {
        let name = match (self.dialect, key) {
            (_, Key::Disabled) => "disabled",
            (_, Key::Enabled) => "enabled",
            (Dialect::Prowess, Key::DisabledBundled) => "disabled-bundled",
            (Dialect::Prowess, Key::EnabledBundled) => "enabled-bundled",
            (Dialect::Harness, Key::DisabledBundled) => "disabledBundled",
            (Dialect::Harness, Key::EnabledBundled) => "enabledBundled",
        };
        ["skills", name]
    }

    /// Whether it is document 002's, with plugins and with words of its own for bundled skills.
    pub(super) fn is_harness(&self) -> bool {
        self.dialect == Dialect::Harness
    }

    fn text(&self) -> String {
        // What cannot be read says nothing; that it cannot is told where the configuration is read.
        file::read(&self.path).ok().flatten().unwrap_or_default()
    }

    /// The texts of a list, each with its line.
    pub(super) fn texts(&self, key: Key) -> Vec<(String, Mention)> {
        let found = list::find(&self.text(), self.form, self.list(key)).unwrap_or_default();
        found.into_iter().map(|found| (found.text, self.mention(found.line))).collect()
    }

    /// The plugins, each with its line and whether it is on.
    pub(super) fn plugins(&self) -> Vec<(String, bool, Mention)> {
        if !self.is_harness() {
            return Vec::new();
        }
        let plugins = harness::plugins(&self.text()).unwrap_or_default();
        let told = |(plugin, line): (harness::Plugin, u32)| {
            (plugin.called().to_owned(), plugin.enabled, self.mention(line))
        };
        plugins.into_iter().map(told).collect()
    }

    fn mention(&self, line: u32) -> Mention {
        Mention { path: self.path.clone(), layer: self.layer, line }
    }

    pub(super) fn add(&self, project: &Path, key: Key, item: &str) -> Result<bool, SwitchError> {
        self.change(project, |text| list::add(text, self.form, self.list(key), item))
    }

    pub(super) fn remove(&self, project: &Path, key: Key, item: &str) -> Result<bool, SwitchError> {
        self.change(project, |text| list::remove(text, self.form, self.list(key), item))
    }

    pub(super) fn set_plugin(&self, project: &Path, name: &str, on: bool) -> Result<bool, SwitchError> {
        self.change(project, |text| harness::set_plugin_enabled(text, name, on))
    }

    fn change(
        &self,
        project: &Path,
        edit: impl FnOnce(&str) -> Result<String, EditError>,
    ) -> Result<bool, SwitchError> {
        let links = if self.layer == Layer::Project { Links::Refused(project) } else { Links::Followed };
        Ok(file::change(&self.path, links, edit)?)
    }
}

/// The file for a list: the last that has it, since a later one would take its place; else the last of all.
pub(super) fn for_list(files: &[ConfigFile], key: Key) -> Option<&ConfigFile> {
    files.iter().rev().find(|file| !file.texts(key).is_empty()).or(files.last())
}
