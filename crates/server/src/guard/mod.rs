//! Authentication and access levels.
//!
//! | module | subject |
//! |---|---|
//! | `hosts` | allowed hosts and origins, so that other web pages cannot use the server through a browser |
//! | `authentication` | tokens and authenticating proxies |
//! | `session` | browser sessions: sign in and sign out |
//! | `start_token` | the token in the address that is printed at startup, which signs in one browser |

mod authentication;
mod hosts;
mod session;
mod start_token;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prowess::ErrorCode;
use prowess_mcp::http::Peer;

pub use authentication::Guard;
use authentication::is_public;
pub use hosts::AllowedHosts;
use session::BrowserSessions;
pub(crate) use session::COOKIE;
pub(crate) use session::{__path_sign_in, __path_sign_out, sign_in, sign_out};
pub use start_token::StartToken;

use crate::app::App;
use crate::limits::{ClientKey, RateLimiter};
use crate::problem::Problem;

/// How many requests a rejected request or a sign-in counts as, to slow down token guessing.
const REJECTED_COST: u32 = 10;

/// The access level of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// May chat and list skills.
    User,
    /// May also change skills and settings and see paths.
    Admin,
}

/// The state of the authentication middleware.
pub(crate) struct GuardState {
    guard: Guard,
    sessions: BrowserSessions,
    rates: RateLimiter,
    app: App,
}

impl GuardState {
    pub(crate) fn new(app: App, guard: Guard) -> Self {
        let rates = RateLimiter::new(app.limits.rate, app.limits.burst);
        Self { guard, sessions: BrowserSessions::default(), rates, app }
    }

    /// Returns whether a request has a valid session cookie.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        self.sessions.access(headers, Instant::now()).is_some()
    }

    /// Returns the peer of a request whose access depends on the operating system user; `None` for other requests.
    fn peer_to_check(&self, request: &Request) -> Option<Peer> {
        let is_relevant = !self.guard.has_authentication() && !is_public(request.uri().path());
        request.extensions().get::<Peer>().filter(|_| is_relevant).cloned()
    }

    /// Checks the host, the access level and the rate limit of a request. `same_user` means that it comes from the user who runs
    /// the server.
    fn access(&self, request: &Request, same_user: bool) -> Result<Access, Problem> {
        let (headers, path) = (request.headers(), request.uri().path());
        let peer = request.extensions().get::<Peer>();
        let access = match self.sessions.access(headers, Instant::now()) {
            Some(access) => Ok(access),
            None => self.guard.access(headers, path, same_user),
        };
        let checked = self.guard.hosts.check(request).and(access);
        let proxy_user = checked.as_ref().ok().and_then(|_| self.guard.proxy_user(headers));
        let address = ClientKey::from_address(peer.map(Peer::ip));
        let (key, cost) = match (&checked, proxy_user) {
            (Err(_), _) => (address, REJECTED_COST),
            (Ok(_), _) if is_sign_in(request) => (address, REJECTED_COST),
            (Ok(_), _) if is_unlimited(path) => (address, 0),
            (Ok(_), Some(user)) => (ClientKey::ProxyUser(user), 1),
            (Ok(_), None) => (address, 1),
        };
        if let Err(wait) = self.rates.take(key, cost, Instant::now()) {
            self.app.metrics.rate_limited.fetch_add(1, Ordering::Relaxed);
            return Err(Problem::too_many(wait));
        }
        if checked.is_err() {
            self.app.metrics.unauthorized.fetch_add(1, Ordering::Relaxed);
        }
        checked
    }
}

/// Returns whether a request is a sign-in, whose token is not checked yet.
fn is_sign_in(request: &Request) -> bool {
    request.uri().path() == "/api/session" && request.method() == Method::POST
}

/// Returns whether a path is exempt from rate limits: the liveness check, because a failure restarts the process, and the files
/// of the page, which are many and cheap.
fn is_unlimited(path: &str) -> bool {
    path == "/healthz" || path.starts_with("/assets/")
}

/// Middleware that authenticates requests.
pub(crate) async fn guard(
    State(state): State<Arc<GuardState>>,
    mut request: Request,
    next: Next,
) -> Response {
    let same_user = match state.peer_to_check(&request) {
        Some(peer) => peer.is_same_user().await,
        None => false,
    };
    match state.access(&request, same_user) {
        Ok(access) => {
            request.extensions_mut().insert(access);
            request.extensions_mut().insert(Arc::clone(&state));
            let response = next.run(request).await;
            if response.status() == StatusCode::UNAUTHORIZED {
                state.app.metrics.unauthorized.fetch_add(1, Ordering::Relaxed);
            }
            response
        }
        Err(problem) => problem.into_response(),
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Access {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // Without the middleware, a request has the lowest access level.
        Ok(parts.extensions.get::<Self>().copied().unwrap_or(Self::User))
    }
}

/// Extractor that requires administrator access.
pub(crate) struct Admin;

impl<S: Send + Sync> FromRequestParts<S> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Access::from_request_parts(parts, state).await? {
            Access::Admin => Ok(Self),
            Access::User => Err(Problem::new(ErrorCode::PermissionDenied, "administrator access required")),
        }
    }
}
