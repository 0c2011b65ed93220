//! What a model is told at the start, for clients that know nothing of skills.

use std::sync::{Arc, Mutex, PoisonError};

use prowess::Snapshot;
use prowess::disclose::{SKILL_TOOL_RULES, STANDARD};
use prowess::policy::Activation;
use prowess_tools::{PromptRequest, Tool, Toolbox, prompt};

/// The instructions of the latest snapshot: made once for each.
#[derive(Debug, Default)]
pub(super) struct Instructions {
    made: Mutex<Option<Made>>,
}

/// A snapshot, and its instructions where there are any.
type Made = (Arc<Snapshot>, Option<Arc<str>>);

impl Instructions {
    /// The catalog with the rules that go with it, in at most so many characters. `None` where there is no skill.
    pub(super) fn of(&self, toolbox: &Toolbox, most: u32) -> Option<Arc<str>> {
        let snapshot = toolbox.snapshot();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, text)) = &*made
            && Arc::ptr_eq(of, &snapshot)
        {
            return text.clone();
        }
        let text = make(toolbox, most);
        *made = Some((snapshot, text.clone()));
        text
    }
}

fn make(toolbox: &Toolbox, most: u32) -> Option<Arc<str>> {
    let policy = toolbox.registry().policy();
    if !policy.enabled {
        return None;
    }
    let rules = match policy.activation {
        Activation::SkillTool => format!("{SKILL_TOOL_RULES}\n\n"),
        // Its catalog is the list and nothing else; a client has nobody else to tell it how to use that.
        Activation::FullFile => format!("{STANDARD}\n\n"),
        _ => String::new(),
    };
    let left = most.min(policy.catalog.budget_chars.unwrap_or(u32::MAX));
    let left = left.saturating_sub(u32::try_from(rules.len()).unwrap_or(u32::MAX));
    let text = prompt(toolbox, &PromptRequest { budget_chars: Some(left), ..PromptRequest::default() }).text;
    if text.is_empty() {
        return None;
    }
    Some(dotless(format!("{rules}{text}")).into())
}

/// The tools are called without dots here, and so they are in what is said of them.
pub(super) fn dotless(text: String) -> String {
    let dotted = Tool::ALL.into_iter().filter(|tool| tool.name().contains('.'));
    dotted.fold(text, |text, tool| match text.contains(tool.name()) {
        true => text.replace(tool.name(), &tool.dotless()),
        false => text,
    })
}
