//! Where a provider of models is: `chat.base-url` and `embeddings.base-url`.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

/// Where requests go. Only this address ever sees the key.
///
/// ```
/// use prowess_config::BaseUrl;
///
/// let address = BaseUrl::parse("chat", "http://127.0.0.1:11434/v1/", false).unwrap();
/// assert!(address.is_here());
/// assert_eq!(address.at(&["chat", "completions"]), "http://127.0.0.1:11434/v1/chat/completions");
/// assert!(BaseUrl::parse("chat", "http://models.example/v1", false).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// Why an address is not accepted, after the section that it is set in. It is not repeated: it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BaseUrlError {
    /// It is not an address.
    #[error("{0}.base-url is not an address such as https://models.example/v1")]
    Form(&'static str),
    /// Neither https nor http.
    #[error("{0}.base-url has to begin with https:// (or http:// for this machine)")]
    Scheme(&'static str),
    /// The network in between could read the key and the messages.
    #[error(
        "{0}.base-url is not encrypted and not on this machine, so that others could read the key and the messages; use https, or set {0}.allow-http if the network is yours"
    )]
    Unencrypted(&'static str),
    /// A user or a password is in it.
    #[error("{0}.base-url has a user or password in it; keys come from {0}.key-env")]
    Credentials(&'static str),
    /// A query or a fragment is in it.
    #[error("{0}.base-url has a query or a fragment, which cannot be kept")]
    Query(&'static str),
}

impl BaseUrl {
    /// The address that `section` sets, if a key may be sent to it.
    pub fn parse(section: &'static str, text: &str, allow_http: bool) -> Result<Self, BaseUrlError> {
        let url = Url::parse(text).map_err(|_| BaseUrlError::Form(section))?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(BaseUrlError::Scheme(section));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BaseUrlError::Credentials(section));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(BaseUrlError::Query(section));
        }
        let address = Self(url);
        match address.0.scheme() == "http" && !address.is_here() && !allow_http {
            true => Err(BaseUrlError::Unencrypted(section)),
            false => Ok(address),
        }
    }

    /// Whether it is on this machine.
    pub fn is_here(&self) -> bool {
        match self.0.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        }
    }

    /// The host with its port, if it has one.
    pub fn host(&self) -> String {
        let port = self.0.port().map_or_else(String::new, |port| format!(":{port}"));
        format!("{}{port}", self.0.host_str().unwrap_or_default())
    }

    /// Whether its path ends with this segment.
    pub fn ends_with(&self, segment: &str) -> bool {
        self.0.path().trim_end_matches('/').ends_with(&format!("/{segment}"))
    }

    /// An address below it.
    pub fn at(&self, path: &[&str]) -> String {
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
    fn which_addresses_a_key_may_be_sent_to() {
        use BaseUrlError::{Credentials, Form, Query, Scheme, Unencrypted};
        let judged = |text: &str| BaseUrl::parse("chat", text, false).err();
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
            assert_eq!(judged(text), None, "{text}");
        }
        for (text, why) in [
            ("", Form("chat")),
            ("api.example/v1", Form("chat")),
            ("https://", Form("chat")),
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
            assert_eq!(judged(text), Some(why), "{text}");
        }
        assert!(BaseUrl::parse("chat", "http://10.0.0.1", true).is_ok());
        let address = BaseUrl::parse("chat", "https://api.example:8443/v1/", false).unwrap();
        assert_eq!(address.at(&["embeddings"]), "https://api.example:8443/v1/embeddings");
        assert_eq!((address.host().as_str(), address.ends_with("v1")), ("api.example:8443", true));
    }
}
