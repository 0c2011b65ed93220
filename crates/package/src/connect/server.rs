//! What is connected: a program that the client starts, or a server that runs already.

use url::{Host, Url};

use super::error::ConnectError;

/// What the entry is called. All clients take letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// The longest name: clients put it in front of every tool's, and models' APIs allow 64 characters for both.
    pub const MAX: usize = 32;

    /// Reads a name.
    ///
    /// ```
    /// use prowess_package::connect::Name;
    ///
    /// assert_eq!(Name::parse("prowess").unwrap().as_str(), "prowess");
    /// assert!(Name::parse("my skills").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, ConnectError> {
        let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let fits = text.len() <= Self::MAX
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(letters);
        if fits { Ok(Self(text.to_owned())) } else { Err(ConnectError::BadName(text.to_owned())) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The variable that holds a token. The token itself is never written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Reads the name of a variable.
    ///
    /// ```
    /// use prowess_package::connect::Token;
    ///
    /// assert!(Token::parse("PROWESS_TOKEN").is_ok());
    /// assert!(Token::parse("s3cret!").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, ConnectError> {
        let fits = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        // What was typed may be the token itself: it is not repeated.
        if fits { Ok(Self(text.to_owned())) } else { Err(ConnectError::BadToken) }
    }

    /// The variable's name.
    pub fn variable(&self) -> &str {
        &self.0
    }
}

/// What a client is told to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    /// A program that speaks MCP on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// A server that runs.
    Http {
        /// Where.
        url: String,
        /// The variable that holds its token.
        token: Option<Token>,
    },
}

impl Server {
    /// A running server, at `/mcp` where the URL has no path.
    ///
    /// ```
    /// use prowess_package::connect::Server;
    ///
    /// let url = |text| match Server::http(text, None) {
    ///     Ok(Server::Http { url, .. }) => url,
    ///     other => panic!("{other:?}"),
    /// };
    /// assert_eq!(url("http://127.0.0.1:7878"), "http://127.0.0.1:7878/mcp");
    /// assert_eq!(url("https://skills.example.com/team/mcp"), "https://skills.example.com/team/mcp");
    /// ```
    pub fn http(url: &str, token: Option<Token>) -> Result<Self, ConnectError> {
        let bad = |why: &'static str| ConnectError::BadUrl { why };
        let mut parsed = Url::parse(url).map_err(|_| bad("it is no URL"))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(bad("only http and https are spoken"));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(bad("it holds a user or a password, which would be written to the file"));
        }
        if parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(bad("it has a ? or a #"));
        }
        if parsed.scheme() == "http" && token.is_some() && !is_loopback(&parsed) {
            return Err(bad("a token would cross the network in the clear; use https"));
        }
        if parsed.path() == "/" {
            parsed.set_path("/mcp");
        }
        Ok(Self::Http { url: parsed.to_string(), token })
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
