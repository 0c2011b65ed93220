//! Request extractors with size limits and precise error messages.

use std::error::Error;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::StreamExt;
use prowess::ErrorCode;
use serde::de::DeserializeOwned;

use crate::limits::BodyTimeout;
use crate::problem::Problem;

/// The maximum size of a JSON body. A message may be 1 MiB long, and JSON may escape each byte as six.
pub(crate) const BODY_MAX: usize = 8 * 1024 * 1024;

/// How many bytes of a body that is too large are read and discarded.
const DRAINED_MAX: usize = 16 * 1024 * 1024;

/// Extracts a JSON body.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        check_json(request.headers())?;
        let bytes = read_body(request, BODY_MAX).await?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            Problem::invalid(format!("the body is not valid UTF-8 at byte {}", error.valid_up_to()))
        })?;
        // serde would read an array as the fields in their order.
        if text.trim_start().starts_with(|first| first != '{') {
            return Err(Problem::invalid("the body must be a JSON object"));
        }
        serde_json::from_str(text)
            .map(Self)
            .map_err(|error| Problem::invalid(format!("cannot parse the body: {error}")))
    }
}

/// Extracts an optional JSON body. If it is missing, the default value is used.
pub(crate) struct OptionalJsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for OptionalJsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let is_empty = request.headers().get(header::CONTENT_LENGTH).is_none_or(|length| length == "0")
            && !request.headers().contains_key(header::TRANSFER_ENCODING);
        match is_empty {
            true => Ok(Self(T::default())),
            false => JsonBody::from_request(request, state).await.map(|JsonBody(body)| Self(body)),
        }
    }
}

/// Extracts the query string.
pub(crate) struct QueryString<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryString<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Query::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(query)) => Ok(Self(query)),
            Err(error) => Err(Problem::invalid(error.body_text())),
        }
    }
}

/// A boolean parameter: `1` or `true`, `0` or `false`. A name without a value means `true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flag(bool);

impl Flag {
    pub(crate) fn is_set(self) -> bool {
        self.0
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "1" | "true" | "" => Some(Self(true)),
            "0" | "false" => Some(Self(false)),
            _ => None,
        }
    }
}

impl<'de> serde::Deserialize<'de> for Flag {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a flag must be 1 or 0"))
    }
}

/// Extracts path parameters.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(path)) => Ok(Self(path)),
            Err(error) => Err(Problem::invalid(error.body_text())),
        }
    }
}

/// Reads the whole body; an error if it is longer than `max` bytes.
///
/// A client that is still sending may not read the response, so more than `max` bytes are read and discarded, up to a limit.
pub(crate) async fn read_body(request: Request, max: usize) -> Result<Vec<u8>, Problem> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    let mut body = request.into_body().into_data_stream();
    while let Some(received) = body.next().await {
        let piece = match received {
            Ok(piece) => piece,
            Err(_) if length > max => break,
            Err(error) => return Err(receive_error(&error)),
        };
        length += piece.len();
        match length {
            _ if length <= max => bytes.extend_from_slice(&piece),
            _ if length <= max + DRAINED_MAX => bytes = Vec::new(),
            _ => break,
        }
    }
    match length <= max {
        true => Ok(bytes),
        false => Err(Problem::new(ErrorCode::TooLarge, format!("the body is longer than {max} bytes"))),
    }
}

/// Returns the size of a body if its header says it, else `max`. No more than `max` bytes are kept.
pub(crate) fn expected_length(headers: &HeaderMap, max: u64) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse().ok()).map_or(max, |length: u64| length.min(max))
}

/// Describes an error that occurred while a body was received.
fn receive_error(error: &(dyn Error + 'static)) -> Problem {
    match std::iter::successors(Some(error), |&error| error.source()).find(|error| error.is::<BodyTimeout>())
    {
        Some(timeout) => {
            Problem::with_status(StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, timeout.to_string())
        }
        None => Problem::invalid("cannot read the body"),
    }
}

/// Rejects bodies that are not declared as JSON: pages of other origins can send other types without a CORS preflight.
pub(crate) fn check_json(headers: &HeaderMap) -> Result<(), Problem> {
    match is_json(headers) {
        true => Ok(()),
        false => Err(Problem::with_status(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorCode::InvalidParam,
            "the body must be JSON (Content-Type: application/json)",
        )),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}
