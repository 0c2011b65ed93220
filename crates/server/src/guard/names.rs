//! The names by which a server may be called. A page of somebody else's can make a browser send requests here, under a name that
//! it has pointed here or from an origin of its own; neither is answered.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::http::{Request, header};
use prowess::ErrorCode;

use crate::problem::Problem;

/// The names by which a server may be called: those of this machine, and those that were added.
///
/// ```
/// use prowess_server::Names;
///
/// let names = Names::new(["skills.example.org".to_owned()]);
/// assert!(names.is_ours("localhost:7878") && names.is_ours("skills.example.org"));
/// assert!(!names.is_ours("evil.example"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Names {
    added: Vec<String>,
}

impl Names {
    /// Those of this machine and these, each with or without a port.
    pub fn new(added: impl IntoIterator<Item = String>) -> Self {
        Self { added: added.into_iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    /// The names that were added.
    pub fn added(&self) -> &[String] {
        &self.added
    }

    /// Whether a host, with or without a port, is meant. An address of this machine in numbers is: no name that somebody points
    /// here looks like one.
    pub fn is_ours(&self, authority: &str) -> bool {
        let authority = authority.to_ascii_lowercase();
        let host = without_port(&authority);
        host == "localhost"
            || is_loopback(host)
            || self.added.iter().any(|name| *name == authority || name == host)
    }

    /// Refuses requests under other names, of other origins, and those that a page elsewhere made a browser send.
    pub(crate) fn check<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        let denied = |detail: &str| Err(Problem::new(ErrorCode::AccessDenied, detail));
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
        let (told, more) = (hosts.next(), hosts.next());
        // A request line may name a host, too, and then it is the one that counts.
        let asked = request.uri().authority().map(|authority| authority.as_str());
        let Some(host) = asked.or(told).filter(|_| more.is_none()) else {
            return Err(Problem::invalid("a request names the host that it is for, once"));
        };
        if ![asked, told].into_iter().flatten().all(|host| self.is_ours(host)) {
            return denied("this server is not called by that name; --allow-host NAME adds one");
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        if !origins.all(|origin| origin.to_str().is_ok_and(|origin| self.is_origin(origin, host))) {
            return denied("requests from pages of other origins are not answered");
        }
        // What browsers say of requests that carry no origin: pictures, frames, forms and links of other pages. Following a link
        // to the page is fine.
        let said = |name: &str| headers.get(name).map(|value| value.as_bytes());
        let is_visit = request.uri().path() == "/" && said("sec-fetch-mode") == Some(b"navigate");
        match said("sec-fetch-site") {
            None | Some(b"same-origin" | b"none") => Ok(()),
            Some(_) if is_visit => Ok(()),
            Some(_) => denied("requests from pages of other sites are not answered"),
        }
    }

    /// Whether a page of this origin is our own: it is where the request goes, port included, or was added as it stands. Other
    /// ports of this machine belong to other programs.
    fn is_origin(&self, origin: &str, host: &str) -> bool {
        let Some((scheme @ ("http" | "https"), authority)) = origin.split_once("://") else { return false };
        let usual = if scheme == "http" { ":80" } else { ":443" };
        let plain = |authority: &str| {
            let authority = authority.to_ascii_lowercase();
            authority.strip_suffix(usual).map_or(authority.clone(), str::to_owned)
        };
        let authority = plain(authority);
        authority == plain(host) || self.added.iter().any(|name| plain(name) == authority)
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
    fn which_names_are_ours() {
        let names = Names::new(["Skills.example:8080".to_owned(), "other.example".to_owned()]);
        for ours in [
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
            assert!(names.is_ours(ours), "{ours}");
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
            assert!(!names.is_ours(other), "{other}");
        }
    }

    /// Whether a request with these headers is let in.
    fn passes(uri: &str, headers: &[(&str, &str)]) -> bool {
        let names = Names::new(["skills.example".to_owned()]);
        let request =
            headers.iter().fold(Request::get(uri), |request, (name, value)| request.header(*name, *value));
        names.check(&request.body(()).unwrap()).is_ok()
    }

    #[test]
    fn origins_of_others_are_refused() {
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
    fn a_request_is_for_one_host() {
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
