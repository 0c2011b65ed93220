//! Where chats are kept, as somebody writes it down. What is shown of it never has a password.

use std::fmt;
use std::path::PathBuf;

use prowess::Surroundings;
use prowess_config::ChatStore;

use super::StoreError;

/// The file below the user's state.
pub const FILE_NAME: &str = "chats.sqlite3";

/// Where chats are kept.
///
/// ```
/// use prowess_chat::store::Address;
///
/// let address = Address::parse("postgresql://ann:secret@db.example/prowess?sslrootcert=/etc/ssl/ours.pem")?;
/// assert_eq!(address.to_string(), "postgresql://db.example/prowess");
/// assert_eq!(format!("{address:?}"), "Address(postgresql://db.example/prowess)");
/// # Ok::<(), prowess_chat::store::StoreError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// A file of SQLite.
    File(PathBuf),
    /// A database of PostgreSQL.
    Database(Database),
}

/// A database of PostgreSQL.
#[derive(Clone, PartialEq, Eq)]
pub struct Database {
    /// With user and password.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    pub(crate) url: String,
    /// Whether the connection is encrypted.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    pub(crate) wish: Wish,
    /// Certificates that are trusted besides those of the system.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    pub(crate) roots: Option<PathBuf>,
}

/// What an address says about encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Nothing: encrypted and verified, except on this machine.
    Unsaid,
    /// Not encrypted.
    Plain,
    /// Encrypted and verified, on this machine as well.
    Verified,
}

impl Address {
    /// Reads what somebody wrote: `postgresql://…`, `sqlite:FILE` or the path of a file.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        if text.contains('\0') || text.is_empty() {
            return Err(StoreError::Invalid("the address of the store is empty or has U+0000 in it".into()));
        }
        if ChatStore::is_database(text) {
            return Database::parse(text).map(Self::Database);
        }
        match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => Ok(Self::File(path.into())),
            None if !text.contains("://") => Ok(Self::File(text.into())),
            Some(_) | None => Err(StoreError::Invalid(
                "the address of the store is postgresql://USER:PASSWORD@HOST/DATABASE, sqlite:FILE or the path of a file".into(),
            )),
        }
    }

    /// What somebody wrote, or a file in the user's state.
    pub fn of(world: &Surroundings, written: Option<&str>) -> Result<Self, StoreError> {
        match (written, world.state()) {
            (Some(written), _) => Self::parse(written),
            (None, Some(state)) => Ok(Self::File(state.join(FILE_NAME))),
            (None, None) => {
                Err(StoreError::Invalid("there is no home, so say where chats are to be kept".into()))
            }
        }
    }
}

impl Database {
    fn parse(text: &str) -> Result<Self, StoreError> {
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut wish, mut roots, mut rest) = (Wish::Unsaid, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", mode)) => wish = Wish::parse(mode)?,
                Some(("sslrootcert", path)) if path.contains('%') => {
                    return Err(StoreError::Invalid("sslrootcert is a plain path, without %".into()));
                }
                Some(("sslrootcert", path)) => roots = Some(path.into()),
                Some(_) | None => rest.push(pair),
            }
        }
        let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        Ok(Self { url, wish, roots })
    }
}

impl Wish {
    /// The words of PostgreSQL's own programs. Encryption without looking at the certificate helps nobody: it is not offered.
    fn parse(mode: &str) -> Result<Self, StoreError> {
        match mode {
            "disable" => Ok(Self::Plain),
            "allow" | "prefer" => Ok(Self::Unsaid),
            "require" | "verify-ca" | "verify-full" => Ok(Self::Verified),
            _ => Err(StoreError::Invalid("sslmode is disable, prefer, require or verify-full".into())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", prowess::format::hidden::shown(&path.to_string_lossy())),
            Self::Database(database) => database.fmt(f),
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ChatStore::new(&*self.url).fmt(f)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn database(text: &str) -> Database {
        let Address::Database(database) = Address::parse(text).unwrap() else { panic!("{text}") };
        database
    }

    #[test]
    fn what_people_write() {
        assert_eq!(Address::parse("sqlite:a b.db"), Ok(Address::File("a b.db".into())));
        assert_eq!(Address::parse("/x/chats"), Ok(Address::File("/x/chats".into())));
        let read = database("postgres://h/db?sslmode=verify-full&connect_timeout=3&sslrootcert=/ca.pem");
        assert_eq!((read.wish, read.roots), (Wish::Verified, Some("/ca.pem".into())));
        assert_eq!(read.url, "postgres://h/db?connect_timeout=3");
        assert_eq!(database("postgresql://h/db?sslmode=prefer").wish, Wish::Unsaid);
        assert_eq!(database("postgresql://h/db?sslmode=disable").url, "postgresql://h/db");
        let wrong = [
            "",
            "mysql://h/db",
            "sqlite:",
            "postgresql://h/db?sslmode=on",
            "postgresql://h/db?sslrootcert=/a%20b",
        ];
        let told: Vec<_> = wrong.iter().map(|text| Address::parse(text).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn where_chats_are_unless_told() {
        let mut world =
            Surroundings { project: "/p".into(), home: Some("/home/ann".into()), path: Default::default() };
        let file = Address::File("/home/ann/.prowess/state/chats.sqlite3".into());
        assert_eq!(Address::of(&world, None), Ok(file));
        assert_eq!(Address::of(&world, Some("sqlite:x")), Ok(Address::File("x".into())));
        world.home = None;
        assert!(Address::of(&world, None).is_err());
    }

    #[test]
    fn what_is_shown() {
        let shown = |text| database(text).to_string();
        assert_eq!(
            shown("postgresql://ann:pass@[::1]:5432/db?application_name=x"),
            "postgresql://[::1]:5432/db"
        );
        assert_eq!(shown("postgresql://db.example/prowess"), "postgresql://db.example/prowess");
        assert_eq!(shown("postgresql://ann:pa?ss@h/db"), "postgresql://…");
        assert_eq!(shown("postgresql://h/db?password=a@b"), "postgresql://…");
        assert_eq!(shown("postgresql://h:secret"), "postgresql://…");
    }

    proptest! {
        #[test]
        fn a_password_is_never_shown(noise in "\\PC{0,12}", more in "[a-z/:@?&=]{0,12}") {
            let password = format!("{noise}SECRET{more}");
            for text in [format!("postgresql://ann:{password}@h:1/db"), format!("postgresql://h/db?password={password}")] {
                if let Ok(address) = Address::parse(&text) {
                    prop_assert!(!format!("{address} {address:?}").contains("SECRET"), "{address}");
                }
            }
        }
    }
}
