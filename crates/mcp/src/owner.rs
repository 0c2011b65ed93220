//! Tells requests of the user who runs the server from those of other clients.

/// Marks a request of the user who runs the server, as an extension of the HTTP request.
///
/// The server asks only the clients of such requests whether a script may run, and for their roots: an answer runs code as that
/// user and may be saved in that user's configuration, and roots are directories of that user. On a stream, the client was
/// started by the user, so no mark is needed.
#[cfg(feature = "http")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerRequest;

/// Returns `true` if the HTTP request of a message is marked.
#[cfg(feature = "http")]
pub(crate) fn is_owner_request(extensions: &rmcp::model::Extensions) -> bool {
    let parts = extensions.get::<axum::http::request::Parts>();
    parts.is_some_and(|parts| parts.extensions.get::<OwnerRequest>().is_some())
}

/// Returns `false`: without HTTP, no message has an HTTP request.
#[cfg(not(feature = "http"))]
pub(crate) fn is_owner_request(_: &rmcp::model::Extensions) -> bool {
    false
}
