//! `prowess activate`: exactly what a model gets when it loads a skill.

use prowess::activate::{ActivateError, activate};
use prowess::usage::Usage;
use serde_json::json;

use super::{Outcome, YES, active};
use crate::args::Global;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, clean};

pub(super) fn run(
    context: &Context,
    global: &Global,
    name: &str,
    args: Option<&str>,
    output: &mut Output,
) -> Outcome {
    let snapshot = context.registry_of(global, &[name]).snapshot();
    let skill = active(&snapshot, name)?;
    let activated = activate(skill, args, context.policy()).map_err(|error| {
        let failure = Failure::new(error.code(), error.to_string());
        match error {
            ActivateError::Arguments(_) => failure,
            _ => failure.hint(format!("prowess why {} tells more", clean(name))),
        }
    })?;
    // Remembering is a convenience: that it cannot be done is no reason to withhold the answer.
    let _ = Usage::record(&context.surroundings, &prowess_tools::key(skill, context.policy()));
    let content = activated.content();
    if output.json() {
        let mut answer = json!({
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
            answer["origin"] = json!({"title": origin.title, "uri": origin.uri});
        }
        output.answer(&answer)?;
        return Ok(YES);
    }
    output.text(&content)?;
    if let Some(cut) = activated.truncated {
        output.remark(format!("cut: {} of {} bytes are shown", cut.shown, cut.total));
    }
    Ok(YES)
}
