//! `prowess lint --routing`: finds skills that are hard to tell apart, and triggers that are too general.

use prowess_routing::RoutingAdvice;
use serde_json::json;

use super::{CommandResult, SUCCESS, check_failed, toolbox};
use crate::args::{GlobalArgs, LintArgs};
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean};
use crate::progress;

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &LintArgs,
    output: &mut Output,
) -> CommandResult {
    // `--routing` is the only check so far and is required, so that others can be added.
    let LintArgs { routing: _ } = args;
    let toolbox = toolbox(context, global);
    let snapshot = toolbox.snapshot();
    let router = toolbox.router(&snapshot);
    let (names, advice) = progress::with_scan_progress(global, "comparing", |_| router.lint());
    let lost = super::test::lost_requests(&snapshot, &router, context.policy().mention);
    let name = |skill: usize| names.get(skill).map_or("", String::as_str);
    if output.json() {
        let skills: Vec<_> = advice
            .iter()
            .map(|RoutingAdvice { skill, rank, rivals, words, general_triggers }| {
                let rivals: Vec<_> = rivals
                    .iter()
                    .map(|(rival, share)| json!({"name": name(*rival), "share": (f64::from(*share) * 100.0).round() / 100.0}))
                    .collect();
                json!({
                    "name": name(*skill), "place": rank.map(|rank| rank + 1), "rivals": rivals, "words": words,
                    "general_triggers": general_triggers
                })
            })
            .collect();
        let lost: Vec<_> =
            lost.iter().map(|(name, result)| json!({"name": name, "result": result})).collect();
        output.write_json(
            &json!({"schema": 1, "checked": names.len(), "skills": skills, "evaluations": lost}),
        )?;
    } else {
        for RoutingAdvice { skill, rank, rivals, words, general_triggers } in &advice {
            let title = output.styled_text(TextStyle::Strong, name(*skill));
            let ranking = match rank {
                Some(0) => "ranks first for its own description".to_owned(),
                Some(rank) => format!("ranks {} for its own description", rank + 1),
                None => "not found for its own description".to_owned(),
            };
            output.line(format!("{title}: {ranking}"))?;
            if !rivals.is_empty() {
                let rivals: Vec<String> =
                    rivals.iter().map(|(rival, _)| clean(name(*rival)).into_owned()).collect();
                output.line(format!("  confusable with {}", rivals.join(", ")))?;
            }
            if !words.is_empty() {
                output.line(format!("  words that would distinguish it: {}", clean(&words.join(", "))))?;
            }
            if !general_triggers.is_empty() {
                let triggers = general_triggers.join(", ");
                output.line(format!("  triggers that are too general: {}", clean(&triggers)))?;
            }
        }
        for (name, result) in &lost {
            super::test::print_routing(name, result, output)?;
        }
        let confusable = advice.iter().filter(|advice| advice.is_confusable()).count();
        let general = advice.iter().filter(|advice| !advice.general_triggers.is_empty()).count();
        let mut summary = format!("{} checked, {confusable} hard to tell apart", names.len());
        if general > 0 {
            summary.push_str(&format!(", {general} with triggers that are too general"));
        }
        output.line(summary)?;
    }
    Ok(if advice.is_empty() && lost.is_empty() { SUCCESS } else { check_failed() })
}
