//! The codes that programs tell failures apart by. They are a contract: none is ever renamed.

use std::fmt;

use serde::Serialize;

/// What kind of failure it is.
///
/// ```
/// use prowess_format::ErrorCode;
///
/// assert_eq!(ErrorCode::NotFound.as_str(), "NOT_FOUND");
/// assert_eq!(ErrorCode::ALL.len(), 15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// A parameter is missing or cannot be meant.
    InvalidParam,
    /// There is nothing of that name.
    NotFound,
    /// Prowess refuses: the path leads out, or what lies there is never read.
    AccessDenied,
    /// The operating system refuses.
    PermissionDenied,
    /// Not text.
    BinaryFile,
    /// A folder where a file was asked for.
    IsDirectory,
    /// Beyond a hard cap.
    TooLarge,
    /// Something is there already.
    Conflict,
    /// The user has not said that it may be used.
    Untrusted,
    /// Switched off.
    Disabled,
    /// Something it needs is missing.
    Unavailable,
    /// It took too long.
    Timeout,
    /// No sandbox can be enforced here.
    SandboxUnavailable,
    /// It was tried and failed.
    ExecutionError,
    /// What should have worked did not.
    InternalError,
}

impl ErrorCode {
    /// All codes, in the order of the contract.
    pub const ALL: [Self; 15] = [
        Self::InvalidParam,
        Self::NotFound,
        Self::AccessDenied,
        Self::PermissionDenied,
        Self::BinaryFile,
        Self::IsDirectory,
        Self::TooLarge,
        Self::Conflict,
        Self::Untrusted,
        Self::Disabled,
        Self::Unavailable,
        Self::Timeout,
        Self::SandboxUnavailable,
        Self::ExecutionError,
        Self::InternalError,
    ];

    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidParam => "INVALID_PARAM",
            Self::NotFound => "NOT_FOUND",
            Self::AccessDenied => "ACCESS_DENIED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::BinaryFile => "BINARY_FILE",
            Self::IsDirectory => "IS_DIRECTORY",
            Self::TooLarge => "TOO_LARGE",
            Self::Conflict => "CONFLICT",
            Self::Untrusted => "UNTRUSTED",
            Self::Disabled => "DISABLED",
            Self::Unavailable => "UNAVAILABLE",
            Self::Timeout => "TIMEOUT",
            Self::SandboxUnavailable => "SANDBOX_UNAVAILABLE",
            Self::ExecutionError => "EXECUTION_ERROR",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_the_same_in_json() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
