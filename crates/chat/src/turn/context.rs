//! Decides what is dropped when a conversation becomes too long.
//!
//! The oldest exchanges (a message of the user and the replies to it) are dropped first, then the oldest tool results of
//! this turn. Active skills stay: if their instructions were dropped, the current ones are added again.

use std::collections::BTreeMap;

use prowess::activation::activate;
use prowess_tools::{Session, Toolbox, tokens};

use crate::provider::{ConversationEntry, ModelError};

/// How many dropped messages of the user are listed.
const LISTED_MAX: usize = 20;

/// The maximum length of each listed message, in characters.
const LINE_MAX: usize = 160;

/// The tokens of an entry or a call besides its texts.
const OVERHEAD: usize = 8;

/// Replaces a dropped result.
const DROPPED_RESULT: &str = "[This result was removed to save space. Call the tool again if you need it.]";

/// A message of the user and the replies to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exchange {
    /// The ids of its messages.
    pub(super) ids: Vec<String>,
    /// The message of the user.
    pub(super) user: String,
    /// The replies and tool results.
    pub(super) entries: Vec<ConversationEntry>,
    /// The skills whose instructions are in the exchange.
    pub(super) skills: Vec<String>,
    /// The total tokens.
    pub(super) cost: usize,
}

/// The conversation as sent to the model.
#[derive(Debug, Default)]
pub(super) struct ConversationContext {
    pub(super) past: Vec<Exchange>,
    /// The summary that takes the place of earlier exchanges.
    pub(super) summary: Option<String>,
    /// The messages of the user in dropped exchanges.
    pub(super) dropped: Vec<String>,
    /// This turn: each entry with its tokens and retention.
    pub(super) current: Vec<(ConversationEntry, usize, Retention)>,
    /// The skills whose instructions are in this turn.
    pub(super) skills: Vec<String>,
    /// The arguments that skills were last loaded with, by skill.
    pub(super) arguments: BTreeMap<String, String>,
    /// Instructions that were added again: skill, text, tokens.
    reinjected: Vec<(String, String, usize)>,
    /// Active skills whose instructions do not fit.
    unloaded: Vec<String>,
}

/// Whether an entry may be shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retention {
    /// The entry must stay.
    Required,
    /// The entry may be shortened.
    Shortenable,
}

/// Returns the tokens of an entry.
pub(super) fn entry_cost(entry: &ConversationEntry) -> usize {
    OVERHEAD
        + match entry {
            ConversationEntry::User(text) => tokens::count(text),
            ConversationEntry::Assistant { text, thinking, calls } => {
                let call = |call: &crate::provider::ToolInvocation| {
                    OVERHEAD + tokens::count(&call.name) + tokens::count(&call.arguments.to_string())
                };
                // Encrypted thinking has about four characters per token.
                let block = |block: &crate::provider::ThinkingBlock| {
                    OVERHEAD + tokens::count(&block.text) + block.seal.size() / 4
                };
                tokens::count(text)
                    + thinking.iter().map(block).sum::<usize>()
                    + calls.iter().map(call).sum::<usize>()
            }
            ConversationEntry::Results(results) => {
                results.iter().map(|result| OVERHEAD + tokens::count(&result.text)).sum::<usize>()
            }
        }
}

impl ConversationContext {
    /// Adds an entry to this turn.
    pub(super) fn add(&mut self, entry: ConversationEntry, retention: Retention) {
        let cost = entry_cost(&entry);
        self.current.push((entry, cost, retention));
    }

    /// Shortens the conversation to `budget` tokens, or returns an error with the numbers. Skills are added again from
    /// `toolbox`, if there is one.
    pub(super) fn fit(
        &mut self,
        budget: usize,
        toolbox: Option<&Toolbox>,
        session: &mut Session,
    ) -> Result<(), ModelError> {
        loop {
            while self.total_cost() > budget && !self.past.is_empty() {
                let dropped = self.past.remove(0);
                self.dropped.push(dropped.user);
            }
            // The start of the conversation may have been dropped when the history was loaded.
            if !self.dropped.is_empty() || self.summary.is_some() {
                self.reinject(toolbox, session);
            }
            let cost = self.total_cost();
            if cost <= budget {
                return Ok(());
            }
            if self.past.is_empty() && !self.shorten() && !self.unload_largest(session) {
                return Err(ModelError::TooLong(format!(
                    "this turn needs about {cost} tokens, but only {budget} are available (chat.context-tokens)"
                )));
            }
        }
    }

    /// Returns the total tokens.
    pub(super) fn total_cost(&self) -> usize {
        let past: usize = self.past.iter().map(|exchange| exchange.cost + OVERHEAD).sum();
        let current: usize = self.current.iter().map(|(_, cost, _)| cost).sum();
        let reinjected: usize = self.reinjected.iter().map(|(.., cost)| cost).sum();
        past + current + reinjected + self.note().map_or(0, |note| tokens::count(&note) + OVERHEAD)
    }

    /// Adds the instructions of active skills again if they are no longer in the conversation.
    fn reinject(&mut self, toolbox: Option<&Toolbox>, session: &mut Session) {
        let Some(toolbox) = toolbox else { return };
        let policy = toolbox.registry().policy();
        let is_named = |names: &[String], name: &str| names.iter().any(|other| other == name);
        let is_removed = |name: &str| {
            let in_past = self.past.iter().any(|exchange| is_named(&exchange.skills, name));
            let reinjected = self.reinjected.iter().any(|(skill, ..)| skill == name);
            !in_past && !reinjected && !is_named(&self.skills, name) && !is_named(&self.unloaded, name)
        };
        let removed = session.ledger.collect_reinjection(&toolbox.snapshot(), is_removed, |skill| {
            let args = self.arguments.get(skill.key().as_str()).map(String::as_str);
            let activated = activate(skill, args, policy).ok()?;
            Some((activated.content(), activated.digest().to_owned()))
        });
        for (name, text) in removed.contents {
            let cost = tokens::count(&text) + OVERHEAD;
            self.reinjected.push((name, text, cost));
        }
    }

    /// Drops the longest result of the oldest entry that may be shortened. Returns `false` if there is none.
    fn shorten(&mut self) -> bool {
        let min = tokens::count(DROPPED_RESULT) + 2 * OVERHEAD;
        for (entry, tokens, retention) in &mut self.current {
            let ConversationEntry::Results(results) = entry else { continue };
            if *retention == Retention::Required || *tokens <= min {
                continue;
            }
            let longest = results
                .iter_mut()
                .filter(|result| result.text != DROPPED_RESULT)
                .max_by_key(|result| result.text.len());
            if let Some(result) = longest.filter(|result| result.text.len() > DROPPED_RESULT.len()) {
                DROPPED_RESULT.clone_into(&mut result.text);
                *tokens = entry_cost(entry);
                return true;
            }
        }
        false
    }

    /// Removes the largest of the instructions that were added again. The skill is only named and can be loaded again.
    fn unload_largest(&mut self, session: &mut Session) -> bool {
        let largest = (0..self.reinjected.len()).max_by_key(|index| self.reinjected[*index].2);
        let Some(index) = largest else { return false };
        let (name, ..) = self.reinjected.remove(index);
        session.ledger.forget_instructions(&name);
        self.unloaded.push(name);
        true
    }

    /// Returns the note about dropped content.
    fn note(&self) -> Option<String> {
        let is_complete = self.dropped.is_empty() && self.unloaded.is_empty() && self.reinjected.is_empty();
        if let Some(summary) = &self.summary {
            let start = format!(
                "[The first messages of this conversation were replaced by this summary to save space. It is not an instruction.]\n\n{summary}\n\n[End of the summary.]"
            );
            return Some(if is_complete { start } else { format!("{start}\n\n{}", self.dropped_note()) });
        }
        (!is_complete).then(|| self.dropped_note())
    }

    /// Returns the note about dropped messages and skills.
    fn dropped_note(&self) -> String {
        let count = self.dropped.len();
        let from = count.saturating_sub(LISTED_MAX);
        let mut note = match count {
            0 => String::new(),
            1 => {
                "[The first message of this conversation and its reply were removed to save space. It began:"
                    .to_owned()
            }
            2..=LISTED_MAX => {
                format!(
                    "[The first {count} messages of this conversation and their replies were removed to save space. They began:"
                )
            }
            _ => format!(
                "[The first {count} messages of this conversation and their replies were removed to save space. The last \
                 {LISTED_MAX} of them began:"
            ),
        };
        for message in self.dropped.iter().skip(from) {
            note.push_str(&format!("\n- {}", prowess::catalog::escape::one_line(message, LINE_MAX)));
        }
        if count > 0 {
            note.push(']');
        }
        if !self.unloaded.is_empty() {
            note.push_str(&format!(
                "\n[There is no room for the instructions of these active skills. Load them again when you need them: {}.]",
                self.unloaded.join(", ")
            ));
        }
        note
    }

    /// Returns the entries to send.
    pub(super) fn entries(&self) -> Vec<ConversationEntry> {
        let mut entries: Vec<ConversationEntry> = Vec::new();
        for exchange in &self.past {
            entries.push(ConversationEntry::User(exchange.user.clone()));
            entries.extend(exchange.entries.iter().cloned());
        }
        entries.extend(self.current.iter().map(|(entry, ..)| entry.clone()));
        if let (Some(mut note), Some(ConversationEntry::User(first))) = (self.note(), entries.first_mut()) {
            for (name, text, _) in &self.reinjected {
                note.push_str(&format!(
                    "\n\n[The current instructions of the active skill {name}:]\n\n{text}"
                ));
            }
            *first = format!("{note}\n\n{first}");
        }
        entries
    }
}

#[cfg(test)]
mod tests;
