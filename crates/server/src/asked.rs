//! What requests bring: read within bounds, with precise words where it cannot be meant.

use std::error::Error;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::StreamExt;
use prowess::ErrorCode;
use serde::de::DeserializeOwned;

use crate::limits::Late;
use crate::problem::Problem;

/// The most bytes of a request that is JSON. A message may have a mebibyte, and each of its bytes may be written as six.
pub(crate) const BODY_MAX: usize = 8 * 1024 * 1024;

/// How much is read and thrown away of a body that is too large.
const DRAINED_MAX: usize = 16 * 1024 * 1024;

/// A body that is JSON.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        check_json(request.headers())?;
        let bytes = bytes(request, BODY_MAX).await?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            Problem::invalid(format!("the body is not UTF-8 from byte {} on", error.valid_up_to()))
        })?;
        // A list would be taken for the fields in their order.
        if text.trim_start().starts_with(|first| first != '{') {
            return Err(Problem::invalid("the body has to be a JSON object"));
        }
        serde_json::from_str(text)
            .map(Self)
            .map_err(|error| Problem::invalid(format!("the body cannot be read: {error}")))
    }
}

/// A body that may be left out, in which case everything in it has its usual value.
pub(crate) struct MaybeBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for MaybeBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let is_empty = request.headers().get(header::CONTENT_LENGTH).is_none_or(|length| length == "0")
            && !request.headers().contains_key(header::TRANSFER_ENCODING);
        match is_empty {
            true => Ok(Self(T::default())),
            false => Body::from_request(request, state).await.map(|Body(body)| Self(body)),
        }
    }
}

/// What stands after the question mark.
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Query::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(query)) => Ok(Self(query)),
            Err(error) => Err(Problem::invalid(error.body_text())),
        }
    }
}

/// Something that is asked for or not: `1` and `true`, or `0` and `false`. A name without a value asks for it.
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
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a flag is 1 or 0"))
    }
}

/// What stands in the path.
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

/// The whole body, if it is not too long.
pub(crate) async fn bytes(request: Request, most: usize) -> Result<axum::body::Bytes, Problem> {
    let told = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let too_large = || Problem::new(ErrorCode::TooLarge, format!("the body has more than {most} bytes"));
    if told.is_some_and(|told| told > most as u64) {
        // Whoever is still writing hears nothing: what is not much too large is read to its end first.
        let mut rest = request.into_body().into_data_stream();
        let mut left = DRAINED_MAX;
        while let Some(Ok(piece)) = rest.next().await
            && left >= piece.len()
        {
            left -= piece.len();
        }
        return Err(too_large());
    }
    axum::body::to_bytes(request.into_body(), most).await.map_err(|error| {
        let mut because = Problem::invalid("the body did not arrive");
        let mut next: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(cause) = next {
            next = cause.source();
            if cause.is::<Late>() {
                let (status, code) = (StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout);
                because = Problem::with_status(status, code, cause.to_string());
            } else if cause.to_string().contains("length limit") {
                because = too_large();
            }
        }
        because
    })
}

/// Refuses what does not call itself JSON: a page elsewhere can send other kinds without being asked first.
pub(crate) fn check_json(headers: &HeaderMap) -> Result<(), Problem> {
    match is_json(headers) {
        true => Ok(()),
        false => Err(Problem::with_status(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorCode::InvalidParam,
            "the body has to be JSON: Content-Type: application/json",
        )),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}
