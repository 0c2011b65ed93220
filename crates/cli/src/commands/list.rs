//! `prowess list`: the skills a model would be offered.

use std::collections::HashSet;

use prowess::{Skill, Snapshot};
use prowess_tools::shapes::ListJson;

use super::{Outcome, YES, called, nothing_found, print_located, print_summary, standing};
use crate::args::Global;
use crate::columns;
use crate::context::Context;
use crate::output::{Output, Tone, counted, cut};

pub(super) fn run(context: &Context, global: &Global, all: bool, output: &mut Output) -> Outcome {
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    if output.json() {
        output.answer(&ListJson { snapshot: &snapshot, all })?;
        return Ok(YES);
    }
    people(context, &snapshot, all, output)?;
    remarks(context, &snapshot, all, output);
    Ok(YES)
}

fn people(context: &Context, snapshot: &Snapshot, all: bool, output: &mut Output) -> std::io::Result<()> {
    let names =
        prowess_tools::shapes::listed(snapshot, all).map(|skill| columns::width(&called(skill, context)));
    let widest = names.max().unwrap_or(0).min(output.width() / 2 - 2).min(32);
    for skill in prowess_tools::shapes::listed(snapshot, all) {
        for line in row(skill, &called(skill, context), widest, output) {
            output.line(line)?;
        }
    }
    Ok(())
}

/// The lines for one skill: one in a pipe, on a terminal as many as fit.
fn row(skill: &Skill, name: &str, widest: usize, output: &Output) -> Vec<String> {
    let alone = output.is_terminal() && columns::width(name) > widest;
    let column = if alone { widest } else { widest.max(columns::width(name)) } + 2;
    let mut texts = match standing(skill) {
        None => vec![cut(skill.description(), output.width().saturating_sub(column).max(20))],
        // What keeps a skill from being offered is never cut short: its end says what to do.
        Some((status, rest)) => {
            let mut lines = output.wrapped(&format!("{status} {rest}"), column);
            if let Some(first) = lines.first_mut() {
                let painted = output.tone(Tone::Caution, &status);
                *first = first.replacen(&status, &painted, 1);
            }
            lines
        }
    };
    if alone {
        texts.insert(0, String::new());
    }
    let indent = " ".repeat(column);
    let name = output.tone(Tone::Strong, &columns::pad(name, widest));
    let first = |text: &String| format!("{name}  {text}").trim_end().to_owned();
    let rest = texts.iter().skip(1).map(|text| format!("{indent}{text}"));
    texts.first().map(first).into_iter().chain(rest).collect()
}

/// What is not in the list, and why the list may be empty.
fn remarks(context: &Context, snapshot: &Snapshot, all: bool, output: &mut Output) {
    if !context.policy().enabled {
        return nothing_found(context, output);
    }
    let said: Vec<_> = snapshot.general_diagnostics().cloned().collect();
    if output.verbose() {
        print_located(output, &snapshot.diagnostics().collect::<Vec<_>>());
    } else {
        let said: Vec<_> = said.into_iter().filter(|located| !is_collision(located)).collect();
        print_summary(output, &said, "prowess list --verbose");
    }
    let (links, others): (Vec<&Skill>, Vec<&Skill>) =
        snapshot.all().iter().filter(|skill| !skill.is_enabled()).partition(|skill| skill.link().is_some());
    // A link to a skill that is offered, for another agent, is no other skill.
    let offered: HashSet<_> = match links.is_empty() {
        true => HashSet::new(),
        false => snapshot.enabled().map(|skill| skill.canonical_folder()).collect(),
    };
    let links = links.iter().filter(|skill| !offered.contains(&skill.canonical_folder()));
    let hidden = others.len() + links.count();
    if snapshot.all().is_empty() {
        nothing_found(context, output);
    } else if hidden > 0 && !all {
        let are = if hidden == 1 { "is" } else { "are" };
        let more =
            if hidden == snapshot.all().len() { counted(hidden, "skill") } else { format!("{hidden} more") };
        output.remark(format!("{more} {are} not offered; prowess list --all tells why"));
    }
}

fn is_collision(located: &prowess::Located) -> bool {
    use prowess_format::Code;
    matches!(located.diagnostic.code, Code::Shadowed | Code::ShadowsBundled | Code::SameName)
}
