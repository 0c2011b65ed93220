//! Authentication by token or by a proxy.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use prowess::ErrorCode;
use prowess_mcp::http::AccessToken;

use super::{Access, AllowedHosts, StartToken};
use crate::problem::Problem;

/// Paths that need no authentication: the health checks, and the page, which asks for the token.
const PUBLIC_PATHS: [&str; 4] = ["/healthz", "/readyz", "/", "/api/session"];

/// Authentication and allowed hosts of a server.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The host names that requests may use.
    pub hosts: AllowedHosts,
    /// The token of users. Without any token or proxy, the operating system user who runs the server is an administrator, and
    /// all other clients are rejected.
    pub token: Option<AccessToken>,
    /// The token of administrators.
    pub admin_token: Option<AccessToken>,
    /// Signs in one browser as administrator at a time. Used only without other tokens and without a proxy.
    pub start_token: Option<Arc<StartToken>>,
    /// The header in which an authenticating proxy passes the user name. Requests with this header have user access.
    pub proxy_header: Option<HeaderName>,
}

impl Guard {
    /// Returns whether a token or an authenticating proxy is configured.
    pub fn has_authentication(&self) -> bool {
        self.token.is_some() || self.admin_token.is_some() || self.proxy_header.is_some()
    }

    /// Creates and returns a start token, to be printed for the user who started the server. Returns `None` if another kind of
    /// authentication is configured.
    pub fn create_start_token(&mut self) -> Option<Arc<StartToken>> {
        if self.has_authentication() {
            return None;
        }
        let token = Arc::new(StartToken::default());
        self.start_token = Some(Arc::clone(&token));
        Some(token)
    }

    /// Returns the start token if no other authentication is configured.
    pub(super) fn start_token(&self) -> Option<&StartToken> {
        self.start_token.as_deref().filter(|_| !self.has_authentication())
    }

    /// Returns the access level of a token.
    pub(crate) fn token_access(&self, text: &str) -> Option<Access> {
        let matches = |token: &Option<AccessToken>| token.as_ref().is_some_and(|token| token.matches(text));
        match matches(&self.admin_token) {
            true => Some(Access::Admin),
            false => matches(&self.token).then_some(Access::User),
        }
    }

    /// Returns the access level of a request without a session. `same_user` means that it comes from the user who runs the
    /// server.
    pub(crate) fn access(&self, headers: &HeaderMap, path: &str, same_user: bool) -> Result<Access, Problem> {
        if same_user && !self.has_authentication() {
            return Ok(Access::Admin);
        }
        if let Some(access) = bearer(headers).and_then(|token| self.token_access(token)) {
            return Ok(access);
        }
        if self.proxy_user(headers).is_some() || is_public(path) {
            return Ok(Access::User);
        }
        let detail = match self.has_authentication() {
            true => "authentication required: send Authorization: Bearer TOKEN",
            false => {
                "this server belongs to another user of this machine; in a browser, open the address that `prowess serve` \
                 printed; for programs, start the server with PROWESS_TOKEN or --token-file"
            }
        };
        Err(Problem::with_status(StatusCode::UNAUTHORIZED, ErrorCode::PermissionDenied, detail))
    }

    /// Returns the user name that the proxy passed. A repeated header is rejected, because one of the two may be forged.
    pub(crate) fn proxy_user<'h>(&self, headers: &'h HeaderMap) -> Option<&'h [u8]> {
        let mut values = headers.get_all(self.proxy_header.as_ref()?).iter();
        let user = values.next().filter(|user| !user.as_bytes().trim_ascii().is_empty())?;
        values.next().is_none().then_some(user.as_bytes())
    }
}

/// Returns whether a path needs no authentication.
pub(super) fn is_public(path: &str) -> bool {
    PUBLIC_PATHS.contains(&path) || path.starts_with("/assets/")
}

/// Returns the bearer token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_token_other_users_need_a_session() {
        let mut guard = Guard::default();
        let token = guard.create_start_token().unwrap().current();
        let access = |guard: &Guard, token: &str, path: &str, same_user: bool| {
            let value = format!("Bearer {token}").parse().unwrap();
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value)]);
            guard.access(&headers, path, same_user).map_err(|problem| problem.detail)
        };
        assert_eq!(access(&guard, "", "/api/about", true), Ok(Access::Admin));
        insta::assert_snapshot!(access(&guard, "", "/api/about", false).unwrap_err());
        assert!(access(&guard, "guess", "/mcp", false).is_err());
        assert!(
            access(&guard, &token, "/api/about", false).is_err(),
            "a start token can only be exchanged for a session"
        );
        assert!(guard.start_token().is_some());
        assert_eq!(access(&guard, "", "/", false), Ok(Access::User));
        assert_eq!(access(&guard, "", "/api/session", false), Ok(Access::User));
        // With a token configured, neither the user of the connection nor a start token grants access.
        guard.token = AccessToken::parse("user-0123456789abcdef").ok();
        assert!(access(&guard, "", "/api/about", true).is_err());
        assert!(guard.start_token().is_none() && guard.create_start_token().is_none());
    }
}
