//! What to do next: load what the message asks for, read what the instructions name, then answer.

use prowess::activate::activate;
use prowess::short_path;
use prowess::usage::Usage;
use prowess_routing::{Match, Options, Routing, Tier, fold};
use prowess_tools::{Tool, ToolDefinition, Toolbox};
use serde_json::{Value, json};

use crate::provider::{Call, CallResult, Entry};

/// The most skills that are loaded for one message.
const SKILLS_MAX: usize = 3;

/// The most files of each that are read.
const FILES_MAX: usize = 5;

/// What a model would see.
pub(super) struct Seen {
    pub(super) system: String,
    pub(super) entries: Vec<Entry>,
    pub(super) tools: Vec<ToolDefinition>,
}

/// What to do next.
pub(super) enum Plan {
    /// Call these.
    Call(Vec<Wanted>),
    /// Answer with this.
    Answer(Found),
}

/// A call to be made.
#[derive(Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// What was found out about a message.
pub(super) struct Found {
    pub(super) tier: Tier,
    pub(super) routing: Routing,
}

impl Seen {
    /// The latest message of the person.
    pub(super) fn query(&self) -> &str {
        let said = self.entries.iter().rev().find_map(|entry| match entry {
            Entry::User(text) => Some(text.as_str()),
            Entry::Assistant { .. } | Entry::Results(_) => None,
        });
        said.unwrap_or_default()
    }

    /// What was called for it, and what came of that.
    pub(super) fn called(&self) -> Vec<(&Call, &CallResult)> {
        let since =
            self.entries.iter().rposition(|entry| matches!(entry, Entry::User(_))).unwrap_or_default();
        let now = &self.entries[since..];
        let results = |id: &str| {
            now.iter().find_map(|entry| match entry {
                Entry::Results(results) => results.iter().find(|result| result.id == id),
                Entry::User(_) | Entry::Assistant { .. } => None,
            })
        };
        let calls = now.iter().flat_map(|entry| match entry {
            Entry::Assistant { calls, .. } => calls.as_slice(),
            Entry::User(_) | Entry::Results(_) => &[],
        });
        calls.filter_map(|call| Some((call, results(&call.id)?))).collect()
    }

    fn has(&self, tool: Tool) -> bool {
        self.tools.iter().any(|offered| offered.name == tool.name())
    }
}

/// What to do next.
pub(super) fn plan(toolbox: &Toolbox, seen: &Seen) -> Plan {
    let snapshot = toolbox.snapshot();
    let policy = toolbox.registry().policy();
    let usage = Usage::default();
    // Nothing that was used lately, and no clock: the same answer each time.
    let options =
        Options { max_skills: SKILLS_MAX, k: SKILLS_MAX, usage: &usage, now: 0, mention: policy.mention };
    let routing = toolbox.router(&snapshot).route(seen.query(), &options);
    let called = seen.called();
    let mut wanted: Vec<&str> = routing.pushed().iter().map(|found| found.name.as_str()).collect();
    if wanted.is_empty() && called.is_empty() {
        let about = |name: &str| snapshot.get(name).map(|skill| format!("{name} {}", skill.description()));
        let fits = |best: &&Match| about(&best.name).is_some_and(|about| fits(seen.query(), &about));
        wanted.extend(routing.matches.first().filter(fits).map(|best| best.name.as_str()));
    }
    let calls: Vec<Wanted> = wanted
        .iter()
        .filter_map(|name| load(toolbox, seen, name))
        .filter(|wanted| !called.iter().any(|(call, _)| is_same(call, wanted)))
        .collect();
    if !calls.is_empty() {
        return Plan::Call(calls);
    }
    let calls: Vec<Wanted> = called
        .iter()
        .filter(|(_, result)| !result.failed)
        .filter_map(|(call, _)| skill_of(toolbox, call))
        .flat_map(|name| files(toolbox, seen, &name))
        .filter(|wanted| !called.iter().any(|(call, _)| is_same(call, wanted)))
        .collect();
    if !calls.is_empty() {
        return Plan::Call(calls);
    }
    let loaded = called.iter().any(|(call, result)| !result.failed && skill_of(toolbox, call).is_some());
    Plan::Answer(Found { tier: if loaded { Tier::Full } else { routing.tier }, routing })
}

/// Words that say nothing of what is wanted.
const EMPTY: [&str; 24] = [
    "about", "also", "could", "does", "from", "have", "here", "into", "just", "like", "make", "need",
    "please", "should", "some", "tell", "that", "them", "there", "this", "want", "what", "with", "your",
];

/// Whether message and skill share enough words for a model to see it: two of them, or one of one or two. A score cannot
/// tell: it depends on how many other skills there are.
fn fits(message: &str, about: &str) -> bool {
    let words = |text: &str| {
        let folded = fold(text);
        let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 4);
        let mut words: Vec<String> =
            words.filter(|word| !EMPTY.contains(word)).map(|word| word.chars().take(5).collect()).collect();
        words.sort_unstable();
        words.dedup();
        words
    };
    let (said, about) = (words(message), words(about));
    let shared = said.iter().filter(|word| about.contains(word)).count();
    shared >= 2 || (shared == 1 && said.len() <= 2)
}

/// Whether the call was made already, whatever else was said with it.
fn is_same(call: &Call, wanted: &Wanted) -> bool {
    let key = |key: &str| call.arguments[key] == wanted.arguments[key];
    call.name == wanted.tool && key("name") && key("path")
}

/// The call that loads a skill, with the tool that is offered for it.
fn load(toolbox: &Toolbox, seen: &Seen, name: &str) -> Option<Wanted> {
    let tool = [Tool::Activate, Tool::Skill].into_iter().find(|tool| seen.has(*tool));
    if let Some(tool) = tool {
        return Some(Wanted { tool: tool.name().to_owned(), arguments: json!({"name": name}) });
    }
    read(toolbox, seen, name, "SKILL.md")
}

/// The call that reads a file of a skill, if a tool for it is offered.
fn read(toolbox: &Toolbox, seen: &Seen, name: &str, path: &str) -> Option<Wanted> {
    if seen.has(Tool::ReadResource) {
        let arguments = json!({"name": name, "path": path});
        return Some(Wanted { tool: Tool::ReadResource.name().to_owned(), arguments });
    }
    if !seen.has(Tool::ReadFile) {
        return None;
    }
    let (snapshot, registry) = (toolbox.snapshot(), toolbox.registry());
    let inside = snapshot.get(name)?.folder().join(path);
    let path = short_path(&inside, registry.surroundings()).display().to_string();
    // Only what the tool reads: the others would only fail.
    let reads = registry.policy().read_extensions.iter().any(|ending| path.ends_with(ending));
    reads.then(|| Wanted { tool: Tool::ReadFile.name().to_owned(), arguments: json!({"path": path}) })
}

/// The skill that a call loaded.
pub(super) fn skill_of(toolbox: &Toolbox, call: &Call) -> Option<String> {
    match Tool::named(&call.name)? {
        Tool::Activate | Tool::Skill => call.arguments["name"].as_str().map(str::to_owned),
        Tool::ReadFile => {
            let path = call.arguments["path"].as_str()?.strip_suffix("/SKILL.md")?;
            let name = path.rsplit('/').next()?;
            toolbox.snapshot().get(name).map(|_| name.to_owned())
        }
        Tool::ReadResource | Tool::ListResources | Tool::Search | Tool::Run => None,
    }
}

/// The calls that read what a skill's instructions name.
fn files(toolbox: &Toolbox, seen: &Seen, name: &str) -> Vec<Wanted> {
    let snapshot = toolbox.snapshot();
    let activated =
        snapshot.get(name).and_then(|skill| activate(skill, None, toolbox.registry().policy()).ok());
    let Some(activated) = activated else { return Vec::new() };
    let files = activated.referred().into_iter().filter_map(|path| read(toolbox, seen, name, path));
    files.take(FILES_MAX).collect()
}
