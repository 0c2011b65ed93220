//! `prowess list`: the available skills.

use std::collections::HashSet;

use prowess::{Skill, Snapshot};
use prowess_tools::json::ListJson;

use super::{
    CommandResult, SUCCESS, display_name, print_diagnostics, print_no_skills, print_summary,
    status_and_reason,
};
use crate::args::GlobalArgs;
use crate::columns;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, pluralize, truncate};

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    all: bool,
    output: &mut Output,
) -> CommandResult {
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    if output.json() {
        output.write_json(&ListJson { snapshot: &snapshot, all })?;
        return Ok(SUCCESS);
    }
    print_table(context, &snapshot, all, output)?;
    print_remarks(context, &snapshot, all, output);
    Ok(SUCCESS)
}

fn print_table(
    context: &CommandContext,
    snapshot: &Snapshot,
    all: bool,
    output: &mut Output,
) -> std::io::Result<()> {
    let names = prowess_tools::json::listed_skills(snapshot, all)
        .map(|skill| columns::width(&display_name(skill, context)));
    let widest = names.max().unwrap_or(0).min(output.width() / 2 - 2).min(32);
    for skill in prowess_tools::json::listed_skills(snapshot, all) {
        for line in row(skill, &display_name(skill, context), widest, output) {
            output.line(line)?;
        }
    }
    Ok(())
}

/// Returns the lines for a skill: wrapped on a terminal, a single line in a pipe.
fn row(skill: &Skill, name: &str, widest: usize, output: &Output) -> Vec<String> {
    let own_line = output.is_terminal() && columns::width(name) > widest;
    let column = if own_line { widest } else { widest.max(columns::width(name)) } + 2;
    let mut texts = match status_and_reason(skill) {
        None => vec![truncate(skill.description(), output.width().saturating_sub(column).max(20))],
        // The reason is not truncated, because it ends with the command that helps.
        Some((status, reason)) => {
            let mut lines = output.wrap(&format!("{status} {reason}"), column);
            if let Some(first) = lines.first_mut() {
                let painted = output.styled_text(TextStyle::Caution, &status);
                *first = first.replacen(&status, &painted, 1);
            }
            lines
        }
    };
    if own_line {
        texts.insert(0, String::new());
    }
    let indent = " ".repeat(column);
    let name = output.styled_text(TextStyle::Strong, &columns::pad(name, widest));
    let first = |text: &String| format!("{name}  {text}").trim_end().to_owned();
    let reason = texts.iter().skip(1).map(|text| format!("{indent}{text}"));
    texts.first().map(first).into_iter().chain(reason).collect()
}

/// Prints diagnostics and the number of skills that are not listed.
fn print_remarks(context: &CommandContext, snapshot: &Snapshot, all: bool, output: &mut Output) {
    if !context.policy().enabled {
        return print_no_skills(context, output);
    }
    let diagnostics: Vec<_> = snapshot.general_diagnostics().cloned().collect();
    if output.verbose() {
        print_diagnostics(output, &snapshot.diagnostics().collect::<Vec<_>>());
    } else {
        let diagnostics: Vec<_> = diagnostics.into_iter().filter(|located| !is_collision(located)).collect();
        print_summary(output, &diagnostics, "prowess list --verbose");
    }
    let unavailable = unavailable_count(snapshot);
    if snapshot.all().is_empty() {
        print_no_skills(context, output);
    } else if unavailable > 0 && !all {
        let verb = if unavailable == 1 { "is" } else { "are" };
        let skills = pluralize(unavailable, "skill");
        output.note(format!("{skills} {verb} not available; run `prowess list --all` to see why"));
    }
}

/// Returns the number of skills that are not available, without symlinks to available skills.
pub(super) fn unavailable_count(snapshot: &Snapshot) -> usize {
    let (links, others): (Vec<&Skill>, Vec<&Skill>) =
        snapshot.all().iter().filter(|skill| !skill.is_enabled()).partition(|skill| skill.link().is_some());
    let available: HashSet<_> = match links.is_empty() {
        true => HashSet::new(),
        false => snapshot.enabled().map(|skill| skill.canonical_dir()).collect(),
    };
    let links = links.iter().filter(|skill| !available.contains(&skill.canonical_dir()));
    others.len() + links.count()
}

fn is_collision(located: &prowess::FileDiagnostic) -> bool {
    use prowess_format::Code;
    matches!(located.diagnostic.code, Code::Shadowed | Code::ShadowsBundled | Code::SameName)
}
