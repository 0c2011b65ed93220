//! What was said before, as the model is shown it.
//!
//! Texts of skills were not kept. They are read again: where a text is the same as then it stands where it stood; where it
//! is not, that is said.

use std::collections::BTreeMap;

use prowess::activate::activate;
use prowess_tools::{Session, Tool, Toolbox, tokens};
use serde_json::Value;

use super::context::{Exchange, cost};
use super::kept::{is_reminder, is_text_of_a_skill, loaded_skill, plain_id};
use super::mention::as_shown;
use crate::message::{Message, Part, Role, State};
use crate::provider::{Call, CallResult, Entry};

/// What stands where the model said nothing.
const NOTHING: &str = "[no answer]";

/// The exchanges of a conversation, the oldest first, as far back as they fit into `room` tokens; and what the person said
/// in those that do not.
pub(super) fn exchanges(
    messages: &[Message],
    toolbox: &Toolbox,
    session: &mut Session,
    room: usize,
    tools: bool,
) -> (Vec<Exchange>, Vec<String>) {
    let mut pairs: Vec<(&Message, Vec<&Message>)> = Vec::new();
    for message in messages {
        match (message.role, pairs.last_mut()) {
            (Role::User, _) => pairs.push((message, Vec::new())),
            (Role::Assistant, Some((_, answers))) => answers.push(message),
            (Role::Assistant, None) => {}
        }
    }
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    let mut used = 0;
    let mut known = Vec::new();
    for (said, answers) in pairs.iter().rev() {
        if used > room {
            left_out.push(text_of(said));
            continue;
        }
        let again = Again { toolbox, session, known: &mut known };
        let exchange = exchange(said, answers, again, tools);
        used += exchange.cost;
        match used > room {
            true => left_out.push(text_of(said)),
            false => kept.push(exchange),
        }
    }
    kept.reverse();
    left_out.reverse();
    // What is in what was left out has to be shown again by somebody else.
    let held: Vec<&str> =
        kept.iter().flat_map(|exchange| exchange.skills.iter().map(String::as_str)).collect();
    known.retain(|(name, _): &(String, String)| held.contains(&name.as_str()));
    let names: Vec<String> = session.ledger.names().map(str::to_owned).collect();
    session.ledger = prowess::ledger::Ledger::from_names(names);
    for (name, digest) in &known {
        session.ledger.activated(name, digest);
    }
    (kept, left_out)
}

/// The arguments that skills were last loaded with, by what they are called by. A later call without arguments gives a
/// reminder, and the instructions with them still count.
pub(super) fn arguments(messages: &[Message]) -> BTreeMap<String, String> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let loads = parts.filter_map(|part| match part {
        Part::ToolCall { name, arguments, .. } => {
            loaded_skill(name, arguments).zip(arguments["args"].as_str().filter(|args| !args.is_empty()))
        }
        Part::Text { .. } | Part::ToolResult { .. } => None,
    });
    loads.map(|(name, args)| (name.to_owned(), args.to_owned())).collect()
}

fn text_of(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::ToolCall { .. } | Part::ToolResult { .. } => None,
    });
    texts.collect()
}

fn exchange(said: &Message, answers: &[&Message], mut again: Again<'_>, tools: bool) -> Exchange {
    let parts = || answers.iter().flat_map(|answer| &answer.parts);
    let first = parts().find_map(|part| match part {
        Part::ToolCall { id, arguments, .. } => Some((id.as_str(), arguments)),
        Part::Text { .. } | Part::ToolResult { .. } => None,
    });
    let user = as_shown(&text_of(said), first);
    let mut entries = Vec::new();
    let mut skills = Vec::new();
    for answer in answers {
        entries.extend(steps(answer, &mut again, &mut skills, tools));
    }
    if !matches!(entries.last(), Some(Entry::Assistant { .. })) {
        entries.push(Entry::Assistant { text: NOTHING.to_owned(), calls: Vec::new() });
    }
    let cost = tokens::count(&user) + entries.iter().map(cost).sum::<usize>();
    Exchange { user, entries, skills, cost }
}

/// The steps of one answer: what was said and called, then the results, and so on.
fn steps(answer: &Message, again: &mut Again<'_>, skills: &mut Vec<String>, tools: bool) -> Vec<Entry> {
    let mut entries = Vec::new();
    let (mut text, mut calls, mut results) = (String::new(), Vec::<Call>::new(), Vec::<CallResult>::new());
    let flush = |text: &mut String,
                 calls: &mut Vec<Call>,
                 results: &mut Vec<CallResult>,
                 entries: &mut Vec<Entry>| {
        let (said, calls) = (std::mem::take(text), std::mem::take(calls));
        if said.trim().is_empty() && calls.is_empty() {
            return;
        }
        let mut results = std::mem::take(results);
        // Every call has one result, and every result its call: providers insist.
        results.retain(|result| calls.iter().any(|call| call.id == result.id));
        for call in &calls {
            if !results.iter().any(|result| result.id == call.id) {
                let text = "[no result: the turn was broken off]".to_owned();
                results.push(CallResult { id: call.id.clone(), name: call.name.clone(), text, failed: true });
            }
        }
        entries.push(Entry::Assistant { text: said, calls });
        if !results.is_empty() {
            entries.push(Entry::Results(results));
        }
    };
    for part in &answer.parts {
        match part {
            Part::Text { text: more } => {
                if !calls.is_empty() {
                    flush(&mut text, &mut calls, &mut results, &mut entries);
                }
                text.push_str(more);
            }
            Part::ToolCall { .. } | Part::ToolResult { .. } if !tools => {}
            Part::ToolCall { id, name, arguments } => {
                if !results.is_empty() {
                    flush(&mut text, &mut calls, &mut results, &mut entries);
                }
                calls.push(Call { id: plain_id(id), name: name.clone(), arguments: arguments.clone() });
            }
            Part::ToolResult { id, name, summary, status } => {
                let id = plain_id(id);
                let arguments = calls.iter().find(|call| call.id == id).map(|call| &call.arguments);
                let text = again.text(name, arguments.unwrap_or(&Value::Null), summary, skills);
                results.push(CallResult { id, name: name.clone(), text, failed: status == "error" });
            }
        }
    }
    flush(&mut text, &mut calls, &mut results, &mut entries);
    let broke_off = match &answer.state {
        State::Complete => return entries,
        State::Writing => "[The answer broke off.]".to_owned(),
        State::Interrupted { reason } => format!("[The answer broke off: {reason}.]"),
    };
    match entries.last_mut() {
        Some(Entry::Assistant { text, calls }) if calls.is_empty() => {
            text.push_str(&format!("\n{broke_off}"))
        }
        _ => entries.push(Entry::Assistant { text: broke_off, calls: Vec::new() }),
    }
    entries
}

/// Reads again what was not kept.
struct Again<'a> {
    toolbox: &'a Toolbox,
    session: &'a Session,
    /// Skills that were shown already, with the digest of what was.
    known: &'a mut Vec<(String, String)>,
}

impl Again<'_> {
    fn text(&mut self, tool: &str, arguments: &Value, summary: &Value, skills: &mut Vec<String>) -> String {
        if let Some(text) = summary["text"].as_str() {
            return text.to_owned();
        }
        if let Some(message) = summary["error"]["message"].as_str() {
            return message.to_owned();
        }
        match Tool::named(tool) {
            Some(Tool::ReadFile) => match loaded_skill(tool, summary) {
                Some(name) => self.skill(name, arguments, summary, skills),
                None => self.file(tool, arguments, summary),
            },
            Some(Tool::Activate | Tool::Skill) => {
                let name = arguments["name"].as_str().or_else(|| summary["name"].as_str());
                self.skill(name.unwrap_or_default(), arguments, summary, skills)
            }
            Some(_) if is_text_of_a_skill(tool) => self.file(tool, arguments, summary),
            _ => "[The result was not kept.]".to_owned(),
        }
    }

    /// The instructions of a skill, the latest time that they were given.
    fn skill(&mut self, name: &str, arguments: &Value, summary: &Value, skills: &mut Vec<String>) -> String {
        let shown = prowess::format::hidden::shown(name);
        if self.known.iter().any(|(known, _)| known == name) {
            return format!("[The instructions of {shown} are given further down.]");
        }
        if is_reminder(summary) {
            return format!("[The skill {shown} was active already.]");
        }
        let snapshot = self.toolbox.snapshot();
        let policy = self.toolbox.registry().policy();
        let skill = snapshot.get(name).filter(|skill| skill.is_enabled() && policy.enabled);
        let activated = skill.and_then(|skill| activate(skill, arguments["args"].as_str(), policy).ok());
        let Some(activated) = activated else { return format!("[The skill {shown} is no longer there.]") };
        self.known.push((name.to_owned(), activated.digest().to_owned()));
        skills.push(name.to_owned());
        let content = activated.content();
        match summary["text_digest"] == prowess::digest(content.as_bytes()) {
            true => content,
            false => format!(
                "[The skill {shown} has changed since. Its instructions as they are now:]\n\n{content}"
            ),
        }
    }

    /// A file, if it is what it was.
    fn file(&self, tool: &str, arguments: &Value, summary: &Value) -> String {
        let mut scratch = Session::default();
        for name in self.session.active() {
            scratch.call_by_name(&name);
        }
        let read = self.toolbox.call(&mut scratch, tool, arguments.clone());
        if read.error.is_none() && summary["text_digest"] == prowess::digest(read.text.as_bytes()) {
            return read.text;
        }
        let path =
            prowess::format::hidden::shown(arguments["path"].as_str().unwrap_or("the file")).into_owned();
        format!("[{path} was read here, and has changed since. Read it again if you need it.]")
    }
}
