//! The stable error codes that programs match on. They are part of the contract and never renamed.

use std::fmt;

use serde::Serialize;

/// The kind of a failure.
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
    /// A parameter is missing or invalid.
    InvalidParam,
    /// Nothing with that name exists.
    NotFound,
    /// Prowess denies access: the path escapes its root, or the file is never readable.
    AccessDenied,
    /// The operating system denies access.
    PermissionDenied,
    /// The file is not text.
    BinaryFile,
    /// The path is a directory, but a file was requested.
    IsDirectory,
    /// A hard limit was exceeded.
    TooLarge,
    /// The target already exists.
    Conflict,
    /// The user has not trusted it.
    Untrusted,
    /// It is disabled.
    Disabled,
    /// A requirement is missing.
    Unavailable,
    /// It took too long.
    Timeout,
    /// No sandbox can be enforced on this system.
    SandboxUnavailable,
    /// The operation ran and failed.
    ExecutionError,
    /// An unexpected internal failure.
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

    /// Returns the name used in JSON.
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
    fn as_str_matches_the_serialized_form() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
