//! The initial instructions for models, for clients without support for skills.
//!
//! They begin with the rule when to load a skill and the names of the tools, followed by the number of skills that are left
//! out, and the catalog. Some clients show only their beginning, or nothing at all, so tools have descriptions of their own.

use std::sync::{Arc, Mutex, PoisonError};

use prowess::Snapshot;
use prowess::catalog::{SKILL_TOOL_RULES, STANDARD_INSTRUCTIONS};
use prowess::format::dialects::{InstructionsShown, instructions_shown};
use prowess::policy::ActivationMode;
use prowess_tools::{BuiltinTool, PromptRequest, Toolbox, render_prompt};
use rmcp::model::Implementation;

/// The maximum length for clients that show everything, or about which nothing is known.
const DEFAULT_MAX: u32 = 8_000;

/// The maximum number of cached texts. There are few limits: the default one, the user's, and those of known clients.
const CACHED_MAX: usize = 8;

/// A maximum length in UTF-16 code units, because that is what clients count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InstructionsLimit(u32);

impl InstructionsLimit {
    /// Returns the limit that the user set, or else that of the client.
    pub(super) fn new(setting: Option<u32>, client: Option<&Implementation>) -> Self {
        let shown = client.map(|client| instructions_shown(&client.name, &client.version));
        let shown = match shown {
            Some(InstructionsShown::Cut(max)) => u32::try_from(max).unwrap_or(DEFAULT_MAX).min(DEFAULT_MAX),
            // Another version may show them.
            Some(InstructionsShown::All | InstructionsShown::None | InstructionsShown::Unknown) | None => {
                DEFAULT_MAX
            }
        };
        Self(setting.unwrap_or(shown))
    }
}

/// The cached instructions of the latest snapshot.
#[derive(Debug, Default)]
pub(super) struct InstructionsCache {
    cached: Mutex<Option<CachedInstructions>>,
}

type CachedInstructions = (Arc<Snapshot>, Vec<(InstructionsLimit, Option<Arc<str>>)>);

impl InstructionsCache {
    /// Returns the rules and the catalog, at most as long as the limit; `None` if there are no skills.
    pub(super) fn get(&self, toolbox: &Toolbox, limit: InstructionsLimit) -> Option<Arc<str>> {
        let snapshot = toolbox.snapshot();
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let (cached_for, texts) = cached.get_or_insert_with(|| (Arc::clone(&snapshot), Vec::new()));
        if !Arc::ptr_eq(cached_for, &snapshot) {
            (*cached_for, *texts) = (snapshot, Vec::new());
        }
        if let Some((_, text)) = texts.iter().find(|(cached_limit, _)| *cached_limit == limit) {
            return text.clone();
        }
        let text = build_instructions(toolbox, limit);
        if texts.len() < CACHED_MAX {
            texts.push((limit, text.clone()));
        }
        text
    }
}

fn build_instructions(toolbox: &Toolbox, limit: InstructionsLimit) -> Option<Arc<str>> {
    let policy = toolbox.registry().policy();
    if !policy.enabled {
        return None;
    }
    let rules = match policy.activation {
        ActivationMode::SkillTool => format!("{SKILL_TOOL_RULES}\n\n"),
        // In this mode, the catalog is only a list; a client has no other instructions for using it.
        ActivationMode::FullFile => format!("{STANDARD_INSTRUCTIONS}\n\n"),
        _ => String::new(),
    };
    let search_tool = BuiltinTool::Search.is_offered(policy).then(|| BuiltinTool::Search.name());
    let mut request = PromptRequest { search_tool, ..PromptRequest::default() };
    let mut budget = limit.0.min(policy.catalog.budget_chars.unwrap_or(u32::MAX));
    budget = budget.saturating_sub(u32::try_from(rules.len()).unwrap_or(u32::MAX));
    loop {
        request.budget_chars = Some(budget);
        let text = render_prompt(toolbox, &request).text;
        if text.is_empty() {
            return None;
        }
        let text = replace_dotted_names(format!("{rules}{text}"));
        // The catalog counts characters, of which some have two code units.
        let excess = text.encode_utf16().count().saturating_sub(limit.0 as usize);
        if excess == 0 {
            return Some(text.into());
        }
        budget = budget.checked_sub(u32::try_from(excess).unwrap_or(u32::MAX))?;
    }
}

/// Replaces the dotted names of tools in a text, because tool names have no dots in MCP.
pub(super) fn replace_dotted_names(text: String) -> String {
    let dotted = BuiltinTool::ALL.into_iter().filter(|tool| tool.name().contains('.'));
    dotted.fold(text, |text, tool| match text.contains(tool.name()) {
        true => text.replace(tool.name(), &tool.dotless_name()),
        false => text,
    })
}
