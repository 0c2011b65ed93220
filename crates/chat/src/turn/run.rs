//! The turn loop.

use std::collections::HashSet;

use prowess::ledger::Ledger;
use prowess_tools::{ConversationWorkspace, Session, ToolDefinition};
use tokio_util::sync::CancellationToken;

use super::consent::Questions;
use super::context::{ConversationContext, Retention};
use super::dispatch::CancelOnDrop;
use super::end::{TurnError, TurnReport};
use super::journal::TurnJournal;
use super::record::TurnRecorder;
use super::repeat::RepeatTracker;
use super::reply::{ModelReply, RequestError, request_reply};
use super::{Agent, MESSAGE_MAX, TurnInput};
use crate::event::TurnEvent;
use crate::message::TokenUsage;
use crate::outcome::EndReason;
use crate::provider::{ConversationEntry, ModelError, ModelRequest, StopReason};

/// How often a conversation is shortened after the provider reports that it is too long.
const SHORTENED_MAX: u32 = 2;

/// Runs a turn.
pub(super) async fn turn(
    agent: &Agent,
    input: TurnInput<'_>,
    record: &mut dyn TurnRecorder,
    on_event: &mut (dyn FnMut(TurnEvent) + Send),
    cancel: &CancellationToken,
) -> TurnReport {
    let mut journal = TurnJournal { record, on_event };
    let checked = match input.text.len() {
        _ if input.text.trim().is_empty() => Err(TurnError::Empty),
        long if long > MESSAGE_MAX => Err(TurnError::TooLong(long)),
        _ => Ok(()),
    };
    let started = match checked {
        Ok(()) => journal.record.begin(input.text).await.map_err(TurnError::from),
        Err(error) => Err(error),
    };
    let started = match started {
        Ok(started) => started,
        Err(error) => {
            (journal.on_event)(TurnEvent::Error {
                code: error.code().as_str().to_owned(),
                message: error.to_string(),
            });
            let activated = input.activated.to_vec();
            return TurnReport { message_id: None, end: Err(error), usage: None, activated };
        }
    };
    let mut active = ActiveTurn::new(agent, input, &started.reply_id, cancel);
    let end = active.run(&mut journal, input, &started.reply_id).await;
    let (usage, activated) = (active.usage, active.active_skills());
    finish(&mut journal, started.reply_id, end, usage, activated).await
}

async fn finish(
    journal: &mut TurnJournal<'_>,
    answer_id: String,
    end: Result<EndReason, TurnError>,
    usage: Option<TokenUsage>,
    activated: Vec<String>,
) -> TurnReport {
    let recorded = journal.record.end(&to_outcome(&end, usage), &activated).await;
    let end = match (end, recorded) {
        (Ok(_), Err(error)) => Err(error.into()),
        (end, _) => end,
    };
    (journal.on_event)(to_outcome(&end, usage).to_event(&answer_id, activated.clone()));
    TurnReport { message_id: Some(answer_id), end, usage, activated }
}

fn to_outcome(end: &Result<EndReason, TurnError>, usage: Option<TokenUsage>) -> crate::TurnOutcome {
    match end {
        Ok(end) => crate::TurnOutcome::finished(*end, usage),
        Err(error) => crate::TurnOutcome::Failed { code: error.code(), message: error.to_string(), usage },
    }
}

/// A running turn.
pub(super) struct ActiveTurn<'a> {
    pub(super) agent: &'a Agent,
    pub(super) cancel: &'a CancellationToken,
    pub(super) cancel_guard: CancelOnDrop,
    pub(super) session: Session,
    /// The active skills of the conversation before this turn, if the turn is forked.
    pub(super) outer_skills: Option<Vec<String>>,
    pub(super) context: ConversationContext,
    /// Skills in the system prompt, for a model that cannot call tools.
    pub(super) inline_skills: Vec<(String, String)>,
    /// The message as sent to the model.
    pub(super) query: String,
    pub(super) system: String,
    pub(super) repeats: RepeatTracker,
    pub(super) call_ids: HashSet<String>,
    /// The questions of tool calls about scripts, if the user can be asked.
    pub(super) questions: Option<Questions>,
    /// The ids of the messages in exchanges that were not loaded.
    pub(super) left_out_ids: Vec<Vec<String>>,
    /// The ids of the messages that a summary replaces.
    pub(super) replaced_ids: Vec<String>,
    usage: Option<TokenUsage>,
    tokens_spent: u64,
    pub(super) shorten_level: u32,
}

pub(super) enum StepResult {
    /// Continue with the next step.
    Continue,
    /// Repeat the step with a different request.
    Retry,
    /// The turn is over.
    End(EndReason),
}

impl<'a> ActiveTurn<'a> {
    pub(super) fn new(
        agent: &'a Agent,
        input: TurnInput<'_>,
        answer_id: &str,
        cancel: &'a CancellationToken,
    ) -> Self {
        let cancel_guard = CancelOnDrop::default();
        let mut session = Session::default();
        session.ledger = Ledger::from_names(input.activated.to_vec());
        // Active skills were loaded or mentioned before: the model may use them.
        for name in input.activated {
            session.mark_invoked(name);
        }
        input.chat.clone_into(&mut session.info.session_id);
        answer_id.clone_into(&mut session.info.message_id);
        "prowess".clone_into(&mut session.info.agent);
        cancel_guard.bind(&mut session);
        let questions = input.consent.map(|source| Questions::connect(&mut session, source));
        session.call_options.workspace_tools = agent.workspace_tools;
        session.call_options.workspace = input.workspace.cloned().map(ConversationWorkspace::Files);
        Self {
            agent,
            cancel,
            cancel_guard,
            session,
            outer_skills: None,
            questions,
            context: ConversationContext::default(),
            inline_skills: Vec::new(),
            query: String::new(),
            system: String::new(),
            repeats: RepeatTracker::default(),
            call_ids: HashSet::new(),
            left_out_ids: Vec::new(),
            replaced_ids: Vec::new(),
            usage: None,
            tokens_spent: 0,
            shorten_level: 0,
        }
    }

    /// Returns the active skills of the conversation. A forked turn does not change them, except that it adds the remote
    /// skills that it loaded: they restrict what may run, because the answer is part of the conversation.
    pub(super) fn active_skills(&self) -> Vec<String> {
        let Some(outer) = &self.outer_skills else {
            return self.session.ledger.names().map(str::to_owned).collect();
        };
        let snapshot = self.agent.toolbox.snapshot();
        let remote = self.session.remote_skills(&snapshot).into_iter();
        outer.iter().cloned().chain(remote.filter(|name| !outer.contains(name))).collect()
    }

    /// Returns the model of the skill that was loaded last in this turn, if it asks for one that the user allows.
    fn skill_model(&self) -> Option<&str> {
        let snapshot = self.agent.toolbox.snapshot();
        let loaded = self.context.skills.iter().rev().filter_map(|name| snapshot.get(name));
        let mut local = loaded.filter(|skill| skill.remote().is_none());
        local.find_map(|skill| self.agent.allowed_model(skill.manifest()?.model()?))
    }

    async fn run(
        &mut self,
        journal: &mut TurnJournal<'_>,
        input: TurnInput<'_>,
        answer_id: &str,
    ) -> Result<EndReason, TurnError> {
        self.prepare(journal, input, answer_id).await?;
        self.compact(journal).await?;
        let mut step = 1;
        loop {
            match self.step(journal, step).await? {
                StepResult::Continue => step += 1,
                StepResult::Retry => {}
                StepResult::End(end) => return Ok(end),
            }
        }
    }

    /// Sends one request and runs the tool calls of the reply.
    async fn step(&mut self, journal: &mut TurnJournal<'_>, step: u32) -> Result<StepResult, TurnError> {
        let mut reply = ModelReply::default();
        let (entries, tools) = self.compose().await?;
        if self.cancel.is_cancelled() {
            return Ok(StepResult::End(EndReason::Cancelled));
        }
        let request = ModelRequest {
            system: &self.system,
            entries: &entries,
            tools: &tools,
            model: self.skill_model(),
            max_output_tokens: self.agent.limits.output_tokens,
        };
        let result = request_reply(&*self.agent.model, request, journal, self.cancel, &mut reply).await;
        self.add_usage(&reply, &entries, &tools);
        match result {
            Ok(()) => {}
            Err(RequestError::Cancelled) => return Ok(StepResult::End(EndReason::Cancelled)),
            Err(RequestError::Model(error)) => {
                let next = self.recover(error.clone(), &reply, !tools.is_empty())?;
                if let ModelError::NoTools(reason) = error {
                    journal.notice(TurnEvent::ToolsDisabled { reason }).await?;
                }
                return Ok(next);
            }
            Err(RequestError::Turn(error)) => return Err(error),
        }
        let end = match reply.stop {
            Some(StopReason::Length) => Some(EndReason::Length),
            Some(StopReason::Declined) => Some(EndReason::Declined),
            Some(StopReason::Finished | StopReason::Paused | StopReason::Other(_)) | None => None,
        };
        let paused = reply.stop == Some(StopReason::Paused);
        if reply.calls.is_empty() && !paused {
            return Ok(StepResult::End(end.unwrap_or(EndReason::Finished)));
        }
        let exhausted = self.agent.limits.turn_tokens.is_some_and(|max| self.tokens_spent >= u64::from(max));
        let last = step == self.agent.limits.steps;
        let end = end.or(exhausted.then_some(EndReason::Tokens)).or(last.then_some(EndReason::Steps));
        if reply.calls.is_empty() {
            // The provider continues a reply that it gets back.
            let ModelReply { text, thinking, .. } = reply;
            self.context
                .add(ConversationEntry::Assistant { text, thinking, calls: Vec::new() }, Retention::Required);
            return Ok(end.map_or(StepResult::Continue, StepResult::End));
        }
        self.call_tools(journal, reply, end).await
    }

    /// Adds the usage of a request.
    pub(super) fn count_usage(&mut self, usage: TokenUsage) {
        self.usage.get_or_insert_default().add(usage);
        self.tokens_spent = self.tokens_spent.saturating_add(usage.input).saturating_add(usage.output);
    }

    /// Adds the usage of a request, estimated if the provider does not report it.
    fn add_usage(&mut self, reply: &ModelReply, entries: &[ConversationEntry], tools: &[ToolDefinition]) {
        if let Some(usage) = reply.usage {
            self.count_usage(usage);
            return;
        }
        // About four bytes per token. This only limits the turn and is not shown as usage.
        let conversation: usize = entries.iter().map(|entry| format!("{entry:?}").len()).sum();
        let schemas: usize = tools.iter().map(|tool| tool.description.len() + 200).sum();
        let tokens = (conversation + schemas + self.system.len() + reply.text.len()) / 4;
        self.tokens_spent = self.tokens_spent.saturating_add(tokens as u64);
    }

    /// Returns the next step after a failure that can be worked around.
    fn recover(
        &mut self,
        error: ModelError,
        reply: &ModelReply,
        offered: bool,
    ) -> Result<StepResult, TurnError> {
        let no_output = reply.text.is_empty() && reply.calls.is_empty();
        match &error {
            ModelError::NoTools(_) if no_output && offered && !self.agent.model.can_call_tools() => {
                // Retry without tools; mentioned skills move into the system prompt.
                self.system.clear();
                self.inline_mentions();
                Ok(StepResult::Retry)
            }
            ModelError::TooLong(_) if no_output && self.shorten_level < SHORTENED_MAX => {
                self.shorten_level += 1;
                Ok(StepResult::Retry)
            }
            _ => Err(error.into()),
        }
    }
}
