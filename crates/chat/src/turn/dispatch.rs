//! Calls a tool on a blocking thread, until it returns or the turn is cancelled.

use std::sync::Arc;

use prowess::ErrorCode;
use prowess_tools::{Envelope, Session, ToolError, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::end::TurnError;

/// The maximum number of characters of invalid arguments to quote to the model.
const QUOTED_MAX: usize = 100;

/// Cancels everything that a turn started, explicitly or when dropped.
#[derive(Debug, Default)]
pub(super) struct CancelOnDrop(prowess_sandbox::Cancel);

impl CancelOnDrop {
    /// Connects a session to this guard.
    pub(super) fn bind(&self, session: &mut Session) {
        session.call_options.cancel = Some(self.0.clone());
    }

    pub(super) fn cancel(&self) {
        self.0.cancel();
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Runs blocking work on a thread for it.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TurnError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|error| TurnError::Internal(format!("a part of the turn failed: {error}")))
}

/// Calls a tool. If the turn is cancelled, the call is cancelled, and its result is still awaited so that nothing keeps
/// running.
pub(super) async fn call_tool(
    toolbox: &Arc<Toolbox>,
    session: &mut Session,
    name: &str,
    arguments: Value,
    cancel_guard: &CancelOnDrop,
    cancel: &CancellationToken,
) -> Envelope {
    let (toolbox, mut call_session, tool) = (Arc::clone(toolbox), session.clone(), name.to_owned());
    let work = run_blocking(move || {
        let envelope = toolbox.call(&mut call_session, &tool, arguments);
        (call_session, envelope)
    });
    tokio::pin!(work);
    let result = tokio::select! {
        result = &mut work => result,
        () = cancel.cancelled() => {
            cancel_guard.cancel();
            work.await
        }
    };
    match result {
        Ok((session_after, envelope)) => {
            *session = session_after;
            envelope
        }
        Err(error) => Envelope::error(ToolError::new(ErrorCode::InternalError, error.to_string())),
    }
}

/// Parses the arguments that a model wrote, or returns an error for the model.
pub(super) fn parse_arguments(raw: &str) -> Result<Value, ToolError> {
    let invalid = |problem: String| {
        let start: String = raw.chars().take(QUOTED_MAX).collect();
        let quoted = prowess::format::hidden::escape_for_display(&start);
        ToolError::new(ErrorCode::InvalidParam, format!("{problem}; they start with: {quoted}"))
    };
    // Some models send nothing instead of an empty object.
    if raw.trim().is_empty() {
        return Ok(json!({}));
    }
    match serde_json::from_str::<Value>(raw) {
        Ok(Value::Object(arguments)) => Ok(arguments.into()),
        Ok(Value::Null) => Ok(json!({})),
        Ok(_) => Err(invalid("the arguments must be a JSON object".to_owned())),
        Err(error) => Err(invalid(format!("the arguments are not JSON: {error}"))),
    }
}
