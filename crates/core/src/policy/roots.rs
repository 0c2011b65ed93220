//! Skill directories as written in the configuration.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

prowess_format::named_enum! {
    /// The origin of the skills in a root, from the lowest to the highest precedence.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Scope {
        /// Provided by a server.
        Remote = "mcp",
        /// Shipped with Prowess or with the application.
        Bundled = "bundled",
        /// The user's own skills.
        User = "user",
        /// The project's skills.
        Project = "project",
        /// Plugins: skills that `skills.plugins` in `~/.agent/config.yaml` lists (preset `harness`).
        Plugin = "plugin",
    }
}

/// The location of a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootLocation {
    /// Inside the binary.
    Embedded,
    /// Relative to the project.
    Project(PathBuf),
    /// Relative to the home directory.
    Home(PathBuf),
    /// An absolute path.
    Absolute(PathBuf),
}

/// A root in the configuration: `.agents/skills`, `~/.agents/skills`, `/opt/skills` or `bundled`, with a prefix
/// `SCOPE:` if the scope does not follow from the path.
///
/// ```
/// use prowess::{RootSpec, Scope};
///
/// let spec: RootSpec = "plugin:~/.agent/plugins".parse().unwrap();
/// assert_eq!(spec.scope, Scope::Plugin);
/// assert_eq!(spec.to_string(), "plugin:~/.agent/plugins");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootSpec {
    /// The scope of its skills.
    pub scope: Scope,
    /// Its location.
    pub location: RootLocation,
    /// Whether it was passed on the command line. If so, it is trusted, and it is an error if it does not
    /// exist.
    pub is_explicit: bool,
}

/// The reason why a text is not a valid root.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseRootSpecError {
    /// The text is empty.
    #[error("a skill directory cannot be empty")]
    Empty,
    /// The path begins with `~other/`.
    #[error("{0} is another user's home directory; use an absolute path")]
    OtherHome(String),
}

impl RootSpec {
    /// Returns the root for a directory passed on the command line.
    pub fn explicit(path: PathBuf) -> Self {
        Self { scope: Scope::Project, location: RootLocation::Absolute(path), is_explicit: true }
    }

    /// Returns the path as it is stored in its [`location`](Self::location): relative to the project or the home
    /// directory, or absolute.
    pub fn path(&self) -> &Path {
        match &self.location {
            RootLocation::Embedded => Path::new(""),
            RootLocation::Project(path) | RootLocation::Home(path) | RootLocation::Absolute(path) => path,
        }
    }

    fn default_scope(location: &RootLocation) -> Scope {
        match location {
            RootLocation::Embedded => Scope::Bundled,
            RootLocation::Project(_) => Scope::Project,
            RootLocation::Home(_) | RootLocation::Absolute(_) => Scope::User,
        }
    }
}

impl FromStr for RootSpec {
    type Err = ParseRootSpecError;

    fn from_str(text: &str) -> Result<Self, ParseRootSpecError> {
        let text = text.trim();
        // A directory cannot have the remote scope.
        let prefixed = Scope::ALL.into_iter().filter(|scope| *scope != Scope::Remote).find_map(|scope| {
            let path = text.strip_prefix(scope.as_str())?.strip_prefix(':')?;
            Some((scope, path))
        });
        let (scope, path) = prefixed.map_or((None, text), |(scope, path)| (Some(scope), path));
        let location = match path {
            "" => return Err(ParseRootSpecError::Empty),
            "bundled" => RootLocation::Embedded,
            path if path == "~" || path.starts_with("~/") => {
                RootLocation::Home(path.trim_start_matches('~').trim_start_matches('/').into())
            }
            path if path.starts_with('~') => return Err(ParseRootSpecError::OtherHome(path.to_owned())),
            path if path.starts_with('/') => RootLocation::Absolute(path.into()),
            path => match path.strip_prefix("./").unwrap_or(path).trim_start_matches('/') {
                "" => RootLocation::Project(".".into()),
                inner => RootLocation::Project(inner.into()),
            },
        };
        Ok(Self { scope: scope.unwrap_or(Self::default_scope(&location)), location, is_explicit: false })
    }
}

impl fmt::Display for RootSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scope != Self::default_scope(&self.location) {
            write!(f, "{}:", self.scope.as_str())?;
        }
        match &self.location {
            RootLocation::Embedded => f.write_str("bundled"),
            // Avoid ambiguity with `bundled` and `~`.
            RootLocation::Project(path) if path == Path::new("bundled") || path.starts_with("~") => {
                write!(f, "./{}", path.display())
            }
            RootLocation::Project(path) | RootLocation::Absolute(path) => write!(f, "{}", path.display()),
            RootLocation::Home(path) => write!(f, "~/{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_ordered_once() {
        assert!(Scope::ALL.is_sorted());
    }

    #[test]
    fn roots_round_trip_through_text() {
        for text in [
            ".agents/skills",
            "~/.agents/skills",
            "/opt/s",
            "bundled",
            "plugin:~/p",
            "bundled:.agents/sys.skills",
        ] {
            assert_eq!(text.parse::<RootSpec>().unwrap().to_string(), text);
        }
        for text in ["./bundled", "./~/x"] {
            let spec: RootSpec = text.parse().unwrap();
            assert_eq!(spec.to_string().parse(), Ok(spec));
        }
        assert_eq!(".//etc".parse::<RootSpec>().unwrap().location, RootLocation::Project("etc".into()));
        assert_eq!("./a".parse::<RootSpec>().unwrap().to_string(), "a");
        assert_eq!("".parse::<RootSpec>(), Err(ParseRootSpecError::Empty));
        assert!("~root/x".parse::<RootSpec>().is_err());
    }
}
