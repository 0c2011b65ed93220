//! The loop of a turn, and its ends.

use std::collections::HashSet;
use std::sync::Arc;

use prowess::ErrorCode;
use prowess::ledger::Ledger;
use prowess_tools::{Envelope, Outcome as Went, Session, ToolDefinition, ToolError, tokens};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::ask::{Cut, Heard, ask};
use super::context::{Context, Stays};
use super::dispatch::{self, Ending, blocking};
use super::end::{End, Outcome, TurnError};
use super::prompt::System;
use super::record::Record;
use super::repeat::{Repeats, Verdict};
use super::{Agent, Input, MESSAGE_MAX, history, kept, mention};
use crate::event::Event;
use crate::message::{Part, State, Usage};
use crate::provider::{Call, CallResult, Entry, ModelError, Request, Stop, without_dots};

/// How often a conversation is shortened because the provider says that it is too long.
const SHORTENED_MAX: u32 = 2;

/// Writes down, then tells.
pub(super) struct Journal<'a> {
    record: &'a mut dyn Record,
    heard: &'a mut (dyn FnMut(Event) + Send),
}

impl Journal<'_> {
    pub(super) async fn delta(&mut self, text: &str) -> Result<(), TurnError> {
        self.record.delta(text).await?;
        (self.heard)(Event::Delta { text: text.to_owned() });
        Ok(())
    }

    async fn call(&mut self, call: &Call) -> Result<(), TurnError> {
        let Call { id, name, arguments } = call.clone();
        let part = Part::ToolCall { id: id.clone(), name: name.clone(), arguments: arguments.clone() };
        self.record.call(&part).await?;
        (self.heard)(Event::ToolCall { id, name, arguments });
        Ok(())
    }

    async fn result(&mut self, call: &Call, envelope: &Envelope, session: &Session) -> Result<(), TurnError> {
        let part = kept::result(&call.id, &call.name, envelope);
        self.record.result(&part, &names(session)).await?;
        (self.heard)(Event::ToolResult {
            id: call.id.clone(),
            name: call.name.clone(),
            status: kept::status(envelope.status).to_owned(),
            data: kept::data(envelope),
        });
        Ok(())
    }
}

/// The skills that were loaded in a conversation.
fn names(session: &Session) -> Vec<String> {
    session.ledger.names().map(str::to_owned).collect()
}

/// One turn, from its first event to its last.
pub(super) async fn turn(
    agent: &Agent,
    input: Input<'_>,
    record: &mut dyn Record,
    heard: &mut (dyn FnMut(Event) + Send),
    cancel: &CancellationToken,
) -> Outcome {
    let mut journal = Journal { record, heard };
    let judged = match input.text.len() {
        _ if input.text.trim().is_empty() => Err(TurnError::Empty),
        long if long > MESSAGE_MAX => Err(TurnError::Long(long)),
        _ => Ok(()),
    };
    let begun = match judged {
        Ok(()) => journal.record.begin(input.text).await.map_err(TurnError::from),
        Err(error) => Err(error),
    };
    let begun = match begun {
        Ok(begun) => begun,
        Err(error) => {
            (journal.heard)(Event::Error {
                code: error.code().as_str().to_owned(),
                message: error.to_string(),
            });
            let activated = input.activated.to_vec();
            return Outcome { message_id: None, end: Err(error), usage: None, activated };
        }
    };
    let mut running = Running::new(agent, input, &begun.answer_id, cancel);
    let end = running.run(&mut journal, input, &begun.answer_id).await;
    let (usage, activated) = (running.usage, names(&running.session));
    finish(&mut journal, begun.answer_id, end, usage, activated).await
}

async fn finish(
    journal: &mut Journal<'_>,
    answer_id: String,
    end: Result<End, TurnError>,
    usage: Option<Usage>,
    activated: Vec<String>,
) -> Outcome {
    let state = match &end {
        Ok(end) => match end.about() {
            None => State::Complete,
            Some(reason) => State::Interrupted { reason: reason.to_owned() },
        },
        Err(error) => State::Interrupted { reason: error.to_string() },
    };
    let kept = journal.record.end(&state, usage, &activated).await;
    let end = match (end, kept) {
        (Ok(_), Err(error)) => Err(error.into()),
        (end, _) => end,
    };
    (journal.heard)(match &end {
        Ok(end) => Event::Done {
            message_id: answer_id.clone(),
            reason: end.as_str().to_owned(),
            usage,
            activated_skill_names: activated.clone(),
        },
        Err(error) => Event::Error { code: error.code().as_str().to_owned(), message: error.to_string() },
    });
    Outcome { message_id: Some(answer_id), end, usage, activated }
}

/// A turn under way.
struct Running<'a> {
    agent: &'a Agent,
    cancel: &'a CancellationToken,
    ending: Ending,
    session: Session,
    context: Context,
    /// Skills that are in this one request, for a model that cannot call tools.
    inside: Vec<(String, String)>,
    /// What the model is shown of the message.
    query: String,
    system: String,
    repeats: Repeats,
    ids: HashSet<String>,
    usage: Option<Usage>,
    spent: u64,
    shortened: u32,
}

/// What came of one step.
enum Step {
    /// The model is asked what comes next.
    On,
    /// The model is asked the same in another way.
    Again,
    /// It is over.
    Over(End),
}

impl<'a> Running<'a> {
    fn new(agent: &'a Agent, input: Input<'_>, answer_id: &str, cancel: &'a CancellationToken) -> Self {
        let ending = Ending::default();
        let mut session = Session::default();
        session.ledger = Ledger::from_names(input.activated.to_vec());
        // Whatever is active was loaded, or called by the person: the model may go on with it.
        for name in input.activated {
            session.call_by_name(name);
        }
        input.chat.clone_into(&mut session.about.session_id);
        answer_id.clone_into(&mut session.about.message_id);
        "prowess".clone_into(&mut session.about.agent);
        ending.bind(&mut session);
        Self {
            agent,
            cancel,
            ending,
            session,
            context: Context::default(),
            inside: Vec::new(),
            query: String::new(),
            system: String::new(),
            repeats: Repeats::default(),
            ids: HashSet::new(),
            usage: None,
            spent: 0,
            shortened: 0,
        }
    }

    async fn run(
        &mut self,
        journal: &mut Journal<'_>,
        input: Input<'_>,
        answer_id: &str,
    ) -> Result<End, TurnError> {
        self.prepare(journal, input, answer_id).await?;
        let mut step = 1;
        loop {
            match self.step(journal, step).await? {
                Step::On => step += 1,
                Step::Again => {}
                Step::Over(end) => return Ok(end),
            }
        }
    }

    /// What was said before, and what the message calls by name.
    async fn prepare(
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
            (session, past, left_out, called)
        });
        let (session, past, left_out, called) = prepared.await?;
        self.session = session;
        self.ids = past.iter().flat_map(|exchange| &exchange.entries).flat_map(ids).collect();
        self.query.clone_from(&called.text);
        (self.context.past, self.context.left_out) = (past, left_out);
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

    /// Asks the model once, and calls the tools that it wants called.
    async fn step(&mut self, journal: &mut Journal<'_>, step: u32) -> Result<Step, TurnError> {
        let mut heard = Heard::default();
        let (entries, tools) = self.compose().await?;
        if self.cancel.is_cancelled() {
            return Ok(Step::Over(End::Cancelled));
        }
        let request = Request {
            system: &self.system,
            entries: &entries,
            tools: &tools,
            max_output_tokens: self.agent.limits.output_tokens,
        };
        let asked = ask(&*self.agent.model, request, journal, self.cancel, &mut heard).await;
        self.count(&heard, &entries, &tools);
        match asked {
            Ok(()) => {}
            Err(Cut::Cancelled) => return Ok(Step::Over(End::Cancelled)),
            Err(Cut::Model(error)) => return self.recover(error, &heard, !tools.is_empty()),
            Err(Cut::Turn(error)) => return Err(error),
        }
        let end = match heard.stop {
            Some(Stop::Length) => Some(End::Length),
            Some(Stop::Declined) => Some(End::Declined),
            Some(Stop::Finished | Stop::Other(_)) | None => None,
        };
        if heard.calls.is_empty() {
            return Ok(Step::Over(end.unwrap_or(End::Finished)));
        }
        let spent = self.agent.limits.turn_tokens.is_some_and(|most| self.spent >= u64::from(most));
        let last = step == self.agent.limits.steps;
        let end = end.or(spent.then_some(End::Tokens)).or(last.then_some(End::Steps));
        self.call_tools(journal, heard, end).await
    }

    /// What the model is shown now, and the tools that it has now: skills that were loaded may have brought some.
    async fn compose(&mut self) -> Result<(Vec<Entry>, Vec<ToolDefinition>), TurnError> {
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

    /// What a request has cost; estimated where the provider does not say.
    fn count(&mut self, heard: &Heard, entries: &[Entry], tools: &[ToolDefinition]) {
        if let Some(usage) = heard.usage {
            let sum = self.usage.get_or_insert_default();
            sum.input += usage.input;
            sum.output += usage.output;
            sum.cached += usage.cached;
            self.spent += usage.input + usage.output;
            return;
        }
        // Four bytes to a token: nobody is charged by this, it only has to come to an end.
        let said: usize = entries.iter().map(|entry| format!("{entry:?}").len()).sum();
        let schemas: usize = tools.iter().map(|tool| tool.description.len() + 200).sum();
        self.spent += ((said + schemas + self.system.len() + heard.text.len()) / 4) as u64;
    }

    /// Goes on after a failure that there is a way around.
    fn recover(&mut self, error: ModelError, heard: &Heard, offered: bool) -> Result<Step, TurnError> {
        let nothing_said = heard.text.is_empty() && heard.calls.is_empty();
        match &error {
            ModelError::NoTools(_) if nothing_said && offered && !self.agent.model.can_call_tools() => {
                // Asked once more without tools; what the person called goes into the request itself.
                self.system.clear();
                self.take_inside();
                Ok(Step::Again)
            }
            ModelError::TooLong(_) if nothing_said && self.shortened < SHORTENED_MAX => {
                self.shortened += 1;
                Ok(Step::Again)
            }
            _ => Err(error.into()),
        }
    }

    /// Takes the skills that the person called out of the conversation and into the request.
    fn take_inside(&mut self) {
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

    /// Calls the tools, one after the other. `end` is set where the turn ends now: then they are not called any more, and
    /// each has a result that says so.
    async fn call_tools(
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
            if kept::is_activation(&call.name) && envelope.status != Went::Error {
                stays = Stays::Yes;
                let name = call.arguments["name"].as_str().unwrap_or_default();
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

fn ids(entry: &Entry) -> Vec<String> {
    match entry {
        Entry::Assistant { calls, .. } => calls.iter().map(|call| call.id.clone()).collect(),
        Entry::User(_) | Entry::Results(_) => Vec::new(),
    }
}

fn not_called(end: End) -> Envelope {
    let why = end.about().unwrap_or("the turn is over");
    let code = if end == End::Cancelled { ErrorCode::ExecutionError } else { ErrorCode::TooLarge };
    Envelope::error(ToolError::new(code, format!("the tool was not called: {why}")))
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
