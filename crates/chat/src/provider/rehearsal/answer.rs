//! The answer: what a model would have been given, and that there is none.

use prowess::policy::CatalogFormat;
use prowess_routing::asks_for_list;
use prowess_tools::{PromptRequest, Toolbox, prompt, tokens};

use super::plan::{Found, Seen, skill_of};
use crate::message::Usage;
use crate::message::is_mention;
use crate::provider::{Call, CallResult, Entry};

/// The most bytes of one skill's instructions that are shown.
const SHOWN_MAX: usize = 8 * 1024;

const NOT_A_MODEL: &str = "\
This is a rehearsal, not a model: no provider is configured, and nothing has left this machine. This is what a model would \
have been given for your message.";

const TO_ASK_A_MODEL: &str = "\
To talk to a model, set `chat.provider` and `chat.model` in your own configuration, and `chat.key-env` where a key is needed.";

/// The whole answer, in Markdown.
pub(super) fn render(toolbox: &Toolbox, seen: &Seen, found: &Found) -> String {
    let (system, tools, said) = costs(seen);
    let offered: Vec<&str> = seen.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut lines = vec![
        NOT_A_MODEL.to_owned(),
        String::new(),
        format!("- tier {}: {}", found.tier.number(), found.tier.about()),
        format!("- skills on offer: {}", toolbox.snapshot().enabled().count()),
        format!(
            "- tools on offer: {}",
            if offered.is_empty() { "none".to_owned() } else { offered.join(", ") }
        ),
    ];
    lines.extend(matches(toolbox, seen, found));
    let called = seen.called();
    for (call, result) in &called {
        lines.push(format!("- called: {}", told(call, result)));
    }
    let all = system + tools + said;
    lines.push(format!("- tokens: {all} (system prompt {system}, tools {tools}, conversation {said})"));
    if asks_for_list(seen.query()) {
        let request = PromptRequest { format: Some(CatalogFormat::Tiers), ..PromptRequest::default() };
        lines.push(String::new());
        lines.push(prompt(toolbox, &request).text.trim_end().to_owned());
    }
    for (call, result) in &called {
        if let Some(name) = skill_of(toolbox, call).filter(|_| !result.failed) {
            lines.push(String::new());
            lines.push(format!("Instructions of {name}:"));
            lines.push(String::new());
            lines.push(fenced(&result.text));
        }
    }
    lines.push(String::new());
    lines.push(TO_ASK_A_MODEL.to_owned());
    lines.join("\n") + "\n"
}

/// Which skills answer, and why: those that were called by name, else those that match.
fn matches(toolbox: &Toolbox, seen: &Seen, found: &Found) -> Vec<String> {
    let by_name = seen.called().into_iter().filter(|(call, _)| is_mention(&call.id));
    let by_name: Vec<String> = by_name
        .filter_map(|(call, _)| skill_of(toolbox, call))
        .map(|name| format!("- matches: {name} (called by name)"))
        .collect();
    if !by_name.is_empty() {
        return by_name;
    }
    let matches = &found.routing.matches;
    match matches.is_empty() {
        true => vec!["- matches: none".to_owned()],
        false => matches
            .iter()
            .map(|found| format!("- matches: {} ({})", found.name, found.reasons.join("; ")))
            .collect(),
    }
}

/// A call on one line.
fn told(call: &Call, result: &CallResult) -> String {
    let what: Vec<_> = ["name", "path"].iter().filter_map(|key| call.arguments[key].as_str()).collect();
    let what = prowess::format::hidden::shown(&what.join(" ")).into_owned();
    match result.failed {
        true => format!("{} {what} → error: {}", call.name, prowess::format::hidden::shown(&result.text)),
        false => format!("{} {what} → {} tokens", call.name, tokens::count(&result.text)),
    }
}

/// A text between fences that nothing in it can close.
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

/// What system prompt, tools and conversation cost, in tokens.
fn costs(seen: &Seen) -> (usize, usize, usize) {
    let schemas = serde_json::to_string(&seen.tools).unwrap_or_default();
    let said = seen.entries.iter().map(|entry| match entry {
        Entry::User(text) => tokens::count(text),
        Entry::Assistant { text, calls } => {
            tokens::count(text)
                + calls.iter().map(|call| tokens::count(&call.arguments.to_string())).sum::<usize>()
        }
        Entry::Results(results) => results.iter().map(|result| tokens::count(&result.text)).sum(),
    });
    (tokens::count(&seen.system), if seen.tools.is_empty() { 0 } else { tokens::count(&schemas) }, said.sum())
}

/// What it would have cost.
pub(super) fn usage(seen: &Seen, text: &str) -> Usage {
    let (system, tools, said) = costs(seen);
    Usage { input: (system + tools + said) as u64, output: tokens::count(text) as u64, cached: 0 }
}
