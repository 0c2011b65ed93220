//! Renders the reply of the rehearsal: what a model would have received, and a note that none is configured.

use prowess::catalog::{Visibility, visibility};
use prowess::policy::CatalogFormat;
use prowess_routing::asks_for_list;
use prowess_tools::{PromptRequest, Toolbox, render_prompt, tokens};

use super::plan::{ModelInput, RoutingOutcome, loaded_skill_name};
use crate::message::TokenUsage;
use crate::message::is_mention;
use crate::provider::{ConversationEntry, ToolInvocation, ToolOutput};

/// The maximum number of bytes of a skill's instructions to show.
const SHOWN_MAX: usize = 8 * 1024;

const NOT_A_MODEL: &str = "\
This is a rehearsal, not a model: no provider is configured, and nothing has left this machine. A model would have \
received the following for your message.";

const SETUP_HINT: &str = "\
To use a model, set `chat.provider` and `chat.model` in your configuration, and `chat.key-env` if the provider needs a key.";

/// Renders the whole reply, in Markdown.
pub(super) fn render(toolbox: &Toolbox, input: &ModelInput, outcome: &RoutingOutcome) -> String {
    let (system, tools, conversation) = token_counts(input);
    let offered: Vec<&str> = input.tools.iter().map(|tool| tool.name.as_str()).collect();
    let (snapshot, policy) = (toolbox.snapshot(), toolbox.registry().policy());
    let skills = snapshot.enabled().filter(|skill| visibility(skill, policy) != Visibility::Manual).count();
    let mut lines = vec![
        NOT_A_MODEL.to_owned(),
        String::new(),
        format!("- tier {}: {}", outcome.tier.number(), outcome.tier.describe()),
        format!("- available skills: {skills}"),
        format!(
            "- available tools: {}",
            if offered.is_empty() { "none".to_owned() } else { offered.join(", ") }
        ),
    ];
    lines.extend(matches(toolbox, input, outcome));
    let calls = input.current_calls();
    for (call, result) in &calls {
        lines.push(format!("- called: {}", call_line(call, result)));
    }
    let total = system + tools + conversation;
    lines.push(format!(
        "- tokens: {total} (system prompt {system}, tools {tools}, conversation {conversation})"
    ));
    if asks_for_list(input.query()) {
        let request = PromptRequest { format: Some(CatalogFormat::Tiers), ..PromptRequest::default() };
        lines.push(String::new());
        lines.push(render_prompt(toolbox, &request).text.trim_end().to_owned());
    }
    for (call, result) in &calls {
        if let Some(name) = loaded_skill_name(toolbox, call).filter(|_| !result.failed) {
            lines.push(String::new());
            lines.push(format!("Instructions of {name}:"));
            lines.push(String::new());
            lines.push(fenced(&result.text));
        }
    }
    lines.push(String::new());
    lines.push(SETUP_HINT.to_owned());
    lines.join("\n") + "\n"
}

/// Lists the selected skills with reasons: those that the message mentions, or those that match.
fn matches(toolbox: &Toolbox, input: &ModelInput, outcome: &RoutingOutcome) -> Vec<String> {
    let by_name = input.current_calls().into_iter().filter(|(call, _)| is_mention(&call.id));
    let by_name: Vec<String> = by_name
        .filter_map(|(call, _)| loaded_skill_name(toolbox, call))
        .map(|name| format!("- matches: {name} (mentioned by name)"))
        .collect();
    if !by_name.is_empty() {
        return by_name;
    }
    let matches = &outcome.routing.matches;
    match matches.is_empty() {
        true => vec!["- matches: none".to_owned()],
        false => matches
            .iter()
            .map(|matched| format!("- matches: {} ({})", matched.name, matched.reasons.join("; ")))
            .collect(),
    }
}

fn call_line(call: &ToolInvocation, result: &ToolOutput) -> String {
    let target: Vec<_> = ["name", "path"].iter().filter_map(|key| call.arguments[key].as_str()).collect();
    let target = prowess::format::hidden::escape_for_display(&target.join(" ")).into_owned();
    match result.failed {
        true => format!(
            "{} {target} → error: {}",
            call.name,
            prowess::format::hidden::escape_for_display(&result.text)
        ),
        false => format!("{} {target} → {} tokens", call.name, tokens::count(&result.text)),
    }
}

/// Encloses a text in a fence that the text cannot close.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let head = &text[..text.floor_char_boundary(SHOWN_MAX)];
    let mut out = format!("{fence}text\n{}\n{fence}", head.trim_end());
    if head.len() < text.len() {
        out.push_str(&format!("\n[{} of {} bytes shown]", head.len(), text.len()));
    }
    out
}

/// Returns the tokens of the system prompt, the tools and the conversation.
fn token_counts(input: &ModelInput) -> (usize, usize, usize) {
    let schemas = serde_json::to_string(&input.tools).unwrap_or_default();
    let conversation = input.entries.iter().map(|entry| match entry {
        ConversationEntry::User(text) => tokens::count(text),
        ConversationEntry::Assistant { text, calls, .. } => {
            tokens::count(text)
                + calls.iter().map(|call| tokens::count(&call.arguments.to_string())).sum::<usize>()
        }
        ConversationEntry::Results(results) => results.iter().map(|result| tokens::count(&result.text)).sum(),
    });
    (
        tokens::count(&input.system),
        if input.tools.is_empty() { 0 } else { tokens::count(&schemas) },
        conversation.sum(),
    )
}

/// Returns the usage that the request would have had.
pub(super) fn usage(input: &ModelInput, text: &str) -> TokenUsage {
    let (system, tools, conversation) = token_counts(input);
    TokenUsage {
        input: (system + tools + conversation) as u64,
        output: tokens::count(text) as u64,
        cached: 0,
        cache_writes: 0,
    }
}
