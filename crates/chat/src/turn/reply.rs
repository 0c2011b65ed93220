//! One request to the model, with its text passed on as it arrives.

use tokio_util::sync::CancellationToken;

use super::end::TurnError;
use super::journal::TurnJournal;
use crate::event::TurnEvent;
use crate::message::TokenUsage;
use crate::provider::{Chunk, Model, ModelError, ModelRequest, StopReason, ThinkingBlock};
use crate::thinking::{SEAL_MAX, ThinkingSeal};

/// The maximum number of tool calls in a reply; further calls are ignored.
const CALLS_MAX: usize = 64;

/// The maximum number of sealed thinking blocks in a reply; the seals of further ones are ignored.
const THINKING_MAX: usize = 256;

#[derive(Debug, Default)]
pub(super) struct ModelReply {
    pub(super) text: String,
    /// The thinking that the provider accepts again.
    pub(super) thinking: Vec<ThinkingBlock>,
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
    let made_by = model.name_for(request.model);
    let mut stream = model.stream(request);
    // The thinking since the last seal, and its place in the text.
    let (mut open, mut offset) = (String::new(), 0);
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
            Some(Chunk::Thinking(text)) => {
                journal.thinking(&text, None).await.map_err(RequestError::Turn)?;
                if open.is_empty() {
                    offset = reply.text.len();
                }
                open.push_str(&text);
            }
            Some(Chunk::Sealed(content)) => {
                let text = std::mem::take(&mut open);
                let offset = if text.is_empty() { reply.text.len() } else { offset };
                if reply.thinking.len() < THINKING_MAX && content.size() <= SEAL_MAX {
                    let seal = ThinkingSeal { model: made_by.clone(), calls: reply.calls.len(), content };
                    journal.thinking("", Some(seal.clone())).await.map_err(RequestError::Turn)?;
                    reply.thinking.push(ThinkingBlock { text, offset, seal });
                }
            }
            Some(Chunk::Call { id, name, arguments }) if reply.calls.len() < CALLS_MAX => {
                reply.calls.push((id, name, arguments));
            }
            Some(Chunk::Call { .. }) => {}
            Some(Chunk::Waiting { reason, delay }) => {
                let seconds = delay.as_millis().div_ceil(1_000) as u64;
                journal.notice(TurnEvent::Waiting { reason, seconds }).await.map_err(RequestError::Turn)?;
            }
            Some(Chunk::Usage(usage)) => reply.usage = Some(usage),
            Some(Chunk::End(stop)) => reply.stop = Some(stop),
            None => break,
        }
    }
    Ok(())
}
