//! An id for each request, headers of each answer, and a line in the log: never bodies, tokens, cookies or what stands after
//! the question mark, and of the path only its pattern.

use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::StreamExt;
use uuid::Uuid;

use crate::app::App;
use crate::limits::arriving;
use crate::problem::Problem;

/// Where a request says its id, and an answer the id of its request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is taken over.
const ID_MAX: usize = 128;

/// What every answer says, unless it says something else itself.
const SAFE: [(HeaderName, HeaderValue); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Goes around everything else.
pub(crate) async fn observe(State(app): State<App>, request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let id = id(request.headers());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let request = request.map(|body| arriving(body, app.limits.body));
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        // What others have added to it stays.
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = problem.of_request(id.to_str().unwrap_or_default()).body();
    }
    let headers = response.headers_mut();
    for (name, value) in SAFE {
        headers.entry(name).or_insert(value);
    }
    if !headers.contains_key(header::ETAG) {
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
    headers.insert(REQUEST_ID, id.clone());
    let pattern = route.as_ref().map_or("other", MatchedPath::as_str);
    app.metrics.answered(pattern, &method, response.status(), begin.elapsed());
    let line = Line { id, method, route, status: response.status().as_u16(), begin, bytes: 0 };
    noted(response, line)
}

/// The id that a request brings, where it is one, or a new one.
fn id(headers: &HeaderMap) -> HeaderValue {
    let is_sane = |id: &&HeaderValue| {
        let byte = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        (1..=ID_MAX).contains(&id.len()) && id.as_bytes().iter().all(byte)
    };
    headers.get(REQUEST_ID).filter(is_sane).cloned().unwrap_or_else(|| {
        let id = Uuid::now_v7().to_string();
        HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("none"))
    })
}

/// Notes a request when its answer is over: at once where its length is known, else with the last of it.
fn noted(response: Response, mut line: Line) -> Response {
    match response.body().size_hint().exact() {
        Some(bytes) => {
            line.bytes = bytes;
            drop(line);
            response
        }
        None => response.map(|body| {
            let counted = body.into_data_stream().map(move |bytes| {
                // All of it is moved in here: it is dropped with the stream.
                let line = &mut line;
                line.bytes += bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
                bytes
            });
            Body::from_stream(counted)
        }),
    }
}

/// A line of the log, written when it is dropped: also when whoever asked is gone.
struct Line {
    id: HeaderValue,
    method: Method,
    route: Option<MatchedPath>,
    status: u16,
    begin: Instant,
    bytes: u64,
}

impl Drop for Line {
    fn drop(&mut self) {
        let took: Duration = self.begin.elapsed();
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
    fn which_ids_are_taken_over() {
        let given =
            |text: &'static str| id(&HeaderMap::from_iter([(REQUEST_ID, HeaderValue::from_static(text))]));
        for sane in ["a", "0190-F_a.b", "4bf92f3577b34da6a3ce929d0e0e4736"] {
            assert_eq!(given(sane), sane);
        }
        for odd in ["", "a b", "a\"b", "a;b", "<b>", "a,b"] {
            assert_ne!(given(odd), odd);
        }
        let long = HeaderValue::try_from("a".repeat(ID_MAX + 1)).unwrap();
        assert_ne!(id(&HeaderMap::from_iter([(REQUEST_ID, long.clone())])), long);
        assert_ne!(id(&HeaderMap::new()), id(&HeaderMap::new()));
    }
}
