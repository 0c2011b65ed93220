//! How slowly a request may come. A client that sends a byte now and then would otherwise keep a connection for days.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};

/// How many bytes buy a second more.
const PER_SECOND: u64 = 16 * 1024;

/// The rest of a body did not come in time.
#[derive(Debug, thiserror::Error)]
#[error("the body did not arrive in time")]
pub(crate) struct Late;

/// A body that has to arrive within this time, and a second more for every 16 KiB.
pub(crate) fn arriving(body: Body, within: Duration) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let state = (Some(body.into_data_stream()), Instant::now() + within, 0_u64);
    Body::from_stream(futures_util::stream::unfold(state, |(body, begin, received)| async move {
        let mut body = body?;
        let until = begin + Duration::from_millis(received.saturating_mul(1000) / PER_SECOND);
        match timeout_at(until, body.next()).await {
            Ok(Some(Ok(bytes))) => {
                let received = received + bytes.len() as u64;
                Some((Ok(bytes), (Some(body), begin, received)))
            }
            Ok(Some(Err(error))) => Some((Err(axum::BoxError::from(error)), (None, begin, received))),
            Ok(None) => None,
            Err(_) => Some((Err(Late.into()), (None, begin, received))),
        }
    }))
}
