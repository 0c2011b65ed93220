//! What is left out when a conversation gets too long, and what never is.
//!
//! The oldest exchanges go first, then results of tools of this turn, the oldest first. Skills that are active stay: what
//! was left out of their instructions is put in again, as they are now.

use std::collections::BTreeMap;

use prowess::activate::activate;
use prowess::ledger::Ledger;
use prowess_tools::{Session, Toolbox, key, tokens};

use crate::provider::{Entry, ModelError};

/// How many of the person's messages that were left out are named.
const NAMED_MAX: usize = 20;

/// How much of each, in characters.
const LINE_MAX: usize = 160;

/// What a call costs besides its texts, and so does every other entry.
const OVERHEAD: usize = 8;

/// What stands where a result was.
const LEFT_OUT: &str = "[The result was left out for want of room. Call the tool again if you need it.]";

/// A message and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exchange {
    /// What the person said.
    pub(super) user: String,
    /// What the model said and did.
    pub(super) entries: Vec<Entry>,
    /// The skills whose instructions are in it.
    pub(super) skills: Vec<String>,
    /// What all of it costs, in tokens.
    pub(super) cost: usize,
}

/// What a model is shown of a conversation.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) past: Vec<Exchange>,
    /// What the person said in exchanges that were left out.
    pub(super) left_out: Vec<String>,
    /// This turn: each entry with its cost, and whether it has to stay.
    pub(super) now: Vec<(Entry, usize, Stays)>,
    /// The skills whose instructions this turn has.
    pub(super) skills: Vec<String>,
    /// The arguments that skills were last loaded with, by what they are called by.
    pub(super) arguments: BTreeMap<String, String>,
    /// What was put in again: skill, instructions, cost.
    again: Vec<(String, String, usize)>,
    /// Skills for which there was no room.
    named: Vec<String>,
}

/// Whether an entry may be shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stays {
    /// It may not.
    Yes,
    /// It may.
    No,
}

/// What an entry costs, in tokens.
pub(super) fn cost(entry: &Entry) -> usize {
    OVERHEAD
        + match entry {
            Entry::User(text) => tokens::count(text),
            Entry::Assistant { text, calls } => {
                let call = |call: &crate::provider::Call| {
                    OVERHEAD + tokens::count(&call.name) + tokens::count(&call.arguments.to_string())
                };
                tokens::count(text) + calls.iter().map(call).sum::<usize>()
            }
            Entry::Results(results) => {
                results.iter().map(|result| OVERHEAD + tokens::count(&result.text)).sum::<usize>()
            }
        }
}

impl Context {
    /// Adds an entry of this turn.
    pub(super) fn add(&mut self, entry: Entry, stays: Stays) {
        let cost = cost(&entry);
        self.now.push((entry, cost, stays));
    }

    /// Makes it fit into `room` tokens. What cannot be made to fit is an error with numbers in it. `toolbox` has the skills
    /// that are put in again; without it none are.
    pub(super) fn fit(
        &mut self,
        room: usize,
        toolbox: Option<&Toolbox>,
        session: &mut Session,
    ) -> Result<(), ModelError> {
        loop {
            while self.cost() > room && !self.past.is_empty() {
                let gone = self.past.remove(0);
                self.left_out.push(gone.user);
            }
            // What began the conversation may have been left out before it came here, too.
            if !self.left_out.is_empty() {
                self.put_in_again(toolbox, session);
            }
            let cost = self.cost();
            if cost <= room {
                return Ok(());
            }
            if self.past.is_empty() && !self.shorten() && !self.name_one(session) {
                return Err(ModelError::TooLong(format!(
                    "this turn alone has about {cost} tokens, and {room} are left for it (chat.context-tokens)"
                )));
            }
        }
    }

    /// What all of it costs.
    pub(super) fn cost(&self) -> usize {
        let past: usize = self.past.iter().map(|exchange| exchange.cost + OVERHEAD).sum();
        let now: usize = self.now.iter().map(|(_, cost, _)| cost).sum();
        let again: usize = self.again.iter().map(|(.., cost)| cost).sum();
        past + now + again + self.note().map_or(0, |note| tokens::count(&note) + OVERHEAD)
    }

    /// Puts in again the instructions of active skills that are nowhere any more.
    fn put_in_again(&mut self, toolbox: Option<&Toolbox>, session: &mut Session) {
        let Some(toolbox) = toolbox else { return };
        let policy = toolbox.registry().policy();
        let mut shown = session.ledger.clone();
        let again = shown.reinjection(&toolbox.snapshot(), |skill| {
            let args = self.arguments.get(key(skill, policy).as_ref()).map(String::as_str);
            let activated = activate(skill, args, policy).ok()?;
            Some((activated.content(), activated.digest().to_owned()))
        });
        for (name, text) in again.contents {
            let held = self.past.iter().any(|exchange| exchange.skills.contains(&name));
            let known = self.again.iter().any(|(known, ..)| *known == name);
            if held || known || self.skills.contains(&name) || self.named.contains(&name) {
                continue;
            }
            let cost = tokens::count(&text) + OVERHEAD;
            self.again.push((name, text, cost));
        }
        // The digests are those of what is shown now.
        session.ledger = shown;
    }

    /// Leaves out the oldest result that may be left out and is worth it.
    fn shorten(&mut self) -> bool {
        let least = tokens::count(LEFT_OUT) + 2 * OVERHEAD;
        for (entry, entry_cost, stays) in &mut self.now {
            let Entry::Results(results) = entry else { continue };
            if *stays == Stays::Yes || *entry_cost <= least {
                continue;
            }
            let longest = results
                .iter_mut()
                .filter(|result| result.text != LEFT_OUT)
                .max_by_key(|result| result.text.len());
            if let Some(result) = longest.filter(|result| result.text.len() > LEFT_OUT.len()) {
                LEFT_OUT.clone_into(&mut result.text);
                *entry_cost = cost(entry);
                return true;
            }
        }
        false
    }

    /// Where not even the active skills fit, the largest is only named, and can be loaded again.
    fn name_one(&mut self, session: &mut Session) -> bool {
        let largest = (0..self.again.len()).max_by_key(|at| self.again[*at].2);
        let Some(at) = largest else { return false };
        let (name, ..) = self.again.remove(at);
        session.ledger = without_digest(&session.ledger, &name);
        self.named.push(name);
        true
    }

    /// What is said of what was left out.
    fn note(&self) -> Option<String> {
        if self.left_out.is_empty() && self.named.is_empty() && self.again.is_empty() {
            return None;
        }
        let count = self.left_out.len();
        let from = count.saturating_sub(NAMED_MAX);
        let mut note = match count {
            1 => "[For want of room, the first message of this conversation and its answer are left out. It began:".to_owned(),
            2..=NAMED_MAX => {
                format!("[For want of room, the first {count} messages of this conversation and their answers are left out. They began:")
            }
            _ => format!(
                "[For want of room, the first {count} messages of this conversation and their answers are left out. The last \
                 {NAMED_MAX} of them began:"
            ),
        };
        for said in self.left_out.iter().skip(from) {
            note.push_str(&format!("\n- {}", prowess::disclose::escape::one_line(said, LINE_MAX)));
        }
        note.push(']');
        if !self.named.is_empty() {
            note.push_str(&format!(
                "\n[There is no room for the instructions of these active skills; load them again when you need them: {}.]",
                self.named.join(", ")
            ));
        }
        Some(note)
    }

    /// What the model is shown.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for exchange in &self.past {
            entries.push(Entry::User(exchange.user.clone()));
            entries.extend(exchange.entries.iter().cloned());
        }
        entries.extend(self.now.iter().map(|(entry, ..)| entry.clone()));
        if let (Some(mut note), Some(Entry::User(first))) = (self.note(), entries.first_mut()) {
            for (name, text, _) in &self.again {
                note.push_str(&format!(
                    "\n\n[The instructions of the active skill {name}, as they are now:]\n\n{text}"
                ));
            }
            *first = format!("{note}\n\n{first}");
        }
        entries
    }
}

/// The same memory, in which nobody knows which instructions of this skill the conversation has.
fn without_digest(ledger: &Ledger, name: &str) -> Ledger {
    let kept = serde_json::to_value(ledger).unwrap_or_default();
    let mut again = Ledger::from_names(ledger.names().map(str::to_owned));
    for entry in kept.as_array().into_iter().flatten() {
        if let (Some(known), Some(digest)) = (entry["name"].as_str(), entry["digest"].as_str())
            && known != name
        {
            again.activated(known, digest);
        }
    }
    again
}

#[cfg(test)]
mod tests;
