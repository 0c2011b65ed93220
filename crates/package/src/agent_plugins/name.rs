//! Names of plugins.

use std::fmt;

use prowess_format::hidden;

use super::schema::PluginFormat;

/// The maximum length of a name in the formats of clients.
const CLIENT_NAME_MAX: usize = 128;

/// The name of a plugin. It is shown and compared, and never becomes a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PluginName(String);

/// Why a text is not the name of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PluginNameError {
    /// The length is wrong.
    #[error("it must have 1 to {0} characters")]
    Length(usize),
    /// A character that Agent Plugins does not allow.
    #[error("it may contain only a-z, 0-9, hyphens and periods")]
    Characters,
    /// The first or last character is not a letter or digit.
    #[error("it must begin and end with a letter or digit")]
    Ends,
    /// Two hyphens or periods in a row.
    #[error("it must not contain -- or ..")]
    Repetition,
    /// A space, a slash, a colon, a backslash, or a control or hidden character.
    #[error("it must not contain spaces, slashes, colons or control characters")]
    Unsafe,
}

impl PluginName {
    /// Parses a name by the rules of a format.
    ///
    /// ```
    /// use prowess_package::agent_plugins::{PluginFormat, PluginName};
    ///
    /// assert!(PluginName::parse("acme.tools", PluginFormat::AgentPlugins).is_ok());
    /// assert!(PluginName::parse("My_Plugin", PluginFormat::AgentPlugins).is_err());
    /// assert!(PluginName::parse("My_Plugin", PluginFormat::Client).is_ok());
    /// ```
    pub fn parse(text: &str, format: PluginFormat) -> Result<Self, PluginNameError> {
        match format {
            PluginFormat::AgentPlugins => check_standard(text)?,
            PluginFormat::Client => check_client(text)?,
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks the rules of section 5.5 of the specification.
fn check_standard(text: &str) -> Result<(), PluginNameError> {
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if text.is_empty() || text.chars().count() > 64 {
        return Err(PluginNameError::Length(64));
    }
    if !text.chars().all(|c| is_alphanumeric(c) || matches!(c, '-' | '.')) {
        return Err(PluginNameError::Characters);
    }
    if !text.starts_with(is_alphanumeric) || !text.ends_with(is_alphanumeric) {
        return Err(PluginNameError::Ends);
    }
    match text.contains("--") || text.contains("..") {
        true => Err(PluginNameError::Repetition),
        false => Ok(()),
    }
}

/// Checks the rules that clients with their own formats agree on.
fn check_client(text: &str) -> Result<(), PluginNameError> {
    if text.is_empty() || text.chars().count() > CLIENT_NAME_MAX {
        return Err(PluginNameError::Length(CLIENT_NAME_MAX));
    }
    let is_unsafe = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\' | ':');
    if text.chars().any(is_unsafe) || hidden::find_hidden(text).is_some() || text.contains("..") {
        return Err(PluginNameError::Unsafe);
    }
    match text.starts_with(['-', '.']) {
        true => Err(PluginNameError::Ends),
        false => Ok(()),
    }
}
