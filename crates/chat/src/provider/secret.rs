//! The key to a provider: from a variable or a file, and into one header.

use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use prowess_fs::{LastStep, current_user, open_without_waiting, owner, permissions};
use reqwest::header::HeaderValue;

/// The longest key, in bytes.
const KEY_MAX: u64 = 16 * 1024;

/// A shorter key is not looked for in texts: it could be any word.
const SCRUBBED_MIN: usize = 6;

/// A key. It cannot be printed.
///
/// ```
/// use prowess_chat::provider::Secret;
///
/// let secret = Secret::new("sk-123456").unwrap();
/// assert_eq!(format!("{secret:?}"), "Secret(…)");
/// assert_eq!(secret.scrub("wrong key: sk-123456"), "wrong key: [key]");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Why there is no key. What was found is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The variable is not set.
    #[error("the variable {0}, which chat.key-env names, is not set")]
    NotSet(String),
    /// What was found cannot be a key.
    #[error("what {0} holds is not a key: a key is one line of visible ASCII characters")]
    Form(String),
    /// The file cannot be read.
    #[error("the key file {0} cannot be read: {1}")]
    Unreadable(PathBuf, String),
    /// The file is not a file.
    #[error("the key file {0} is not a regular file")]
    NotAFile(PathBuf),
    /// The file belongs to somebody else.
    #[error("the key file {0} belongs to somebody else; it has to be yours")]
    NotYours(PathBuf),
    /// Others could read or change the file.
    #[error(
        "others can read or change the key file {path} (mode {mode:03o}); to keep it to yourself: chmod 600 {path}"
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file is too long.
    #[error("the key file {0} has more than {KEY_MAX} bytes")]
    TooLong(PathBuf),
}

impl Secret {
    /// A key, if it can be one: one line of visible ASCII.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty()
            && text.len() as u64 <= KEY_MAX
            && text.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
        fits.then(|| Self(text.to_owned()))
    }

    /// The key that a variable holds. `environment` looks it up.
    pub fn from_variable(
        name: &str,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, SecretError> {
        let value = environment(name).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| SecretError::NotSet(name.to_owned()))?;
        let wrong = || SecretError::Form(format!("the variable {name}"));
        Self::new(value.to_str().ok_or_else(wrong)?).ok_or_else(wrong)
    }

    /// The key that a file holds. It has to be a file of the user's that nobody else can read or change. What is judged
    /// is what was opened.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        let at = || path.to_owned();
        let opened = open_without_waiting(path, LastStep::Followed);
        let file = opened.map_err(|error| SecretError::Unreadable(at(), error.kind().to_string()))?;
        let about =
            file.metadata().map_err(|error| SecretError::Unreadable(at(), error.kind().to_string()))?;
        if !about.is_file() {
            return Err(SecretError::NotAFile(at()));
        }
        if owner(&about) != current_user() {
            return Err(SecretError::NotYours(at()));
        }
        let mode = permissions(&about);
        if mode & 0o077 != 0 {
            return Err(SecretError::Open { path: at(), mode });
        }
        let mut text = Vec::new();
        let read = file.take(KEY_MAX + 1).read_to_end(&mut text);
        read.map_err(|error| SecretError::Unreadable(at(), error.kind().to_string()))?;
        if text.len() as u64 > KEY_MAX {
            return Err(SecretError::TooLong(at()));
        }
        let wrong = || SecretError::Form(format!("the key file {}", path.display()));
        Self::new(std::str::from_utf8(&text).map_err(|_| wrong())?).ok_or_else(wrong)
    }

    /// A text without the key: some servers repeat it in what they say.
    pub fn scrub(&self, text: &str) -> String {
        match self.0.len() {
            0..SCRUBBED_MIN => text.to_owned(),
            _ => text.replace(&self.0, "[key]"),
        }
    }

    /// Whether it stands in a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.len() >= SCRUBBED_MIN && text.contains(&self.0)
    }

    /// The key in a header, after a word.
    pub(super) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{before}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

#[cfg(test)]
mod tests;
