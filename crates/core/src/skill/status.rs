//! The status of a skill, and the reason if it is not offered.

use std::path::PathBuf;

use super::Skill;
use crate::lock_file::{LOCK_FILE_NAME, ReadLockError};
use crate::shell::{quote, quote_path};

/// Whether a skill is *available*, so that models may use it, and if not, the reason. Every discovered skill has a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillStatus {
    /// Available.
    Enabled,
    /// Switched off.
    Disabled(DisabledReason),
    /// Commands that it requires are missing.
    Unavailable(Vec<Box<str>>),
    /// Hidden from models until the user trusts it.
    Untrusted(UntrustedReason),
    /// It was changed after it was installed, or its lock file cannot be read.
    Modified(ModifiedReason),
    /// Another skill of the same name takes precedence.
    Shadowed(ShadowedBy),
    /// It cannot be loaded.
    Invalid,
}

/// Why an installed skill counts as modified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModifiedReason {
    /// Its files differ from the lock file. Lists the files.
    Files(String),
    /// The lock file that may name it cannot be read.
    Lock(ReadLockError),
}

/// Why a skill is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisabledReason {
    /// The configuration names it.
    Configuration,
    /// The configuration names its source.
    Source,
    /// It is off until the user switches it on.
    Default,
    /// The configuration lists the enabled bundled skills, and it is not among them.
    NotListed,
    /// There are more skills than the limit.
    TooMany(u32),
}

/// Why a skill is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UntrustedReason {
    /// Its project is not trusted.
    Project(PathBuf),
    /// It is in a git repository nested in a trusted directory, to which trust does not extend.
    NestedRepository(PathBuf),
    /// It changed after the project was trusted with `--pinned`, which binds trust to the current files.
    Changed(PathBuf),
    /// It was added after the project was trusted with `--pinned`.
    Added(PathBuf),
    /// It is a symlink to outside the known directories.
    Link(PathBuf),
    /// It is a remote skill that the user has not approved. Holds its name.
    Unapproved(String),
    /// It is a remote skill that changed since the user approved it. Holds its name.
    Replaced(String),
}

/// The skill that takes precedence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowedBy {
    /// The path of the other skill.
    pub path: PathBuf,
    /// Whether both are the same directory, found twice.
    pub same_dir: bool,
}

impl SkillStatus {
    /// Returns the name used in JSON.
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
    /// Returns why the skill is not offered, in one line; `None` if it is enabled.
    pub fn reason(&self) -> Option<String> {
        Some(match &self.status {
            SkillStatus::Enabled => return None,
            SkillStatus::Disabled(DisabledReason::Configuration) => {
                "turned off in the configuration".to_owned()
            }
            SkillStatus::Disabled(DisabledReason::Source) => {
                "its source is turned off in the configuration".to_owned()
            }
            SkillStatus::Disabled(DisabledReason::Default) => "off by default".to_owned(),
            SkillStatus::Disabled(DisabledReason::NotListed) => {
                "not in the list of enabled bundled skills".to_owned()
            }
            SkillStatus::Disabled(DisabledReason::TooMany(limit)) => {
                format!("over the limit of {limit} skills")
            }
            SkillStatus::Unavailable(missing) => format!("missing commands: {}", missing.join(", ")),
            SkillStatus::Untrusted(UntrustedReason::Project(path)) => {
                format!("the project is not trusted; to trust it: prowess trust {}", quote_path(path))
            }
            SkillStatus::Untrusted(UntrustedReason::NestedRepository(path)) => {
                format!("its git repository is not trusted; to trust it: prowess trust {}", quote_path(path))
            }
            SkillStatus::Untrusted(UntrustedReason::Changed(path)) => {
                format!(
                    "changed since it was trusted; to trust it again: prowess trust --pinned {}",
                    quote_path(path)
                )
            }
            SkillStatus::Untrusted(UntrustedReason::Added(path)) => {
                format!(
                    "added after the project was trusted; to trust it: prowess trust --pinned {}",
                    quote_path(path)
                )
            }
            SkillStatus::Untrusted(UntrustedReason::Link(target)) => {
                format!("a symlink to outside the known directories: {}", target.display())
            }
            SkillStatus::Untrusted(UntrustedReason::Unapproved(name)) => {
                format!("not approved; to review and approve it: prowess trust --mcp {}", quote(name))
            }
            SkillStatus::Untrusted(UntrustedReason::Replaced(name)) => {
                format!(
                    "changed on its server; to review and approve it again: prowess trust --mcp {}",
                    quote(name)
                )
            }
            SkillStatus::Modified(ModifiedReason::Lock(error)) => {
                let remedy = match error.path.ends_with(LOCK_FILE_NAME) {
                    true => "fix the file, or restore it from version control",
                    false => "fix the file, or delete it and install your skills again",
                };
                format!("cannot verify the skill: {error}; {remedy}")
            }
            SkillStatus::Modified(ModifiedReason::Files(difference)) => format!(
                "modified since it was installed: {difference}; to accept the changes: prowess verify {} --accept",
                quote(&self.name())
            ),
            SkillStatus::Shadowed(ShadowedBy { path: other, same_dir: true }) => {
                format!("same directory as {}", other.display())
            }
            SkillStatus::Shadowed(ShadowedBy { path: other, same_dir: false }) => {
                format!("shadowed by {}", other.display())
            }
            SkillStatus::Invalid => self
                .diagnostics()
                .iter()
                .find(|diagnostic| diagnostic.is_error())
                .or_else(|| self.diagnostics().first())
                .map_or_else(|| "cannot be loaded".to_owned(), |diagnostic| diagnostic.message.clone()),
        })
    }
}
