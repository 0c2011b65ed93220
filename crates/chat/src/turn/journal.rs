//! Records the events of a turn, then reports them, so that nothing is shown that could be lost.

use prowess_tools::Envelope;

use super::end::TurnError;
use super::record::TurnRecorder;
use super::summary;
use crate::event::TurnEvent;
use crate::message::Part;
use crate::provider::ToolInvocation;
use crate::thinking::ThinkingSeal;

/// Records events, then reports them.
pub(super) struct TurnJournal<'a> {
    pub(super) record: &'a mut dyn TurnRecorder,
    pub(super) on_event: &'a mut (dyn FnMut(TurnEvent) + Send),
}

impl TurnJournal<'_> {
    pub(super) async fn delta(&mut self, text: &str) -> Result<(), TurnError> {
        self.record.delta(text).await?;
        (self.on_event)(TurnEvent::Delta { text: text.to_owned() });
        Ok(())
    }

    /// Adds thinking. A seal is recorded, but not reported.
    pub(super) async fn thinking(&mut self, text: &str, seal: Option<ThinkingSeal>) -> Result<(), TurnError> {
        self.record.thinking(text, seal).await?;
        if !text.is_empty() {
            (self.on_event)(TurnEvent::Thinking { text: text.to_owned(), seal: None });
        }
        Ok(())
    }

    pub(super) async fn summary(&mut self, text: &str, replaces: &[String]) -> Result<(), TurnError> {
        self.record.summary(text, replaces).await?;
        (self.on_event)(TurnEvent::Summary { text: text.to_owned(), replaces: replaces.to_vec() });
        Ok(())
    }

    pub(super) async fn call(&mut self, call: &ToolInvocation) -> Result<(), TurnError> {
        let ToolInvocation { id, name, arguments } = call.clone();
        let part = Part::ToolCall { id: id.clone(), name: name.clone(), arguments: arguments.clone() };
        self.record.call(&part).await?;
        (self.on_event)(TurnEvent::ToolCall { id, name, arguments });
        Ok(())
    }

    /// Adds an event that is not part of the message.
    pub(super) async fn notice(&mut self, event: TurnEvent) -> Result<(), TurnError> {
        self.record.notice(event.clone()).await?;
        (self.on_event)(event);
        Ok(())
    }

    pub(super) async fn result(
        &mut self,
        call: &ToolInvocation,
        envelope: &Envelope,
        active_skills: &[String],
    ) -> Result<(), TurnError> {
        let ToolInvocation { id, name, .. } = call.clone();
        let status = summary::status_name(envelope.status).to_owned();
        let summary = summary::summarize(&name, envelope);
        let part = Part::ToolResult { id, name, summary, status };
        self.record.result(&part, active_skills).await?;
        if let Part::ToolResult { id, name, summary, status } = part {
            (self.on_event)(TurnEvent::ToolResult { id, name, status, data: summary });
        }
        Ok(())
    }
}
