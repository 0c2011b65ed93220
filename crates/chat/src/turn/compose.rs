//! Composes requests: the history, the skills that the message mentions, and what fits into the context window.

use std::collections::BTreeMap;
use std::sync::Arc;

use prowess_tools::{CallStatus, Envelope, ToolDefinition, WorkspaceFile, tokens};

use super::context::{Exchange, Retention};
use super::dispatch::run_blocking;
use super::end::TurnError;
use super::history::DroppedExchange;
use super::journal::TurnJournal;
use super::prompt::SystemPrompt;
use super::run::ActiveTurn;
use super::{TurnInput, files, history, mention};
use crate::provider::{ConversationEntry, ToolInvocation, ToolOutput};

/// What the model is shown of earlier turns.
#[derive(Default)]
struct PastConversation {
    exchanges: Vec<Exchange>,
    /// The exchanges that do not fit.
    left_out: Vec<DroppedExchange>,
    /// The summary of earlier messages, and the ids of those.
    summary: Option<(String, Vec<String>)>,
    /// The arguments that skills were last loaded with.
    arguments: BTreeMap<String, String>,
}

impl ActiveTurn<'_> {
    /// Loads the history and the skills that the message mentions.
    pub(super) async fn prepare(
        &mut self,
        journal: &mut TurnJournal<'_>,
        input: TurnInput<'_>,
        answer_id: &str,
    ) -> Result<(), TurnError> {
        let tools = self.agent.model.can_call_tools();
        let (toolbox, mut session) = (Arc::clone(&self.agent.toolbox), self.session.clone());
        let (messages, text, answer_id) =
            (input.history.to_vec(), input.text.to_owned(), answer_id.to_owned());
        let budget = self.agent.limits.context_tokens as usize;
        let (workspace, attached) = (input.workspace.cloned(), input.attached);
        let prepared = run_blocking(move || {
            let files = workspace.map_or(Ok(vec![]), |workspace| workspace.list());
            let (exchanges, left_out) = history::exchanges(&messages, &toolbox, &mut session, budget, tools);
            let mentions = mention::load_mentions(&toolbox, &mut session, &text, &answer_id);
            let summary = history::latest_summary(&messages);
            let summary = summary.map(|(text, replaces)| (text.to_owned(), replaces.to_vec()));
            let mut past = PastConversation {
                exchanges,
                left_out,
                summary,
                arguments: history::skill_arguments(&messages),
            };
            let is_forked = mentions.has_forked(&toolbox.snapshot());
            if is_forked {
                // A forked turn has a separate context, in which only the mentioned skills are active.
                past = PastConversation::default();
                session.ledger.retain(|name| {
                    mentions.loaded.iter().any(|loaded| loaded.is_loaded() && loaded.skill == name)
                });
            }
            (session, past, is_forked, mentions, files)
        });
        let (session, past, is_forked, mentions, files) = prepared.await?;
        let files = files.map_err(|error| TurnError::Workspace(error.code(), error.to_string()))?;
        self.session = session;
        self.outer_skills = is_forked.then(|| input.activated.to_vec());
        let project = &self.agent.toolbox.registry().host().project;
        self.session.files = files::known_paths(input.history, &files, project);
        let past_entries = past.exchanges.iter().flat_map(|exchange| &exchange.entries);
        self.call_ids = past_entries.flat_map(call_ids).collect();
        self.query.clone_from(&mentions.text);
        let dropped = past.left_out.into_iter();
        (self.left_out_ids, self.context.dropped) =
            dropped.map(|exchange| (exchange.ids, exchange.user)).unzip();
        self.context.past = past.exchanges;
        let (summary, replaced) = past.summary.unzip();
        (self.context.summary, self.replaced_ids) = (summary, replaced.unwrap_or_default());
        self.context.arguments = past.arguments;
        // In the order of the message, as in later turns.
        let find = |path: &String| files.iter().find(|file| file.path == *path).cloned();
        let attached: Vec<WorkspaceFile> = attached.iter().filter_map(find).collect();
        let message = files::with_attachments(&mentions.text, &attached);
        let message = files::with_workspace(&message, &files);
        self.context.add(ConversationEntry::User(message), Retention::Required);
        for loaded in mentions.loaded {
            journal.call(&loaded.call).await?;
            journal.result(&loaded.call, &loaded.envelope, &self.active_skills()).await?;
            self.call_ids.insert(loaded.call.id.clone());
            if loaded.is_loaded() {
                self.context.skills.push(loaded.skill.clone());
            }
            match tools {
                true => self.add_call(loaded.call, &loaded.envelope),
                false if loaded.is_loaded() => self.inline_skills.push((loaded.skill, loaded.envelope.text)),
                false => {}
            }
        }
        Ok(())
    }

    /// Adds a call that was made for the model, as if the model had made it.
    fn add_call(&mut self, call: ToolInvocation, envelope: &Envelope) {
        let failed = envelope.status == CallStatus::Error;
        let (id, name) = (call.id.clone(), call.name.clone());
        let result = ToolOutput { id, name, text: envelope.text.clone(), failed };
        self.context.add(
            ConversationEntry::Assistant { text: String::new(), thinking: vec![], calls: vec![call] },
            Retention::Required,
        );
        self.context.add(ConversationEntry::Results(vec![result]), Retention::Required);
    }

    /// Returns the entries for the next request and the tools, which loaded skills may have extended.
    pub(super) async fn compose(
        &mut self,
    ) -> Result<(Vec<ConversationEntry>, Vec<ToolDefinition>), TurnError> {
        let (toolbox, mut session) = (Arc::clone(&self.agent.toolbox), self.session.clone());
        let mut context = std::mem::take(&mut self.context);
        let (query, inline_skills, system) =
            (self.query.clone(), self.inline_skills.clone(), self.system.clone());
        let can_call_tools = self.agent.model.can_call_tools();
        let dotless = self.agent.model.forbids_dots();
        let (limits, shortened) = (self.agent.limits, self.shorten_level);
        let composed = run_blocking(move || {
            let tools = if can_call_tools { toolbox.definitions_in(&session) } else { Vec::new() };
            // The system prompt stays the same in all requests of a turn, so that the provider can cache it.
            let system = if system.is_empty() {
                let tools = !tools.is_empty();
                SystemPrompt {
                    toolbox: &toolbox,
                    session: &session,
                    query: &query,
                    tools,
                    dotless,
                    inline_skills: &inline_skills,
                }
                .render()
            } else {
                system
            };
            let window = limits.context_tokens as usize;
            let reply = (limits.output_tokens as usize).min(window / 2);
            let schemas = serde_json::to_string(&tools).unwrap_or_default();
            let fixed = tokens::count(&system) + tokens::count(&schemas);
            let budget = (window - reply).saturating_sub(fixed);
            let budget = (0..shortened).fold(budget, |budget, _| budget * 6 / 10);
            // Without tools, a mentioned skill is only in the request for its message.
            let reinject_from = (!tools.is_empty()).then_some(&*toolbox);
            let fit_result = context.fit(budget, reinject_from, &mut session);
            let mut entries = context.entries();
            if tools.is_empty() {
                entries = without_calls(entries);
            }
            (fit_result, context, session, system, entries, tools)
        });
        let (fit_result, context, session, system, entries, tools) = composed.await?;
        (self.context, self.session, self.system) = (context, session, system);
        fit_result?;
        Ok((entries, tools))
    }

    /// Moves the skills that the user mentioned from the conversation into the system prompt.
    pub(super) fn inline_mentions(&mut self) {
        let skills = std::mem::take(&mut self.context.skills);
        let current = std::mem::take(&mut self.context.current);
        let mut names = skills.into_iter();
        for (entry, cost, stays) in current {
            match entry {
                ConversationEntry::Results(results) => {
                    let succeeded = results.into_iter().filter(|result| !result.failed);
                    self.inline_skills
                        .extend(succeeded.filter_map(|result| Some((names.next()?, result.text))));
                }
                ConversationEntry::Assistant { .. } => {}
                ConversationEntry::User(text) => {
                    self.context.current.push((ConversationEntry::User(text), cost, stays))
                }
            }
        }
    }
}

fn call_ids(entry: &ConversationEntry) -> Vec<String> {
    match entry {
        ConversationEntry::Assistant { calls, .. } => calls.iter().map(|call| call.id.clone()).collect(),
        ConversationEntry::User(_) | ConversationEntry::Results(_) => Vec::new(),
    }
}

/// Removes tool calls and results, for a model without tools.
fn without_calls(entries: Vec<ConversationEntry>) -> Vec<ConversationEntry> {
    let mut remaining: Vec<ConversationEntry> = Vec::new();
    for entry in entries {
        match entry {
            ConversationEntry::User(text) => remaining.push(ConversationEntry::User(text)),
            ConversationEntry::Results(_) => {}
            ConversationEntry::Assistant { text, .. } if text.trim().is_empty() => {}
            ConversationEntry::Assistant { text, thinking, calls } => match remaining.last_mut() {
                Some(ConversationEntry::Assistant { text: previous, .. }) => {
                    previous.push_str(&format!("\n{text}"))
                }
                _ => remaining.push(ConversationEntry::Assistant {
                    text,
                    // Thinking about a call would have nothing that follows it.
                    thinking: if calls.is_empty() { thinking } else { Vec::new() },
                    calls: Vec::new(),
                }),
            },
        }
    }
    remaining
}
