//! Who is let in, and as what.
//!
//! | module | subject |
//! |---|---|
//! | `names` | the names by which a server may be called, so that a page elsewhere cannot call it through a browser |
//! | `known` | who somebody is: a token, or a proxy that says so |
//! | `session` | showing a token once, for a browser, and signing out |
//! | `start` | the token in the address that is printed at the start, which signs in one browser |

mod known;
mod names;
mod session;
mod start;

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

pub use known::Guard;
use known::is_open;
pub use names::Names;
pub(crate) use session::COOKIE;
use session::Sessions;
pub(crate) use session::{__path_begin, __path_end, begin, end};
pub use start::StartToken;

use crate::app::App;
use crate::limits::{Key, Rates};
use crate::problem::Problem;

/// What a rejected request and a sign-in cost, in requests, to slow down token guessing.
const REFUSED: u32 = 10;

/// As what somebody was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Talks, and sees which skills there are.
    User,
    /// Changes skills and settings, and sees where they lie.
    Admin,
}

/// What keeps the door.
pub(crate) struct Door {
    guard: Guard,
    sessions: Sessions,
    rates: Rates,
    app: App,
}

impl Door {
    pub(crate) fn new(app: App, guard: Guard) -> Self {
        let rates = Rates::new(app.limits.rate, app.limits.burst);
        Self { guard, sessions: Sessions::default(), rates, app }
    }

    /// Whether a request shows what a browser keeps after signing in.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        self.sessions.access(headers, Instant::now()).is_some()
    }

    /// The other end of a request that is let in by whose it is; `None` where that does not matter.
    fn unknown_peer(&self, request: &Request) -> Option<Peer> {
        let matters = !self.guard.knows_people() && !is_open(request.uri().path());
        request.extensions().get::<Peer>().filter(|_| matters).cloned()
    }

    /// As what a request is let in. `same_user` says that it comes from the user who runs the server.
    fn access(&self, request: &Request, same_user: bool) -> Result<Access, Problem> {
        let (headers, path) = (request.headers(), request.uri().path());
        let peer = request.extensions().get::<Peer>();
        let access = match self.sessions.access(headers, Instant::now()) {
            Some(access) => Ok(access),
            None => self.guard.access(headers, path, same_user),
        };
        let known = self.guard.names.check(request).and(access);
        let person = known.as_ref().ok().and_then(|_| self.guard.person(headers));
        let machine = Key::of(peer.map(Peer::ip));
        let (key, cost) = match (&known, person) {
            (Err(_), _) => (machine, REFUSED),
            (Ok(_), _) if is_sign_in(request) => (machine, REFUSED),
            (Ok(_), _) if is_free(path) => (machine, 0),
            (Ok(_), Some(person)) => (Key::Person(person), 1),
            (Ok(_), None) => (machine, 1),
        };
        if let Err(wait) = self.rates.take(key, cost, Instant::now()) {
            self.app.metrics.too_many.fetch_add(1, Ordering::Relaxed);
            return Err(Problem::too_many(wait));
        }
        if known.is_err() {
            self.app.metrics.kept_out.fetch_add(1, Ordering::Relaxed);
        }
        known
    }
}

/// Whether a request shows a token in its body. Whether it is the right one is not known yet.
fn is_sign_in(request: &Request) -> bool {
    request.uri().path() == "/api/session" && request.method() == Method::POST
}

/// What is not counted: whether the process lives, which is asked by those who would end it, and the pieces of the page, which are
/// many and cost nothing.
fn is_free(path: &str) -> bool {
    path == "/healthz" || path.starts_with("/assets/")
}

/// Lets a request in, or says why not.
pub(crate) async fn guard(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    let same_user = match door.unknown_peer(&request) {
        Some(peer) => peer.is_same_user().await,
        None => false,
    };
    match door.access(&request, same_user) {
        Ok(access) => {
            request.extensions_mut().insert(access);
            request.extensions_mut().insert(Arc::clone(&door));
            let response = next.run(request).await;
            if response.status() == StatusCode::UNAUTHORIZED {
                door.app.metrics.kept_out.fetch_add(1, Ordering::Relaxed);
            }
            response
        }
        Err(problem) => problem.into_response(),
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Access {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // Whoever came past no guard is nobody.
        Ok(parts.extensions.get::<Self>().copied().unwrap_or(Self::User))
    }
}

/// Somebody who may change things.
pub(crate) struct Admin;

impl<S: Send + Sync> FromRequestParts<S> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Access::from_request_parts(parts, state).await? {
            Access::Admin => Ok(Self),
            Access::User => Err(Problem::new(
                ErrorCode::PermissionDenied,
                "this is for administrators: show the administrator's token",
            )),
        }
    }
}
