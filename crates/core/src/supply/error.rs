//! Why nothing came from a supply, or why what came is not used. A model reads the messages.

use crate::error_code::ErrorCode;

/// Why a supply did not hand a file out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SupplyError {
    /// It took too long.
    #[error("the server did not answer within {0} ms")]
    Timeout(u64),
    /// There is nobody to ask.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The server says no.
    #[error("the server refuses: {0}")]
    Refused(String),
    /// The server answers something that is no file.
    #[error("the server's answer cannot be used: {0}")]
    Malformed(String),
}

impl SupplyError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Timeout(_) => ErrorCode::Timeout,
            Self::Unreachable(_) => ErrorCode::Unavailable,
            Self::Refused(_) => ErrorCode::NotFound,
            Self::Malformed(_) => ErrorCode::ExecutionError,
        }
    }
}

/// Why a file of a supplied skill is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unverified {
    /// It is not among the files that the skill was listed with.
    #[error(
        "{path} is not among the files that {name} was listed with. If the server has it now, the skill has changed and \
         needs approval again: prowess trust --mcp {name}"
    )]
    Unlisted {
        /// The skill.
        name: String,
        /// The path that was asked for.
        path: String,
    },
    /// Other bytes came than those that the skill was listed with.
    #[error(
        "{path} of {name} is not used: {what}. The skill has changed at its server and needs approval again: \
         prowess trust --mcp {name}"
    )]
    Changed {
        /// The skill.
        name: String,
        /// The file.
        path: String,
        /// What differs.
        what: String,
    },
    /// The file has another frontmatter than the skill was listed with.
    #[error(
        "the SKILL.md of {name} is not used: its frontmatter is not the one that the skill was listed with ({what})"
    )]
    Frontmatter {
        /// The skill.
        name: String,
        /// The field.
        what: String,
    },
    /// The conversation holds another state of the skill.
    #[error(
        "the skill {name} has changed since it was loaded in this conversation; activate it again before you read its files"
    )]
    Held {
        /// The skill.
        name: String,
    },
    /// Something of it was to be run.
    #[error(
        "nothing of {name} is run here: it comes from the {origin}. To run what it brings, get the skill from its author \
         and install it: prowess install SOURCE"
    )]
    Run {
        /// The skill.
        name: String,
        /// Where it came from.
        origin: String,
    },
    /// The supply did not hand it out.
    #[error("{path} of {name} cannot be read from the {origin}: {why}")]
    Supply {
        /// The skill.
        name: String,
        /// The file.
        path: String,
        /// Where it comes from.
        origin: String,
        /// Why.
        why: SupplyError,
    },
}

impl Unverified {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unlisted { .. } | Self::Changed { .. } | Self::Frontmatter { .. } => ErrorCode::Untrusted,
            Self::Held { .. } => ErrorCode::Conflict,
            Self::Run { .. } => ErrorCode::AccessDenied,
            Self::Supply { why, .. } => why.code(),
        }
    }
}
