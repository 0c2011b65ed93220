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

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prowess::ErrorCode;

use known::COOKIE;
pub use known::Guard;
pub use names::Names;
pub(crate) use session::{__path_begin, __path_end, begin, end};

use crate::problem::Problem;

/// As what somebody was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Talks, and sees which skills there are.
    User,
    /// Changes skills and settings, and sees where they lie.
    Admin,
}

/// Lets a request in, or says why not.
pub(crate) async fn guard(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    let access = match guard.names.check(request.headers(), request.uri()) {
        Ok(()) => guard.access(request.headers(), request.uri().path()),
        Err(problem) => Err(problem),
    };
    match access {
        Ok(access) => {
            request.extensions_mut().insert(access);
            request.extensions_mut().insert(guard);
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
