//! The initial instructions for models, for clients without support for skills.

use std::sync::{Arc, Mutex, PoisonError};

use prowess::Snapshot;
use prowess::catalog::{SKILL_TOOL_RULES, STANDARD_INSTRUCTIONS};
use prowess::policy::ActivationMode;
use prowess_tools::{BuiltinTool, PromptRequest, Toolbox, render_prompt};

/// The cached instructions of the latest snapshot.
#[derive(Debug, Default)]
pub(super) struct InstructionsCache {
    cached: Mutex<Option<CachedInstructions>>,
}

type CachedInstructions = (Arc<Snapshot>, Option<Arc<str>>);

impl InstructionsCache {
    /// Returns the catalog with its rules, in at most `max_chars` characters; `None` if there is no skill.
    pub(super) fn get(&self, toolbox: &Toolbox, max_chars: u32) -> Option<Arc<str>> {
        let snapshot = toolbox.snapshot();
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((cached_for, text)) = &*cached
            && Arc::ptr_eq(cached_for, &snapshot)
        {
            return text.clone();
        }
        let text = build_instructions(toolbox, max_chars);
        *cached = Some((snapshot, text.clone()));
        text
    }
}

fn build_instructions(toolbox: &Toolbox, max_chars: u32) -> Option<Arc<str>> {
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
    let budget = max_chars.min(policy.catalog.budget_chars.unwrap_or(u32::MAX));
    let budget = budget.saturating_sub(u32::try_from(rules.len()).unwrap_or(u32::MAX));
    let text =
        render_prompt(toolbox, &PromptRequest { budget_chars: Some(budget), ..PromptRequest::default() })
            .text;
    if text.is_empty() {
        return None;
    }
    Some(replace_dotted_names(format!("{rules}{text}")).into())
}

/// Replaces the dotted names of tools in a text, because tool names have no dots in MCP.
pub(super) fn replace_dotted_names(text: String) -> String {
    let dotted = BuiltinTool::ALL.into_iter().filter(|tool| tool.name().contains('.'));
    dotted.fold(text, |text, tool| match text.contains(tool.name()) {
        true => text.replace(tool.name(), &tool.dotless_name()),
        false => text,
    })
}
