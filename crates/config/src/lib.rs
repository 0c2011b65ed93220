//! The configuration: preset, files, environment variables and flags, from the lowest to the highest
//! precedence.
//!
//! | module | subject |
//! |---|---|
//! | [`keys`] | every key, as one table |
//! | `chat` | the section `[chat]` |
//! | `embeddings` | the section `[embeddings]` |
//! | `test_settings` | the section `[test]` |
//! | `chat_store` | the location of stored chats |
//! | `layers` | the configuration files, and the preset |
//! | `file` | reading bounded, regular UTF-8 files |
//! | `tree` | TOML and YAML as one tree with locations |
//! | `field`, `choices` | parsing, writing and comparing values |
//! | `layer_reader` | applying one file, and reporting its problems |
//! | `narrow` | the values that a project may set |
//! | `dialect` | the files of presets `harness` and `chat`, with keys of their own |
//! | `environment` | the environment variables |
//! | [`edit`] | editing one list or entry of a configuration file in place |
//!
//! Invariants: a project's file never allows more than what is allowed without it, and no broken file prevents
//! the others from being read.

mod base_url;
mod chat;
mod chat_store;
mod check;
mod choices;
mod dialect;
pub mod edit;
mod embeddings;
mod environment;
mod field;
mod file;
pub mod keys;
mod layer_reader;
mod layers;
mod mcp_source;
mod model_settings;
mod narrow;
mod origin;
mod test_settings;
#[doc(hidden)]
pub mod tree;
mod values;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use base_url::{BaseUrl, ParseBaseUrlError};
pub use chat::{ChatFileLimits, ChatLimits, ChatProvider, ChatSettings, ChatTimeouts, ToolCalling};
pub use chat_store::ChatStore;
pub use check::{CheckSettings, IgnoredCode, ParseIgnoredCodeError};
pub use embeddings::{EmbeddingsProvider, EmbeddingsSettings};
pub use keys::{ConfigKey, KEYS, find_key};
pub use mcp_source::{McpSource, McpTransport};
pub use model_settings::{
    Effort, ExtraHeaders, ModelOverrides, ModelSettings, RESERVED_BODY_KEYS, RESERVED_HEADERS, Temperature,
    ThinkingMode,
};
pub use origin::{ConfigLayer, SettingOrigin};
pub use test_settings::TestSettings;

use environment::Environment;
use layer_reader::LoadState;
use values::ConfigValues;

use prowess::FileDiagnostic;
use prowess::HostEnv;
use prowess::policy::{Policy, Preset};

/// The inputs of a configuration. This crate does not read them from the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigInputs {
    /// The project and the home directory.
    pub host: HostEnv,
    /// `--preset`.
    pub preset: Option<Preset>,
    /// `--config`.
    pub file: Option<PathBuf>,
    /// The environment variables that begin with `PROWESS_` or `SKILLS_`.
    pub environment: Vec<(String, String)>,
}

impl ConfigInputs {
    /// Returns inputs without flags and variables.
    pub fn new(host: HostEnv) -> Self {
        Self { host, preset: None, file: None, environment: Vec::new() }
    }
}

/// The effective values, and where each comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The inputs, to edit the files or load them again.
    pub inputs: ConfigInputs,
    /// The policy.
    pub policy: Policy,
    /// The servers that provide skills.
    pub mcp_sources: Vec<McpSource>,
    /// The sites whose skill indexes are searched.
    pub indexes: Vec<String>,
    /// The settings of `prowess check`.
    pub check: CheckSettings,
    /// The settings of chats.
    pub chat: ChatSettings,
    /// The settings of embeddings.
    pub embeddings: EmbeddingsSettings,
    /// The settings of tests of skills.
    pub test: TestSettings,
    /// Every key with its value, in the order of [`KEYS`].
    pub settings: Vec<ConfigSetting>,
    /// Problems in files and variables.
    pub diagnostics: Vec<FileDiagnostic>,
    /// The configuration files, from the lowest to the highest precedence, and whether each was read.
    pub files: Vec<(PathBuf, bool)>,
}

/// A key and its effective value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigSetting {
    /// The key.
    pub key: &'static str,
    /// Its value, as a file would contain it.
    pub value: serde_json::Value,
    /// Where the value comes from.
    pub origin: SettingOrigin,
    /// What the key controls.
    pub about: &'static str,
}

/// Loads the configuration. Never fails as a whole: invalid parts are reported and ignored.
///
/// ```
/// use prowess::HostEnv;
/// use prowess_config::{ConfigInputs, load};
///
/// let host = HostEnv { project: "/nowhere".into(), home: None, path: Default::default() };
/// let mut inputs = ConfigInputs::new(host);
/// inputs.environment.push(("PROWESS_SKILLS_ENABLED".into(), "false".into()));
///
/// let configuration = load(&inputs);
/// assert!(!configuration.policy.enabled);
/// let origin = &configuration.setting("enabled").unwrap().origin;
/// assert_eq!(origin.to_string(), "variable PROWESS_SKILLS_ENABLED");
/// ```
pub fn load(inputs: &ConfigInputs) -> Configuration {
    build(inputs, None)
}

/// Loads the configuration like [`load`], but fails if it has errors. Problems in a project's file are only
/// warnings.
pub fn load_strict(inputs: &ConfigInputs) -> Result<Configuration, LoadConfigurationError> {
    load(inputs).into_result()
}

/// The configuration has errors. A program with a valid configuration keeps using that one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid configuration: {0}")]
pub struct LoadConfigurationError(String);

/// Returns the configuration as if the file at `path` had this text. Writes nothing.
pub fn load_with_text(inputs: &ConfigInputs, path: &Path, text: &str) -> Configuration {
    build(inputs, Some((path, text)))
}

fn build(inputs: &ConfigInputs, replacement: Option<(&Path, &str)>) -> Configuration {
    let (preset, documents) = layers::find_layers(inputs, replacement);
    let values = ConfigValues::from_policy(Policy::from_preset(preset), inputs.host.home.clone());
    let mut state = LoadState { values, origins: BTreeMap::new(), diagnostics: Vec::new() };
    for document in &documents {
        document.apply(&mut state);
    }
    // The preset was determined before any file was read; it overrides the files.
    state.values.policy.preset = preset;
    Environment(&inputs.environment).apply(&mut state);
    if inputs.preset.is_some() {
        state.origins.insert("preset", SettingOrigin::Flag("--preset".to_owned()));
    }
    let settings = settings(&state, preset);
    Configuration {
        inputs: inputs.clone(),
        mcp_sources: state.values.mcp_sources.clone(),
        indexes: state.values.indexes.clone(),
        check: state.values.check.clone(),
        chat: state.values.chat.clone(),
        embeddings: state.values.embeddings.clone(),
        test: state.values.test.clone(),
        policy: state.values.into_policy(),
        settings,
        diagnostics: state.diagnostics,
        files: documents.iter().map(|document| (document.path.clone(), document.is_read())).collect(),
    }
}

fn settings(state: &LoadState, preset: Preset) -> Vec<ConfigSetting> {
    KEYS.iter()
        .map(|key| ConfigSetting {
            key: key.name,
            value: key.field.to_json(&state.values),
            origin: state.origins.get(key.name).cloned().unwrap_or(SettingOrigin::Preset(preset)),
            about: key.about,
        })
        .collect()
}

impl Configuration {
    /// Returns the setting of a key.
    pub fn setting(&self, key: &str) -> Option<&ConfigSetting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    /// Returns the first error; `None` if there are only warnings.
    pub fn first_error(&self) -> Option<&FileDiagnostic> {
        self.diagnostics.iter().find(|located| located.diagnostic.is_error())
    }

    /// Returns the configuration, or its first error.
    pub fn into_result(self) -> Result<Self, LoadConfigurationError> {
        let Some(FileDiagnostic { path, diagnostic }) = self.first_error() else { return Ok(self) };
        Err(LoadConfigurationError(match path.is_absolute() {
            true => format!("{}: {}", path.display(), diagnostic.message),
            // A variable has no path.
            false => diagnostic.message.clone(),
        }))
    }

    /// Searches only these directories, as `--root` does.
    #[must_use]
    pub fn with_roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.policy = self.policy.with_roots(roots);
        let had_sources = !std::mem::take(&mut self.mcp_sources).is_empty();
        let values = ConfigValues::from_policy(self.policy.clone(), None);
        for setting in self.settings.iter_mut().filter(|setting| had_sources || setting.key != "sources.mcp")
        {
            if let ("scan.roots" | "scan.ancestors" | "trust.project" | "sources.mcp", Some(key)) =
                (setting.key, find_key(setting.key))
            {
                setting.value = key.field.to_json(&values);
                setting.origin = SettingOrigin::Flag("--root".to_owned());
            }
        }
        self
    }
}
