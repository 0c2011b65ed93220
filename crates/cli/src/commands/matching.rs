//! `prowess match`: shows which skills match a query, and why. Finding them is called routing.

use prowess::Skill;
use prowess::known_files::KnownFiles;
use prowess::policy::ActivationMode;
use prowess::usage::{self, SkillUsage};
use prowess_routing::{RouteOptions, Tier};
use prowess_tools::json;
use serde_json::json;
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
    files: &[String],
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
    let project = &context.host_env.project;
    let mut known_files = KnownFiles::in_message(query, project);
    files.iter().for_each(|path| known_files.add_path(path, project));
    let routing = router.route_for_files(query, &known_files, &options);
    let withheld = router.withheld_matches(query, &known_files, &options);
    print_notices(&toolbox, output);
    let has_matches = !routing.matches.is_empty();
    if output.json() {
        let mut value = json::routing_json(query, &routing);
        if !withheld.is_empty() {
            let skill = |skill: &&Skill| json!({"name": skill.key(), "paths": paths(skill)});
            value["withheld"] = withheld.iter().map(skill).collect();
        }
        output.write_json(&value)?;
        return Ok(if has_matches { SUCCESS } else { check_failed() });
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
    } else if !has_matches && routing.tier == Tier::Registry {
        output.note("no specific skill matches the query");
    } else if !has_matches {
        output.note("no skill matches the query");
    } else if !routing.is_confident() {
        output.note("weak match: the first skill may not be the right one");
    }
    for skill in withheld {
        let globs: Vec<&str> = paths(skill).iter().map(|glob| &**glob).collect();
        output.note(format!(
            "{} is only offered for files that match {}; pass --file PATH, or mention ${}",
            clean(&skill.name()),
            clean(&globs.join(" or ")),
            clean(&skill.name()),
        ));
    }
    print_diagnostics(output, router.diagnostics());
    Ok(if has_matches { SUCCESS } else { check_failed() })
}

/// Returns the globs of the files for which a skill is offered.
fn paths(skill: &Skill) -> &[Box<str>] {
    skill.manifest().map_or(&[], |manifest| manifest.paths())
}
