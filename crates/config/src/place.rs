//! Where chats are kept, as somebody wrote it down. What is shown of it never has a password.

use std::fmt;

/// The address of a store of chats: the path of a file, or `postgresql://…`. Only who opens the store reads all of it.
///
/// ```
/// use prowess_config::ChatStore;
///
/// let store = ChatStore::new("postgresql://ann:secret@db.example/prowess");
/// assert_eq!(store.to_string(), "postgresql://db.example/prowess");
/// assert_eq!(format!("{store:?}"), "ChatStore(postgresql://db.example/prowess)");
/// assert_eq!(store.written(), "postgresql://ann:secret@db.example/prowess");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ChatStore(String);

/// How the address of a database begins.
const DATABASES: [&str; 2] = ["postgresql://", "postgres://"];

impl ChatStore {
    /// An address as it was written.
    pub fn new(written: impl Into<String>) -> Self {
        Self(written.into())
    }

    /// All of it, password included: not for printing.
    pub fn written(&self) -> &str {
        &self.0
    }

    /// Whether a text is the address of a database.
    pub fn is_database(text: &str) -> bool {
        DATABASES.iter().any(|begin| text.starts_with(begin))
    }
}

impl fmt::Display for ChatStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(text) = DATABASES.iter().find_map(|begin| self.0.strip_prefix(begin)) else {
            return f.write_str(&prowess_format::hidden::shown(&self.0));
        };
        // A password may hold any character, so only what stands after the last @ is safe, and nothing after a question mark.
        let (before, after) = text.rsplit_once('@').unwrap_or(("", text));
        let place = after.split('?').next().unwrap_or_default();
        let harmless = |c: char| c.is_ascii_alphanumeric() || "-._/:[],".contains(c);
        match !before.contains('?')
            && place.chars().all(harmless)
            && text.contains('@') | !place.contains(':')
        {
            true => write!(f, "postgresql://{place}"),
            false => f.write_str("postgresql://…"),
        }
    }
}

impl fmt::Debug for ChatStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChatStore({self})")
    }
}
