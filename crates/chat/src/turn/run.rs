//! The loop of a turn, and its ends.

use std::collections::HashSet;

use prowess::ledger::Ledger;
use prowess_tools::{Session, ToolDefinition};
use tokio_util::sync::CancellationToken;

use super::ask::{Cut, Heard, ask};
use super::context::Context;
use super::dispatch::Ending;
use super::end::{Outcome, TurnError};
use super::journal::{Journal, names};
use super::record::Record;
use super::repeat::Repeats;
use super::{Agent, Input, MESSAGE_MAX};
use crate::ending::End;
use crate::event::Event;
use crate::message::Usage;
use crate::provider::{Entry, ModelError, Request, Stop};

/// How often a conversation is shortened because the provider says that it is too long.
const SHORTENED_MAX: u32 = 2;

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
    let kept = journal.record.end(&ending(&end, usage), &activated).await;
    let end = match (end, kept) {
        (Ok(_), Err(error)) => Err(error.into()),
        (end, _) => end,
    };
    (journal.heard)(ending(&end, usage).event(&answer_id, activated.clone()));
    Outcome { message_id: Some(answer_id), end, usage, activated }
}

fn ending(end: &Result<End, TurnError>, usage: Option<Usage>) -> crate::Ending {
    match end {
        Ok(end) => crate::Ending::finished(*end, usage),
        Err(error) => crate::Ending::Broken { code: error.code(), message: error.to_string(), usage },
    }
}

/// A turn under way.
pub(super) struct Running<'a> {
    pub(super) agent: &'a Agent,
    pub(super) cancel: &'a CancellationToken,
    pub(super) ending: Ending,
    pub(super) session: Session,
    pub(super) context: Context,
    /// Skills that are in this one request, for a model that cannot call tools.
    pub(super) inside: Vec<(String, String)>,
    /// What the model is shown of the message.
    pub(super) query: String,
    pub(super) system: String,
    pub(super) repeats: Repeats,
    pub(super) ids: HashSet<String>,
    usage: Option<Usage>,
    spent: u64,
    pub(super) shortened: u32,
}

/// What came of one step.
pub(super) enum Step {
    /// The model is asked what comes next.
    On,
    /// The model is asked the same in another way.
    Again,
    /// It is over.
    Over(End),
}

impl<'a> Running<'a> {
    pub(super) fn new(
        agent: &'a Agent,
        input: Input<'_>,
        answer_id: &str,
        cancel: &'a CancellationToken,
    ) -> Self {
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
}
