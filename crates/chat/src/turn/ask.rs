//! One request to the model: what it says is passed on as it comes.

use tokio_util::sync::CancellationToken;

use super::end::TurnError;
use super::journal::Journal;
use crate::message::Usage;
use crate::provider::{Chunk, Model, ModelError, Request, Stop};

/// The most calls of one answer. What comes after them is not heard.
const CALLS_MAX: usize = 64;

/// What a model answered.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) text: String,
    /// Id, tool and arguments of each call.
    pub(super) calls: Vec<(String, String, String)>,
    pub(super) usage: Option<Usage>,
    /// Why it stopped; `None` where it broke off or nobody waited.
    pub(super) stop: Option<Stop>,
}

/// How a request ended before its end.
pub(super) enum Cut {
    /// Nobody waits any more.
    Cancelled,
    /// The model.
    Model(ModelError),
    /// Something else.
    Turn(TurnError),
}

/// Asks the model. What was heard before it broke off is in `heard`.
pub(super) async fn ask(
    model: &dyn Model,
    request: Request<'_>,
    journal: &mut Journal<'_>,
    cancel: &CancellationToken,
    heard: &mut Heard,
) -> Result<(), Cut> {
    let mut answer = model.answer(request);
    loop {
        let chunk = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Cut::Cancelled),
            chunk = answer.next() => chunk.map_err(Cut::Model)?,
        };
        match chunk {
            Some(Chunk::Text(text)) => {
                journal.delta(&text).await.map_err(Cut::Turn)?;
                heard.text.push_str(&text);
            }
            Some(Chunk::Call { id, name, arguments }) if heard.calls.len() < CALLS_MAX => {
                heard.calls.push((id, name, arguments));
            }
            Some(Chunk::Call { .. }) => {}
            Some(Chunk::Usage(usage)) => heard.usage = Some(usage),
            Some(Chunk::End(stop)) => heard.stop = Some(stop),
            None => break,
        }
    }
    Ok(())
}
