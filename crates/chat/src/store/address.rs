//! The address of a chat store. Its displayed form never contains a password.

use std::fmt;
use std::path::PathBuf;

use prowess::HostEnv;
use prowess_config::ChatStore;

use super::StoreError;

/// The name of the default file in the user's state directory.
pub const FILE_NAME: &str = "chats.sqlite3";

/// The address of a chat store.
///
/// ```
/// use prowess_chat::store::StoreAddress;
///
/// let address = StoreAddress::parse("postgresql://ann:secret@db.example/prowess?sslrootcert=/etc/ssl/ours.pem")?;
/// assert_eq!(address.to_string(), "postgresql://db.example/prowess");
/// assert_eq!(format!("{address:?}"), "StoreAddress(postgresql://db.example/prowess)");
/// # Ok::<(), prowess_chat::store::StoreError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum StoreAddress {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL database.
    Database(PostgresAddress),
}

/// The address of a PostgreSQL database.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresAddress {
    /// The URL, including user and password.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    pub(crate) url: String,
    /// Whether the connection is encrypted.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    pub(crate) tls: TlsMode,
    /// A file with trusted root certificates, used instead of those of the system.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    pub(crate) root_certs: Option<PathBuf>,
}

/// The encryption that an address requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsMode {
    /// Not specified: encrypted and verified, except on this machine.
    Default,
    /// Not encrypted.
    Disabled,
    /// Encrypted and verified, even on this machine.
    Verified,
}

impl StoreAddress {
    /// Parses an address: `postgresql://…`, `sqlite:FILE` or the path of a file.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        if text.contains('\0') || text.is_empty() {
            return Err(StoreError::Invalid("the store address is empty or contains U+0000".into()));
        }
        if ChatStore::is_database(text) {
            return PostgresAddress::parse(text).map(Self::Database);
        }
        match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => Ok(Self::File(path.into())),
            None if !text.contains("://") => Ok(Self::File(text.into())),
            Some(_) | None => Err(StoreError::Invalid(
                "the store address must be postgresql://USER:PASSWORD@HOST/DATABASE, sqlite:FILE or a file path".into(),
            )),
        }
    }

    /// Returns the configured address, or a file in the user's state directory.
    pub fn resolve(env: &HostEnv, configured: Option<&str>) -> Result<Self, StoreError> {
        match (configured, env.state_dir()) {
            (Some(configured), _) => Self::parse(configured),
            (None, Some(state)) => Ok(Self::File(state.join(FILE_NAME))),
            (None, None) => Err(StoreError::Invalid(
                "cannot find a home directory; set the address of the chat store".into(),
            )),
        }
    }
}

impl PostgresAddress {
    fn parse(text: &str) -> Result<Self, StoreError> {
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut tls, mut root_certs, mut parameters) = (TlsMode::Default, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", mode)) => tls = TlsMode::parse(mode)?,
                Some(("sslrootcert", path)) if path.contains('%') => {
                    return Err(StoreError::Invalid("sslrootcert must be a plain path without %".into()));
                }
                Some(("sslrootcert", path)) => root_certs = Some(path.into()),
                Some(_) | None => parameters.push(pair),
            }
        }
        let url =
            if parameters.is_empty() { base.to_owned() } else { format!("{base}?{}", parameters.join("&")) };
        Ok(Self { url, tls, root_certs })
    }
}

impl TlsMode {
    /// Parses a mode of PostgreSQL. Encryption without verification is not supported.
    fn parse(mode: &str) -> Result<Self, StoreError> {
        match mode {
            "disable" => Ok(Self::Disabled),
            "allow" | "prefer" => Ok(Self::Default),
            "require" | "verify-ca" | "verify-full" => Ok(Self::Verified),
            _ => Err(StoreError::Invalid("sslmode must be disable, prefer, require or verify-full".into())),
        }
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => {
                write!(f, "{}", prowess::format::hidden::escape_for_display(&path.to_string_lossy()))
            }
            Self::Database(database) => database.fmt(f),
        }
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ChatStore::new(&*self.url).fmt(f)
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreAddress({self})")
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn database(text: &str) -> PostgresAddress {
        let StoreAddress::Database(database) = StoreAddress::parse(text).unwrap() else { panic!("{text}") };
        database
    }

    #[test]
    fn addresses_are_parsed() {
        assert_eq!(StoreAddress::parse("sqlite:a b.db"), Ok(StoreAddress::File("a b.db".into())));
        assert_eq!(StoreAddress::parse("/x/chats"), Ok(StoreAddress::File("/x/chats".into())));
        let parsed = database("postgres://h/db?sslmode=verify-full&connect_timeout=3&sslrootcert=/ca.pem");
        assert_eq!((parsed.tls, parsed.root_certs), (TlsMode::Verified, Some("/ca.pem".into())));
        assert_eq!(parsed.url, "postgres://h/db?connect_timeout=3");
        assert_eq!(database("postgresql://h/db?sslmode=prefer").tls, TlsMode::Default);
        assert_eq!(database("postgresql://h/db?sslmode=disable").url, "postgresql://h/db");
        let invalid = [
            "",
            "mysql://h/db",
            "sqlite:",
            "postgresql://h/db?sslmode=on",
            "postgresql://h/db?sslrootcert=/a%20b",
        ];
        let errors: Vec<_> =
            invalid.iter().map(|text| StoreAddress::parse(text).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(errors.join("\n"));
    }

    #[test]
    fn the_default_is_in_the_state_directory() {
        let mut env =
            HostEnv { project: "/p".into(), home: Some("/home/ann".into()), path: Default::default() };
        let file = StoreAddress::File("/home/ann/.prowess/state/chats.sqlite3".into());
        assert_eq!(StoreAddress::resolve(&env, None), Ok(file));
        assert_eq!(StoreAddress::resolve(&env, Some("sqlite:x")), Ok(StoreAddress::File("x".into())));
        env.home = None;
        assert!(StoreAddress::resolve(&env, None).is_err());
    }

    #[test]
    fn the_displayed_address_has_no_credentials() {
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
                if let Ok(address) = StoreAddress::parse(&text) {
                    prop_assert!(!format!("{address} {address:?}").contains("SECRET"), "{address}");
                }
            }
        }
    }
}
