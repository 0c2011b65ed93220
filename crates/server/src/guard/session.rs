//! Browser sessions. The page sends a token once and receives a session cookie that scripts cannot read. The session ends when
//! it expires, when the person signs out, or when the server stops.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::Extension;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::AppendHeaders;
use prowess::ErrorCode;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::start_token::TokenExchange;
use super::{Access, GuardState};
use crate::extract::JsonBody;
use crate::problem::{ApiResult, Problem};

/// The name of the cookie.
pub(crate) const COOKIE: &str = "prowess_session";

/// How long a session lasts.
const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The maximum number of sessions; a new one replaces the oldest.
const SESSIONS_MAX: usize = 10_000;

/// The open sessions.
#[derive(Debug, Default)]
pub(super) struct BrowserSessions {
    // Keyed by digest, so that the lookup time reveals nothing about existing ids.
    open: Mutex<HashMap<String, BrowserSession>>,
}

#[derive(Debug, Clone, Copy)]
struct BrowserSession {
    access: Access,
    started: Instant,
}

impl BrowserSessions {
    /// Starts a session and returns its id.
    fn begin(&self, access: Access, now: Instant) -> String {
        let id = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= SESSIONS_MAX {
            open.retain(|_, session| session.is_open(now));
        }
        if open.len() >= SESSIONS_MAX {
            let oldest = open.iter().min_by_key(|(_, session)| session.started).map(|(key, _)| key.clone());
            oldest.map(|key| open.remove(&key));
        }
        open.insert(prowess::digest(id.as_bytes()), BrowserSession { access, started: now });
        id
    }

    /// Returns the access level of a request's session.
    pub(super) fn access(&self, headers: &HeaderMap, now: Instant) -> Option<Access> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let sessions = cookies(headers).filter_map(|id| open.get(&prowess::digest(id.as_bytes())));
        let accesses = sessions.filter(|session| session.is_open(now)).map(|session| session.access);
        accesses.max_by_key(|access| *access == Access::Admin)
    }

    /// Ends the sessions of a request's cookies.
    fn end(&self, headers: &HeaderMap) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for id in cookies(headers) {
            open.remove(&prowess::digest(id.as_bytes()));
        }
    }
}

impl BrowserSession {
    fn is_open(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.started) < SESSION_LIFETIME
    }
}

/// Returns the session ids in the cookies; there may be several cookies of that name.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE).map(|(_, id)| id)
}

/// The credentials of a sign-in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Shown)]
pub(crate) struct SignIn {
    /// The token.
    token: String,
}

type Cookie = AppendHeaders<[(HeaderName, String); 1]>;

/// Signs in this browser with a token.
#[utoipa::path(post, path = "/api/session", tag = "operations", security(()), request_body = SignIn,
    responses((status = 204), (status = 401, body = Problem)))]
pub(crate) async fn sign_in(
    Extension(state): Extension<Arc<GuardState>>,
    headers: HeaderMap,
    JsonBody(sign_in): JsonBody<SignIn>,
) -> ApiResult<(StatusCode, Cookie)> {
    let access = sign_in_access(&state, &sign_in.token).map_err(|detail| {
        Problem::with_status(StatusCode::UNAUTHORIZED, ErrorCode::PermissionDenied, detail)
    })?;
    let id = state.sessions.begin(access, Instant::now());
    let is_encrypted = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    let secure = if is_encrypted { "; Secure" } else { "" };
    let max_age = SESSION_LIFETIME.as_secs();
    let cookie = format!("{COOKIE}={id}; Path=/; HttpOnly; SameSite=Strict; Max-Age={max_age}{secure}");
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(header::SET_COOKIE, cookie)])))
}

/// Returns the access level of a token. Consumes a start token.
fn sign_in_access(state: &GuardState, token: &str) -> Result<Access, &'static str> {
    const INVALID_TOKEN: &str = "invalid token";
    if let Some(access) = state.guard.token_access(token) {
        return Ok(access);
    }
    match state.guard.start_token().map(|start| start.exchange(token)) {
        Some(TokenExchange::Accepted) => Ok(Access::Admin),
        Some(TokenExchange::Used) => Err(
            "this address has already been used to sign in; open the last address that `prowess serve` printed, \
             or restart the server",
        ),
        Some(TokenExchange::Unknown) | None => Err(INVALID_TOKEN),
    }
}

/// Signs out this browser.
#[utoipa::path(delete, path = "/api/session", tag = "operations", security(()), responses((status = 204)))]
pub(crate) async fn sign_out(
    Extension(state): Extension<Arc<GuardState>>,
    headers: HeaderMap,
) -> (StatusCode, Cookie) {
    state.sessions.end(&headers);
    let cookie = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    (StatusCode::NO_CONTENT, AppendHeaders([(header::SET_COOKIE, cookie)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_cookie(id: &str) -> HeaderMap {
        let cookie = format!("a=b; {COOKIE}={id}").parse().unwrap();
        HeaderMap::from_iter([(header::COOKIE, cookie)])
    }

    #[test]
    fn a_session_expires_and_can_be_ended() {
        let (sessions, now) = (BrowserSessions::default(), Instant::now());
        let (first, other) = (sessions.begin(Access::User, now), sessions.begin(Access::Admin, now));
        assert_ne!(first, other);
        assert_eq!(sessions.access(&with_cookie(&first), now), Some(Access::User));
        assert_eq!(sessions.access(&with_cookie(&other), now), Some(Access::Admin));
        assert_eq!(sessions.access(&with_cookie(""), now), None);
        assert_eq!(sessions.access(&with_cookie(&first), now + SESSION_LIFETIME), None);
        sessions.end(&with_cookie(&first));
        assert_eq!(sessions.access(&with_cookie(&first), now), None);
        assert_eq!(sessions.access(&with_cookie(&other), now), Some(Access::Admin));
    }

    #[test]
    fn a_new_session_replaces_the_oldest() {
        let (sessions, now) = (BrowserSessions::default(), Instant::now());
        let first = sessions.begin(Access::User, now);
        let later = now + Duration::from_secs(1);
        for _ in 1..SESSIONS_MAX {
            sessions.begin(Access::User, later);
        }
        assert!(sessions.access(&with_cookie(&first), later).is_some());
        let last = sessions.begin(Access::User, later);
        assert_eq!(sessions.open.lock().unwrap().len(), SESSIONS_MAX);
        assert!(sessions.access(&with_cookie(&first), later).is_none());
        assert!(sessions.access(&with_cookie(&last), later).is_some());
    }
}
