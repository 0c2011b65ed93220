//! `prowess match`: shows which skills match a query, and why. Finding them is called routing.

use prowess::policy::ActivationMode;
use prowess::usage::{self, SkillUsage};
use prowess_routing::{RouteOptions, Tier};
use prowess_tools::json;
use unicode_width::UnicodeWidthStr;

use super::{
    CommandResult, SUCCESS, check_failed, print_diagnostics, print_no_skills, print_notices, toolbox,
};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean};

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
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
    let has_matches = !routing.matches.is_empty();
    if output.json() {
        output.write_json(&json::routing_json(query, &routing))?;
        return Ok(if has_matches { SUCCESS } else { check_failed() });
    }
    output.line(format!("tier {}: {}", routing.tier.number(), routing.tier.describe()))?;
    let width = |name: &str| clean(name).width();
    let longest =
        routing.matches.iter().map(|has_matches| width(&has_matches.name)).max().unwrap_or_default();
    for has_matches in &routing.matches {
        let gap = " ".repeat(longest - width(&has_matches.name));
        let name = output.styled_text(TextStyle::Strong, &has_matches.name);
        output.line(format!(
            "{:>7.2}  {name}{gap}  {}",
            has_matches.score,
            clean(&has_matches.reasons.join(", "))
        ))?;
    }
    if snapshot.enabled().next().is_none() {
        print_no_skills(context, output);
    } else if !has_matches && routing.tier == Tier::Registry {
        output.note("no specific skill matches the query");
    } else if !has_matches {
        output.note("no skill matches the query");
    } else if !routing.is_confident() {
        output.note("no match is likely to be right");
    }
    print_diagnostics(output, router.diagnostics());
    Ok(if has_matches { SUCCESS } else { check_failed() })
}
