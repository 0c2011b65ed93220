//! The stable error codes that programs match on. They are part of the contract and never renamed.

use serde::Serialize;

crate::named_enum! {
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
        InvalidParam = "INVALID_PARAM",
        /// Nothing with that name exists.
        NotFound = "NOT_FOUND",
        /// Prowess denies access: the path escapes its root, or the file is never readable.
        AccessDenied = "ACCESS_DENIED",
        /// The operating system denies access.
        PermissionDenied = "PERMISSION_DENIED",
        /// The file is not text.
        BinaryFile = "BINARY_FILE",
        /// The path is a directory, but a file was requested.
        IsDirectory = "IS_DIRECTORY",
        /// A hard limit was exceeded.
        TooLarge = "TOO_LARGE",
        /// The target already exists.
        Conflict = "CONFLICT",
        /// The user has not trusted it.
        Untrusted = "UNTRUSTED",
        /// It is disabled.
        Disabled = "DISABLED",
        /// A requirement is missing.
        Unavailable = "UNAVAILABLE",
        /// It took too long.
        Timeout = "TIMEOUT",
        /// No sandbox can be enforced on this system.
        SandboxUnavailable = "SANDBOX_UNAVAILABLE",
        /// The operation ran and failed.
        ExecutionError = "EXECUTION_ERROR",
        /// An unexpected internal failure.
        InternalError = "INTERNAL_ERROR",
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
