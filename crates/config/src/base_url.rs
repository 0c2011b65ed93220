//! The base URL of a provider: `chat.base-url` and `embeddings.base-url`.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

/// The base URL of a provider. The API key is sent to no other host.
///
/// ```
/// use prowess_config::BaseUrl;
///
/// let url = BaseUrl::parse("chat", "http://127.0.0.1:11434/v1/", false).unwrap();
/// assert!(url.is_loopback());
/// assert_eq!(url.join(&["chat", "completions"]), "http://127.0.0.1:11434/v1/chat/completions");
/// assert!(BaseUrl::parse("chat", "http://models.example/v1", false).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// The reason why a base URL is rejected, with the section that sets it. The URL is not repeated: it may
/// contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseBaseUrlError {
    /// It is not a URL.
    #[error("{0}.base-url is not a valid URL; use a URL such as https://models.example/v1")]
    Invalid(&'static str),
    /// The scheme is neither https nor http.
    #[error("{0}.base-url must begin with https:// (or http:// for this machine)")]
    Scheme(&'static str),
    /// The key and the messages could be read on the network.
    #[error(
        "{0}.base-url is an unencrypted connection to another machine, which exposes the key and the messages; use https, or set {0}.allow-http if you trust the network"
    )]
    Unencrypted(&'static str),
    /// It contains a user or a password.
    #[error("{0}.base-url contains a user or password; set {0}.key-env instead")]
    Credentials(&'static str),
    /// It contains a query or a fragment.
    #[error("{0}.base-url contains a query or a fragment, which is not supported")]
    Query(&'static str),
}

impl BaseUrl {
    /// Parses the base URL of a section, and checks that a key may be sent to it.
    pub fn parse(section: &'static str, text: &str, allow_http: bool) -> Result<Self, ParseBaseUrlError> {
        let url = Url::parse(text).map_err(|_| ParseBaseUrlError::Invalid(section))?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(ParseBaseUrlError::Scheme(section));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ParseBaseUrlError::Credentials(section));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(ParseBaseUrlError::Query(section));
        }
        let address = Self(url);
        match address.0.scheme() == "http" && !address.is_loopback() && !allow_http {
            true => Err(ParseBaseUrlError::Unencrypted(section)),
            false => Ok(address),
        }
    }

    /// Returns `true` if it is on this machine.
    pub fn is_loopback(&self) -> bool {
        match self.0.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        }
    }

    /// Returns the host, with its port if there is one.
    pub fn host(&self) -> String {
        let port = self.0.port().map_or_else(String::new, |port| format!(":{port}"));
        format!("{}{port}", self.0.host_str().unwrap_or_default())
    }

    /// Returns `true` if the path ends with this segment.
    pub fn ends_with(&self, segment: &str) -> bool {
        self.0.path().trim_end_matches('/').ends_with(&format!("/{segment}"))
    }

    /// Returns the URL of a path below it.
    pub fn join(&self, path: &[&str]) -> String {
        format!("{}/{}", self.0.as_str().trim_end_matches('/'), path.join("/"))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_urls_are_accepted() {
        use ParseBaseUrlError::{Credentials, Invalid, Query, Scheme, Unencrypted};
        let parse_error = |text: &str| BaseUrl::parse("chat", text, false).err();
        for text in [
            "https://api.example",
            "https://api.example:8443/v1/",
            "http://127.0.0.1:8080",
            "http://127.9.9.9/v1",
            "http://[::1]:1234/v1",
            "http://[::ffff:127.0.0.1]/v1",
            "http://localhost:11434/v1",
            "http://LOCALHOST/v1",
        ] {
            assert_eq!(parse_error(text), None, "{text}");
        }
        for (text, reason) in [
            ("", Invalid("chat")),
            ("api.example/v1", Invalid("chat")),
            ("https://", Invalid("chat")),
            ("file:///etc/passwd", Scheme("chat")),
            ("ftp://api.example", Scheme("chat")),
            ("http://api.example", Unencrypted("chat")),
            ("http://127.0.0.1.evil.example", Unencrypted("chat")),
            ("http://localhost.evil.example", Unencrypted("chat")),
            ("http://0.0.0.0", Unencrypted("chat")),
            ("http://10.0.0.1", Unencrypted("chat")),
            ("https://me@api.example", Credentials("chat")),
            ("https://me:pw@api.example", Credentials("chat")),
            ("http://127.0.0.1@api.example", Credentials("chat")),
            ("https://api.example/?key=1", Query("chat")),
            ("https://api.example/#x", Query("chat")),
        ] {
            assert_eq!(parse_error(text), Some(reason), "{text}");
        }
        assert!(BaseUrl::parse("chat", "http://10.0.0.1", true).is_ok());
        let address = BaseUrl::parse("chat", "https://api.example:8443/v1/", false).unwrap();
        assert_eq!(address.join(&["embeddings"]), "https://api.example:8443/v1/embeddings");
        assert_eq!((address.host().as_str(), address.ends_with("v1")), ("api.example:8443", true));
    }
}
