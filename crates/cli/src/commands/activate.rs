//! `prowess activate`: prints exactly what a model receives when it loads a skill.

use prowess::activation::{ActivateError, activate};
use prowess::usage::SkillUsage;
use prowess_tools::Session;
use serde_json::json;

use super::{CommandResult, SUCCESS, find_active, script_runner};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, clean};

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    name: &str,
    args: Option<&str>,
    output: &mut Output,
) -> CommandResult {
    let registry = context.registry_for(global, &[name]);
    let snapshot = registry.snapshot();
    let skill = find_active(&snapshot, name)?;
    let mut activated = activate(skill, args, context.policy()).map_err(|error| {
        let failure = Failure::new(error.code(), error.to_string());
        match error {
            ActivateError::Arguments(_) => failure,
            _ => failure.hint(format!("run `prowess why {}` for details", clean(name))),
        }
    })?;
    if activated.inline_commands().next().is_some() {
        let runner = script_runner(context, super::run::cancellable());
        runner.insert_command_outputs(&registry, &snapshot, skill, &mut activated, &Session::default());
    }
    // Recording the use is optional, so a failure is ignored.
    let _ = SkillUsage::record(&context.host_env, skill.key());
    let content = activated.content();
    if output.json() {
        let mut value = json!({
            "schema": 1,
            "name": activated.name,
            "base_dir": activated.base_dir,
            "frontmatter": activated.frontmatter(),
            "body": activated.body(),
            "content": content,
            "resources": activated.resources(),
            "allowed_tools": activated.allowed_tools,
            "truncated": activated.truncated.is_some(),
            "digest": activated.digest(),
        });
        if let Some(origin) = &activated.origin {
            value["origin"] = json!({"title": origin.title, "uri": origin.uri});
        }
        output.write_json(&value)?;
        return Ok(SUCCESS);
    }
    output.text(&content)?;
    if let Some(cut) = activated.truncated {
        output.note(format!("truncated: {} of {} bytes are shown", cut.shown, cut.total));
    }
    Ok(SUCCESS)
}
