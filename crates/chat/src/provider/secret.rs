//! The API key of a provider, read from an environment variable or a file.

use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use prowess_fs::{SymlinkMode, current_uid, open_nonblocking, owner_uid, permissions};
use reqwest::header::HeaderValue;

/// The maximum length of a key, in bytes.
const KEY_MAX: u64 = 16 * 1024;

/// The minimum length of keys to scrub from texts: shorter ones could be ordinary words.
const SCRUB_MIN: usize = 6;

/// An API key. It cannot be printed.
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

/// Why a key cannot be read. Messages never contain the content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The environment variable is not set.
    #[error("environment variable {0} (set by chat.key-env) is not set")]
    NotSet(String),
    /// The content is not a valid key.
    #[error("{0} does not contain a key: a key is one line of printable ASCII characters")]
    InvalidKey(String),
    /// The file cannot be read.
    #[error("cannot read key file {0}: {1}")]
    Unreadable(PathBuf, String),
    /// The path is not a regular file.
    #[error("key file {0} is not a regular file")]
    NotAFile(PathBuf),
    /// The file belongs to another user.
    #[error("key file {0} belongs to another user")]
    NotOwned(PathBuf),
    /// Other users could read or change the file.
    #[error("other users can read or change key file {path} (mode {mode:03o}); run `chmod 600 {path}`")]
    TooPermissive {
        /// The file.
        path: PathBuf,
        /// The mode of the file.
        mode: u32,
    },
    /// The file is too long.
    #[error("key file {0} has more than {KEY_MAX} bytes")]
    TooLong(PathBuf),
}

impl Secret {
    /// Creates a key from a line of printable ASCII, or returns `None`.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let valid = !text.is_empty()
            && text.len() as u64 <= KEY_MAX
            && text.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
        valid.then(|| Self(text.to_owned()))
    }

    /// Reads a key from an environment variable. `environment` returns its value.
    pub fn from_variable(
        name: &str,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, SecretError> {
        let value = environment(name).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| SecretError::NotSet(name.to_owned()))?;
        let invalid = || SecretError::InvalidKey(format!("environment variable {name}"));
        Self::new(value.to_str().ok_or_else(invalid)?).ok_or_else(invalid)
    }

    /// Reads a key from a file. It must belong to the user, and no other user may read or change it. The checks apply to
    /// the opened file.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        let owned_path = || path.to_owned();
        let opened = open_nonblocking(path, SymlinkMode::Follow);
        let file = opened.map_err(|error| SecretError::Unreadable(owned_path(), error.kind().to_string()))?;
        let metadata = file
            .metadata()
            .map_err(|error| SecretError::Unreadable(owned_path(), error.kind().to_string()))?;
        if !metadata.is_file() {
            return Err(SecretError::NotAFile(owned_path()));
        }
        if owner_uid(&metadata) != current_uid() {
            return Err(SecretError::NotOwned(owned_path()));
        }
        let mode = permissions(&metadata);
        if mode & 0o077 != 0 {
            return Err(SecretError::TooPermissive { path: owned_path(), mode });
        }
        let mut text = Vec::new();
        let read = file.take(KEY_MAX + 1).read_to_end(&mut text);
        read.map_err(|error| SecretError::Unreadable(owned_path(), error.kind().to_string()))?;
        if text.len() as u64 > KEY_MAX {
            return Err(SecretError::TooLong(owned_path()));
        }
        let invalid = || SecretError::InvalidKey(format!("key file {}", path.display()));
        Self::new(std::str::from_utf8(&text).map_err(|_| invalid())?).ok_or_else(invalid)
    }

    /// Returns the text without the key: some servers repeat it in error messages.
    pub fn scrub(&self, text: &str) -> String {
        match self.0.len() {
            0..SCRUB_MIN => text.to_owned(),
            _ => text.replace(&self.0, "[key]"),
        }
    }

    /// Returns `true` if the text contains the key.
    pub(super) fn occurs_in(&self, text: &str) -> bool {
        self.0.len() >= SCRUB_MIN && text.contains(&self.0)
    }

    /// Returns a header value: the prefix and the key.
    pub(super) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

#[cfg(test)]
mod tests;
