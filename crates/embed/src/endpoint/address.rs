//! Where a server is.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

/// An address that texts and a key may be sent to.
///
/// ```
/// use prowess_embed::endpoint::Address;
///
/// assert!(Address::parse("http://127.0.0.1:11434", false).is_ok());
/// assert!(Address::parse("http://models.example", false).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

/// Why an address is not taken. It is not repeated: it may have a password in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It is no address.
    #[error("embeddings.base-url is not an address such as https://models.example/v1")]
    Form,
    /// Anybody on the way could read the key and what is said.
    #[error(
        "embeddings.base-url is not encrypted and not on this machine, so that others could read the key and the messages; use https, or set embeddings.allow-http if the network is yours"
    )]
    Unencrypted,
    /// A user, a password, a query or a fragment is in it.
    #[error("embeddings.base-url has more in it than an address: a user, a query or a fragment")]
    More,
}

impl Address {
    /// Takes an address, if it is one that a key may be sent to.
    pub fn parse(text: &str, allow_http: bool) -> Result<Self, AddressError> {
        let url = Url::parse(text).map_err(|_| AddressError::Form)?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(AddressError::Form);
        }
        let credentials = !url.username().is_empty() || url.password().is_some();
        if credentials || url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::More);
        }
        let address = Self(url);
        match address.0.scheme() == "http" && !address.is_here() && !allow_http {
            true => Err(AddressError::Unencrypted),
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

    /// An address below it.
    pub(super) fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.0.as_str().trim_end_matches('/'))
    }

    /// The host with its port.
    pub(super) fn host(&self) -> String {
        let port = self.0.port().map_or_else(String::new, |port| format!(":{port}"));
        format!("{}{port}", self.0.host_str().unwrap_or_default())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_addresses_texts_may_be_sent_to() {
        use AddressError::{Form, More, Unencrypted};
        let judged = |text: &str| Address::parse(text, false).err();
        for text in [
            "https://api.example",
            "https://api.example:8443/v1/",
            "http://127.0.0.1:8080",
            "http://[::1]:1234/v1",
            "http://localhost:11434",
        ] {
            assert_eq!(judged(text), None, "{text}");
        }
        for (text, why) in [
            ("", Form),
            ("api.example/v1", Form),
            ("file:///etc/passwd", Form),
            ("http://api.example", Unencrypted),
            ("http://127.0.0.1.evil.example", Unencrypted),
            ("http://0.0.0.0", Unencrypted),
            ("https://me@api.example", More),
            ("http://127.0.0.1@api.example", More),
            ("https://api.example/?key=1", More),
            ("https://api.example/#x", More),
        ] {
            assert_eq!(judged(text), Some(why), "{text}");
        }
        assert!(Address::parse("http://10.0.0.1", true).is_ok());
        let address = Address::parse("https://api.example:8443/v1/", false).unwrap();
        assert_eq!(address.at("embeddings"), "https://api.example:8443/v1/embeddings");
        assert_eq!(address.host(), "api.example:8443");
    }
}
