//! The names by which a server may be called. A page of somebody else's can make a browser send requests here, under a name that
//! it has pointed here or from an origin of its own; neither is answered.

use axum::http::{HeaderMap, Uri, header};
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

    /// Whether a host, with or without a port, is meant.
    pub fn is_ours(&self, authority: &str) -> bool {
        let authority = authority.to_ascii_lowercase();
        let host = without_port(&authority);
        matches!(host, "localhost" | "127.0.0.1" | "[::1]")
            || self.added.iter().any(|name| *name == authority || name == host)
    }

    /// Refuses requests under other names and from other origins.
    pub(crate) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Problem> {
        let denied = |detail: &str| Err(Problem::new(ErrorCode::AccessDenied, detail));
        let told = headers.get(header::HOST).map(|host| host.to_str().unwrap_or_default());
        let host = told.or(uri.authority().map(|authority| authority.as_str()));
        if !host.is_some_and(|host| self.is_ours(host)) {
            return denied("this server is not called by that name; --allow-host NAME adds one");
        }
        match headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
            None => Ok(()),
            Some(origin) => match origin.split_once("://") {
                Some(("http" | "https", authority)) if self.is_ours(authority) => Ok(()),
                _ => denied("requests from pages of other origins are not answered"),
            },
        }
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
            "[::1]:7878",
            "[::1]",
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
            "127.0.0.1.evil",
            "evil",
            "[::2]",
        ] {
            assert!(!names.is_ours(other), "{other}");
        }
    }

    #[test]
    fn origins_of_others_are_refused() {
        let names = Names::default();
        let check = |origin: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "localhost:7878".parse().unwrap());
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            names.check(&headers, &Uri::from_static("/api/skills")).is_ok()
        };
        assert!(check("http://localhost:7878") && check("https://127.0.0.1"));
        for other in ["null", "http://evil.example", "file://localhost", "http://localhost.evil", "localhost"]
        {
            assert!(!check(other), "{other}");
        }
    }
}
