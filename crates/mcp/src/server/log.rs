//! Sends log messages to a client.
//!
//! Clients that start with `initialize` set a level for the session; later revisions set it with each request.
#![expect(
    deprecated,
    reason = "the protocol is going to remove logging, but clients of all current revisions have it"
)]

use std::sync::{Mutex, PoisonError};

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;

/// The log level of a client.
#[derive(Debug, Default)]
pub(super) struct ClientLog {
    level: Mutex<Option<LoggingLevel>>,
}

impl ClientLog {
    pub(super) fn set_level(&self, level: LoggingLevel) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    /// Sends a debug message.
    pub(super) async fn debug(&self, context: &RequestContext<RoleServer>, text: impl FnOnce() -> String) {
        self.send(context, LoggingLevel::Debug, text).await;
    }

    /// Sends a warning.
    pub(super) async fn warn(&self, context: &RequestContext<RoleServer>, text: impl FnOnce() -> String) {
        self.send(context, LoggingLevel::Warning, text).await;
    }

    /// Sends a message if the client requested its level. Without a level, nothing is sent.
    async fn send(
        &self,
        context: &RequestContext<RoleServer>,
        level: LoggingLevel,
        text: impl FnOnce() -> String,
    ) {
        let session_level = *self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let min_level = context.meta.log_level().or(session_level);
        if min_level.is_none_or(|min_level| rank(level) < rank(min_level)) {
            return;
        }
        let message = LoggingMessageNotificationParam::new(level, json!(text())).with_logger("prowess");
        // The client may be disconnected.
        let _ = context.peer.notify_logging_message(message).await;
    }
}

fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        _ => 7,
    }
}
