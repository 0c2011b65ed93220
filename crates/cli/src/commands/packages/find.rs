//! `prowess find`: searches the configured skill indexes.

use prowess_package::find::{FindResult, FoundSkill, find_skills};
use serde_json::json;

use super::super::{CommandResult, SUCCESS, check_failed};
use super::{cancellable_task, failure};
use crate::args::GlobalArgs;
use crate::args::packages::FindArgs;
use crate::columns::{pad, width};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean};
use crate::progress;

pub(in crate::commands) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &FindArgs,
    output: &mut Output,
) -> CommandResult {
    let configured = &context.configuration.indexes;
    let sites = if args.index.is_empty() { configured.clone() } else { args.index.clone() };
    if sites.is_empty() {
        return Err(Failure::usage("no skill index is configured").hint(
            "add one with `prowess config set sources.indexes https://skills.example.com`, or pass --index URL",
        ));
    }
    let task = cancellable_task();
    let query = args.query.join(" ");
    let result = progress::with_task_progress(global, &task, || find_skills(&sites, &query, &task));
    let result = result.map_err(failure)?;
    let exit = if result.skills.is_empty() || !result.failed.is_empty() { check_failed() } else { SUCCESS };
    if output.json() {
        print_json(&query, &result, output)?;
        return Ok(exit);
    }
    let widest = result.skills.iter().map(|skill| width(&clean(&skill.name))).max().unwrap_or(0).min(32);
    for skill in &result.skills {
        print_skill(skill, widest, output)?;
    }
    for (site, error) in &result.failed {
        output.note(format!("cannot search {}: {}", clean(site), clean(&error.to_string())));
    }
    match result.skills.first() {
        Some(first) => output.note(format!("to install one: {}", install_command(first))),
        None if result.failed.is_empty() => output.note(format!("no skill matches {}", clean(&query))),
        None => {}
    }
    Ok(exit)
}

fn print_skill(skill: &FoundSkill, widest: usize, output: &mut Output) -> std::io::Result<()> {
    let name = clean(&skill.name).into_owned();
    let column = widest.max(width(&name)) + 2;
    let styled = output.styled_text(TextStyle::Strong, &pad(&name, column - 2));
    let mut lines = output.wrap_prose(&clean(&skill.description), column).into_iter();
    output.line(format!("{styled}  {}", lines.next().unwrap_or_default()).trim_end())?;
    for line in lines.chain([clean(&skill.site).into_owned()]) {
        output.line(format!("{}{line}", " ".repeat(column)))?;
    }
    Ok(())
}

fn install_command(skill: &FoundSkill) -> String {
    let (site, name) = (prowess::shell::quote(&skill.site), prowess::shell::quote(&skill.name));
    clean(&format!("prowess install {site} --skill {name}")).into_owned()
}

fn print_json(query: &str, result: &FindResult, output: &mut Output) -> std::io::Result<()> {
    let skills: Vec<_> = result
        .skills
        .iter()
        .map(|skill| {
            json!({
                "name": skill.name, "description": skill.description, "index": skill.site,
                "install": install_command(skill),
            })
        })
        .collect();
    let failed: Vec<_> = result
        .failed
        .iter()
        .map(|(site, error)| json!({"index": site, "code": error.code().as_str(), "message": error.to_string()}))
        .collect();
    output.write_json(&json!({"schema": 1, "query": query, "skills": skills, "failed": failed}))
}
