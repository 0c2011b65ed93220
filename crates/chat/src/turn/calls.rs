//! Calling the tools that the model wants called.

use std::sync::Arc;

use prowess::ErrorCode;
use prowess_tools::{Envelope, Outcome as Went, ToolError};
use serde_json::{Value, json};

use super::ask::Heard;
use super::context::Stays;
use super::end::TurnError;
use super::journal::Journal;
use super::repeat::Verdict;
use super::run::{Running, Step};
use super::{dispatch, kept};
use crate::ending::End;
use crate::provider::{Call, CallResult, Entry, without_dots};

impl Running<'_> {
    /// Calls the tools, one after the other. `end` is set where the turn ends now: then they are not called any more, and
    /// each has a result that says so.
    pub(super) async fn call_tools(
        &mut self,
        journal: &mut Journal<'_>,
        heard: Heard,
        end: Option<End>,
    ) -> Result<Step, TurnError> {
        let mut calls = Vec::new();
        for (id, name, raw) in heard.calls {
            let arguments = dispatch::arguments(&raw);
            let kept = arguments.clone().unwrap_or_else(|_| json!({"malformed": kept::cut(&raw, 1_000)}));
            let call = Call { id: self.fresh(&id), name, arguments: kept };
            journal.call(&call).await?;
            calls.push((call, arguments));
        }
        let entry = |(call, _): &(Call, _)| call.clone();
        self.context
            .add(Entry::Assistant { text: heard.text, calls: calls.iter().map(entry).collect() }, Stays::No);
        let mut over = end;
        let mut results = Vec::new();
        let mut stays = Stays::No;
        for (call, arguments) in calls {
            if self.cancel.is_cancelled() {
                over = Some(End::Cancelled);
            }
            let envelope = match (over, arguments) {
                (Some(end), _) => not_called(end),
                (None, Err(error)) => Envelope::error(error),
                (None, Ok(arguments)) => self.call_tool(&call.name, arguments).await,
            };
            journal.result(&call, &envelope, &self.session).await?;
            if over.is_none() && self.cancel.is_cancelled() {
                over = Some(End::Cancelled);
            }
            let data = Value::Object(envelope.data.clone());
            // A reminder is not the instructions: those may be in an exchange that is left out later in this turn.
            if envelope.status != Went::Error
                && let Some(loaded) = kept::loaded_skill(&call.name, &data)
                && !kept::is_reminder(&data)
            {
                stays = Stays::Yes;
                let name = call.arguments["name"].as_str().unwrap_or(loaded);
                self.context.skills.push(name.to_owned());
            }
            let (text, enough) = self.shown(&call, &envelope);
            if enough && over.is_none() {
                over = Some(End::Repeated);
            }
            results.push(CallResult {
                id: call.id,
                name: call.name,
                text,
                failed: envelope.status == Went::Error,
            });
        }
        self.context.add(Entry::Results(results), stays);
        Ok(over.map_or(Step::On, Step::Over))
    }

    async fn call_tool(&mut self, name: &str, arguments: Value) -> Envelope {
        let toolbox = Arc::clone(&self.agent.toolbox);
        dispatch::call(&toolbox, &mut self.session, name, arguments, &self.ending, self.cancel).await
    }

    /// What the model reads of a result, and whether it has read it too often.
    fn shown(&mut self, call: &Call, envelope: &Envelope) -> (String, bool) {
        let most = usize::try_from(self.agent.limits.result_bytes).unwrap_or(usize::MAX);
        let mut text = kept::cut(&envelope.text, most);
        if envelope.status == Went::Error && self.agent.model.forbids_dots() {
            // What is said of our tools uses the names that it knows.
            text = without_dots(&text);
        }
        if text.trim().is_empty() {
            text = "[no output]".to_owned();
        }
        let digest = prowess::digest(envelope.text.as_bytes());
        match self.repeats.called(&call.name, &call.arguments.to_string(), &digest) {
            Verdict::Fine => (text, false),
            Verdict::Tell(note) => (format!("{text}\n{note}"), false),
            Verdict::Enough => (text, true),
        }
    }

    /// An id that no other call of this conversation has.
    fn fresh(&mut self, id: &str) -> String {
        let plain = kept::plain_id(if id.is_empty() { "call" } else { id });
        let mut fresh = plain.clone();
        let mut number = 2;
        while !self.ids.insert(fresh.clone()) {
            fresh = kept::plain_id(&format!("{plain}_{number}"));
            number += 1;
        }
        fresh
    }
}

fn not_called(end: End) -> Envelope {
    let why = end.about().unwrap_or("the turn is over");
    let code = if end == End::Cancelled { ErrorCode::ExecutionError } else { ErrorCode::TooLarge };
    Envelope::error(ToolError::new(code, format!("the tool was not called: {why}")))
}
