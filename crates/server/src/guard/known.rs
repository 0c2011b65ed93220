//! Who somebody is: a token, or a proxy that says so.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use prowess::ErrorCode;
use prowess_mcp::http::Token;

use super::{Access, Names, StartToken};
use crate::problem::Problem;

/// What is answered to everybody who calls the server by its name: whether it is well, and the page, which asks for the token.
const OPEN: [&str; 4] = ["/healthz", "/readyz", "/", "/api/session"];

/// Who is let in.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The names by which the server may be called.
    pub names: Names,
    /// What users show. Without any token and proxy, the user of this machine who runs the server is an administrator, and
    /// nobody else is let in.
    pub token: Option<Token>,
    /// What administrators show.
    pub admin_token: Option<Token>,
    /// Signs in administrators, one browser each, where there is no other token and no proxy.
    pub start_token: Option<Arc<StartToken>>,
    /// The header in which a proxy in front of this server says who somebody is. Whoever has one is a user.
    pub proxy_header: Option<HeaderName>,
}

impl Guard {
    /// Whether others than this machine can be let in.
    pub fn knows_people(&self) -> bool {
        self.token.is_some() || self.admin_token.is_some() || self.proxy_header.is_some()
    }

    /// Makes a start token where people are not known in another way, and returns it, to be shown to the user who started
    /// the server.
    pub fn make_start_token(&mut self) -> Option<Arc<StartToken>> {
        if self.knows_people() {
            return None;
        }
        let token = Arc::new(StartToken::default());
        self.start_token = Some(Arc::clone(&token));
        Some(token)
    }

    /// The start token, where it counts.
    pub(super) fn start_token(&self) -> Option<&StartToken> {
        self.start_token.as_deref().filter(|_| !self.knows_people())
    }

    /// As what a token lets its bearer in.
    pub(crate) fn access_of(&self, text: &str) -> Option<Access> {
        let is = |token: &Option<Token>| token.as_ref().is_some_and(|token| token.is(text));
        match is(&self.admin_token) {
            true => Some(Access::Admin),
            false => is(&self.token).then_some(Access::User),
        }
    }

    /// As what a request without a session is let in. `same_user` says that it comes from the user who runs the server.
    pub(crate) fn access(&self, headers: &HeaderMap, path: &str, same_user: bool) -> Result<Access, Problem> {
        if same_user && !self.knows_people() {
            return Ok(Access::Admin);
        }
        if let Some(access) = bearer(headers).and_then(|token| self.access_of(token)) {
            return Ok(access);
        }
        if self.person(headers).is_some() || is_open(path) {
            return Ok(Access::User);
        }
        let detail = match self.knows_people() {
            true => "a token is needed: Authorization: Bearer TOKEN",
            false => {
                "this server belongs to another user of this machine: in a browser, open the address that prowess serve \
                 printed; for programs, start it with PROWESS_TOKEN or --token-file"
            }
        };
        Err(Problem::with_status(StatusCode::UNAUTHORIZED, ErrorCode::PermissionDenied, detail))
    }

    /// Who somebody is, as the proxy says. Where there are two, one is not the proxy's.
    pub(crate) fn person<'h>(&self, headers: &'h HeaderMap) -> Option<&'h [u8]> {
        let mut said = headers.get_all(self.proxy_header.as_ref()?).iter();
        let who = said.next().filter(|who| !who.as_bytes().trim_ascii().is_empty())?;
        said.next().is_none().then_some(who.as_bytes())
    }
}

/// Whether a path is answered to everybody who calls the server by its name.
pub(super) fn is_open(path: &str) -> bool {
    OPEN.contains(&path) || path.starts_with("/assets/")
}

/// The token that a program shows.
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
        let token = guard.make_start_token().unwrap().current();
        let shown = |guard: &Guard, token: &str, path: &str, same_user: bool| {
            let value = format!("Bearer {token}").parse().unwrap();
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value)]);
            guard.access(&headers, path, same_user).map_err(|problem| problem.detail)
        };
        assert_eq!(shown(&guard, "", "/api/about", true), Ok(Access::Admin));
        insta::assert_snapshot!(shown(&guard, "", "/api/about", false).unwrap_err());
        assert!(shown(&guard, "guess", "/mcp", false).is_err());
        assert!(shown(&guard, &token, "/api/about", false).is_err(), "it is only exchanged for a session");
        assert!(guard.start_token().is_some());
        assert_eq!(shown(&guard, "", "/", false), Ok(Access::User));
        assert_eq!(shown(&guard, "", "/api/session", false), Ok(Access::User));
        // Where there is a token, whose the connection is says nothing, and neither does a start token.
        guard.token = Token::new("user-0123456789abcdef").ok();
        assert!(shown(&guard, "", "/api/about", true).is_err());
        assert!(guard.start_token().is_none() && guard.make_start_token().is_none());
    }
}
