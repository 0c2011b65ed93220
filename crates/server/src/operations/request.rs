//! Request ids, default response headers, and the request log. The log never contains bodies, tokens, cookies or query strings,
//! and only the pattern of a path.

use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::StreamExt;
use uuid::Uuid;

use crate::app::App;
use crate::limits::with_timeout;
use crate::problem::Problem;

/// The header with the id of a request, in requests and responses.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of a client's request id.
const ID_MAX: usize = 128;

/// Headers added to every response that does not set them itself.
const DEFAULT_HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Middleware that adds ids and headers, and logs and counts requests.
pub(crate) async fn observe(State(app): State<App>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let id = request_id(request.headers());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let request = request.map(|body| with_timeout(body, app.limits.body_timeout));
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        // Headers that other layers added are preserved.
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = problem.with_request_id(id.to_str().unwrap_or_default()).body();
    }
    let headers = response.headers_mut();
    for (name, value) in DEFAULT_HEADERS {
        headers.entry(name).or_insert(value);
    }
    if !headers.contains_key(header::ETAG) {
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
    headers.insert(REQUEST_ID, id.clone());
    let pattern = route.as_ref().map_or("other", MatchedPath::as_str);
    app.metrics.record_response(pattern, &method, response.status(), start.elapsed());
    let entry = LogEntry { id, method, route, status: response.status().as_u16(), start, bytes: 0 };
    log_when_complete(response, entry)
}

/// Returns the id that the client sent, if it is valid, or a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let is_valid = |id: &&HeaderValue| {
        let byte = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        (1..=ID_MAX).contains(&id.len()) && id.as_bytes().iter().all(byte)
    };
    headers.get(REQUEST_ID).filter(is_valid).cloned().unwrap_or_else(|| {
        let id = Uuid::now_v7().to_string();
        HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("none"))
    })
}

/// Logs a request when its response is complete: at once if its length is known, otherwise at the end of the stream.
fn log_when_complete(response: Response, mut entry: LogEntry) -> Response {
    match response.body().size_hint().exact() {
        Some(bytes) => {
            entry.bytes = bytes;
            drop(entry);
            response
        }
        None => response.map(|body| {
            let counted = body.into_data_stream().map(move |bytes| {
                // Moves the entry into the closure, so that it is dropped with the stream.
                let entry = &mut entry;
                entry.bytes += bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
                bytes
            });
            Body::from_stream(counted)
        }),
    }
}

/// An entry of the request log, written on drop, which includes disconnects.
struct LogEntry {
    id: HeaderValue,
    method: Method,
    route: Option<MatchedPath>,
    status: u16,
    start: Instant,
    bytes: u64,
}

impl Drop for LogEntry {
    fn drop(&mut self) {
        let took: Duration = self.start.elapsed();
        tracing::info!(
            target: "prowess::request",
            id = self.id.to_str().unwrap_or_default(),
            method = self.method.as_str(),
            route = self.route.as_ref().map_or("other", MatchedPath::as_str),
            status = self.status,
            ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            bytes = self.bytes,
            "request"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_request_ids_are_kept() {
        let assigned_id = |text: &'static str| {
            request_id(&HeaderMap::from_iter([(REQUEST_ID, HeaderValue::from_static(text))]))
        };
        for valid in ["a", "0190-F_a.b", "4bf92f3577b34da6a3ce929d0e0e4736"] {
            assert_eq!(assigned_id(valid), valid);
        }
        for invalid in ["", "a b", "a\"b", "a;b", "<b>", "a,b"] {
            assert_ne!(assigned_id(invalid), invalid);
        }
        let long = HeaderValue::try_from("a".repeat(ID_MAX + 1)).unwrap();
        assert_ne!(request_id(&HeaderMap::from_iter([(REQUEST_ID, long.clone())])), long);
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}
