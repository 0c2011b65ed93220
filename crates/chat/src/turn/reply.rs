//! One request to the model, with its text passed on as it arrives.

use tokio_util::sync::CancellationToken;

use super::end::TurnError;
use super::journal::TurnJournal;
use crate::message::TokenUsage;
use crate::provider::{Chunk, Model, ModelError, ModelRequest, StopReason};

/// The maximum number of tool calls in a reply; further calls are ignored.
const CALLS_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct ModelReply {
    pub(super) text: String,
    /// The id, tool and arguments of each call.
    pub(super) calls: Vec<(String, String, String)>,
    pub(super) usage: Option<TokenUsage>,
    /// Why the model stopped; `None` if the reply failed or the turn was cancelled.
    pub(super) stop: Option<StopReason>,
}

/// Why a request ended early.
pub(super) enum RequestError {
    /// The turn was cancelled.
    Cancelled,
    /// The model request failed.
    Model(ModelError),
    /// Recording the turn failed.
    Turn(TurnError),
}

/// Sends the request and collects the reply. After an error, `reply` holds what arrived before it.
pub(super) async fn request_reply(
    model: &dyn Model,
    request: ModelRequest<'_>,
    journal: &mut TurnJournal<'_>,
    cancel: &CancellationToken,
    reply: &mut ModelReply,
) -> Result<(), RequestError> {
    let mut stream = model.stream(request);
    loop {
        let chunk = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(RequestError::Cancelled),
            chunk = stream.next() => chunk.map_err(RequestError::Model)?,
        };
        match chunk {
            Some(Chunk::Text(text)) => {
                journal.delta(&text).await.map_err(RequestError::Turn)?;
                reply.text.push_str(&text);
            }
            Some(Chunk::Call { id, name, arguments }) if reply.calls.len() < CALLS_MAX => {
                reply.calls.push((id, name, arguments));
            }
            Some(Chunk::Call { .. }) => {}
            Some(Chunk::Usage(usage)) => reply.usage = Some(usage),
            Some(Chunk::End(stop)) => reply.stop = Some(stop),
            None => break,
        }
    }
    Ok(())
}
