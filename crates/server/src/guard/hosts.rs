//! Allowed hosts and origins. A web page of another site can make a browser send requests to this server, with a host name that resolves
//! to it (DNS rebinding) or from another origin; both are rejected.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::http::{Request, header};
use prowess::ErrorCode;

use crate::problem::Problem;

/// The host names that requests may use: the loopback names and the added ones.
///
/// ```
/// use prowess_server::AllowedHosts;
///
/// let hosts = AllowedHosts::new(["skills.example.org".to_owned()]);
/// assert!(hosts.allows("localhost:7878") && hosts.allows("skills.example.org"));
/// assert!(!hosts.allows("evil.example"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts {
    added: Vec<String>,
}

impl AllowedHosts {
    /// Allows the loopback names and these names, each with or without a port.
    pub fn new(added: impl IntoIterator<Item = String>) -> Self {
        Self { added: added.into_iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    /// Returns the added names.
    pub fn added(&self) -> &[String] {
        &self.added
    }

    /// Returns whether a host, with or without a port, is allowed. Numeric loopback addresses are, because DNS rebinding needs a
    /// name.
    pub fn allows(&self, authority: &str) -> bool {
        let authority = authority.to_ascii_lowercase();
        let host = without_port(&authority);
        host == "localhost"
            || is_loopback(host)
            || self.added.iter().any(|name| *name == authority || name == host)
    }

    /// Rejects requests with other hosts or origins, and requests that a browser sent for a page of another site.
    pub(crate) fn check<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        let denied = |detail: &str| Err(Problem::new(ErrorCode::AccessDenied, detail));
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
        let (host_header, duplicate) = (hosts.next(), hosts.next());
        // A host in the request line takes precedence over the header.
        let uri_host = request.uri().authority().map(|authority| authority.as_str());
        let Some(host) = uri_host.or(host_header).filter(|_| duplicate.is_none()) else {
            return Err(Problem::invalid("the request must have exactly one Host header"));
        };
        if ![uri_host, host_header].into_iter().flatten().all(|host| self.allows(host)) {
            return denied("host not allowed; start the server with --allow-host NAME to allow it");
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        if !origins.all(|origin| origin.to_str().is_ok_and(|origin| self.allows_origin(origin, host))) {
            return denied("cross-origin requests are not allowed");
        }
        // Browsers send Sec-Fetch headers with requests that have no origin: images, frames, forms and links of other pages.
        // Following a link to the page is allowed.
        let value = |name: &str| headers.get(name).map(|value| value.as_bytes());
        let is_navigation = request.uri().path() == "/" && value("sec-fetch-mode") == Some(b"navigate");
        match value("sec-fetch-site") {
            None | Some(b"same-origin" | b"none") => Ok(()),
            Some(_) if is_navigation => Ok(()),
            Some(_) => denied("cross-site requests are not allowed"),
        }
    }

    /// Returns whether an origin is allowed: it equals the requested host, including the port, or an added name. Other ports of
    /// this machine belong to other programs.
    fn allows_origin(&self, origin: &str, host: &str) -> bool {
        let Some((scheme @ ("http" | "https"), authority)) = origin.split_once("://") else { return false };
        let default_port = if scheme == "http" { ":80" } else { ":443" };
        let without_default_port = |authority: &str| {
            let authority = authority.to_ascii_lowercase();
            authority.strip_suffix(default_port).map_or(authority.clone(), str::to_owned)
        };
        let authority = without_default_port(authority);
        authority == without_default_port(host)
            || self.added.iter().any(|name| without_default_port(name) == authority)
    }
}

fn is_loopback(host: &str) -> bool {
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match inner {
        Some(inner) => inner.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()),
        None => host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
    }
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if !name.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_host_names() {
        let names = AllowedHosts::new(["Skills.example:8080".to_owned(), "other.example".to_owned()]);
        for allowed in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:7878",
            "127.8.9.1",
            "[::1]:7878",
            "[::1]",
            "[0:0::0:1]:80",
            "skills.example:8080",
            "other.example:9",
        ] {
            assert!(names.allows(allowed), "{allowed}");
        }
        for other in [
            "",
            ":80",
            "skills.example",
            "skills.example:81",
            "localhost.evil",
            "localhost.",
            "127.0.0.1.evil",
            "127.1",
            "0x7f.0.0.1",
            "2130706433",
            "0.0.0.0",
            "evil",
            "[::2]",
            "[::ffff:127.0.0.1]",
            "::1",
            "[::1",
            "[::1%25lo]",
            "localhost:80@evil",
            "evil@localhost",
            "localhost, evil",
            "localhost evil",
        ] {
            assert!(!names.allows(other), "{other}");
        }
    }

    /// Returns whether a request with these headers is accepted.
    fn passes(uri: &str, headers: &[(&str, &str)]) -> bool {
        let names = AllowedHosts::new(["skills.example".to_owned()]);
        let request =
            headers.iter().fold(Request::get(uri), |request, (name, value)| request.header(*name, *value));
        names.check(&request.body(()).unwrap()).is_ok()
    }

    #[test]
    fn other_origins_are_rejected() {
        let check = |origin| passes("/api/skills", &[("host", "localhost:7878"), ("origin", origin)]);
        assert!(
            check("http://localhost:7878")
                && check("https://localhost:7878")
                && check("https://skills.example")
        );
        for other in [
            "",
            "null",
            "http://evil.example",
            "file://localhost:7878",
            "http://localhost.evil",
            "localhost:7878",
            // Other programs on this machine.
            "http://localhost",
            "http://localhost:3000",
            "http://127.0.0.1:7878",
            "http://skills.example:8443",
            "http://localhost:7878/",
            "http://localhost:7878 http://evil.example",
        ] {
            assert!(!check(other), "{other}");
        }
        let twice =
            [("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil.example")];
        assert!(!passes("/", &twice));
        assert!(passes("/", &[("host", "skills.example"), ("origin", "https://skills.example:443")]));
    }

    #[test]
    fn a_request_has_exactly_one_host() {
        assert!(!passes("/", &[]));
        assert!(!passes("/", &[("host", "localhost"), ("host", "localhost")]));
        assert!(passes("http://localhost:7878/", &[("host", "localhost:7878")]));
        assert!(!passes("http://evil.example/", &[("host", "localhost")]));
        assert!(!passes("http://localhost/", &[("host", "evil.example")]));
        assert!(!passes("http://me@localhost/", &[("host", "localhost")]));
    }

    #[test]
    fn pages_of_other_sites_may_only_link_here() {
        let check = |uri, site, mode| {
            passes(uri, &[("host", "localhost"), ("sec-fetch-site", site), ("sec-fetch-mode", mode)])
        };
        for site in ["same-origin", "none"] {
            assert!(check("/api/skills", site, "cors") && check("/", site, "navigate"));
        }
        for site in ["cross-site", "same-site", "whatever"] {
            assert!(check("/", site, "navigate") && !check("/", site, "no-cors"));
            assert!(!check("/api/export", site, "navigate") && !check("/api/events", site, "cors"));
        }
    }
}
