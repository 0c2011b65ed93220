//! `prowess tools` and `prowess call`: what a model can call, and calling it.

use prowess::{Skill, Status as SkillStatus};
use prowess_tools::{Outcome as Status, Session, Toolbox, key};
use serde_json::{Value, json};

use super::{
    Outcome, YES, active, no, nothing_found, notices, print_located, standing, toolbox, toolbox_until,
};
use crate::args::Global;
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, Tone, clean};

pub(super) fn tools(context: &Context, global: &Global, skills: &[String], output: &mut Output) -> Outcome {
    let toolbox = toolbox(context, global);
    let session = session(&toolbox, skills)?;
    for name in skills {
        refuse_closed(active(&toolbox.snapshot(), name)?)?;
    }
    let tools = toolbox.definitions_in(&session);
    print_located(output, &toolbox.take_diagnostics());
    if output.json() {
        output.answer(&json!({"schema": 1, "tools": tools}))?;
        return Ok(YES);
    }
    for tool in &tools {
        let name = output.tone(Tone::Strong, &tool.name);
        output.line(format!("{name}({})", takes(&tool.input_schema)))?;
        for line in output.wrapped(&clean(tool.description.lines().next().unwrap_or_default()), 4) {
            output.line(format!("    {line}"))?;
        }
    }
    if tools.is_empty() {
        nothing_found(context, output);
    }
    Ok(YES)
}

pub(super) fn call(
    context: &Context,
    global: &Global,
    tool: &str,
    params: &str,
    skills: &[String],
    output: &mut Output,
) -> Outcome {
    let params: Value = serde_json::from_str(params).map_err(|error| {
        Failure::call(format!("the parameters are not JSON: {error}"))
            .hint("write an object, such as '{\"name\": \"hello-world\"}'")
    })?;
    let toolbox = toolbox_until(context, global, super::run::cancellable());
    let mut session = session(&toolbox, skills)?;
    let envelope = toolbox.call(&mut session, tool, params);
    print_located(output, &toolbox.take_diagnostics());
    notices(&toolbox, output);
    output.answer(&envelope)?;
    if envelope.status == Status::Error && !output.json() {
        // The tools of such a skill are missing, and the envelope cannot say why.
        let snapshot = toolbox.snapshot();
        for name in skills {
            if let Err(failure) = refuse_closed(active(&snapshot, name)?) {
                output.error(&failure.into_message(), None);
            }
        }
    }
    Ok(if envelope.status == Status::Error { no() } else { YES })
}

/// The parameters of a schema, those that are required first; a question mark is on those that are not.
fn takes(schema: &Value) -> String {
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys());
    let optional =
        properties.filter(|name| !required.contains(&name.as_str())).map(|name| format!("{name}?"));
    let names: Vec<_> = required.iter().map(|name| (*name).to_owned()).chain(optional).collect();
    names.join(", ")
}

/// Refuses a skill whose tools are not there because it is not on offer. Missing commands are told by its toolsets.
fn refuse_closed(skill: &Skill) -> Result<(), Failure> {
    let code = match skill.status() {
        SkillStatus::Enabled | SkillStatus::Unavailable(_) => return Ok(()),
        SkillStatus::Disabled(_) => ErrorCode::Disabled,
        SkillStatus::Untrusted(_) | SkillStatus::Modified(_) => ErrorCode::Untrusted,
        SkillStatus::Shadowed(_) => ErrorCode::NotFound,
        SkillStatus::Invalid => ErrorCode::InternalError,
    };
    let (status, rest) = standing(skill).unwrap_or_default();
    Err(Failure::new(code, format!("{} is {status} {rest}", clean(&skill.name()))))
}

/// A conversation in which these skills were called by name.
fn session(toolbox: &Toolbox, skills: &[String]) -> Result<Session, Failure> {
    let snapshot = toolbox.snapshot();
    let mut session = Session::default();
    for name in skills {
        let skill = active(&snapshot, name)?;
        session.call_by_name(&key(skill, toolbox.registry().policy()));
    }
    Ok(session)
}
