//! Runs the tool calls of the model.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt;
use prowess::ErrorCode;
use prowess_tools::{BuiltinTool, CallStatus, Envelope, Session, ToolError};
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

/// The maximum number of calls that run side by side.
const PARALLEL_MAX: usize = 8;

/// A call, and its arguments if they are valid.
type ParsedCall = (ToolInvocation, Result<Value, ToolError>);

impl ActiveTurn<'_> {
    /// Runs the tool calls, and adds their results in order. Calls that neither change the conversation nor its files run side by
    /// side. If `end` is set, the turn ends now: the tools are not called, and each call gets a
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
            ConversationEntry::Assistant {
                text: reply.text,
                thinking: reply.thinking,
                calls: calls.iter().map(call).collect(),
            },
            Retention::Shortenable,
        );
        let mut end = end;
        let mut results = Vec::new();
        let mut retention = Retention::Shortenable;
        let mut finished = VecDeque::new();
        let mut waiting = VecDeque::from(calls);
        loop {
            if finished.is_empty() {
                if self.cancel.is_cancelled() {
                    end = Some(EndReason::Cancelled);
                }
                let size = self.batch_size(waiting.make_contiguous());
                let batch: Vec<_> = waiting.drain(..size).collect();
                finished = match end {
                    Some(end) => {
                        batch.into_iter().map(|(call, _)| (call, not_called_envelope(end))).collect()
                    }
                    None => self.call_batch(journal, batch).await?,
                };
            }
            let Some((call, envelope)) = finished.pop_front() else { break };
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

    /// Returns how many of the next calls run side by side.
    fn batch_size(&self, calls: &[ParsedCall]) -> usize {
        let options = &self.session.call_options;
        let (has_files, has_file_tools) = (options.workspace.is_some(), options.workspace_tools);
        let independent = calls.iter().take_while(|(call, arguments)| {
            arguments.is_err() || is_independent(&call.name, has_files, has_file_tools)
        });
        independent.count().max(1).min(calls.len())
    }

    /// Runs calls side by side, and returns their results in order. A single call may change the session.
    async fn call_batch(
        &mut self,
        journal: &mut TurnJournal<'_>,
        batch: Vec<ParsedCall>,
    ) -> Result<VecDeque<(ToolInvocation, Envelope)>, TurnError> {
        let toolbox = Arc::clone(&self.agent.toolbox);
        let is_single = batch.len() == 1;
        let Self { session, cancel_guard, cancel, questions, .. } = self;
        let with_session = |(call, arguments): ParsedCall| {
            let mut call_session = session.clone();
            if let Some(questions) = &questions {
                questions.bind(&mut call_session, &call.id);
            }
            (call, arguments, call_session)
        };
        let calls: Vec<_> = batch.into_iter().map(with_session).collect();
        let calls = calls.into_iter().map(|(call, arguments, mut call_session)| {
            let (toolbox, cancel_guard, cancel) = (&toolbox, &*cancel_guard, &*cancel);
            async move {
                let envelope = match arguments {
                    Err(error) => Envelope::error(error),
                    Ok(arguments) => {
                        let name = &call.name;
                        dispatch::call_tool(toolbox, &mut call_session, name, arguments, cancel_guard, cancel)
                            .await
                    }
                };
                (call, envelope, call_session)
            }
        });
        let work = futures_util::stream::iter(calls).buffered(PARALLEL_MAX).collect::<Vec<_>>();
        let (results, recorded) = match questions {
            None => (work.await, Ok(())),
            Some(questions) => questions.answer_during(work, journal, cancel).await,
        };
        recorded?;
        let result = |(call, envelope, session_after): (ToolInvocation, Envelope, Session)| {
            if is_single {
                self.session = session_after;
            }
            (call, envelope)
        };
        Ok(results.into_iter().map(result).collect())
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

/// Returns `true` if a call neither changes what the conversation has loaded nor its files. Scripts that work on the files of the
/// conversation run one after the other: each must see what the one before it wrote.
fn is_independent(tool: &str, has_files: bool, has_file_tools: bool) -> bool {
    match BuiltinTool::from_name(tool) {
        Some(BuiltinTool::ListResources | BuiltinTool::Search) => true,
        Some(BuiltinTool::Run) => !has_files,
        Some(
            BuiltinTool::Activate | BuiltinTool::Skill | BuiltinTool::ReadResource | BuiltinTool::ReadFile,
        ) => false,
        // A tool of a skill, unless the model has tools for files.
        None => !has_file_tools,
    }
}

fn not_called_envelope(end: EndReason) -> Envelope {
    let reason = end.description().unwrap_or("the turn is over");
    let code = if end == EndReason::Cancelled { ErrorCode::ExecutionError } else { ErrorCode::TooLarge };
    Envelope::error(ToolError::new(code, format!("the tool was not called: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_change_the_conversation_or_its_files_run_alone() {
        let independent = |tool: &str| {
            [(false, false), (true, false), (true, true)].map(|(a, b)| is_independent(tool, a, b))
        };
        for tool in ["skills.activate", "skills_activate", "Skill", "ReadFile", "skills.readResource"] {
            assert_eq!(independent(tool), [false; 3], "{tool}");
        }
        for tool in ["skills.search", "skills.listResources"] {
            assert_eq!(independent(tool), [true; 3], "{tool}");
        }
        assert_eq!(independent("skills.run"), [true, false, false]);
        assert_eq!(independent("tool_of_a_skill"), [true, true, false]);
    }
}
