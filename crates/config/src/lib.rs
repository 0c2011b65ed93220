//! The configuration: preset, files, environment and flags, later over earlier.
//!
//! | module | subject |
//! |---|---|
//! | [`keys`] | every key, as one table |
//! | `chat` | what `[chat]` says |
//! | `embeddings` | what `[embeddings]` says |
//! | `place` | where chats are kept |
//! | `layers` | which files there are, and the preset they make |
//! | `file` | bounded, regular, UTF-8 files |
//! | `tree` | TOML and YAML to one tree with places |
//! | `field`, `words` | how values are read, written and compared |
//! | `read` | one file over what is in force, and what is wrong with it |
//! | `narrow` | what a project may set |
//! | `foreign` | the files of documents 002 and 004 |
//! | `environment` | the variables |
//! | [`edit`] | changing one list or one entry of a configuration file, and nothing else |
//!
//! What must always hold: a project's file never allows more than was in force without it, and no file,
//! however broken, keeps the others from being read.

mod base_url;
mod chat;
pub mod edit;
mod embeddings;
mod environment;
mod field;
mod file;
mod foreign;
pub mod keys;
mod layers;
mod narrow;
mod origin;
mod place;
mod read;
mod source;
#[doc(hidden)]
pub mod tree;
mod values;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use base_url::{BaseUrl, BaseUrlError};
pub use chat::{Chat, ChatLimits, ChatTimeouts, Provider, ToolCalling};
pub use embeddings::{Embeddings, EmbeddingsProvider};
pub use keys::{KEYS, Key, key};
pub use origin::{Layer, Origin};
pub use place::ChatStore;
pub use source::{McpSource, Reach};

use environment::Environment;
use read::State;
use values::Values;

use prowess::Located;
use prowess::Surroundings;
use prowess::policy::{Policy, Preset};

/// What a configuration is made from. The process is not asked for any of it here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// The project and the home.
    pub surroundings: Surroundings,
    /// `--preset`.
    pub preset: Option<Preset>,
    /// `--config`.
    pub file: Option<PathBuf>,
    /// The variables whose names begin with `PROWESS_` or `SKILLS_`.
    pub environment: Vec<(String, String)>,
}

impl Inputs {
    /// Without flags and variables.
    pub fn new(surroundings: Surroundings) -> Self {
        Self { surroundings, preset: None, file: None, environment: Vec::new() }
    }
}

/// The values in force, and where each came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// What they were read from, to change them or to read them again.
    pub inputs: Inputs,
    /// The policy they make.
    pub policy: Policy,
    /// The servers that skills are taken from.
    pub mcp_sources: Vec<McpSource>,
    /// Which model a chat talks to.
    pub chat: Chat,
    /// Who says how close a message and a skill are in meaning.
    pub embeddings: Embeddings,
    /// Every key with its value, in the order of [`KEYS`].
    pub settings: Vec<Setting>,
    /// What is wrong with the files and variables.
    pub diagnostics: Vec<Located>,
    /// The files that count, the last one over the others, and whether each was read.
    pub files: Vec<(PathBuf, bool)>,
}

/// A key with the value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// Its value, in the form in which a file would have it.
    pub value: serde_json::Value,
    /// Where it came from.
    pub origin: Origin,
    /// What it decides.
    pub about: &'static str,
}

/// Reads the configuration. It never fails as a whole: what cannot be read or taken is said and left out.
///
/// ```
/// use prowess::Surroundings;
/// use prowess_config::{Inputs, load};
///
/// let surroundings = Surroundings { project: "/nowhere".into(), home: None, path: Default::default() };
/// let mut inputs = Inputs::new(surroundings);
/// inputs.environment.push(("PROWESS_SKILLS_ENABLED".into(), "false".into()));
///
/// let configuration = load(&inputs);
/// assert!(!configuration.policy.enabled);
/// let origin = &configuration.setting("enabled").unwrap().origin;
/// assert_eq!(origin.to_string(), "variable PROWESS_SKILLS_ENABLED");
/// ```
pub fn load(inputs: &Inputs) -> Configuration {
    made(inputs, None)
}

/// Reads the configuration as [`load`] does, and fails if it has errors. Warnings, among them everything that is wrong with a
/// project's file, are no errors.
pub fn load_strictly(inputs: &Inputs) -> Result<Configuration, ConfigurationError> {
    load(inputs).check()
}

/// The configuration has errors. A program that has a valid one keeps using it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the configuration is wrong: {0}")]
pub struct ConfigurationError(String);

/// What the configuration would be if the file at `path` had this text. Nothing is written.
pub fn load_with(inputs: &Inputs, path: &Path, text: &str) -> Configuration {
    made(inputs, Some((path, text)))
}

fn made(inputs: &Inputs, instead: Option<(&Path, &str)>) -> Configuration {
    let (preset, documents) = layers::find(inputs, instead);
    let values = Values::of(Policy::preset(preset), inputs.surroundings.home.clone());
    let mut state = State { values, origins: BTreeMap::new(), diagnostics: Vec::new() };
    for document in &documents {
        document.apply(&mut state);
    }
    // It was decided before anything was read; a file that says otherwise was overruled.
    state.values.policy.preset = preset;
    Environment(&inputs.environment).apply(&mut state);
    if inputs.preset.is_some() {
        state.origins.insert("preset", Origin::Flag("--preset".to_owned()));
    }
    let settings = settings(&state, preset);
    Configuration {
        inputs: inputs.clone(),
        mcp_sources: state.values.mcp_sources.clone(),
        chat: state.values.chat.clone(),
        embeddings: state.values.embeddings.clone(),
        policy: state.values.into_policy(),
        settings,
        diagnostics: state.diagnostics,
        files: documents.iter().map(|document| (document.path.clone(), document.is_read())).collect(),
    }
}

fn settings(state: &State, preset: Preset) -> Vec<Setting> {
    KEYS.iter()
        .map(|key| Setting {
            key: key.name,
            value: key.field.write(&state.values),
            origin: state.origins.get(key.name).cloned().unwrap_or(Origin::Preset(preset)),
            about: key.about,
        })
        .collect()
}

impl Configuration {
    /// The value in force of a key.
    pub fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    /// The first error; `None` if there are warnings at most.
    pub fn first_error(&self) -> Option<&Located> {
        self.diagnostics.iter().find(|located| located.diagnostic.is_error())
    }

    /// This configuration, or the first of its errors.
    pub fn check(self) -> Result<Self, ConfigurationError> {
        let Some(Located { path, diagnostic }) = self.first_error() else { return Ok(self) };
        Err(ConfigurationError(match path.is_absolute() {
            true => format!("{}: {}", path.display(), diagnostic.message),
            // A variable has a name, but no path.
            false => diagnostic.message.clone(),
        }))
    }

    /// Scans exactly these directories, as `--root` asks for.
    #[must_use]
    pub fn with_roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.policy = self.policy.with_roots(roots);
        let took = !std::mem::take(&mut self.mcp_sources).is_empty();
        let values = Values::of(self.policy.clone(), None);
        for setting in self.settings.iter_mut().filter(|setting| took || setting.key != "sources.mcp") {
            if let ("scan.roots" | "scan.ancestors" | "trust.project" | "sources.mcp", Some(key)) =
                (setting.key, key(setting.key))
            {
                setting.value = key.field.write(&values);
                setting.origin = Origin::Flag("--root".to_owned());
            }
        }
        self
    }
}
