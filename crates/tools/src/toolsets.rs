//! The tools that skills bring, among ours: there while their skill is active, under names that mean one tool.

use prowess::format::{Code, Diagnostic, Place, Span, hidden, suggest};
use prowess::{ErrorCode, Located, Skill, Snapshot};
use prowess_run::toolset::{Definition, ToolCall, ToolResult, ToolsetError};
use serde_json::{Value, json};

use crate::definition::{Tool, ToolDefinition};
use crate::envelope::{Envelope, ToolError};
use crate::session::Session;
use crate::toolbox::Toolbox;

/// The longest description that a model is shown, in characters.
const DESCRIPTION_MAX: usize = 4096;

/// A tool of an active skill, and the name it goes by.
pub(crate) struct Bound<'s> {
    skill: &'s Skill,
    /// What the skill is called by in the session.
    owner: String,
    name: String,
    tool: Definition,
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
    ) -> (Vec<Self>, Option<(String, ToolsetError)>) {
        let (mut bound, mut failed) = (Vec::new(), None);
        for name in session.active() {
            let Some(skill) = snapshot.get(name).filter(|skill| skill.is_enabled()) else { continue };
            let (tools, failures) = match toolbox.toolsets.tools(skill) {
                Ok(loaded) => (loaded.tools, loaded.failures),
                Err(error) => (Vec::new(), vec![error]),
            };
            bound.extend(tools.into_iter().map(|tool| Self {
                skill,
                owner: name.to_owned(),
                name: tool.id.clone(),
                tool,
            }));
            for failure in failures {
                toolbox.diagnose(located(skill, &failure));
                failed.get_or_insert_with(|| (name.to_owned(), failure));
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

/// What a diagnostic says of a toolset that cannot be loaded.
fn located(skill: &Skill, error: &ToolsetError) -> Located {
    let said = Diagnostic::error(Code::ToolsetLoad, error.message())
        .help("mend the toolset; docs/toolsets.md tells what it can use");
    match error.place() {
        Some(place) => {
            let path = skill.folder().join(&place.file);
            let bytes =
                prowess::resource::read_bytes(skill, &place.file).map(|file| file.bytes).unwrap_or_default();
            let start = offset(&bytes, place.line, place.column);
            let at = Place { line: place.line, column: place.column, span: Span { start, end: start } };
            Located::new(path, said.at(at))
        }
        None => Located::new(skill.folder().join("SKILL.md"), said),
    }
}

/// The byte of a line and a column.
fn offset(bytes: &[u8], line: u32, column: u32) -> u32 {
    let text = String::from_utf8_lossy(bytes);
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let rest = text.get(before..).unwrap_or_default().chars();
    let inside: usize = rest.take(column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    u32::try_from(before + inside).unwrap_or_default()
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
            let skill = hidden::shown(&skill);
            let message = format!("a toolset of {skill} cannot be loaded: {error}");
            return Err(ToolError::new(error.code(), message));
        }
        // A tool of ours that is not offered has been told so.
        if Tool::named(name).is_none()
            && let Some(near) = suggest::nearest(name, bound.iter().map(|tool| tool.name.as_str()))
        {
            let message = format!("there is no tool named {}; did you mean {near}?", hidden::shown(name));
            return Err(ToolError::new(ErrorCode::NotFound, message));
        }
        return Err(otherwise);
    };
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
    let cancel = session.cancel.clone();
    Ok(envelope(&tool.owner, &tool.tool.id, toolbox.toolsets.call(tool.skill, call, cancel)))
}

/// A name for a call that no other call of this process has.
fn call_id() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(1);
    format!("call-{}", CALLS.fetch_add(1, Ordering::Relaxed))
}

/// A tool's answer in our form. A thrown error is a failure, and so is an answer that has an `error` in its metadata.
fn envelope(skill: &str, tool: &str, answer: Result<ToolResult, ToolsetError>) -> Envelope {
    let result = match answer {
        Ok(result) => result,
        Err(error) => return failure(skill, tool, &error),
    };
    let mut data = json!({
        "skill": skill, "tool": tool,
        "title": result.title, "metadata": result.metadata, "output": result.output,
    });
    if !result.attachments.is_empty() {
        data["attachments"] = result.attachments.into();
    }
    if !result.console.is_empty() {
        data["console"] = result.console.into();
    }
    if let Some(code) = code_of(&data["metadata"]) {
        let said = hidden::shown(result.output.trim()).into_owned();
        let said = if said.is_empty() { "the tool failed and does not say why".to_owned() } else { said };
        let mut envelope = Envelope::error(ToolError::new(code, said));
        envelope.text = result.output;
        return with_data(envelope, data);
    }
    if !result.truncated {
        return Envelope::success(data, result.output);
    }
    data["truncated"] = true.into();
    let text = format!("{}\n\n[truncated: {} bytes shown]", result.output, result.output.len());
    Envelope::partial(data, text)
}

/// The code that metadata gives to a failure: one of the contract's where it names one. `None` where it is none.
fn code_of(metadata: &Value) -> Option<ErrorCode> {
    let error = metadata.get("error").filter(|error| !matches!(error, Value::Null | Value::Bool(false)))?;
    let named = ErrorCode::ALL.into_iter().find(|code| error.as_str() == Some(code.as_str()));
    Some(named.unwrap_or(ErrorCode::ExecutionError))
}

fn failure(skill: &str, tool: &str, error: &ToolsetError) -> Envelope {
    let text = error.to_string();
    let mut metadata = json!({"error": error.code().as_str()});
    if let Some(place) = error.place() {
        metadata["at"] = place.to_string().into();
    }
    let data = json!({"skill": skill, "tool": tool, "title": tool, "metadata": metadata, "output": text});
    with_data(Envelope::error(ToolError::new(error.code(), text)), data)
}

fn with_data(mut envelope: Envelope, data: Value) -> Envelope {
    if let Value::Object(data) = data {
        envelope.data = data;
    }
    envelope
}
