//! What a client is told about the work besides the answers.
//!
//! Clients that begin with `initialize` set a level for the conversation; later revisions set it with each request.
#![expect(
    deprecated,
    reason = "the protocol is about to drop logging; clients of all its revisions so far have it"
)]

use std::sync::{Mutex, PoisonError};

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;

/// What a client wants to hear of.
#[derive(Debug, Default)]
pub(super) struct Log {
    level: Mutex<Option<LoggingLevel>>,
}

impl Log {
    pub(super) fn set(&self, level: LoggingLevel) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    /// Tells the client what only somebody who looks for something wants to know.
    pub(super) async fn debug(&self, context: &RequestContext<RoleServer>, text: impl FnOnce() -> String) {
        self.say(context, LoggingLevel::Debug, text).await;
    }

    /// Tells the client of something that should be mended.
    pub(super) async fn warn(&self, context: &RequestContext<RoleServer>, text: impl FnOnce() -> String) {
        self.say(context, LoggingLevel::Warning, text).await;
    }

    /// Tells the client, where it wants to hear of it. Without a level, nothing is said.
    async fn say(
        &self,
        context: &RequestContext<RoleServer>,
        level: LoggingLevel,
        text: impl FnOnce() -> String,
    ) {
        let kept = *self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = context.meta.log_level().or(kept);
        if wanted.is_none_or(|wanted| rank(level) < rank(wanted)) {
            return;
        }
        let said = LoggingMessageNotificationParam::new(level, json!(text())).with_logger("prowess");
        // A client that is gone need not be told.
        let _ = context.peer.notify_logging_message(said).await;
    }
}

/// How bad it is.
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
