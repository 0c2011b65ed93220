//! What can go wrong with a store, told apart by what somebody can do about it.

use prowess::ErrorCode;

/// Why a store did not do it. Nothing was changed, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No chat of that id.
    #[error("there is no such chat")]
    NoChat,
    /// What was given cannot be meant.
    #[error("{0}")]
    Invalid(String),
    /// Beyond a bound.
    #[error("{what} has {bytes} bytes; at most {most} are kept")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        most: u64,
    },
    /// An answer is being written in this chat.
    #[error("an answer is being written in this chat; wait for it or stop it")]
    Writing,
    /// The turn is over: stopped, or given up as dead by another process.
    #[error("this answer has ended already; what was said until then is kept")]
    Ended,
    /// Somebody else holds the database.
    #[error("the store is locked by another program: {0}")]
    Busy(String),
    /// No room.
    #[error("the disk of the store is full; what was kept until now is safe")]
    Full,
    /// The database does not answer. If it went away while a change was being made, that change may have been kept; what belongs
    /// to a turn can be repeated without harm.
    #[error("the store cannot be reached: {0}")]
    Gone(String),
    /// The operating system or the database refuses.
    #[error("the store refuses: {0}")]
    Refused(String),
    /// A newer program wrote it.
    #[error(
        "the store has version {found} and this program knows up to {known}: it was used by a newer Prowess; update this one"
    )]
    Newer {
        /// The version of the tables.
        found: u64,
        /// The latest that this program knows.
        known: u64,
    },
    /// Not one of ours.
    #[error("{0} holds something else than chats of Prowess; nothing was changed in it")]
    Foreign(String),
    /// The bytes are damaged.
    #[error("the store in {0} is damaged; move it away or restore a copy, and Prowess begins a new one")]
    Damaged(String),
    /// What should have worked did not.
    #[error("the store failed: {0}")]
    Internal(String),
}

impl StoreError {
    /// The contract's code.
    ///
    /// ```
    /// use prowess::ErrorCode;
    /// use prowess_chat::store::StoreError;
    ///
    /// assert_eq!(StoreError::NoChat.code(), ErrorCode::NotFound);
    /// ```
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoChat => ErrorCode::NotFound,
            Self::Invalid(_) => ErrorCode::InvalidParam,
            Self::TooLarge { .. } => ErrorCode::TooLarge,
            Self::Writing | Self::Ended => ErrorCode::Conflict,
            Self::Busy(_) => ErrorCode::Timeout,
            Self::Full | Self::Gone(_) | Self::Newer { .. } | Self::Foreign(_) => ErrorCode::Unavailable,
            Self::Refused(_) => ErrorCode::PermissionDenied,
            Self::Damaged(_) | Self::Internal(_) => ErrorCode::InternalError,
        }
    }

    /// What happened, for people who need not know where chats are kept: without a path, an address or a database's own words.
    ///
    /// ```
    /// use prowess_chat::store::StoreError;
    ///
    /// let error = StoreError::Damaged("/home/ada/chats.sqlite3".to_owned());
    /// assert_eq!(error.without_place(), "the store is damaged");
    /// ```
    pub fn without_place(&self) -> String {
        match self {
            Self::Busy(_) => "the store is locked by another program".to_owned(),
            Self::Gone(_) => "the store cannot be reached".to_owned(),
            Self::Refused(_) => "the store refuses".to_owned(),
            Self::Foreign(_) => "the store holds something else than chats of Prowess".to_owned(),
            Self::Damaged(_) => "the store is damaged".to_owned(),
            Self::Internal(_) => "the store failed".to_owned(),
            Self::NoChat
            | Self::Invalid(_)
            | Self::TooLarge { .. }
            | Self::Writing
            | Self::Ended
            | Self::Full
            | Self::Newer { .. } => self.to_string(),
        }
    }

    /// Whether the same call may succeed a little later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::Full | Self::Gone(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_are_told() {
        let all = [
            StoreError::NoChat,
            StoreError::Invalid("a title has at most 200 characters".into()),
            StoreError::TooLarge { what: "the message", bytes: 20_000_000, most: 16_777_216 },
            StoreError::Writing,
            StoreError::Ended,
            StoreError::Busy("waited for 5 s".into()),
            StoreError::Full,
            StoreError::Gone("connection refused".into()),
            StoreError::Refused("permission denied".into()),
            StoreError::Newer { found: 7, known: 1 },
            StoreError::Foreign("~/chats.sqlite3".into()),
            StoreError::Damaged("~/chats.sqlite3".into()),
            StoreError::Internal("no rows".into()),
        ];
        let told: Vec<_> = all.iter().map(|error| format!("{}: {error}", error.code())).collect();
        insta::assert_snapshot!(told.join("\n"));
        let without: Vec<_> = all.iter().map(StoreError::without_place).collect();
        assert!(
            !without
                .iter()
                .any(|told| told.contains("sqlite3") || told.contains("refused") || told.contains("ms"))
        );
        let passing = all.iter().filter(|error| error.is_passing()).count();
        assert_eq!(passing, 3);
    }
}
