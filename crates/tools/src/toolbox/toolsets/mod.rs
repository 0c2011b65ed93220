//! The tools of active skills, with unambiguous names.

mod diagnostics;
mod envelope;

use prowess::format::{hidden, suggest};
use prowess::{ErrorCode, Skill, Snapshot};
use prowess_toolset::{LoadedTools, ToolCall, ToolDescriptor, ToolResult, ToolsetError};
use serde_json::Value;

use diagnostics::toolset_diagnostic;
use envelope::skill_tool_envelope;

use super::Toolbox;
use crate::definition::{BuiltinTool, ToolDefinition};
use crate::envelope::{Envelope, ToolError};
use crate::run::hint_suffix;
use crate::session::Session;

/// The longest description that a model is shown, in characters.
const DESCRIPTION_MAX: usize = 4096;

/// A tool of an active skill, and its name.
pub(crate) struct SkillTool<'s> {
    skill: &'s Skill,
    /// The key of the skill in the session.
    owner: String,
    name: String,
    tool: ToolDescriptor,
    kind: ToolBackend,
}

/// Where a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolBackend {
    /// In an engine in this process.
    Module,
    /// In a program in the sandbox.
    Program,
}

impl<'s> SkillTool<'s> {
    /// Returns the tools of all active skills. Records toolsets that cannot be loaded in the toolbox.
    pub(crate) fn all(toolbox: &Toolbox, snapshot: &'s Snapshot, session: &Session) -> Vec<Self> {
        Self::load(toolbox, snapshot, session).0
    }

    /// Returns the tools of all active skills, and the first error.
    fn load(
        toolbox: &Toolbox,
        snapshot: &'s Snapshot,
        session: &Session,
    ) -> (Vec<Self>, Option<(&'s Skill, ToolsetError)>) {
        let (mut bound, mut failed) = (Vec::new(), None);
        // Nothing of a remote skill is executed.
        let is_local = |skill: &&Skill| skill.is_enabled() && skill.remote().is_none();
        let active: Vec<(String, &Skill)> = session
            .active_skills()
            .into_iter()
            .filter_map(|name| Some((snapshot.get(&name).filter(is_local)?, name)))
            .map(|(skill, name)| (name, skill))
            .collect();
        let dirs: Vec<_> = active.iter().map(|(_, skill)| skill.dir()).collect();
        toolbox.programs.keep_only(&session.conversation, &dirs);
        for (name, skill) in active {
            let (tools, failures) = load_tools(toolbox, skill, session);
            bound.extend(tools.into_iter().map(|(kind, tool)| Self {
                skill,
                owner: name.clone(),
                name: tool.id.clone(),
                tool,
                kind,
            }));
            for failure in failures {
                toolbox.add_diagnostic(toolset_diagnostic(skill, &failure));
                failed.get_or_insert((skill, failure));
            }
        }
        qualify(&mut bound);
        (bound, failed)
    }

    /// Returns the name with the skill's key as a prefix, which is always accepted.
    fn qualified(&self) -> String {
        format!("{}.{}", self.owner, self.tool.id)
    }
}

/// Returns the tools of a skill, those of its modules first, and the errors. Names are unique.
fn load_tools(
    toolbox: &Toolbox,
    skill: &Skill,
    session: &Session,
) -> (Vec<(ToolBackend, ToolDescriptor)>, Vec<ToolsetError>) {
    let options = toolbox.runner.options(toolbox.registry());
    let loaded = [
        (ToolBackend::Module, toolbox.toolsets.tools(skill)),
        (ToolBackend::Program, toolbox.programs.tools(skill, &session.conversation, &options)),
    ];
    let (mut tools, mut failures) = (Vec::<(ToolBackend, ToolDescriptor)>::new(), Vec::new());
    for (kind, loaded) in loaded {
        let LoadedTools { tools: more, failures: errors, .. } =
            loaded.unwrap_or_else(|error| LoadedTools { failures: vec![error], ..LoadedTools::default() });
        for tool in more {
            match tools.iter().any(|(_, earlier)| earlier.id == tool.id) {
                true => failures.push(ToolsetError::DuplicateTool(tool.id)),
                false => tools.push((kind, tool)),
            }
        }
        for error in errors.into_iter().filter(|error| !failures.contains(error)).collect::<Vec<_>>() {
            failures.push(error);
        }
    }
    (tools, failures)
}

impl From<SkillTool<'_>> for ToolDefinition {
    fn from(bound: SkillTool<'_>) -> Self {
        let description = display_description(&bound.tool.description);
        Self { name: bound.name, description, input_schema: bound.tool.input_schema }
    }
}

/// Makes a description safe for a model: escapes hidden characters and shortens it.
fn display_description(text: &str) -> String {
    let text: String = text.chars().take(DESCRIPTION_MAX).collect();
    text.lines().map(|line| hidden::escape_for_display(line).into_owned()).collect::<Vec<_>>().join("\n")
}

/// Adds the skill's key to each tool name that is ambiguous, with or without dots: another skill has it, or a
/// built-in tool, available or not, so that a name never changes its meaning with the preset.
fn qualify(bound: &mut [SkillTool<'_>]) {
    let dotless = |name: &str| name.replace('.', "_");
    let is_builtin = |name: &str| name.starts_with("skills_") || BuiltinTool::from_name(name).is_some();
    let ids: Vec<_> = bound.iter().map(|tool| dotless(&tool.tool.id)).collect();
    for tool in bound {
        let id = dotless(&tool.tool.id);
        if is_builtin(&id) || ids.iter().filter(|other| **other == id).count() > 1 {
            tool.name = tool.qualified();
        }
    }
}

/// Calls a tool of an active skill by any of its names. If there is none, returns the error of a toolset that
/// could not be loaded, or else `otherwise`.
pub(crate) fn call(
    toolbox: &Toolbox,
    snapshot: &Snapshot,
    session: &Session,
    name: &str,
    params: &Value,
    otherwise: ToolError,
) -> Result<Envelope, ToolError> {
    let (bound, failed) = SkillTool::load(toolbox, snapshot, session);
    let has_name = |tool: &&SkillTool<'_>| tool.name == name || tool.qualified() == name;
    let has_dotless_name = |tool: &&SkillTool<'_>| {
        tool.name.replace('.', "_") == name || tool.qualified().replace('.', "_") == name
    };
    let Some(tool) = bound.iter().find(has_name).or_else(|| bound.iter().find(has_dotless_name)) else {
        if let Some((skill, error)) = failed {
            let hint = hint_suffix(error.hint(), skill);
            let name = skill.key();
            let message =
                format!("cannot load a toolset of {}: {error}{hint}", hidden::escape_for_display(name));
            return Err(ToolError::new(error.code(), message));
        }
        // For a built-in tool that is not available, `otherwise` is the better message.
        if BuiltinTool::from_name(name).is_none()
            && let Some(similar) = suggest::nearest(name, bound.iter().map(|tool| tool.name.as_str()))
        {
            let message =
                format!("no tool named {}; did you mean {similar}?", hidden::escape_and_truncate(name));
            return Err(ToolError::new(ErrorCode::NotFound, message));
        }
        return Err(otherwise);
    };
    crate::remote_guard::check_run_allowed(snapshot, session)?;
    if !params.is_object() {
        return Err(ToolError::new(ErrorCode::InvalidParam, "the parameters must be an object"));
    }
    let about = &session.info;
    let call = ToolCall {
        id: tool.tool.id.clone(),
        arguments: params.clone(),
        session_id: about.session_id.clone(),
        message_id: about.message_id.clone(),
        agent: about.agent.clone(),
        call_id: call_id(),
        extra: about.extra.clone(),
    };
    Ok(skill_tool_envelope(&tool.owner, &tool.tool.id, run_tool(toolbox, session, tool, call)))
}

fn run_tool(
    toolbox: &Toolbox,
    session: &Session,
    tool: &SkillTool<'_>,
    call: ToolCall,
) -> Result<ToolResult, ToolsetError> {
    let cancel = session.call_options.cancel.clone().unwrap_or_default();
    match tool.kind {
        ToolBackend::Module => toolbox.toolsets.call(tool.skill, call, cancel),
        ToolBackend::Program => {
            let options = toolbox.runner.options(toolbox.registry());
            toolbox.programs.call(tool.skill, call, cancel, &session.conversation, &options)
        }
    }
}

/// Returns a unique id of a call in this process.
fn call_id() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(1);
    format!("call-{}", CALLS.fetch_add(1, Ordering::Relaxed))
}
