//! Errors of a store.

use prowess::ErrorCode;
use prowess_archive::InnerPathError;

/// Why a store operation failed. Nothing was changed unless the variant says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No chat has this id.
    #[error("chat not found")]
    ChatNotFound,
    /// The chat has no message with this id.
    #[error("this chat has no such message")]
    MessageNotFound,
    /// The chat has no file with this path.
    #[error("this chat has no file {0}")]
    FileNotFound(String),
    /// A file with this path exists and must not be replaced.
    #[error("this chat already has a file {0}")]
    FileExists(String),
    /// A file has the path of a directory that another file needs.
    #[error("{0} cannot be both a file and a directory of this chat")]
    FileIsDirectory(String),
    /// The path of a file is not accepted.
    #[error("the file name {name} is not allowed: {reason}")]
    FileName {
        /// The name, escaped and shortened for display.
        name: String,
        /// The reason.
        #[source]
        reason: InnerPathError,
    },
    /// A chat has too many files.
    #[error("the workspace of this chat would have {count} files; the maximum is {max}")]
    TooManyFiles {
        /// The number of files.
        count: u64,
        /// The limit.
        max: u64,
    },
    /// An argument is invalid.
    #[error("{0}")]
    Invalid(String),
    /// A size limit is exceeded.
    #[error("{subject} has {bytes} bytes; the maximum is {max}")]
    TooLarge {
        /// The value that is too large.
        subject: &'static str,
        /// The size.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// A reply is being written in this chat.
    #[error("a reply is being written in this chat; wait for it or stop it")]
    TurnInProgress,
    /// The turn is over: it was stopped, or another process ended it as abandoned.
    #[error("this reply has already ended; the text up to that point is kept")]
    TurnEnded,
    /// Another process holds the database.
    #[error("the store is locked by another process: {0}")]
    Busy(String),
    /// The disk is full.
    #[error("the disk of the store is full; stored chats are safe")]
    Full,
    /// The database does not respond. If the connection was lost during a change, the change may have been stored; changes
    /// of a turn can be repeated safely.
    #[error("cannot reach the store: {0}")]
    Unreachable(String),
    /// The operating system failed to read or write the file of the store.
    #[error("cannot read or write the store: {0}")]
    Io(String),
    /// The operating system or the database denied access.
    #[error("the store denied access: {0}")]
    Refused(String),
    /// A newer version of the program wrote the store.
    #[error("the store has version {version}, but this program supports up to {supported}; update Prowess")]
    NewerVersion {
        /// The version of the tables.
        version: u64,
        /// The latest supported version.
        supported: u64,
    },
    /// The database belongs to something else.
    #[error("{0} is not a chat store of Prowess; it was not changed")]
    NotAStore(String),
    /// The file is corrupt.
    #[error("the store {0} is damaged; restore a backup, or move it away to start with an empty store")]
    Damaged(String),
    /// An internal error.
    #[error("the store failed: {0}")]
    Internal(String),
}

impl StoreError {
    /// Returns the stable error code.
    ///
    /// ```
    /// use prowess::ErrorCode;
    /// use prowess_chat::store::StoreError;
    ///
    /// assert_eq!(StoreError::ChatNotFound.code(), ErrorCode::NotFound);
    /// ```
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::ChatNotFound | Self::MessageNotFound | Self::FileNotFound(_) => ErrorCode::NotFound,
            Self::Invalid(_) | Self::FileName { .. } => ErrorCode::InvalidParam,
            Self::TooLarge { .. } | Self::TooManyFiles { .. } => ErrorCode::TooLarge,
            Self::TurnInProgress | Self::TurnEnded | Self::FileExists(_) | Self::FileIsDirectory(_) => {
                ErrorCode::Conflict
            }
            Self::Busy(_) => ErrorCode::Timeout,
            Self::Full
            | Self::Unreachable(_)
            | Self::Io(_)
            | Self::NewerVersion { .. }
            | Self::NotAStore(_) => ErrorCode::Unavailable,
            Self::Refused(_) => ErrorCode::PermissionDenied,
            Self::Damaged(_) | Self::Internal(_) => ErrorCode::InternalError,
        }
    }

    /// Returns a message without paths, addresses and database messages, for users who do not manage the store.
    ///
    /// ```
    /// use prowess_chat::store::StoreError;
    ///
    /// let error = StoreError::Damaged("/home/ada/chats.sqlite3".to_owned());
    /// assert_eq!(error.public_message(), "the store is damaged");
    /// ```
    pub fn public_message(&self) -> String {
        match self {
            Self::Busy(_) => "the store is locked by another process".to_owned(),
            Self::Unreachable(_) => "cannot reach the store".to_owned(),
            Self::Io(_) => "cannot read or write the store".to_owned(),
            Self::Refused(_) => "the store denied access".to_owned(),
            Self::NotAStore(_) => "the store is not a chat store of Prowess".to_owned(),
            Self::Damaged(_) => "the store is damaged".to_owned(),
            Self::Internal(_) => "the store failed".to_owned(),
            Self::ChatNotFound
            | Self::MessageNotFound
            | Self::FileNotFound(_)
            | Self::FileExists(_)
            | Self::FileIsDirectory(_)
            | Self::FileName { .. }
            | Self::TooManyFiles { .. }
            | Self::Invalid(_)
            | Self::TooLarge { .. }
            | Self::TurnInProgress
            | Self::TurnEnded
            | Self::Full
            | Self::NewerVersion { .. } => self.to_string(),
        }
    }

    /// Returns `true` if the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::Full | Self::Unreachable(_) | Self::Io(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_all_errors() {
        let all = [
            StoreError::ChatNotFound,
            StoreError::FileNotFound("a.csv".into()),
            StoreError::FileExists("a.csv".into()),
            StoreError::FileIsDirectory("a".into()),
            StoreError::FileName { name: "../a".into(), reason: InnerPathError::BadComponent },
            StoreError::TooManyFiles { count: 501, max: 500 },
            StoreError::Invalid("a title must not exceed 200 characters".into()),
            StoreError::TooLarge { subject: "the message", bytes: 20_000_000, max: 16_777_216 },
            StoreError::TurnInProgress,
            StoreError::TurnEnded,
            StoreError::Busy("waited for 5 s".into()),
            StoreError::Full,
            StoreError::Unreachable("connection refused".into()),
            StoreError::Io("I/O error in ~/chats.sqlite3".into()),
            StoreError::Refused("permission denied".into()),
            StoreError::NewerVersion { version: 7, supported: 1 },
            StoreError::NotAStore("~/chats.sqlite3".into()),
            StoreError::Damaged("~/chats.sqlite3".into()),
            StoreError::Internal("no rows".into()),
        ];
        let lines: Vec<_> = all.iter().map(|error| format!("{}: {error}", error.code())).collect();
        insta::assert_snapshot!(lines.join("\n"));
        let public: Vec<_> = all.iter().map(StoreError::public_message).collect();
        assert!(!public.iter().any(|message| message.contains("sqlite3")
            || message.contains("refused")
            || message.contains("ms")));
        let retryable = all.iter().filter(|error| error.is_retryable()).count();
        assert_eq!(retryable, 4);
    }
}
