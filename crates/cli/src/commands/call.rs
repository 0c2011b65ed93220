//! `prowess tools` and `prowess call`: lists and calls the tools that a model can call. The JSON response is the envelope.

use prowess::{Skill, SkillStatus};
use prowess_tools::{CallStatus as Status, Session, Toolbox};
use serde_json::{Value, json};

use super::{
    CommandResult, SUCCESS, cancellable_toolbox, check_failed, find_active, print_diagnostics,
    print_no_skills, print_notices, status_and_reason, toolbox,
};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, TextStyle, clean};

pub(super) fn tools(
    context: &CommandContext,
    global: &GlobalArgs,
    skills: &[String],
    output: &mut Output,
) -> CommandResult {
    let toolbox = toolbox(context, global);
    let session = session(&toolbox, skills)?;
    for name in skills {
        require_available(find_active(&toolbox.snapshot(), name)?)?;
    }
    let tools = toolbox.definitions_in(&session);
    print_diagnostics(output, &toolbox.take_diagnostics());
    if output.json() {
        output.write_json(&json!({"schema": 1, "tools": tools}))?;
        return Ok(SUCCESS);
    }
    for tool in &tools {
        let name = output.styled_text(TextStyle::Strong, &tool.name);
        output.line(format!("{name}({})", parameter_list(&tool.input_schema)))?;
        for line in output.wrap(&clean(tool.description.lines().next().unwrap_or_default()), 4) {
            output.line(format!("    {line}"))?;
        }
    }
    if tools.is_empty() {
        print_no_skills(context, output);
    }
    Ok(SUCCESS)
}

pub(super) fn call(
    context: &CommandContext,
    global: &GlobalArgs,
    tool: &str,
    params: &str,
    skills: &[String],
    output: &mut Output,
) -> CommandResult {
    let params: Value = serde_json::from_str(params).map_err(|error| {
        Failure::usage(format!("the parameters are not valid JSON: {error}"))
            .hint("pass a JSON object, such as '{\"name\": \"code-review\"}'")
    })?;
    let toolbox = cancellable_toolbox(context, global, super::run::cancellable());
    let mut session = session(&toolbox, skills)?;
    let envelope = toolbox.call(&mut session, tool, params);
    print_diagnostics(output, &toolbox.take_diagnostics());
    print_notices(&toolbox, output);
    output.write_json(&envelope)?;
    if envelope.status == Status::Error && !output.json() {
        // The envelope does not say why the tools of these skills are missing.
        let snapshot = toolbox.snapshot();
        for name in skills {
            if let Err(failure) = require_available(find_active(&snapshot, name)?) {
                output.error(&failure.into_message(), None);
            }
        }
    }
    Ok(if envelope.status == Status::Error { check_failed() } else { SUCCESS })
}

/// Returns the parameters of a schema, required ones first. Optional ones have a question mark.
fn parameter_list(schema: &Value) -> String {
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys());
    let optional =
        properties.filter(|name| !required.contains(&name.as_str())).map(|name| format!("{name}?"));
    let names: Vec<_> = required.iter().map(|name| (*name).to_owned()).chain(optional).collect();
    names.join(", ")
}

/// Fails if a skill is not available, so that its tools are missing. Missing commands are reported by its toolsets.
fn require_available(skill: &Skill) -> Result<(), Failure> {
    let code = match skill.status() {
        SkillStatus::Enabled | SkillStatus::Unavailable(_) => return Ok(()),
        SkillStatus::Disabled(_) => ErrorCode::Disabled,
        SkillStatus::Untrusted(_) | SkillStatus::Modified(_) => ErrorCode::Untrusted,
        SkillStatus::Shadowed(_) => ErrorCode::NotFound,
        SkillStatus::Invalid => ErrorCode::InternalError,
    };
    let (status, reason) = status_and_reason(skill).unwrap_or_default();
    Err(Failure::new(code, format!("{} is {status} {reason}", clean(&skill.name()))))
}

/// Returns a session in which these skills are active.
fn session(toolbox: &Toolbox, skills: &[String]) -> Result<Session, Failure> {
    let snapshot = toolbox.snapshot();
    let mut session = Session::default();
    for name in skills {
        let skill = find_active(&snapshot, name)?;
        session.mark_invoked(skill.key());
    }
    Ok(session)
}
