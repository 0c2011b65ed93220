//! `prowess match`: shows which skills match a query, and why.

use prowess::policy::ActivationMode;
use prowess::usage::{self, SkillUsage};
use prowess_routing::{RouteOptions, Tier};
use prowess_tools::json;
use unicode_width::UnicodeWidthStr;

use super::{
    CommandResult, SUCCESS, check_failed, print_diagnostics, print_no_skills, print_notices, toolbox,
};
use crate::args::Global;
use crate::context::Context;
use crate::output::{Output, TextStyle, clean};

pub(super) fn run(
    context: &Context,
    global: &Global,
    query: &str,
    k: usize,
    output: &mut Output,
) -> CommandResult {
    let toolbox = toolbox(context, global);
    let snapshot = toolbox.snapshot();
    let router = toolbox.router(&snapshot);
    let usage = SkillUsage::load(&context.host_env);
    let max_skills = match context.policy().activation {
        ActivationMode::Pushed { max } => (max as usize).min(k),
        _ => k,
    };
    let options =
        RouteOptions { max_skills, k, usage: &usage, now: usage::now(), mention: context.policy().mention };
    let routing = router.route(query, &options);
    print_notices(&toolbox, output);
    let found = !routing.matches.is_empty();
    if output.json() {
        output.write_json(&json::routing_json(query, &routing))?;
        return Ok(if found { SUCCESS } else { check_failed() });
    }
    output.line(format!("tier {}: {}", routing.tier.number(), routing.tier.describe()))?;
    let width = |name: &str| clean(name).width();
    let longest = routing.matches.iter().map(|found| width(&found.name)).max().unwrap_or_default();
    for found in &routing.matches {
        let gap = " ".repeat(longest - width(&found.name));
        let name = output.styled_text(TextStyle::Strong, &found.name);
        output.line(format!("{:>7.2}  {name}{gap}  {}", found.score, clean(&found.reasons.join(", "))))?;
    }
    if snapshot.enabled().next().is_none() {
        print_no_skills(context, output);
    } else if !found && routing.tier == Tier::Registry {
        output.note("no specific skill matches the query");
    } else if !found {
        output.note("no skill matches the query");
    } else if !routing.is_confident() {
        output.note("no match is likely to be right");
    }
    print_diagnostics(output, router.diagnostics());
    Ok(if found { SUCCESS } else { check_failed() })
}
