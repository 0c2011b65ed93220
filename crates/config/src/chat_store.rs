//! The location of stored chats. It may contain a password, which is never displayed.

use std::fmt;

/// The location of a chat store: a file path, or `postgresql://…`. Only the code that opens the store reads all
/// of it.
///
/// ```
/// use prowess_config::ChatStore;
///
/// let store = ChatStore::new("postgresql://ann:secret@db.example/prowess");
/// assert_eq!(store.to_string(), "postgresql://db.example/prowess");
/// assert_eq!(format!("{store:?}"), "ChatStore(postgresql://db.example/prowess)");
/// assert_eq!(store.expose(), "postgresql://ann:secret@db.example/prowess");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ChatStore(String);

/// The URL schemes of databases.
const DATABASE_SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

impl ChatStore {
    /// Creates a location from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the whole text, including a password. Do not print it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns `true` if a text is the URL of a database.
    pub fn is_database(text: &str) -> bool {
        DATABASE_SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }
}

impl fmt::Display for ChatStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(text) = DATABASE_SCHEMES.iter().find_map(|scheme| self.0.strip_prefix(scheme)) else {
            return f.write_str(&prowess_format::hidden::escape_for_display(&self.0));
        };
        // A password may contain any character, so only the part after the last `@` and before a question mark
        // is safe.
        let (before, after) = text.rsplit_once('@').unwrap_or(("", text));
        let location = after.split('?').next().unwrap_or_default();
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "-._/:[],".contains(c);
        match !before.contains('?')
            && location.chars().all(is_safe)
            && text.contains('@') | !location.contains(':')
        {
            true => write!(f, "postgresql://{location}"),
            false => f.write_str("postgresql://…"),
        }
    }
}

impl fmt::Debug for ChatStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChatStore({self})")
    }
}
