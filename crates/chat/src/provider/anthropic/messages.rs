//! The conversation as messages of Anthropic's API.

use prowess_tools::BuiltinTool;
use serde_json::{Value, json};

use super::super::remote::RequestContext;
use super::super::request::{ConversationEntry, ReplyPiece, ToolInvocation, ToolOutput, reply_pieces};
use crate::thinking::SealedContent;

/// What the API requires of the tool calls since the last message of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolLoop {
    /// Nothing.
    Any,
    /// The model has thought before the first call. Calls without thinking, such as those for mentions or of another model,
    /// are sent as text.
    StartsWithThinking,
}

/// Marks a block as the end of a prefix that the provider caches. A request has three of at most four marks: the system
/// prompt, the last loaded skill, and the last message.
pub(super) fn cached(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

pub(super) fn messages(
    entries: &[ConversationEntry],
    context: &RequestContext<'_>,
    tool_loop: ToolLoop,
) -> Vec<Value> {
    let as_text = calls_as_text(entries, context, tool_loop);
    let mut messages: Vec<Value> = Vec::new();
    let mut calls_in_text: &[ToolInvocation] = &[];
    // The message and block of the last skill.
    let mut skill = None;
    for (index, entry) in entries.iter().enumerate() {
        let mut loads_skill = false;
        let (role, blocks) = match entry {
            ConversationEntry::User(text) => ("user", vec![json!({"type": "text", "text": text})]),
            ConversationEntry::Assistant { text, thinking, calls } => {
                let calls = match as_text.contains(&index) {
                    true => {
                        calls_in_text = calls;
                        &[]
                    }
                    false => calls.as_slice(),
                };
                let pieces = reply_pieces(text, thinking, calls, context.thinking_of);
                ("assistant", pieces.iter().filter_map(|piece| reply_block(piece, context)).collect())
            }
            ConversationEntry::Results(results) => {
                loads_skill = results.last().is_some_and(|result| !result.failed && is_skill(result));
                let block = |result| match index.checked_sub(1).is_some_and(|call| as_text.contains(&call)) {
                    true => result_text(result, calls_in_text),
                    false => result_block(result),
                };
                ("user", results.iter().map(block).collect::<Vec<_>>())
            }
        };
        if blocks.is_empty() {
            continue;
        }
        // Consecutive messages with the same role are merged.
        match messages.last_mut().filter(|last| last["role"] == role) {
            Some(last) => {
                if let Some(content) = last["content"].as_array_mut() {
                    content.extend(blocks);
                }
            }
            None => messages.push(json!({"role": role, "content": blocks})),
        }
        if loads_skill {
            let block = messages.last().and_then(|last| last["content"].as_array()).map_or(0, Vec::len);
            skill = Some((messages.len() - 1, block.saturating_sub(1)));
        }
    }
    let last = messages.len().checked_sub(1).and_then(|last| {
        let content = messages[last]["content"].as_array()?;
        // Thinking cannot be marked.
        let block =
            content.iter().rposition(|block| block.get("thinking").is_none() && block.get("data").is_none());
        Some((last, block?))
    });
    for (message, block) in skill.into_iter().chain(last) {
        if let Some(block) = messages[message]["content"].get_mut(block) {
            *block = cached(block.take());
        }
    }
    messages
}

/// Returns the indexes of the replies whose calls are sent as text.
fn calls_as_text(
    entries: &[ConversationEntry],
    context: &RequestContext<'_>,
    tool_loop: ToolLoop,
) -> Vec<usize> {
    if tool_loop == ToolLoop::Any {
        return Vec::new();
    }
    let start = entries.iter().rposition(|entry| matches!(entry, ConversationEntry::User(_)));
    let replies = entries.iter().enumerate().skip(start.map_or(0, |start| start + 1));
    let replies = replies.take_while(|(_, entry)| match entry {
        ConversationEntry::Assistant { thinking, .. } => {
            !thinking.iter().any(|block| Some(block.seal.model.as_str()) == context.thinking_of)
        }
        ConversationEntry::User(_) | ConversationEntry::Results(_) => true,
    });
    let with_calls = replies.filter(|(_, entry)| match entry {
        ConversationEntry::Assistant { calls, .. } => !calls.is_empty(),
        ConversationEntry::User(_) | ConversationEntry::Results(_) => false,
    });
    with_calls.map(|(index, _)| index).collect()
}

fn reply_block(piece: &ReplyPiece<'_>, context: &RequestContext<'_>) -> Option<Value> {
    Some(match piece {
        ReplyPiece::Text(text) => json!({"type": "text", "text": text.trim_end()}),
        ReplyPiece::Call(call) => {
            let input = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
            json!({"type": "tool_use", "id": call.id, "name": context.names.to_wire(&call.name), "input": input})
        }
        ReplyPiece::Thinking(block) => match &block.seal.content {
            SealedContent::Redacted { data } => json!({"type": "redacted_thinking", "data": data}),
            SealedContent::Signature { signature } => {
                json!({"type": "thinking", "thinking": block.text, "signature": signature})
            }
            // Only another provider has it.
            SealedContent::Reasoning { .. } => return None,
        },
    })
}

fn result_block(result: &ToolOutput) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": result.id, "content": result.text});
    if result.failed {
        block["is_error"] = true.into();
    }
    block
}

/// Returns a result as a text that says where it comes from.
fn result_text(result: &ToolOutput, calls: &[ToolInvocation]) -> Value {
    let arguments = calls.iter().find(|call| call.id == result.id).map(|call| &call.arguments);
    let arguments = arguments.map(|arguments| format!(" with {arguments}")).unwrap_or_default();
    let text = format!("[The tool {} was called{arguments}. Its result:]\n\n{}", result.name, result.text);
    json!({"type": "text", "text": super::without_dots(&text)})
}

/// Returns `true` if a result contains the instructions of a skill.
fn is_skill(result: &ToolOutput) -> bool {
    matches!(BuiltinTool::from_name(&result.name), Some(BuiltinTool::Activate | BuiltinTool::Skill))
}
