//! Whether a skill's status lets anything of it be handed out.

use super::Skill;
use super::status::{Modified, Status, Untrusted};
use crate::error_code::ErrorCode;

/// A skill that is not disclosed, and why. The words name no path of the machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// Switched off.
    #[error("the skill {name} is disabled: {why}")]
    Disabled {
        /// The skill.
        name: String,
        /// Who switched it off.
        why: String,
    },
    /// The user has not said that it may be used.
    #[error("the skill {name} is not trusted: {why}")]
    Untrusted {
        /// The skill.
        name: String,
        /// What is not trusted.
        why: &'static str,
    },
    /// Commands that it needs are missing.
    #[error("the skill {name} is unavailable: missing commands: {}", missing.join(", "))]
    Unavailable {
        /// The skill.
        name: String,
        /// The commands.
        missing: Vec<String>,
    },
    /// Another copy of the same name is used.
    #[error("another copy of the skill {name} is used instead of this one")]
    Shadowed {
        /// The skill.
        name: String,
    },
    /// It is not what was installed.
    #[error(
        "the skill {name} was modified since it was installed ({difference}); the user can see with `prowess verify \
         {name}` how to restore or accept it"
    )]
    Modified {
        /// The skill.
        name: String,
        /// The files.
        difference: String,
    },
    /// What was installed cannot be known.
    #[error("the skill {name} cannot be compared with what was installed: {why}")]
    Lock {
        /// The skill.
        name: String,
        /// Why.
        why: String,
    },
    /// It cannot be loaded.
    #[error("the skill {name} cannot be loaded: {why}")]
    Invalid {
        /// The skill.
        name: String,
        /// The first thing that is wrong with it.
        why: String,
    },
}

impl Closed {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Disabled { .. } => ErrorCode::Disabled,
            Self::Untrusted { .. } | Self::Modified { .. } | Self::Lock { .. } => ErrorCode::Untrusted,
            Self::Unavailable { .. } => ErrorCode::Unavailable,
            Self::Shadowed { .. } => ErrorCode::NotFound,
            Self::Invalid { .. } => ErrorCode::InternalError,
        }
    }

    /// What stands in the way of using this skill.
    pub(crate) fn of(skill: &Skill) -> Option<Self> {
        if skill.is_enabled() {
            return None;
        }
        let name = shown_name(skill);
        Some(match skill.status() {
            Status::Enabled => return None,
            Status::Disabled(_) => Self::Disabled { name, why: skill.reason().unwrap_or_default() },
            Status::Unavailable(missing) => {
                Self::Unavailable { name, missing: missing.iter().map(|command| shown(command)).collect() }
            }
            Status::Untrusted(why) => Self::Untrusted {
                name,
                why: match why {
                    Untrusted::Project(_) => "its project is not",
                    Untrusted::NestedRepository(_) => "its git repository is not",
                    Untrusted::Changed(_) => "it changed since it was",
                    Untrusted::Added(_) => "it was added since its project was",
                    Untrusted::Link(_) => "it is a link that leads outside the known directories",
                    Untrusted::Unapproved(_) => "the user has not approved it",
                    Untrusted::Replaced(_) => "it has changed at its server and needs approval again",
                },
            },
            Status::Modified(Modified::Files(difference)) => {
                Self::Modified { name, difference: difference.clone() }
            }
            Status::Modified(Modified::Lock(error)) => {
                Self::Lock { name, why: shown(&error.without_folder()) }
            }
            Status::Shadowed(_) => Self::Shadowed { name },
            Status::Invalid => Self::Invalid { name, why: invalid(skill) },
        })
    }

    /// What stands in the way of reading its files. That a command is missing does not: the files say what it
    /// is for.
    pub(crate) fn to_reading(skill: &Skill) -> Option<Self> {
        Self::of(skill).filter(|closed| !matches!(closed, Self::Unavailable { .. }))
    }
}

/// The reason, unless it says where on the machine the skill lies.
fn invalid(skill: &Skill) -> String {
    let reason = skill.reason().unwrap_or_default();
    let root = skill.root().canonical().to_string_lossy();
    let leaks = reason.contains(&*root) || skill.link().is_some();
    if leaks { "see `prowess check`".to_owned() } else { shown(&reason) }
}

/// The skill's name as it may stand in a message.
pub(crate) fn shown_name(skill: &Skill) -> String {
    shown(&skill.name())
}

/// Foreign text as it may stand in a message: nothing hidden, one line, not endless.
pub(crate) fn shown(text: &str) -> String {
    prowess_format::hidden::brief(text)
}
