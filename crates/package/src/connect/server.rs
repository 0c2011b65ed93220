//! The server to register: a program that the client starts, or a running server.

use url::{Host, Url};

use super::error::ConnectError;

/// The name of the entry. All clients accept letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName(String);

impl ServerName {
    /// The maximum length. Clients prefix every tool with the name, and model APIs allow 64 characters in total.
    pub const MAX: usize = 32;

    /// Parses a name.
    ///
    /// ```
    /// use prowess_package::connect::ServerName;
    ///
    /// assert_eq!(ServerName::parse("prowess").unwrap().as_str(), "prowess");
    /// assert!(ServerName::parse("my skills").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, ConnectError> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_valid = text.len() <= Self::MAX
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(is_allowed);
        if is_valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(ConnectError::InvalidServerName(text.to_owned()))
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The environment variable that contains a token. The token itself is never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenVariable(String);

impl TokenVariable {
    /// Parses the name of a variable.
    ///
    /// ```
    /// use prowess_package::connect::TokenVariable;
    ///
    /// assert!(TokenVariable::parse("PROWESS_TOKEN").is_ok());
    /// assert!(TokenVariable::parse("s3cret!").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, ConnectError> {
        let is_valid = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        // The text may be the token itself, so the error does not contain it.
        if is_valid { Ok(Self(text.to_owned())) } else { Err(ConnectError::InvalidTokenVariable) }
    }

    /// Returns the name of the variable.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// The server that a client connects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerSpec {
    /// A program that speaks MCP on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment variables.
        env: Vec<(String, String)>,
    },
    /// A running server.
    Http {
        /// The URL.
        url: String,
        /// The variable that contains its token.
        token: Option<TokenVariable>,
    },
}

impl ServerSpec {
    /// Creates a running server. The path is `/mcp` if the URL has none.
    ///
    /// ```
    /// use prowess_package::connect::ServerSpec;
    ///
    /// let url = |text| match ServerSpec::http(text, None) {
    ///     Ok(ServerSpec::Http { url, .. }) => url,
    ///     other => panic!("{other:?}"),
    /// };
    /// assert_eq!(url("http://127.0.0.1:7878"), "http://127.0.0.1:7878/mcp");
    /// assert_eq!(url("https://skills.example.com/team/mcp"), "https://skills.example.com/team/mcp");
    /// ```
    pub fn http(url: &str, token: Option<TokenVariable>) -> Result<Self, ConnectError> {
        let invalid = |reason: &'static str| ConnectError::InvalidUrl { reason };
        let mut parsed = Url::parse(url).map_err(|_| invalid("it cannot be parsed"))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(invalid("the scheme must be http or https"));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(invalid("it contains a user or a password, which would be written to the file"));
        }
        if parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(invalid("it contains a query or a fragment"));
        }
        if parsed.scheme() == "http" && token.is_some() && !is_loopback(&parsed) {
            return Err(invalid("the token would be sent unencrypted; use https"));
        }
        if parsed.path() == "/" {
            parsed.set_path("/mcp");
        }
        Ok(Self::Http { url: parsed.to_string(), token })
    }
}

/// Returns `true` if a URL refers to this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
