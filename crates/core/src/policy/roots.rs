//! Directories that hold skills, as they are written in the configuration.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Whose skills a directory holds; the later one is nearer to the user's present work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Offered by a server.
    Served,
    /// Shipped with Prowess or with the application.
    Bundled,
    /// The user's own.
    User,
    /// The project's.
    Project,
    /// Installed from elsewhere.
    Plugin,
}

impl Scope {
    /// All scopes, in order.
    pub const ALL: [Self; 5] = [Self::Served, Self::Bundled, Self::User, Self::Project, Self::Plugin];

    /// The word that stands in JSON and before a path in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Served => "mcp",
            Self::Bundled => "bundled",
            Self::User => "user",
            Self::Project => "project",
            Self::Plugin => "plugin",
        }
    }
}

/// Where a directory lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootPlace {
    /// Inside the binary.
    Embedded,
    /// Relative to the project.
    Project(PathBuf),
    /// Relative to the home.
    Home(PathBuf),
    /// Where it says.
    Absolute(PathBuf),
}

/// A directory of skills: `.agents/skills`, `~/.agents/skills`, `/opt/skills` or `bundled`, with `SCOPE:` before it
/// where the path does not tell whose it is.
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
    /// Whose skills it holds.
    pub scope: Scope,
    /// Where it lies.
    pub place: RootPlace,
    /// Whether it was named on the command line: then it is trusted, and missing is an error.
    pub given: bool,
}

/// Why a text is no directory of skills.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RootSpecError {
    /// Nothing is there.
    #[error("a directory of skills cannot be empty")]
    Empty,
    /// `~other/…`.
    #[error("{0} names another user's home; write the whole path")]
    OtherHome(String),
}

impl RootSpec {
    /// A directory named on the command line.
    pub fn given(path: PathBuf) -> Self {
        Self { scope: Scope::Project, place: RootPlace::Absolute(path), given: true }
    }

    /// The path below its anchor.
    pub fn path(&self) -> &Path {
        match &self.place {
            RootPlace::Embedded => Path::new(""),
            RootPlace::Project(path) | RootPlace::Home(path) | RootPlace::Absolute(path) => path,
        }
    }

    fn default_scope(place: &RootPlace) -> Scope {
        match place {
            RootPlace::Embedded => Scope::Bundled,
            RootPlace::Project(_) => Scope::Project,
            RootPlace::Home(_) | RootPlace::Absolute(_) => Scope::User,
        }
    }
}

impl FromStr for RootSpec {
    type Err = RootSpecError;

    fn from_str(text: &str) -> Result<Self, RootSpecError> {
        let text = text.trim();
        // A directory is nobody's server.
        let prefixed = Scope::ALL.into_iter().filter(|scope| *scope != Scope::Served).find_map(|scope| {
            let rest = text.strip_prefix(scope.as_str())?.strip_prefix(':')?;
            Some((scope, rest))
        });
        let (scope, path) = prefixed.map_or((None, text), |(scope, path)| (Some(scope), path));
        let place = match path {
            "" => return Err(RootSpecError::Empty),
            "bundled" => RootPlace::Embedded,
            path if path == "~" || path.starts_with("~/") => {
                RootPlace::Home(path.trim_start_matches('~').trim_start_matches('/').into())
            }
            path if path.starts_with('~') => return Err(RootSpecError::OtherHome(path.to_owned())),
            path if path.starts_with('/') => RootPlace::Absolute(path.into()),
            path => match path.strip_prefix("./").unwrap_or(path).trim_start_matches('/') {
                "" => RootPlace::Project(".".into()),
                inner => RootPlace::Project(inner.into()),
            },
        };
        Ok(Self { scope: scope.unwrap_or(Self::default_scope(&place)), place, given: false })
    }
}

impl fmt::Display for RootSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scope != Self::default_scope(&self.place) {
            write!(f, "{}:", self.scope.as_str())?;
        }
        match &self.place {
            RootPlace::Embedded => f.write_str("bundled"),
            // A folder of the project may be called what means something else here.
            RootPlace::Project(path) if path == Path::new("bundled") || path.starts_with("~") => {
                write!(f, "./{}", path.display())
            }
            RootPlace::Project(path) | RootPlace::Absolute(path) => write!(f, "{}", path.display()),
            RootPlace::Home(path) => write!(f, "~/{}", path.display()),
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
    fn roots_read_as_they_are_written() {
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
        assert_eq!(".//etc".parse::<RootSpec>().unwrap().place, RootPlace::Project("etc".into()));
        assert_eq!("./a".parse::<RootSpec>().unwrap().to_string(), "a");
        assert_eq!("".parse::<RootSpec>(), Err(RootSpecError::Empty));
        assert!("~root/x".parse::<RootSpec>().is_err());
    }
}
