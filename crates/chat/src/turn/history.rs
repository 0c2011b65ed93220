//! The stored messages, as sent to the model.
//!
//! Texts of skills are not stored. They are read again: an unchanged text is restored, and a changed one is replaced by
//! a note or by the current text.

use std::collections::BTreeMap;

use prowess::activation::activate;
use prowess_tools::{BuiltinTool, Session, Toolbox, tokens};
use serde_json::Value;

use super::context::{Exchange, entry_cost};
use super::files::{attached_files, with_attachments};
use super::mention::{is_forked, without_mention};
use super::summary::{command_outputs, is_reminder, loaded_skill_name, returns_skill_text, safe_id};
use crate::message::{Message, MessageState, Part, Role, is_mention};
use crate::provider::{ConversationEntry, ThinkingBlock, ToolInvocation, ToolOutput};

/// The text of a reply without content.
const EMPTY_REPLY: &str = "[no reply]";

/// Returns the exchanges of a conversation that fit into `budget` tokens, oldest first, and the messages of the user in
/// those that do not fit.
pub(super) fn exchanges(
    messages: &[Message],
    toolbox: &Toolbox,
    session: &mut Session,
    budget: usize,
    tools: bool,
) -> (Vec<Exchange>, Vec<DroppedExchange>) {
    let replaced = latest_summary(messages).map(|(_, replaces)| replaces).unwrap_or_default();
    let mut pairs: Vec<(&Message, Vec<&Message>)> = Vec::new();
    for message in messages.iter().filter(|message| !replaced.contains(&message.id)) {
        match (message.role, pairs.last_mut()) {
            (Role::User, _) => pairs.push((message, Vec::new())),
            (Role::Assistant, Some((_, replies))) => replies.push(message),
            (Role::Assistant, None) => {}
        }
    }
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let mut used = 0;
    let mut restored = Vec::new();
    for (message, replies) in pairs.iter().rev() {
        if used > budget {
            dropped.push(DroppedExchange::new(message, replies));
            continue;
        }
        let restorer = ResultRestorer { toolbox, session: &mut *session, restored: &mut restored };
        let exchange = exchange(message, replies, restorer, tools);
        used += exchange.cost;
        match used > budget {
            true => dropped.push(DroppedExchange::new(message, replies)),
            false => kept.push(exchange),
        }
    }
    kept.reverse();
    dropped.reverse();
    // Skills whose instructions were dropped must be added again.
    let kept_skills: Vec<&str> =
        kept.iter().flat_map(|exchange| exchange.skills.iter().map(String::as_str)).collect();
    restored.retain(|skill: &RestoredSkill| kept_skills.contains(&skill.name.as_str()));
    let names: Vec<String> = session.ledger.names().map(str::to_owned).collect();
    session.ledger = prowess::ledger::Ledger::from_names(names);
    for RestoredSkill { name, digest, file_set } in &restored {
        session.ledger.record_activation(name, digest);
        session.ledger.pin_file_set(name, file_set.as_deref());
    }
    (kept, dropped)
}

/// Returns the arguments that skills were last loaded with, by skill. A later call without arguments only returns a
/// reminder, so the earlier arguments still apply.
pub(super) fn skill_arguments(messages: &[Message]) -> BTreeMap<String, String> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let loads = parts.filter_map(|part| match part {
        Part::ToolCall { name, arguments, .. } => {
            loaded_skill_name(name, arguments).zip(arguments["args"].as_str().filter(|args| !args.is_empty()))
        }
        Part::Text { .. }
        | Part::File { .. }
        | Part::Thinking { .. }
        | Part::Summary { .. }
        | Part::ToolResult { .. } => None,
    });
    loads.map(|(name, args)| (name.to_owned(), args.to_owned())).collect()
}

/// An exchange that does not fit.
pub(super) struct DroppedExchange {
    /// The ids of its messages.
    pub(super) ids: Vec<String>,
    /// The message of the user.
    pub(super) user: String,
}

impl DroppedExchange {
    fn new(message: &Message, replies: &[&Message]) -> Self {
        Self { ids: message_ids(message, replies), user: message_text(message) }
    }
}

fn message_ids(message: &Message, replies: &[&Message]) -> Vec<String> {
    std::iter::once(&message.id).chain(replies.iter().map(|reply| &reply.id)).cloned().collect()
}

/// Returns the latest summary and the ids of the messages that it replaces.
pub(super) fn latest_summary(messages: &[Message]) -> Option<(&str, &[String])> {
    messages.iter().rev().flat_map(|message| message.parts.iter().rev()).find_map(|part| match part {
        Part::Summary { text, replaces } => Some((text.as_str(), replaces.as_slice())),
        _ => None,
    })
}

fn message_text(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::File { .. }
        | Part::Thinking { .. }
        | Part::Summary { .. }
        | Part::ToolCall { .. }
        | Part::ToolResult { .. } => None,
    });
    texts.collect()
}

fn exchange(
    message: &Message,
    replies: &[&Message],
    mut restorer: ResultRestorer<'_>,
    tools: bool,
) -> Exchange {
    let parts = || replies.iter().flat_map(|reply| &reply.parts);
    let first = parts().find_map(|part| match part {
        Part::ToolCall { id, arguments, .. } => Some((id.as_str(), arguments)),
        Part::Text { .. }
        | Part::File { .. }
        | Part::Thinking { .. }
        | Part::Summary { .. }
        | Part::ToolResult { .. } => None,
    });
    let user = without_mention(&message_text(message), first);
    let user = with_attachments(&user, &attached_files(&message.parts));
    let mut entries = Vec::new();
    let mut skills = Vec::new();
    // Only the answer of a forked turn is part of the conversation.
    let is_fork = parts().any(|part| match part {
        Part::ToolCall { id, arguments, .. } if is_mention(id) => {
            arguments["name"].as_str().is_some_and(|name| is_forked(&restorer.toolbox.snapshot(), name))
        }
        Part::ToolCall { .. }
        | Part::Text { .. }
        | Part::File { .. }
        | Part::Thinking { .. }
        | Part::Summary { .. }
        | Part::ToolResult { .. } => false,
    });
    for reply in replies {
        match is_fork {
            true => entries.extend(reply_entries(&final_answer(reply), &mut restorer, &mut skills, tools)),
            false => entries.extend(reply_entries(reply, &mut restorer, &mut skills, tools)),
        }
    }
    if !matches!(entries.last(), Some(ConversationEntry::Assistant { .. })) {
        entries.push(text_entry(EMPTY_REPLY.to_owned()));
    }
    let cost = tokens::count(&user) + entries.iter().map(entry_cost).sum::<usize>();
    let ids = message_ids(message, replies);
    Exchange { ids, user, entries, skills, cost }
}

/// Returns a reply with only the text after its last tool call.
fn final_answer(reply: &Message) -> Message {
    let is_text = |part: &&Part| matches!(part, Part::Text { .. });
    let texts = reply.parts.iter().rev().take_while(is_text).count();
    let parts = reply.parts[reply.parts.len() - texts..].to_vec();
    Message { parts, ..reply.clone() }
}

/// A request to the model in a stored reply: what the model wrote, and the results of its calls.
#[derive(Default)]
struct ReplyStep {
    text: String,
    thinking: Vec<ThinkingBlock>,
    calls: Vec<ToolInvocation>,
    results: Vec<ToolOutput>,
}

impl ReplyStep {
    fn add_to(self, entries: &mut Vec<ConversationEntry>) {
        let Self { text, thinking, calls, mut results } = self;
        if text.trim().is_empty() && calls.is_empty() {
            return;
        }
        // Providers require exactly one result for each call.
        results.retain(|result| calls.iter().any(|call| call.id == result.id));
        for call in &calls {
            if !results.iter().any(|result| result.id == call.id) {
                let text = "[no result: the turn was interrupted]".to_owned();
                results.push(ToolOutput { id: call.id.clone(), name: call.name.clone(), text, failed: true });
            }
        }
        entries.push(ConversationEntry::Assistant { text, thinking, calls });
        if !results.is_empty() {
            entries.push(ConversationEntry::Results(results));
        }
    }
}

fn text_entry(text: String) -> ConversationEntry {
    ConversationEntry::Assistant { text, thinking: Vec::new(), calls: Vec::new() }
}

/// Returns the entries of a reply: text and calls, then the results, and so on.
fn reply_entries(
    reply: &Message,
    restorer: &mut ResultRestorer<'_>,
    skills: &mut Vec<String>,
    tools: bool,
) -> Vec<ConversationEntry> {
    let mut entries = Vec::new();
    let mut step = ReplyStep::default();
    for part in &reply.parts {
        match part {
            Part::Text { text } => {
                if !step.calls.is_empty() {
                    std::mem::take(&mut step).add_to(&mut entries);
                }
                step.text.push_str(text);
            }
            // Thinking without a seal is only for display.
            Part::Thinking { seal: None, .. } => {}
            Part::Thinking { .. } if !tools => {}
            Part::Thinking { text, seal: Some(seal) } => {
                if !step.calls.is_empty() {
                    std::mem::take(&mut step).add_to(&mut entries);
                }
                let (text, offset, seal) = (text.clone(), step.text.len(), seal.clone());
                step.thinking.push(ThinkingBlock { text, offset, seal });
            }
            // Only messages of the user have files, and a summary takes the place of other messages.
            Part::File { .. } | Part::Summary { .. } => {}
            Part::ToolCall { .. } | Part::ToolResult { .. } if !tools => {}
            Part::ToolCall { id, name, arguments } => {
                if !step.results.is_empty() {
                    std::mem::take(&mut step).add_to(&mut entries);
                }
                step.calls.push(ToolInvocation {
                    id: safe_id(id),
                    name: name.clone(),
                    arguments: arguments.clone(),
                });
            }
            Part::ToolResult { id, name, summary, status } => {
                let id = safe_id(id);
                let arguments = step.calls.iter().find(|call| call.id == id).map(|call| &call.arguments);
                let text = restorer.restore(name, arguments.unwrap_or(&Value::Null), summary, skills);
                step.results.push(ToolOutput { id, name: name.clone(), text, failed: status == "error" });
            }
        }
    }
    step.add_to(&mut entries);
    let note = match &reply.state {
        MessageState::Complete => return entries,
        MessageState::Writing => "[The reply was interrupted.]".to_owned(),
        MessageState::Interrupted { reason } => format!("[The reply was interrupted: {reason}.]"),
    };
    match entries.last_mut() {
        Some(ConversationEntry::Assistant { text, calls, .. }) if calls.is_empty() => {
            text.push_str(&format!("\n{note}"))
        }
        _ => entries.push(text_entry(note)),
    }
    entries
}

/// A skill whose instructions were restored.
struct RestoredSkill {
    name: String,
    digest: String,
    /// The digest of the files of a remote skill.
    file_set: Option<String>,
}

/// Restores results that are not stored.
struct ResultRestorer<'a> {
    toolbox: &'a Toolbox,
    session: &'a mut Session,
    restored: &'a mut Vec<RestoredSkill>,
}

impl ResultRestorer<'_> {
    fn restore(
        &mut self,
        tool: &str,
        arguments: &Value,
        summary: &Value,
        skills: &mut Vec<String>,
    ) -> String {
        if let Some(text) = summary["text"].as_str() {
            return text.to_owned();
        }
        if let Some(message) = summary["error"]["message"].as_str() {
            return message.to_owned();
        }
        match BuiltinTool::from_name(tool) {
            Some(BuiltinTool::ReadFile) => match loaded_skill_name(tool, summary) {
                Some(name) => self.restore_skill(name, arguments, summary, skills),
                None => self.restore_file(tool, arguments, summary),
            },
            Some(BuiltinTool::Activate | BuiltinTool::Skill) => {
                let name = arguments["name"].as_str().or_else(|| summary["name"].as_str());
                self.restore_skill(name.unwrap_or_default(), arguments, summary, skills)
            }
            Some(_) if returns_skill_text(tool) => self.restore_file(tool, arguments, summary),
            _ => "[The result was not stored.]".to_owned(),
        }
    }

    /// Returns the instructions of a skill, at the last point where they were loaded.
    fn restore_skill(
        &mut self,
        name: &str,
        arguments: &Value,
        summary: &Value,
        skills: &mut Vec<String>,
    ) -> String {
        let display_name = prowess::format::hidden::escape_for_display(name);
        if self.restored.iter().any(|restored| restored.name == name) {
            return format!("[The instructions of {display_name} are included below.]");
        }
        if is_reminder(summary) {
            return format!("[The skill {display_name} was already active.]");
        }
        let snapshot = self.toolbox.snapshot();
        let policy = self.toolbox.registry().policy();
        let skill = snapshot.get(name).filter(|skill| skill.is_enabled() && policy.enabled);
        let activated = skill.and_then(|skill| activate(skill, arguments["args"].as_str(), policy).ok());
        let Some(mut activated) = activated else {
            return format!("[The skill {display_name} is no longer available.]");
        };
        activated.set_command_outputs(command_outputs(summary));
        let (digest, file_set) =
            (activated.digest().to_owned(), activated.origin.as_ref().map(|origin| origin.file_set.clone()));
        self.restored.push(RestoredSkill { name: name.to_owned(), digest, file_set });
        skills.push(name.to_owned());
        let content = activated.content();
        match summary["text_digest"] == prowess::digest(content.as_bytes()) {
            true => content,
            false => format!(
                "[The skill {display_name} has changed since. Its current instructions:]\n\n{content}"
            ),
        }
    }

    /// Returns the content of a file if it is unchanged.
    fn restore_file(&mut self, tool: &str, arguments: &Value, summary: &Value) -> String {
        let mut scratch = Session::default();
        for name in self.session.active_skills() {
            scratch.mark_invoked(&name);
        }
        let result = self.toolbox.call(&mut scratch, tool, arguments.clone());
        if result.error.is_none() && summary["text_digest"] == prowess::digest(result.text.as_bytes()) {
            self.session.add_remote_reads(&scratch);
            return result.text;
        }
        let path =
            prowess::format::hidden::escape_for_display(arguments["path"].as_str().unwrap_or("the file"))
                .into_owned();
        format!("[{path} was read here and has changed since. Read it again if you need it.]")
    }
}
