//! The page's way to show a token: once. From then on a cookie that no script can read names a session, which ends when its
//! time is over, when the person signs out, or when the server ends.

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

use super::start::Exchange;
use super::{Access, Door};
use crate::asked::Body;
use crate::problem::{Answer, Problem};

/// The name of the cookie.
pub(crate) const COOKIE: &str = "prowess_session";

/// How long a session lasts.
const LASTS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The most sessions; the oldest is ended for one more.
const SESSIONS_MAX: usize = 10_000;

/// Browsers that have signed in.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    // Keyed by digest: how long a look takes says nothing about the ids that there are.
    open: Mutex<HashMap<String, Session>>,
}

#[derive(Debug, Clone, Copy)]
struct Session {
    access: Access,
    begun: Instant,
}

impl Sessions {
    /// Begins a session, and returns its id.
    fn begin(&self, access: Access, now: Instant) -> String {
        let id = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= SESSIONS_MAX {
            open.retain(|_, session| session.is_open(now));
        }
        if open.len() >= SESSIONS_MAX {
            let oldest = open.iter().min_by_key(|(_, session)| session.begun).map(|(key, _)| key.clone());
            oldest.map(|key| open.remove(&key));
        }
        open.insert(prowess::digest(id.as_bytes()), Session { access, begun: now });
        id
    }

    /// As what the session of a request lets it in.
    pub(super) fn access(&self, headers: &HeaderMap, now: Instant) -> Option<Access> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let sessions = cookies(headers).filter_map(|id| open.get(&prowess::digest(id.as_bytes())));
        let accesses = sessions.filter(|session| session.is_open(now)).map(|session| session.access);
        accesses.max_by_key(|access| *access == Access::Admin)
    }

    /// Ends the sessions that a request names.
    fn end(&self, headers: &HeaderMap) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for id in cookies(headers) {
            open.remove(&prowess::digest(id.as_bytes()));
        }
    }
}

impl Session {
    fn is_open(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.begun) < LASTS
    }
}

/// What the page's cookie holds; there may be several of that name.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE).map(|(_, id)| id)
}

/// What a person shows.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shown {
    /// The token.
    token: String,
}

type Cookie = AppendHeaders<[(HeaderName, String); 1]>;

/// Shows a token for all that this browser asks from now on.
#[utoipa::path(post, path = "/api/session", tag = "operations", security(()), request_body = Shown,
    responses((status = 204), (status = 401, body = Problem)))]
pub(crate) async fn begin(
    Extension(door): Extension<Arc<Door>>,
    headers: HeaderMap,
    Body(shown): Body<Shown>,
) -> Answer<(StatusCode, Cookie)> {
    let access = access_of(&door, &shown.token).map_err(|detail| {
        Problem::with_status(StatusCode::UNAUTHORIZED, ErrorCode::PermissionDenied, detail)
    })?;
    let id = door.sessions.begin(access, Instant::now());
    let is_encrypted = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    let secure = if is_encrypted { "; Secure" } else { "" };
    let lasts = LASTS.as_secs();
    let cookie = format!("{COOKIE}={id}; Path=/; HttpOnly; SameSite=Strict; Max-Age={lasts}{secure}");
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(header::SET_COOKIE, cookie)])))
}

/// As what a token begins a session. A start token is used by it.
fn access_of(door: &Door, token: &str) -> Result<Access, &'static str> {
    const WRONG: &str = "that is not the token of this server";
    if let Some(access) = door.guard.access_of(token) {
        return Ok(access);
    }
    match door.guard.start_token().map(|start| start.exchange(token)) {
        Some(Exchange::Accepted) => Ok(Access::Admin),
        Some(Exchange::Used) => {
            Err("this address was used before, and signs in one browser only: open the address that \
             prowess serve printed last, or restart it")
        }
        Some(Exchange::Unknown) | None => Err(WRONG),
    }
}

/// Ends the session of this browser.
#[utoipa::path(delete, path = "/api/session", tag = "operations", security(()), responses((status = 204)))]
pub(crate) async fn end(Extension(door): Extension<Arc<Door>>, headers: HeaderMap) -> (StatusCode, Cookie) {
    door.sessions.end(&headers);
    let cookie = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    (StatusCode::NO_CONTENT, AppendHeaders([(header::SET_COOKIE, cookie)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn showing(id: &str) -> HeaderMap {
        let cookie = format!("a=b; {COOKIE}={id}").parse().unwrap();
        HeaderMap::from_iter([(header::COOKIE, cookie)])
    }

    #[test]
    fn a_session_ends_by_itself_and_when_it_is_told_to() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let (one, other) = (sessions.begin(Access::User, now), sessions.begin(Access::Admin, now));
        assert_ne!(one, other);
        assert_eq!(sessions.access(&showing(&one), now), Some(Access::User));
        assert_eq!(sessions.access(&showing(&other), now), Some(Access::Admin));
        assert_eq!(sessions.access(&showing(""), now), None);
        assert_eq!(sessions.access(&showing(&one), now + LASTS), None);
        sessions.end(&showing(&one));
        assert_eq!(sessions.access(&showing(&one), now), None);
        assert_eq!(sessions.access(&showing(&other), now), Some(Access::Admin));
    }

    #[test]
    fn the_oldest_session_makes_room_for_a_new_one() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let first = sessions.begin(Access::User, now);
        let later = now + Duration::from_secs(1);
        for _ in 1..SESSIONS_MAX {
            sessions.begin(Access::User, later);
        }
        assert!(sessions.access(&showing(&first), later).is_some());
        let last = sessions.begin(Access::User, later);
        assert_eq!(sessions.open.lock().unwrap().len(), SESSIONS_MAX);
        assert!(sessions.access(&showing(&first), later).is_none());
        assert!(sessions.access(&showing(&last), later).is_some());
    }
}
