//! Calling a tool for the model, in a thread of its own, until it has answered or nobody waits any more.

use std::sync::Arc;

use prowess::ErrorCode;
use prowess_tools::{Envelope, Session, ToolError, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::end::TurnError;

/// The most of wrong arguments that is repeated to the model, in characters.
const REPEATED_MAX: usize = 100;

/// Ends whatever a turn has started: when it is told to, and when the turn is over in whatever way.
#[derive(Debug, Default)]
pub(super) struct Ending {
    scripts: prowess_sandbox::Cancel,
    #[cfg(feature = "toolsets")]
    toolsets: prowess_toolset::Cancel,
}

impl Ending {
    /// Ties a session to it.
    pub(super) fn bind(&self, session: &mut Session) {
        session.waiting.cancel = Some(self.scripts.clone());
        #[cfg(feature = "toolsets")]
        {
            session.cancel = self.toolsets.clone();
        }
    }

    pub(super) fn now(&self) {
        self.scripts.cancel();
        #[cfg(feature = "toolsets")]
        self.toolsets.cancel();
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.now();
    }
}

/// Work that may block, on a thread for that.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TurnError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| TurnError::Internal(format!("a part of the turn failed: {error}")))
}

/// Calls a tool. When the turn is cancelled, the call is ended, and its answer is still waited for: nothing runs on.
pub(super) async fn call(
    toolbox: &Arc<Toolbox>,
    session: &mut Session,
    name: &str,
    arguments: Value,
    ending: &Ending,
    cancel: &CancellationToken,
) -> Envelope {
    let (toolbox, mut own, called) = (Arc::clone(toolbox), session.clone(), name.to_owned());
    let work = blocking(move || {
        let envelope = toolbox.call(&mut own, &called, arguments);
        (own, envelope)
    });
    tokio::pin!(work);
    let done = tokio::select! {
        done = &mut work => done,
        () = cancel.cancelled() => {
            ending.now();
            work.await
        }
    };
    match done {
        Ok((after, envelope)) => {
            *session = after;
            envelope
        }
        Err(error) => Envelope::error(ToolError::new(ErrorCode::InternalError, error.to_string())),
    }
}

/// The arguments that a model wrote, or what it is to be told of them.
pub(super) fn arguments(raw: &str) -> Result<Value, ToolError> {
    let wrong = |what: String| {
        let start: String = raw.chars().take(REPEATED_MAX).collect();
        let shown = prowess::format::hidden::shown(&start);
        ToolError::new(ErrorCode::InvalidParam, format!("{what}; they began with: {shown}"))
    };
    // Some models send nothing where there is nothing to say.
    if raw.trim().is_empty() {
        return Ok(json!({}));
    }
    match serde_json::from_str::<Value>(raw) {
        Ok(Value::Object(arguments)) => Ok(arguments.into()),
        Ok(Value::Null) => Ok(json!({})),
        Ok(_) => Err(wrong("the arguments have to be a JSON object".to_owned())),
        Err(error) => Err(wrong(format!("the arguments are not JSON: {error}"))),
    }
}
