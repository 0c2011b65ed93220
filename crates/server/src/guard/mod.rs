//! Who is let in, and as what.
//!
//! | module | subject |
//! |---|---|
//! | `names` | the names by which a server may be called, so that a page elsewhere cannot call it through a browser |
//! | `known` | who somebody is: a token, or a proxy that says so |
//! | `session` | showing a token once, for a browser |

mod known;
mod names;
mod session;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prowess::ErrorCode;

pub(crate) use known::COOKIE;
pub use known::Guard;
pub use names::Names;
pub(crate) use session::{__path_begin, __path_end, begin, end};

use crate::app::App;
use crate::limits::{Key, Rates};
use crate::listen::Peer;
use crate::problem::Problem;

/// What a request costs that is refused, in requests: whoever guesses tokens is slow.
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
    guard: Arc<Guard>,
    rates: Rates,
    app: App,
}

impl Door {
    pub(crate) fn new(app: App, guard: Guard) -> Self {
        let rates = Rates::new(app.limits.rate, app.limits.burst);
        Self { guard: Arc::new(guard), rates, app }
    }

    /// As what a request is let in.
    fn access(&self, request: &Request) -> Result<Access, Problem> {
        let known = self.guard.names.check(request).and_then(|()| {
            let access = self.guard.access(request.headers(), request.uri().path());
            access.map(|access| (access, self.guard.person(request.headers())))
        });
        let machine = Key::of(request.extensions().get::<Peer>().map(|peer| peer.0));
        let (key, cost) = match &known {
            Ok(_) if is_free(request.uri().path()) => (machine, 0),
            Ok((_, Some(person))) => (Key::Person(person), 1),
            Ok((_, None)) => (machine, 1),
            Err(_) => (machine, REFUSED),
        };
        if let Err(wait) = self.rates.take(key, cost, Instant::now()) {
            self.app.metrics.too_many.fetch_add(1, Ordering::Relaxed);
            return Err(Problem::too_many(wait));
        }
        if known.is_err() {
            self.app.metrics.kept_out.fetch_add(1, Ordering::Relaxed);
        }
        known.map(|(access, _)| access)
    }
}

/// What is not counted: whether the process lives, which is asked by those who would end it, and the pieces of the page, which are
/// many and cost nothing.
fn is_free(path: &str) -> bool {
    path == "/healthz" || path.starts_with("/assets/")
}

/// Lets a request in, or says why not.
pub(crate) async fn guard(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    match door.access(&request) {
        Ok(access) => {
            request.extensions_mut().insert(access);
            request.extensions_mut().insert(Arc::clone(&door.guard));
            next.run(request).await
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
