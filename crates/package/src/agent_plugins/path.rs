//! Paths in manifests: relative to the plugin, and inside it.

use prowess_archive::{InnerPath, InnerPathError};

/// A path relative to the root of a plugin or marketplace, written with `./` at its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginPath {
    /// The root itself.
    Root,
    /// A file or directory below the root.
    Inside(InnerPath),
}

/// Why a text is not a path in a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PluginPathError {
    /// It does not begin with `./`.
    #[error("it does not begin with ./")]
    NotRelative,
    /// It may leave the plugin, or is not portable.
    #[error(transparent)]
    Invalid(#[from] InnerPathError),
}

impl PluginPath {
    /// Parses a path.
    ///
    /// ```
    /// use prowess_package::agent_plugins::PluginPath;
    ///
    /// assert_eq!(PluginPath::parse("./"), Ok(PluginPath::Root));
    /// assert_eq!(PluginPath::parse("./skills/pdf/").unwrap().below("plugins/a"), "plugins/a/skills/pdf");
    /// assert!(PluginPath::parse("./../x").is_err());
    /// assert!(PluginPath::parse("skills").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, PluginPathError> {
        if text == "." {
            return Ok(Self::Root);
        }
        let inner = text.strip_prefix("./").ok_or(PluginPathError::NotRelative)?;
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        match inner {
            "" => Ok(Self::Root),
            inner => Ok(Self::Inside(InnerPath::parse(inner.as_bytes())?)),
        }
    }

    /// Returns the path below a directory of a source, which is empty for the source itself.
    pub fn below(&self, root: &str) -> String {
        match self {
            Self::Root => root.to_owned(),
            Self::Inside(inner) => join(root, inner.as_str()),
        }
    }
}

/// Joins two paths in a source, of which the first may be empty.
pub(super) fn join(root: &str, inner: &str) -> String {
    if root.is_empty() { inner.to_owned() } else { format!("{root}/{inner}") }
}
