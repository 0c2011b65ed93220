//! The reasons why a skill cannot be used.

use super::Skill;
use super::status::{ModifiedReason, SkillStatus, UntrustedReason};
use crate::error_code::ErrorCode;

/// The reason why a skill cannot be used. Models read the messages, so they never contain a
/// path of this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceUnavailable {
    /// The skill is switched off.
    #[error("skill {name} is disabled: {reason}")]
    Disabled {
        /// The skill's name.
        name: String,
        /// Which setting disables it.
        reason: String,
    },
    /// The user has not trusted the skill.
    #[error("skill {name} is not trusted: {reason}")]
    Untrusted {
        /// The skill's name.
        name: String,
        /// What is not trusted.
        reason: &'static str,
    },
    /// Commands that the skill requires are missing.
    #[error("skill {name} is unavailable: missing commands: {}", missing.join(", "))]
    Unavailable {
        /// The skill's name.
        name: String,
        /// The missing commands.
        missing: Vec<String>,
    },
    /// Another skill of the same name takes precedence.
    #[error("skill {name} is shadowed by another skill of the same name")]
    Shadowed {
        /// The skill's name.
        name: String,
    },
    /// The skill's files differ from the installed ones.
    #[error(
        "skill {name} was modified since it was installed ({difference}); `prowess verify {name}` shows how to \
         restore or accept it"
    )]
    Modified {
        /// The skill's name.
        name: String,
        /// The files that differ.
        difference: String,
    },
    /// The lock file that would name the skill cannot be read.
    #[error("skill {name} cannot be verified: {reason}")]
    Lock {
        /// The skill's name.
        name: String,
        /// Why the lock file cannot be read.
        reason: String,
    },
    /// The skill has errors and cannot be loaded.
    #[error("skill {name} cannot be loaded: {reason}")]
    Invalid {
        /// The skill's name.
        name: String,
        /// The first error.
        reason: String,
    },
}

impl ResourceUnavailable {
    /// Returns the error code that tools report.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Disabled { .. } => ErrorCode::Disabled,
            Self::Untrusted { .. } | Self::Modified { .. } | Self::Lock { .. } => ErrorCode::Untrusted,
            Self::Unavailable { .. } => ErrorCode::Unavailable,
            Self::Shadowed { .. } => ErrorCode::NotFound,
            Self::Invalid { .. } => ErrorCode::InternalError,
        }
    }

    /// Returns why the skill cannot be used; `None` if it is enabled.
    pub(crate) fn for_use(skill: &Skill) -> Option<Self> {
        if skill.is_enabled() {
            return None;
        }
        let name = display_name(skill);
        Some(match skill.status() {
            SkillStatus::Enabled => return None,
            SkillStatus::Disabled(_) => Self::Disabled { name, reason: skill.reason().unwrap_or_default() },
            SkillStatus::Unavailable(missing) => Self::Unavailable {
                name,
                missing: missing.iter().map(|command| display_text(command)).collect(),
            },
            SkillStatus::Untrusted(untrusted) => Self::Untrusted {
                name,
                reason: match untrusted {
                    UntrustedReason::Project(_) => "its project is not trusted",
                    UntrustedReason::NestedRepository(_) => "its git repository is not trusted",
                    UntrustedReason::Changed(_) => "it changed since it was trusted",
                    UntrustedReason::Added(_) => "it was added after its project was trusted",
                    UntrustedReason::Link(_) => "it is a symlink to outside the known directories",
                    UntrustedReason::Unapproved(_) => "the user has not approved it",
                    UntrustedReason::Replaced(_) => "it changed on its server and must be approved again",
                },
            },
            SkillStatus::Modified(ModifiedReason::Files(difference)) => {
                Self::Modified { name, difference: difference.clone() }
            }
            SkillStatus::Modified(ModifiedReason::Lock(error)) => {
                Self::Lock { name, reason: display_text(&error.without_dir()) }
            }
            SkillStatus::Shadowed(_) => Self::Shadowed { name },
            SkillStatus::Invalid => Self::Invalid { name, reason: invalid_reason(skill) },
        })
    }

    /// Returns why the skill's files cannot be read. Missing commands are no obstacle: the files may explain
    /// how to install them.
    pub(crate) fn for_reading(skill: &Skill) -> Option<Self> {
        Self::for_use(skill).filter(|unavailable| !matches!(unavailable, Self::Unavailable { .. }))
    }
}

/// Returns the reason, unless it contains a path of this machine.
fn invalid_reason(skill: &Skill) -> String {
    let reason = skill.reason().unwrap_or_default();
    let root = skill.root().canonical().to_string_lossy();
    let leaks = reason.contains(&*root) || skill.link().is_some();
    if leaks { "see `prowess check`".to_owned() } else { display_text(&reason) }
}

/// Returns the skill's name, made safe for a message.
pub(crate) fn display_name(skill: &Skill) -> String {
    display_text(&skill.name())
}

/// Makes untrusted text safe for a message: escapes hidden characters, joins lines and shortens it.
pub(crate) fn display_text(text: &str) -> String {
    prowess_format::hidden::escape_and_truncate(text)
}
