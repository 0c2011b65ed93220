//! The tools that skills bring, among ours: there while their skill is active, under names that mean one tool.

mod answer;
mod diagnose;

use prowess::format::{hidden, suggest};
use prowess::{ErrorCode, Skill, Snapshot};
use prowess_toolset::{Definition, Loaded, ToolCall, ToolResult, ToolsetError};
use serde_json::Value;

use answer::envelope;
use diagnose::located;

use super::Toolbox;
use crate::definition::{Tool, ToolDefinition, key};
use crate::envelope::{Envelope, ToolError};
use crate::run::told;
use crate::session::Session;

/// The longest description that a model is shown, in characters.
const DESCRIPTION_MAX: usize = 4096;

/// A tool of an active skill, and the name it goes by.
pub(crate) struct Bound<'s> {
    skill: &'s Skill,
    /// What the skill is called by in the session.
    owner: String,
    name: String,
    tool: Definition,
    kind: Kind,
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An engine in this process.
    Module,
    /// A program in the sandbox.
    Program,
}

impl<'s> Bound<'s> {
    /// The tools of all active skills. What cannot be loaded is noted in the toolbox.
    pub(crate) fn all(toolbox: &Toolbox, snapshot: &'s Snapshot, session: &Session) -> Vec<Self> {
        Self::loaded(toolbox, snapshot, session).0
    }

    /// The same, with the first thing that could not be loaded.
    fn loaded(
        toolbox: &Toolbox,
        snapshot: &'s Snapshot,
        session: &Session,
    ) -> (Vec<Self>, Option<(&'s Skill, ToolsetError)>) {
        let (mut bound, mut failed) = (Vec::new(), None);
        // Nothing of a server's skill is run, whatever it names.
        let own = |skill: &&Skill| skill.is_enabled() && skill.supplied().is_none();
        let active: Vec<(String, &Skill)> = session
            .active()
            .into_iter()
            .filter_map(|name| Some((snapshot.get(&name).filter(own)?, name)))
            .map(|(skill, name)| (name, skill))
            .collect();
        let folders: Vec<_> = active.iter().map(|(_, skill)| skill.folder()).collect();
        toolbox.programs.keep_only(&session.conversation, &folders);
        for (name, skill) in active {
            let (tools, failures) = of_skill(toolbox, skill, session);
            bound.extend(tools.into_iter().map(|(kind, tool)| Self {
                skill,
                owner: name.clone(),
                name: tool.id.clone(),
                tool,
                kind,
            }));
            for failure in failures {
                toolbox.diagnose(located(skill, &failure));
                failed.get_or_insert((skill, failure));
            }
        }
        qualify(&mut bound);
        (bound, failed)
    }

    /// The name with the skill's before it, which is understood always.
    fn qualified(&self) -> String {
        format!("{}.{}", self.owner, self.tool.id)
    }
}

/// The tools of a skill, those of its modules first, and what could not be loaded. A name means one tool.
fn of_skill(
    toolbox: &Toolbox,
    skill: &Skill,
    session: &Session,
) -> (Vec<(Kind, Definition)>, Vec<ToolsetError>) {
    let options = toolbox.runner.options(toolbox.registry());
    let loaded = [
        (Kind::Module, toolbox.toolsets.tools(skill)),
        (Kind::Program, toolbox.programs.tools(skill, &session.conversation, &options)),
    ];
    let (mut tools, mut failures) = (Vec::<(Kind, Definition)>::new(), Vec::new());
    for (kind, loaded) in loaded {
        let Loaded { tools: more, failures: wrong, .. } =
            loaded.unwrap_or_else(|error| Loaded { failures: vec![error], ..Loaded::default() });
        for tool in more {
            match tools.iter().any(|(_, known)| known.id == tool.id) {
                true => failures.push(ToolsetError::Twice(tool.id)),
                false => tools.push((kind, tool)),
            }
        }
        for error in wrong.into_iter().filter(|error| !failures.contains(error)).collect::<Vec<_>>() {
            failures.push(error);
        }
    }
    (tools, failures)
}

impl From<Bound<'_>> for ToolDefinition {
    fn from(bound: Bound<'_>) -> Self {
        let description = hidden_but_lines(&bound.tool.description);
        Self { name: bound.name, description, input_schema: bound.tool.input_schema }
    }
}

/// A description as a model may see it: nothing hidden, not endless.
fn hidden_but_lines(text: &str) -> String {
    let text: String = text.chars().take(DESCRIPTION_MAX).collect();
    text.lines().map(|line| hidden::shown(line).into_owned()).collect::<Vec<_>>().join("\n")
}

/// Gives the name of its skill to each tool whose name is another's, too, in either spelling: a tool of another skill,
/// or one of ours, offered or not, so that a name never changes its meaning with the preset.
fn qualify(bound: &mut [Bound<'_>]) {
    let dotless = |name: &str| name.replace('.', "_");
    let ours = |name: &str| name.starts_with("skills_") || Tool::named(name).is_some();
    let ids: Vec<_> = bound.iter().map(|tool| dotless(&tool.tool.id)).collect();
    for tool in bound {
        let id = dotless(&tool.tool.id);
        if ours(&id) || ids.iter().filter(|other| **other == id).count() > 1 {
            tool.name = tool.qualified();
        }
    }
}

/// Calls a tool of an active skill by any of its names. Where there is none, `otherwise` is what is said, unless a
/// toolset that could not be loaded is the better reason.
pub(crate) fn call(
    toolbox: &Toolbox,
    snapshot: &Snapshot,
    session: &Session,
    name: &str,
    params: &Value,
    otherwise: ToolError,
) -> Result<Envelope, ToolError> {
    let (bound, failed) = Bound::loaded(toolbox, snapshot, session);
    let spelled = |tool: &&Bound<'_>| tool.name == name || tool.qualified() == name;
    let dotless =
        |tool: &&Bound<'_>| tool.name.replace('.', "_") == name || tool.qualified().replace('.', "_") == name;
    let Some(tool) = bound.iter().find(spelled).or_else(|| bound.iter().find(dotless)) else {
        if let Some((skill, error)) = failed {
            let hint = told(error.hint(), skill);
            let name = key(skill, toolbox.registry().policy());
            let message = format!("a toolset of {} cannot be loaded: {error}{hint}", hidden::shown(&name));
            return Err(ToolError::new(error.code(), message));
        }
        // A tool of ours that is not offered has been told so.
        if Tool::named(name).is_none()
            && let Some(near) = suggest::nearest(name, bound.iter().map(|tool| tool.name.as_str()))
        {
            let message = format!("there is no tool named {}; did you mean {near}?", hidden::brief(name));
            return Err(ToolError::new(ErrorCode::NotFound, message));
        }
        return Err(otherwise);
    };
    crate::served::may_run(snapshot, session)?;
    if !params.is_object() {
        return Err(ToolError::new(ErrorCode::InvalidParam, "the parameters have to be an object"));
    }
    let about = &session.about;
    let call = ToolCall {
        id: tool.tool.id.clone(),
        arguments: params.clone(),
        session_id: about.session_id.clone(),
        message_id: about.message_id.clone(),
        agent: about.agent.clone(),
        call_id: call_id(),
        extra: about.extra.clone(),
    };
    Ok(envelope(&tool.owner, &tool.tool.id, answer(toolbox, session, tool, call)))
}

fn answer(
    toolbox: &Toolbox,
    session: &Session,
    tool: &Bound<'_>,
    call: ToolCall,
) -> Result<ToolResult, ToolsetError> {
    let cancel = session.cancel.clone();
    match tool.kind {
        Kind::Module => toolbox.toolsets.call(tool.skill, call, cancel),
        Kind::Program => {
            let options = toolbox.runner.options(toolbox.registry());
            toolbox.programs.call(tool.skill, call, cancel, &session.conversation, &options)
        }
    }
}

/// A name for a call that no other call of this process has.
fn call_id() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(1);
    format!("call-{}", CALLS.fetch_add(1, Ordering::Relaxed))
}
