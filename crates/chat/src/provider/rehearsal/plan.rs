//! Decides the next step of the rehearsal, which replies if no model is configured: load the requested skills, read the
//! files that their instructions name, then reply.

use prowess::activation::activate;
use prowess::short_path;
use prowess::usage::SkillUsage;
use prowess_routing::{RouteOptions, Routing, SkillMatch, Tier, fold};
use prowess_tools::{BuiltinTool, ToolDefinition, Toolbox};
use serde_json::{Value, json};

use crate::message::without_file_notes;
use crate::provider::{ConversationEntry, ToolInvocation, ToolOutput};

/// The maximum number of skills to load for a message.
const SKILLS_MAX: usize = 3;

/// The maximum number of files to read of each skill.
const FILES_MAX: usize = 5;

pub(super) struct ModelInput {
    pub(super) system: String,
    pub(super) entries: Vec<ConversationEntry>,
    pub(super) tools: Vec<ToolDefinition>,
}

pub(super) enum NextStep {
    /// Make these calls.
    Call(Vec<PlannedCall>),
    Reply(RoutingOutcome),
}

#[derive(Debug, PartialEq)]
pub(super) struct PlannedCall {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// How a message was routed.
pub(super) struct RoutingOutcome {
    pub(super) tier: Tier,
    pub(super) routing: Routing,
}

impl ModelInput {
    /// Returns the latest message of the user. The names of files say nothing about the skills that it needs.
    pub(super) fn query(&self) -> &str {
        let text = self.entries.iter().rev().find_map(|entry| match entry {
            ConversationEntry::User(text) => Some(without_file_notes(text)),
            ConversationEntry::Assistant { .. } | ConversationEntry::Results(_) => None,
        });
        text.unwrap_or_default()
    }

    /// Returns the calls that were made for the latest message, with their results.
    pub(super) fn current_calls(&self) -> Vec<(&ToolInvocation, &ToolOutput)> {
        let start = self
            .entries
            .iter()
            .rposition(|entry| matches!(entry, ConversationEntry::User(_)))
            .unwrap_or_default();
        let current = &self.entries[start..];
        let results = |id: &str| {
            current.iter().find_map(|entry| match entry {
                ConversationEntry::Results(results) => results.iter().find(|result| result.id == id),
                ConversationEntry::User(_) | ConversationEntry::Assistant { .. } => None,
            })
        };
        let calls = current.iter().flat_map(|entry| match entry {
            ConversationEntry::Assistant { calls, .. } => calls.as_slice(),
            ConversationEntry::User(_) | ConversationEntry::Results(_) => &[],
        });
        calls.filter_map(|call| Some((call, results(&call.id)?))).collect()
    }

    fn has_tool(&self, tool: BuiltinTool) -> bool {
        self.tools.iter().any(|offered| offered.name == tool.name())
    }
}

pub(super) fn next_step(toolbox: &Toolbox, input: &ModelInput) -> NextStep {
    let snapshot = toolbox.snapshot();
    let policy = toolbox.registry().policy();
    let usage = SkillUsage::default();
    // No usage history and no clock, so that the reply is always the same.
    let options = RouteOptions {
        max_skills: SKILLS_MAX,
        k: SKILLS_MAX,
        usage: &usage,
        now: 0,
        mention: policy.mention,
    };
    let routing = toolbox.router(&snapshot).route(input.query(), &options);
    let past_calls = input.current_calls();
    let mut names: Vec<&str> = routing.full_matches().iter().map(|matched| matched.name.as_str()).collect();
    if names.is_empty() && past_calls.is_empty() {
        let description =
            |name: &str| snapshot.get(name).map(|skill| format!("{name} {}", skill.description()));
        let relevant = |best: &&SkillMatch| {
            description(&best.name).is_some_and(|text| is_relevant(input.query(), &text))
        };
        names.extend(routing.matches.first().filter(relevant).map(|best| best.name.as_str()));
    }
    let calls: Vec<PlannedCall> = names
        .iter()
        .filter_map(|name| load_call(toolbox, input, name))
        .filter(|planned| !past_calls.iter().any(|(call, _)| is_same(call, planned)))
        .collect();
    if !calls.is_empty() {
        return NextStep::Call(calls);
    }
    let calls: Vec<PlannedCall> = past_calls
        .iter()
        .filter(|(_, result)| !result.failed)
        .filter_map(|(call, _)| loaded_skill_name(toolbox, call))
        .flat_map(|name| file_calls(toolbox, input, &name))
        .filter(|planned| !past_calls.iter().any(|(call, _)| is_same(call, planned)))
        .collect();
    if !calls.is_empty() {
        return NextStep::Call(calls);
    }
    let loaded =
        past_calls.iter().any(|(call, result)| !result.failed && loaded_skill_name(toolbox, call).is_some());
    NextStep::Reply(RoutingOutcome { tier: if loaded { Tier::Full } else { routing.tier }, routing })
}

/// Words that do not say what the user wants.
const FILLER_WORDS: [&str; 24] = [
    "about", "also", "could", "does", "from", "have", "here", "into", "just", "like", "make", "need",
    "please", "should", "some", "tell", "that", "them", "there", "this", "want", "what", "with", "your",
];

/// Returns `true` if message and skill share enough words: two, or one if the message has at most two. A score cannot
/// decide this, because it depends on the number of other skills.
fn is_relevant(message: &str, description: &str) -> bool {
    let words = |text: &str| {
        let folded = fold(text);
        let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 4);
        let mut words: Vec<String> = words
            .filter(|word| !FILLER_WORDS.contains(word))
            .map(|word| word.chars().take(5).collect())
            .collect();
        words.sort_unstable();
        words.dedup();
        words
    };
    let (message_words, description) = (words(message), words(description));
    let shared = message_words.iter().filter(|word| description.contains(word)).count();
    shared >= 2 || (shared == 1 && message_words.len() <= 2)
}

/// Returns `true` if the call was made already; other arguments are ignored.
fn is_same(call: &ToolInvocation, planned: &PlannedCall) -> bool {
    let key = |key: &str| call.arguments[key] == planned.arguments[key];
    call.name == planned.tool && key("name") && key("path")
}

/// Returns the call that loads a skill, with the tool that is available for it.
fn load_call(toolbox: &Toolbox, input: &ModelInput, name: &str) -> Option<PlannedCall> {
    let tool = [BuiltinTool::Activate, BuiltinTool::Skill].into_iter().find(|tool| input.has_tool(*tool));
    if let Some(tool) = tool {
        return Some(PlannedCall { tool: tool.name().to_owned(), arguments: json!({"name": name}) });
    }
    read_call(toolbox, input, name, "SKILL.md")
}

/// Returns the call that reads a file of a skill, if a tool for it is available.
fn read_call(toolbox: &Toolbox, input: &ModelInput, name: &str, path: &str) -> Option<PlannedCall> {
    if input.has_tool(BuiltinTool::ReadResource) {
        let arguments = json!({"name": name, "path": path});
        return Some(PlannedCall { tool: BuiltinTool::ReadResource.name().to_owned(), arguments });
    }
    if !input.has_tool(BuiltinTool::ReadFile) {
        return None;
    }
    let (snapshot, registry) = (toolbox.snapshot(), toolbox.registry());
    let file = snapshot.get(name)?.dir().join(path);
    let path = short_path(&file, registry.host()).display().to_string();
    // Only files that the tool can read: other calls would fail.
    let readable = registry.policy().read_extensions.iter().any(|extension| path.ends_with(extension));
    readable.then(|| PlannedCall {
        tool: BuiltinTool::ReadFile.name().to_owned(),
        arguments: json!({"path": path}),
    })
}

pub(super) fn loaded_skill_name(toolbox: &Toolbox, call: &ToolInvocation) -> Option<String> {
    match BuiltinTool::from_name(&call.name)? {
        BuiltinTool::Activate | BuiltinTool::Skill => call.arguments["name"].as_str().map(str::to_owned),
        BuiltinTool::ReadFile => {
            let path = call.arguments["path"].as_str()?.strip_suffix("/SKILL.md")?;
            let name = path.rsplit('/').next()?;
            toolbox.snapshot().get(name).map(|_| name.to_owned())
        }
        BuiltinTool::ReadResource | BuiltinTool::ListResources | BuiltinTool::Search | BuiltinTool::Run => {
            None
        }
    }
}

/// Returns the calls that read the files named by a skill's instructions.
fn file_calls(toolbox: &Toolbox, input: &ModelInput, name: &str) -> Vec<PlannedCall> {
    let snapshot = toolbox.snapshot();
    let activated =
        snapshot.get(name).and_then(|skill| activate(skill, None, toolbox.registry().policy()).ok());
    let Some(activated) = activated else { return Vec::new() };
    let files =
        activated.mentioned_resources().into_iter().filter_map(|path| read_call(toolbox, input, name, path));
    files.take(FILES_MAX).collect()
}
