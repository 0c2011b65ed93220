//! A time limit for request bodies. Without it, a client that sends a byte now and then could keep a connection open for days.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};

/// How many received bytes extend the deadline by one second.
const BYTES_PER_SECOND: u64 = 16 * 1024;

/// The body did not arrive in time.
#[derive(Debug, thiserror::Error)]
#[error("the body did not arrive in time")]
pub(crate) struct BodyTimeout;

/// Returns how long a body of this size may take: `timeout`, plus one second for every 16 KiB.
pub(crate) fn body_deadline(timeout: Duration, bytes: u64) -> Duration {
    timeout + Duration::from_millis(bytes.saturating_mul(1000) / BYTES_PER_SECOND)
}

/// Returns a body that fails unless it arrives within `timeout`, plus one second for every 16 KiB.
pub(crate) fn with_timeout(body: Body, timeout: Duration) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let state = (Some(body.into_data_stream()), Instant::now() + timeout, 0_u64);
    Body::from_stream(futures_util::stream::unfold(state, |(body, base, received)| async move {
        let mut body = body?;
        let deadline = base + body_deadline(Duration::ZERO, received);
        match timeout_at(deadline, body.next()).await {
            Ok(Some(Ok(bytes))) => {
                let received = received + bytes.len() as u64;
                Some((Ok(bytes), (Some(body), base, received)))
            }
            Ok(Some(Err(error))) => Some((Err(axum::BoxError::from(error)), (None, base, received))),
            Ok(None) => None,
            Err(_) => Some((Err(BodyTimeout.into()), (None, base, received))),
        }
    }))
}
