//! Whether a skill is offered, and the reason if it is not.

use std::path::PathBuf;

use super::Skill;
use crate::lock_file::{FILE, LockError};
use crate::shell::{quote, quote_path};

/// Whether a skill is offered, and if not, why not. Every folder that was found has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Offered.
    Enabled,
    /// Switched off.
    Disabled(Disabled),
    /// Commands that it needs are missing.
    Unavailable(Vec<Box<str>>),
    /// Not disclosed until the user says so.
    Untrusted(Untrusted),
    /// It is not what was installed, or that cannot be known.
    Modified(Modified),
    /// Another copy of the same name is used.
    Shadowed(Shadowed),
    /// It cannot be loaded.
    Invalid,
}

/// Why a skill is not taken for what was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Modified {
    /// It differs from what its lock says: the files, and how.
    Files(String),
    /// The lock that may name it cannot be read.
    Lock(LockError),
}

/// Who switched a skill off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disabled {
    /// The configuration names it.
    Configuration,
    /// The configuration names its source.
    Source,
    /// It is off until somebody switches it on.
    Default,
    /// The configuration names the bundled skills that are on, and it is not among them.
    NotListed,
    /// There are more skills than are allowed.
    TooMany(u32),
}

/// Why a skill is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Untrusted {
    /// The project is not.
    Project(PathBuf),
    /// It is in a git repository nested in a trusted directory, to which trust does not extend.
    NestedRepository(PathBuf),
    /// It changed since the project was trusted with `--pinned`.
    Changed(PathBuf),
    /// It was added since then.
    Added(PathBuf),
    /// A link that leads outside the known directories.
    Link(PathBuf),
    /// It comes from a server, and the user has not approved it. With what it is called by.
    Unapproved(String),
    /// The same, and it has changed since the user did.
    Replaced(String),
}

/// What took a skill's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shadowed {
    /// The one that counts.
    pub by: PathBuf,
    /// Whether the two are one folder, found twice.
    pub same_folder: bool,
}

impl Status {
    /// The name used in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled(_) => "disabled",
            Self::Unavailable(_) => "unavailable",
            Self::Untrusted(_) => "untrusted",
            Self::Modified(_) => "modified",
            Self::Shadowed(_) => "shadowed",
            Self::Invalid => "invalid",
        }
    }
}

impl Skill {
    /// Why it is not offered, in one sentence; `None` where it is.
    pub fn reason(&self) -> Option<String> {
        Some(match &self.status {
            Status::Enabled => return None,
            Status::Disabled(Disabled::Configuration) => "switched off in the configuration".to_owned(),
            Status::Disabled(Disabled::Source) => {
                "its source is switched off in the configuration".to_owned()
            }
            Status::Disabled(Disabled::Default) => "off by default".to_owned(),
            Status::Disabled(Disabled::NotListed) => {
                "not among the bundled skills that are switched on".to_owned()
            }
            Status::Disabled(Disabled::TooMany(limit)) => format!("more than {limit} skills"),
            Status::Unavailable(missing) => format!("missing commands: {}", missing.join(", ")),
            Status::Untrusted(Untrusted::Project(path)) => {
                format!("the project is not trusted; to trust it: prowess trust {}", quote_path(path))
            }
            Status::Untrusted(Untrusted::NestedRepository(path)) => {
                format!(
                    "in a git repository of its own, which is not trusted; to trust it: prowess trust {}",
                    quote_path(path)
                )
            }
            Status::Untrusted(Untrusted::Changed(path)) => {
                format!(
                    "changed since it was trusted; to trust it again: prowess trust --pinned {}",
                    quote_path(path)
                )
            }
            Status::Untrusted(Untrusted::Added(path)) => {
                format!(
                    "added since the project was trusted; to trust it: prowess trust --pinned {}",
                    quote_path(path)
                )
            }
            Status::Untrusted(Untrusted::Link(target)) => {
                format!("a link that leads outside the known directories, to {}", target.display())
            }
            Status::Untrusted(Untrusted::Unapproved(name)) => {
                format!("not approved; to see and approve it: prowess trust --mcp {}", quote(name))
            }
            Status::Untrusted(Untrusted::Replaced(name)) => {
                format!(
                    "has changed at its server and needs approval again: prowess trust --mcp {}",
                    quote(name)
                )
            }
            Status::Modified(Modified::Lock(error)) => {
                let remedy = match error.path.ends_with(FILE) {
                    true => "fix that file, or restore it from version control",
                    false => "fix that file, or delete it and install your skills again",
                };
                format!("what was installed is not known: {error}; {remedy}")
            }
            Status::Modified(Modified::Files(difference)) => format!(
                "modified since it was installed: {difference}; to keep it as it is: prowess verify {} --accept",
                quote(&self.name())
            ),
            Status::Shadowed(Shadowed { by, same_folder: true }) => {
                format!("the same folder as {}", by.display())
            }
            Status::Shadowed(Shadowed { by, same_folder: false }) => format!("shadowed by {}", by.display()),
            Status::Invalid => self
                .diagnostics()
                .iter()
                .find(|diagnostic| diagnostic.is_error())
                .or_else(|| self.diagnostics().first())
                .map_or_else(|| "it cannot be loaded".to_owned(), |diagnostic| diagnostic.message.clone()),
        })
    }
}
