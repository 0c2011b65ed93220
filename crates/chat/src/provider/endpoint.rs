//! Where a provider is.

use std::net::IpAddr;

use url::{Host, Url};

/// Where requests go. Only this address ever sees the key.
///
/// ```
/// use prowess_chat::provider::Endpoint;
///
/// let endpoint = Endpoint::parse("http://127.0.0.1:11434/v1/", false).unwrap();
/// assert!(endpoint.is_here());
/// assert_eq!(endpoint.at(&["chat", "completions"]), "http://127.0.0.1:11434/v1/chat/completions");
/// assert!(Endpoint::parse("http://models.example/v1", false).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

/// Why an address is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// It is no address.
    #[error("chat.base-url is not an address such as https://models.example/v1")]
    Form,
    /// Neither https nor http.
    #[error("chat.base-url has to begin with https:// (or http:// for this machine)")]
    Scheme,
    /// Anybody on the way could read the key and what is said.
    #[error(
        "chat.base-url is not encrypted and not on this machine, so that others could read the key and the chat; use https, or set chat.allow-http if the network is yours"
    )]
    Unencrypted,
    /// A user or a password is in it.
    #[error("chat.base-url has a user or password in it; keys come from chat.key-env or chat.key-file")]
    Credentials,
    /// A query or a fragment is in it.
    #[error("chat.base-url has a query or a fragment, which cannot be kept")]
    Query,
}

impl Endpoint {
    /// Takes an address, if it is one that a key may be sent to.
    pub fn parse(text: &str, allow_http: bool) -> Result<Self, EndpointError> {
        let url = Url::parse(text).map_err(|_| EndpointError::Form)?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(EndpointError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EndpointError::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(EndpointError::Query);
        }
        let endpoint = Self(url);
        if endpoint.0.scheme() == "http" && !endpoint.is_here() && !allow_http {
            return Err(EndpointError::Unencrypted);
        }
        Ok(endpoint)
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

    /// Whether it is a host of this name.
    pub(super) fn is_host(&self, name: &str) -> bool {
        self.0.host_str() == Some(name)
    }

    /// Whether its path ends so.
    pub(super) fn ends_with(&self, segment: &str) -> bool {
        self.0.path().trim_end_matches('/').ends_with(&format!("/{segment}"))
    }

    /// An address below it.
    pub fn at(&self, path: &[&str]) -> String {
        format!("{}/{}", self.0.as_str().trim_end_matches('/'), path.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_addresses_a_key_may_be_sent_to() {
        use EndpointError::{Credentials, Form, Query, Scheme, Unencrypted};
        let judged = |text: &str| Endpoint::parse(text, false).err();
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
            ("", Form),
            ("api.example/v1", Form),
            ("https://", Form),
            ("file:///etc/passwd", Scheme),
            ("ftp://api.example", Scheme),
            ("http://api.example", Unencrypted),
            ("http://127.0.0.1.evil.example", Unencrypted),
            ("http://localhost.evil.example", Unencrypted),
            ("http://0.0.0.0", Unencrypted),
            ("http://10.0.0.1", Unencrypted),
            ("https://me@api.example", Credentials),
            ("https://me:pw@api.example", Credentials),
            ("http://127.0.0.1@api.example", Credentials),
            ("https://api.example/?key=1", Query),
            ("https://api.example/#x", Query),
        ] {
            assert_eq!(judged(text), Some(why), "{text}");
        }
        assert!(Endpoint::parse("http://10.0.0.1", true).is_ok());
    }
}
