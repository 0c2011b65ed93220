//! What the model is asked: what was said before, what the message calls by name, and what there is room for.

use std::sync::Arc;

use prowess_tools::{Envelope, Outcome as Went, ToolDefinition, tokens};

use super::context::Stays;
use super::dispatch::blocking;
use super::end::TurnError;
use super::journal::Journal;
use super::prompt::System;
use super::run::Running;
use super::{Input, history, mention};
use crate::provider::{Call, CallResult, Entry};

impl Running<'_> {
    /// What was said before, and what the message calls by name.
    pub(super) async fn prepare(
        &mut self,
        journal: &mut Journal<'_>,
        input: Input<'_>,
        answer_id: &str,
    ) -> Result<(), TurnError> {
        let tools = self.agent.model.can_call_tools();
        let (toolbox, mut session) = (Arc::clone(&self.agent.toolbox), self.session.clone());
        let (messages, text, answer_id) =
            (input.history.to_vec(), input.text.to_owned(), answer_id.to_owned());
        let room = self.agent.limits.context_tokens as usize;
        let prepared = blocking(move || {
            let (past, left_out) = history::exchanges(&messages, &toolbox, &mut session, room, tools);
            let called = mention::called(&toolbox, &mut session, &text, &answer_id);
            (session, past, left_out, history::arguments(&messages), called)
        });
        let (session, past, left_out, arguments, called) = prepared.await?;
        self.session = session;
        self.ids = past.iter().flat_map(|exchange| &exchange.entries).flat_map(ids).collect();
        self.query.clone_from(&called.text);
        (self.context.past, self.context.left_out) = (past, left_out);
        self.context.arguments = arguments;
        self.context.add(Entry::User(called.text), Stays::Yes);
        for loaded in called.loaded {
            journal.call(&loaded.call).await?;
            journal.result(&loaded.call, &loaded.envelope, &self.session).await?;
            self.ids.insert(loaded.call.id.clone());
            if loaded.is_there() {
                self.context.skills.push(loaded.skill.clone());
            }
            match tools {
                true => self.show_call(loaded.call, &loaded.envelope),
                false if loaded.is_there() => self.inside.push((loaded.skill, loaded.envelope.text)),
                false => {}
            }
        }
        Ok(())
    }

    /// A call that was made for the model, as if it had made it itself.
    fn show_call(&mut self, call: Call, envelope: &Envelope) {
        let failed = envelope.status == Went::Error;
        let (id, name) = (call.id.clone(), call.name.clone());
        let result = CallResult { id, name, text: envelope.text.clone(), failed };
        self.context.add(Entry::Assistant { text: String::new(), calls: vec![call] }, Stays::Yes);
        self.context.add(Entry::Results(vec![result]), Stays::Yes);
    }

    /// What the model is shown now, and the tools that it has now: skills that were loaded may have brought some.
    pub(super) async fn compose(&mut self) -> Result<(Vec<Entry>, Vec<ToolDefinition>), TurnError> {
        let (toolbox, mut session) = (Arc::clone(&self.agent.toolbox), self.session.clone());
        let mut context = std::mem::take(&mut self.context);
        let (query, inside, system) = (self.query.clone(), self.inside.clone(), self.system.clone());
        let can = self.agent.model.can_call_tools();
        let dotless = self.agent.model.forbids_dots();
        let (limits, shortened) = (self.agent.limits, self.shortened);
        let composed = blocking(move || {
            let tools = if can { toolbox.definitions_in(&session) } else { Vec::new() };
            // The same in all requests of a turn, so that the provider's cache holds.
            let system = if system.is_empty() {
                let tools = !tools.is_empty();
                System {
                    toolbox: &toolbox,
                    session: &session,
                    query: &query,
                    tools,
                    dotless,
                    inside: &inside,
                }
                .render()
            } else {
                system
            };
            let window = limits.context_tokens as usize;
            let answer = (limits.output_tokens as usize).min(window / 2);
            let schemas = serde_json::to_string(&tools).unwrap_or_default();
            let fixed = tokens::count(&system) + tokens::count(&schemas);
            let room = (window - answer).saturating_sub(fixed);
            let room = (0..shortened).fold(room, |room, _| room * 6 / 10);
            // Without tools a skill is in the request for which it was called, and in no other.
            let again = (!tools.is_empty()).then_some(&*toolbox);
            let fits = context.fit(room, again, &mut session);
            let mut entries = context.entries();
            if tools.is_empty() {
                entries = without_calls(entries);
            }
            (fits, context, session, system, entries, tools)
        });
        let (fits, context, session, system, entries, tools) = composed.await?;
        (self.context, self.session, self.system) = (context, session, system);
        fits?;
        Ok((entries, tools))
    }

    /// Takes the skills that the person called out of the conversation and into the request.
    pub(super) fn take_inside(&mut self) {
        let skills = std::mem::take(&mut self.context.skills);
        let now = std::mem::take(&mut self.context.now);
        let mut names = skills.into_iter();
        for (entry, cost, stays) in now {
            match entry {
                Entry::Results(results) => {
                    let there = results.into_iter().filter(|result| !result.failed);
                    self.inside.extend(there.filter_map(|result| Some((names.next()?, result.text))));
                }
                Entry::Assistant { .. } => {}
                Entry::User(text) => self.context.now.push((Entry::User(text), cost, stays)),
            }
        }
    }
}

fn ids(entry: &Entry) -> Vec<String> {
    match entry {
        Entry::Assistant { calls, .. } => calls.iter().map(|call| call.id.clone()).collect(),
        Entry::User(_) | Entry::Results(_) => Vec::new(),
    }
}

/// A conversation for a model that knows no tools: what was said, and nothing else.
fn without_calls(entries: Vec<Entry>) -> Vec<Entry> {
    let mut said: Vec<Entry> = Vec::new();
    for entry in entries {
        match entry {
            Entry::User(text) => said.push(Entry::User(text)),
            Entry::Results(_) => {}
            Entry::Assistant { text, .. } if text.trim().is_empty() => {}
            Entry::Assistant { text, .. } => match said.last_mut() {
                Some(Entry::Assistant { text: before, .. }) => before.push_str(&format!("\n{text}")),
                _ => said.push(Entry::Assistant { text, calls: Vec::new() }),
            },
        }
    }
    said
}
