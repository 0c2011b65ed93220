//! Changing the user's settings, for a program that people look at: every other byte of their file stays, and what could not
//! be used is not written.

use std::path::PathBuf;

use prowess::{ErrorCode, Located};
use prowess_config::{Configuration, Inputs};
use prowess_format::Value;

use prowess_config::edit::file::{self, FileError, Links};
use prowess_config::edit::setting::set;

/// What decides which code runs, where keys go, and what is trusted: that is for the user's own hands.
const BY_HAND: [&str; 9] = [
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

/// Whether a key is changed by hand only.
///
/// ```
/// use prowess_package::settings::is_by_hand;
///
/// assert!(is_by_hand("run.scripts") && !is_by_hand("catalog.format"));
/// ```
pub fn is_by_hand(key: &str) -> bool {
    BY_HAND.iter().any(|prefix| key.starts_with(prefix))
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// There is no such key.
    #[error("there is no setting {0}")]
    NoKey(String),
    /// It decides too much for a program to change it.
    #[error("{0} is changed in the file by hand: it decides what runs, where keys go or what is trusted")]
    ByHand(String),
    /// A value that the key does not take.
    #[error("{}", named(key, why))]
    Value {
        /// The key.
        key: String,
        /// Why not.
        why: String,
    },
    /// There is no file of the user's that counts.
    #[error("{0}")]
    NoFile(&'static str),
    /// It would count for nothing.
    #[error("{key} would stay as it is: {origin} decides")]
    Overruled {
        /// The key.
        key: String,
        /// Who decides.
        origin: String,
    },
    /// The file cannot be changed.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What is wrong with a key, which may say so already.
fn named(key: &str, why: &str) -> String {
    if why.starts_with(key) { why.to_owned() } else { format!("{key}: {why}") }
}

impl SettingsError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoKey(_) | Self::Value { .. } => ErrorCode::InvalidParam,
            Self::ByHand(_) => ErrorCode::AccessDenied,
            Self::NoFile(_) | Self::Overruled { .. } => ErrorCode::Conflict,
            Self::File(FileError::Changing { .. } | FileError::Edit { .. }) => ErrorCode::Conflict,
            Self::File(_) => ErrorCode::ExecutionError,
        }
    }
}

/// What was changed, to take it back.
#[derive(Debug)]
pub struct Changed {
    path: PathBuf,
    before: String,
    after: String,
    /// What the configuration is now.
    pub configuration: Configuration,
}

impl Changed {
    /// Whether the file is another than before.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Writes what was there before, unless somebody changed it since.
    pub fn take_back(&self) -> Result<(), SettingsError> {
        let undo = |text: &str| Ok(if text == self.after { self.before.clone() } else { text.to_owned() });
        file::change(&self.path, Links::Followed, undo)?;
        Ok(())
    }
}

/// Sets keys in the user's configuration, all of them or none; no value takes a key away, so that the preset decides again.
pub fn change(inputs: &Inputs, changes: &[(String, Option<Value>)]) -> Result<Changed, SettingsError> {
    for (key, _) in changes {
        if prowess_config::key(key).is_none() {
            return Err(SettingsError::NoKey(key.clone()));
        }
        if is_by_hand(key) {
            return Err(SettingsError::ByHand(key.clone()));
        }
    }
    let path = file_of(inputs)?;
    let mut texts = (String::new(), String::new());
    let mut failed = None;
    file::change(&path, Links::Followed, |before| {
        let mut text = before.to_owned();
        for (key, value) in changes {
            let steps: Vec<&str> = key.splitn(2, '.').collect();
            text = set(&text, &steps, value.as_ref())?;
        }
        // Nothing is written that could not be read.
        let trial = prowess_config::load_with(inputs, &path, &text);
        failed = wrong(&trial, &path, changes);
        texts = (before.to_owned(), if failed.is_some() { before.to_owned() } else { text.clone() });
        Ok(texts.1.clone())
    })?;
    match failed {
        Some(error) => Err(error),
        None => {
            let (before, after) = texts;
            Ok(Changed { path, before, after, configuration: prowess_config::load(inputs) })
        }
    }
}

/// What is wrong with a configuration, or makes a change count for nothing.
fn wrong(
    trial: &Configuration,
    path: &std::path::Path,
    changes: &[(String, Option<Value>)],
) -> Option<SettingsError> {
    let here = |located: &&Located| located.path == path && located.diagnostic.is_error();
    if let Some(located) = trial.diagnostics.iter().find(here) {
        let message = located.diagnostic.message.clone();
        let key = changes.iter().map(|(key, _)| key).find(|key| message.contains(key.as_str()));
        let key = key.or(changes.first().map(|(key, _)| key)).cloned().unwrap_or_default();
        return Some(SettingsError::Value { key, why: message });
    }
    let overruled = |(key, value): &&(String, Option<Value>)| {
        let origin = trial.setting(key).map(|setting| setting.origin.to_string()).unwrap_or_default();
        value.is_some() && !origin.starts_with("user file")
    };
    changes.iter().find(overruled).map(|(key, _)| SettingsError::Overruled {
        key: key.clone(),
        origin: trial.setting(key).map(|setting| setting.origin.to_string()).unwrap_or_default(),
    })
}

/// The user's file, if it counts.
/// The file that [`change`] writes: the user's own configuration, or the one of `--config`.
pub fn file_of(inputs: &Inputs) -> Result<PathBuf, SettingsError> {
    let home = inputs.surroundings.home.as_ref();
    let path = home.ok_or(SettingsError::NoFile("there is no home directory to keep settings in"))?;
    let path = path.join(".prowess/config.toml");
    let counts = prowess_config::load(inputs).files.iter().any(|(known, _)| *known == path);
    let is_given = inputs.file.as_ref().is_some_and(|given| *given == path);
    match counts && !is_given {
        true => Ok(path),
        false => Err(SettingsError::NoFile(
            "your own configuration file does not count here; change the one that does",
        )),
    }
}
