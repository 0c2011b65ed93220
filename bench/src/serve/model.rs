//! A model that sends a word at regular intervals, with the time of sending.

use std::convert::Infallible;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use futures_util::stream;
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::Any;

/// The number of words of a reply, and the time between them.
pub(super) const WORDS: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);

/// Returns the current time in microseconds since the epoch.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Serves the Chat Completions API.
pub(super) async fn serve() -> Result<(), Any> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/", listener.local_addr()?);
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, Router::new().route("/v1/chat/completions", post(reply))).await?;
    Ok(())
}

async fn reply(_: Bytes) -> Response {
    let words = stream::unfold(0, |sent| async move {
        let event = match sent {
            ..WORDS => {
                sleep(PAUSE).await;
                let word = format!("T{}.{sent} ", now());
                format!(
                    r#"data: {{"choices":[{{"index":0,"delta":{{"content":"{word}"}},"finish_reason":null}}]}}"#
                )
            }
            WORDS => r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#.to_owned(),
            _ if sent == WORDS + 1 => "data: [DONE]".to_owned(),
            _ => return None,
        };
        Some((Ok::<_, Infallible>(format!("{event}\n\n")), sent + 1))
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(words)).into_response()
}
