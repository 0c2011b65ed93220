//! Changes the user's settings from a user interface. The rest of the file is preserved, and invalid values are not
//! written.

use std::path::{Path, PathBuf};

use prowess::{ErrorCode, FileDiagnostic};
use prowess_config::{ConfigInputs, ConfigLayer, Configuration, SettingOrigin};
use prowess_format::Value;

use prowess_config::edit::file::{self, EditFileError, SymlinkPolicy};
use prowess_config::edit::list::{self, ListFormat};
use prowess_config::edit::setting::set;

/// Prefixes of security-relevant keys, which the user must edit in the file.
const MANUAL_ONLY: [&str; 9] = [
    "run.",
    "trust.",
    "sources.",
    "scan.roots",
    "scan.links",
    "chat.key-",
    "chat.base-url",
    "chat.allow-http",
    "embeddings.",
];

/// Returns `true` if a key can only be changed in the file.
///
/// ```
/// use prowess_package::settings::is_manual_only;
///
/// assert!(is_manual_only("run.scripts") && !is_manual_only("catalog.format"));
/// ```
pub fn is_manual_only(key: &str) -> bool {
    MANUAL_ONLY.iter().any(|prefix| key.starts_with(prefix))
}

/// The reason why nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeSettingsError {
    /// The key is unknown.
    #[error("unknown setting {0}")]
    UnknownKey(String),
    /// The key is security-relevant.
    #[error("{0} must be edited in the configuration file, because it affects security")]
    ManualOnly(String),
    /// The value is invalid.
    #[error("{}", prefix_key(key, reason))]
    InvalidValue {
        /// The key.
        key: String,
        /// The reason.
        reason: String,
    },
    /// The user's file is not used.
    #[error("{0}")]
    NoUserFile(&'static str),
    /// The change would have no effect.
    #[error("{key} would not change, because {origin} overrides it")]
    Overridden {
        /// The key.
        key: String,
        /// The source that overrides it.
        origin: String,
    },
    /// The file cannot be changed.
    #[error(transparent)]
    File(#[from] EditFileError),
}

/// Prefixes a reason with the key, unless it contains it already.
fn prefix_key(key: &str, reason: &str) -> String {
    if reason.starts_with(key) { reason.to_owned() } else { format!("{key}: {reason}") }
}

impl ChangeSettingsError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownKey(_) | Self::InvalidValue { .. } => ErrorCode::InvalidParam,
            Self::ManualOnly(_) => ErrorCode::AccessDenied,
            Self::NoUserFile(_) | Self::Overridden { .. } => ErrorCode::Conflict,
            Self::File(EditFileError::ConcurrentChange { .. } | EditFileError::Edit { .. }) => {
                ErrorCode::Conflict
            }
            Self::File(_) => ErrorCode::ExecutionError,
        }
    }
}

/// A performed change, which can be reverted.
#[derive(Debug)]
pub struct SettingsChange {
    path: PathBuf,
    before: String,
    after: String,
    /// The new configuration.
    pub configuration: Configuration,
}

impl SettingsChange {
    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns `true` if the file changed.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Restores the previous text, unless the file was changed in the meantime.
    pub fn revert(&self) -> Result<(), ChangeSettingsError> {
        let undo = |text: &str| Ok(if text == self.after { self.before.clone() } else { text.to_owned() });
        file::edit_file(&self.path, SymlinkPolicy::Followed, undo)?;
        Ok(())
    }
}

/// Sets keys in the user's configuration, all of them or none. A key without a value is removed.
pub fn change_settings(
    inputs: &ConfigInputs,
    changes: &[(String, Option<Value>)],
) -> Result<SettingsChange, ChangeSettingsError> {
    for (key, _) in changes {
        if prowess_config::find_key(key).is_none() {
            return Err(ChangeSettingsError::UnknownKey(key.clone()));
        }
        if is_manual_only(key) {
            return Err(ChangeSettingsError::ManualOnly(key.clone()));
        }
    }
    write_settings(inputs, ConfigLayer::User, changes)
}

/// Sets keys in the configuration of the user or the project, all of them or none. A key without a value is removed. Unlike
/// [`change_settings`], accepts security-relevant keys, for users who could edit the file themselves.
pub fn write_settings(
    inputs: &ConfigInputs,
    layer: ConfigLayer,
    changes: &[(String, Option<Value>)],
) -> Result<SettingsChange, ChangeSettingsError> {
    if let Some((key, _)) = changes.iter().find(|(key, _)| prowess_config::find_key(key).is_none()) {
        return Err(ChangeSettingsError::UnknownKey(key.clone()));
    }
    let path = settings_file(inputs, layer)?;
    let symlinks = match layer {
        ConfigLayer::Project => SymlinkPolicy::Rejected(&inputs.host.project),
        ConfigLayer::User | ConfigLayer::Explicit => SymlinkPolicy::Followed,
    };
    let mut texts = (String::new(), String::new());
    let mut failed = None;
    file::edit_file(&path, symlinks, |before| {
        let mut text = before.to_owned();
        for (key, value) in changes {
            let segments: Vec<&str> = key.splitn(2, '.').collect();
            text = set(&text, &segments, value.as_ref())?;
        }
        // The new text is loaded before it is written.
        let trial = prowess_config::load_with_text(inputs, &path, &text);
        failed = check_trial(&trial, &path, layer, changes);
        texts = (before.to_owned(), if failed.is_some() { before.to_owned() } else { text.clone() });
        Ok(texts.1.clone())
    })?;
    match failed {
        Some(error) => Err(error),
        None => {
            let (before, after) = texts;
            Ok(SettingsChange { path, before, after, configuration: prowess_config::load(inputs) })
        }
    }
}

/// A lasting decision of the user about scripts of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptDecision {
    /// They run without confirmation.
    Allow,
    /// They never run.
    Deny,
}

/// Adds a skill to `run.allowed-skills` or `run.denied-skills` of the user, after the user was asked. `entry` is its name or
/// directory, followed by `@` and a tree hash if the decision ends when its files change. Earlier decisions about the skill
/// are replaced. Returns the changed file.
pub fn remember_script_decision(
    inputs: &ConfigInputs,
    decision: ScriptDecision,
    entry: &str,
) -> Result<PathBuf, ChangeSettingsError> {
    const ALLOWED: [&str; 2] = ["run", "allowed-skills"];
    const DENIED: [&str; 2] = ["run", "denied-skills"];
    let path = user_settings_file(inputs)?;
    // The last one: the directory of a skill can have any name.
    let skill = entry.rsplit_once("@sha256-tree-").map_or(entry, |(skill, _)| skill);
    let is_about_skill = |item: &str| {
        item.strip_prefix(skill).is_some_and(|rest| rest.is_empty() || rest.starts_with("@sha256-tree-"))
    };
    file::edit_file(&path, SymlinkPolicy::Followed, |before| {
        let mut text = before.to_owned();
        for list_path in [ALLOWED, DENIED] {
            for item in list::find(&text, ListFormat::Toml, list_path)? {
                if is_about_skill(&item.text) {
                    text = list::remove(&text, ListFormat::Toml, list_path, &item.text)?;
                }
            }
        }
        let list_path = match decision {
            ScriptDecision::Allow => ALLOWED,
            ScriptDecision::Deny => DENIED,
        };
        list::add(&text, ListFormat::Toml, list_path, entry)
    })?;
    Ok(path)
}

/// Returns the error of a configuration, or of a change without effect.
fn check_trial(
    trial: &Configuration,
    path: &Path,
    layer: ConfigLayer,
    changes: &[(String, Option<Value>)],
) -> Option<ChangeSettingsError> {
    // What a project may not set is only a warning, since it must not break anything for its users.
    let is_about_change = |located: &FileDiagnostic| {
        layer == ConfigLayer::Project
            && changes.iter().any(|(key, _)| located.diagnostic.message.contains(key.as_str()))
    };
    let is_error_in_file = |located: &&FileDiagnostic| {
        located.path == path && (located.diagnostic.is_error() || is_about_change(located))
    };
    if let Some(located) = trial.diagnostics.iter().find(is_error_in_file) {
        let message = located.diagnostic.message.clone();
        let key = changes.iter().map(|(key, _)| key).find(|key| message.contains(key.as_str()));
        let key = key.or(changes.first().map(|(key, _)| key)).cloned().unwrap_or_default();
        return Some(ChangeSettingsError::InvalidValue { key, reason: message });
    }
    let is_overridden = |(key, value): &&(String, Option<Value>)| {
        let origin = trial.setting(key).map(|setting| &setting.origin);
        let is_here =
            matches!(origin, Some(SettingOrigin::File { layer: origin_layer, .. }) if *origin_layer == layer);
        value.is_some() && !is_here
    };
    changes.iter().find(is_overridden).map(|(key, _)| ChangeSettingsError::Overridden {
        key: key.clone(),
        origin: trial.setting(key).map(|setting| setting.origin.to_string()).unwrap_or_default(),
    })
}

/// Returns the file that [`change_settings`] writes: the user's configuration file, if it is used.
pub fn user_settings_file(inputs: &ConfigInputs) -> Result<PathBuf, ChangeSettingsError> {
    settings_file(inputs, ConfigLayer::User)
}

/// Returns the configuration file of the user or the project, if it is used.
pub fn settings_file(inputs: &ConfigInputs, layer: ConfigLayer) -> Result<PathBuf, ChangeSettingsError> {
    let dir = match layer {
        ConfigLayer::Project => Some(&inputs.host.project),
        ConfigLayer::User | ConfigLayer::Explicit => inputs.host.home.as_ref(),
    };
    let path = dir.ok_or(ChangeSettingsError::NoUserFile("no home directory for settings"))?;
    let path = path.join(".prowess/config.toml");
    let is_used = prowess_config::load(inputs).files.iter().any(|(loaded, _)| *loaded == path);
    let is_explicit = inputs.file.as_ref().is_some_and(|explicit| *explicit == path);
    match is_used && !is_explicit {
        true => Ok(path),
        false => Err(ChangeSettingsError::NoUserFile(
            "your configuration file is not used here; edit the file that is used",
        )),
    }
}
