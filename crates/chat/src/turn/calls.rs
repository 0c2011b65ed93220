//! Runs the tool calls of the model.

use std::sync::Arc;

use prowess::ErrorCode;
use prowess_tools::{CallStatus, Envelope, ToolError};
use serde_json::{Value, json};

use super::context::Retention;
use super::end::TurnError;
use super::journal::TurnJournal;
use super::repeat::RepeatAction;
use super::reply::ModelReply;
use super::run::{ActiveTurn, StepResult};
use super::{dispatch, summary};
use crate::outcome::EndReason;
use crate::provider::{ConversationEntry, ToolInvocation, ToolOutput, without_dots};

impl ActiveTurn<'_> {
    /// Runs the tool calls in order. If `end` is set, the turn ends now: the tools are not called, and each call gets a
    /// result that explains why.
    pub(super) async fn call_tools(
        &mut self,
        journal: &mut TurnJournal<'_>,
        reply: ModelReply,
        end: Option<EndReason>,
    ) -> Result<StepResult, TurnError> {
        let mut calls = Vec::new();
        for (id, name, raw) in reply.calls {
            let arguments = dispatch::parse_arguments(&raw);
            let stored =
                arguments.clone().unwrap_or_else(|_| json!({"malformed": summary::truncate(&raw, 1_000)}));
            let call = ToolInvocation { id: self.unique_id(&id), name, arguments: stored };
            journal.call(&call).await?;
            calls.push((call, arguments));
        }
        let call = |(call, _): &(ToolInvocation, _)| call.clone();
        self.context.add(
            ConversationEntry::Assistant { text: reply.text, calls: calls.iter().map(call).collect() },
            Retention::Shortenable,
        );
        let mut end = end;
        let mut results = Vec::new();
        let mut retention = Retention::Shortenable;
        for (call, arguments) in calls {
            if self.cancel.is_cancelled() {
                end = Some(EndReason::Cancelled);
            }
            let envelope = match (end, arguments) {
                (Some(end), _) => not_called_envelope(end),
                (None, Err(error)) => Envelope::error(error),
                (None, Ok(arguments)) => self.call_tool(journal, &call, arguments).await?,
            };
            journal.result(&call, &envelope, &self.active_skills()).await?;
            if end.is_none() && self.cancel.is_cancelled() {
                end = Some(EndReason::Cancelled);
            }
            let data = Value::Object(envelope.data.clone());
            // A reminder does not contain the instructions: the exchange that does may be dropped later in this turn.
            if envelope.status != CallStatus::Error
                && let Some(loaded) = summary::loaded_skill_name(&call.name, &data)
                && !summary::is_reminder(&data)
            {
                retention = Retention::Required;
                let name = call.arguments["name"].as_str().unwrap_or(loaded);
                self.context.skills.push(name.to_owned());
            }
            let (text, repeated) = self.result_text(&call, &envelope);
            if repeated && end.is_none() {
                end = Some(EndReason::Repeated);
            }
            results.push(ToolOutput {
                id: call.id,
                name: call.name,
                text,
                failed: envelope.status == CallStatus::Error,
            });
        }
        self.context.add(ConversationEntry::Results(results), retention);
        Ok(end.map_or(StepResult::Continue, StepResult::End))
    }

    async fn call_tool(
        &mut self,
        journal: &mut TurnJournal<'_>,
        call: &ToolInvocation,
        arguments: Value,
    ) -> Result<Envelope, TurnError> {
        let toolbox = Arc::clone(&self.agent.toolbox);
        let Self { session, cancel_guard, cancel, questions, .. } = self;
        let work = dispatch::call_tool(&toolbox, session, &call.name, arguments, cancel_guard, cancel);
        match questions {
            None => Ok(work.await),
            Some(questions) => {
                let (envelope, recorded) = questions.answer_during(&call.id, work, journal, cancel).await;
                recorded.map(|()| envelope)
            }
        }
    }

    /// Returns the text of a result for the model, and whether it was repeated too often.
    fn result_text(&mut self, call: &ToolInvocation, envelope: &Envelope) -> (String, bool) {
        let max = usize::try_from(self.agent.limits.result_bytes).unwrap_or(usize::MAX);
        let mut text = summary::truncate(&envelope.text, max);
        if envelope.status == CallStatus::Error && self.agent.model.forbids_dots() {
            // The message names tools; use the names that the model knows.
            text = without_dots(&text);
        }
        if text.trim().is_empty() {
            text = "[no output]".to_owned();
        }
        let digest = prowess::digest(envelope.text.as_bytes());
        match self.repeats.record_call(&call.name, &call.arguments.to_string(), &digest) {
            RepeatAction::Continue => (text, false),
            RepeatAction::Warn(note) => (format!("{text}\n{note}"), false),
            RepeatAction::Stop => (text, true),
        }
    }

    /// Returns an id that no other call of this conversation has.
    fn unique_id(&mut self, id: &str) -> String {
        let base = summary::safe_id(if id.is_empty() { "call" } else { id });
        let mut unique = base.clone();
        let mut number = 2;
        while !self.call_ids.insert(unique.clone()) {
            unique = summary::safe_id(&format!("{base}_{number}"));
            number += 1;
        }
        unique
    }
}

fn not_called_envelope(end: EndReason) -> Envelope {
    let reason = end.description().unwrap_or("the turn is over");
    let code = if end == EndReason::Cancelled { ErrorCode::ExecutionError } else { ErrorCode::TooLarge };
    Envelope::error(ToolError::new(code, format!("the tool was not called: {reason}")))
}
