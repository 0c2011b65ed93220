//! What happens in a turn is written down first and told then.

use prowess_tools::{Envelope, Session};

use super::end::TurnError;
use super::kept;
use super::record::Record;
use crate::event::Event;
use crate::message::Part;
use crate::provider::Call;

/// Writes down, then tells.
pub(super) struct Journal<'a> {
    pub(super) record: &'a mut dyn Record,
    pub(super) heard: &'a mut (dyn FnMut(Event) + Send),
}

impl Journal<'_> {
    pub(super) async fn delta(&mut self, text: &str) -> Result<(), TurnError> {
        self.record.delta(text).await?;
        (self.heard)(Event::Delta { text: text.to_owned() });
        Ok(())
    }

    pub(super) async fn call(&mut self, call: &Call) -> Result<(), TurnError> {
        let Call { id, name, arguments } = call.clone();
        let part = Part::ToolCall { id: id.clone(), name: name.clone(), arguments: arguments.clone() };
        self.record.call(&part).await?;
        (self.heard)(Event::ToolCall { id, name, arguments });
        Ok(())
    }

    pub(super) async fn result(
        &mut self,
        call: &Call,
        envelope: &Envelope,
        session: &Session,
    ) -> Result<(), TurnError> {
        let Call { id, name, .. } = call.clone();
        let status = kept::status(envelope.status).to_owned();
        let summary = kept::summary(&name, envelope);
        let part = Part::ToolResult { id, name, summary, status };
        self.record.result(&part, &names(session)).await?;
        if let Part::ToolResult { id, name, summary, status } = part {
            (self.heard)(Event::ToolResult { id, name, status, data: summary });
        }
        Ok(())
    }
}

/// The skills that were loaded in a conversation.
pub(super) fn names(session: &Session) -> Vec<String> {
    session.ledger.names().map(str::to_owned).collect()
}
