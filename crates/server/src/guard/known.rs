//! Who somebody is: a token, or a proxy that says so.

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use prowess::ErrorCode;
use prowess_mcp::http::Token;

use super::{Access, Names};
use crate::problem::Problem;

/// What the page keeps a token in.
pub(crate) const COOKIE: &str = "prowess_token";

/// What is answered to everybody who calls the server by its name: whether it is well, and the page, which asks for the token.
const OPEN: [&str; 3] = ["/healthz", "/readyz", "/"];

/// Who is let in.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The names by which the server may be called.
    pub names: Names,
    /// What users show. Without any token and proxy, everybody who gets here is an administrator: that is this machine.
    pub token: Option<Token>,
    /// What administrators show.
    pub admin_token: Option<Token>,
    /// The header in which a proxy in front of this server says who somebody is. Whoever has one is a user.
    pub proxy_header: Option<HeaderName>,
}

impl Guard {
    /// Whether others than this machine can be let in.
    pub fn knows_people(&self) -> bool {
        self.token.is_some() || self.admin_token.is_some() || self.proxy_header.is_some()
    }

    /// As what a request is let in.
    pub(crate) fn access(&self, headers: &HeaderMap, path: &str) -> Result<Access, Problem> {
        if !self.knows_people() {
            return Ok(Access::Admin);
        }
        let shows = |token: &Option<Token>| {
            token.as_ref().is_some_and(|token| shown(headers).any(|text| token.is(text)))
        };
        if shows(&self.admin_token) {
            return Ok(Access::Admin);
        }
        if shows(&self.token) || self.person(headers).is_some() {
            return Ok(Access::User);
        }
        if OPEN.contains(&path) || path.starts_with("/assets/") || path == "/api/session" {
            return Ok(Access::User);
        }
        Err(Problem::with_status(
            StatusCode::UNAUTHORIZED,
            ErrorCode::PermissionDenied,
            "a token is needed: Authorization: Bearer TOKEN",
        ))
    }

    /// Whether a request shows what a browser keeps after signing in.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        let tokens = [&self.token, &self.admin_token];
        let known = |text: &str| tokens.into_iter().flatten().any(|token| token.is(text));
        cookies(headers).any(known)
    }

    /// Who somebody is, as the proxy says. Where there are two, one is not the proxy's.
    pub(crate) fn person<'h>(&self, headers: &'h HeaderMap) -> Option<&'h [u8]> {
        let mut said = headers.get_all(self.proxy_header.as_ref()?).iter();
        let who = said.next().filter(|who| !who.as_bytes().trim_ascii().is_empty())?;
        said.next().is_none().then_some(who.as_bytes())
    }
}

/// What a request shows: in the header that programs use, or in the page's cookie.
fn shown(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    bearer.into_iter().chain(cookies(headers))
}

/// What the page's cookie holds; there may be several of that name.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE).map(|(_, token)| token)
}
