//! `prowess list`: the available skills.

use std::collections::HashMap;
use std::path::PathBuf;

use prowess::{Skill, Snapshot};
use prowess_tools::json::{AgentsByDir, ListFilter, ListJson};

use super::packages::{agents_by_dir, plugins_by_dir};
use super::{
    CommandResult, SUCCESS, display_name, print_diagnostics, print_no_skills, print_summary,
    status_and_reason,
};
use crate::args::GlobalArgs;
use crate::columns;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean, first_few, pluralize};

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    all: bool,
    output: &mut Output,
) -> CommandResult {
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    let (agents, plugins) = (agents_by_dir(&snapshot, context, global), plugins_by_dir(context));
    let filter = if all { ListFilter::All } else { ListFilter::WithoutExamples };
    if output.json() {
        let (agents, plugins) = (Some(&agents), Some(&plugins));
        output.write_json(&ListJson { snapshot: &snapshot, filter, agents, plugins })?;
        return Ok(SUCCESS);
    }
    print_table(context, &snapshot, &agents, filter, &plugins, output)?;
    print_remarks(context, &snapshot, all, output);
    Ok(SUCCESS)
}

/// The widths of the columns: names and agents. Without agents, the second is zero.
struct Widths {
    name: usize,
    agents: usize,
}

/// The least width of the column with descriptions. If there is less room, agents are printed below the description.
const DESCRIPTION_MIN: usize = 30;

fn print_table(
    context: &CommandContext,
    snapshot: &Snapshot,
    agents: &AgentsByDir,
    filter: ListFilter,
    plugins: &HashMap<PathBuf, String>,
    output: &mut Output,
) -> std::io::Result<()> {
    let listed = || prowess_tools::json::listed_skills(snapshot, filter);
    let widest = |width: &dyn Fn(&Skill) -> usize| listed().map(width).max().unwrap_or(0);
    let name = widest(&|skill| columns::width(&display_name(skill, context)));
    let widths = Widths {
        name: name.min(output.width() / 2 - 2).min(32),
        agents: widest(&|skill| agents_text(skill, agents, output).len()),
    };
    for skill in listed() {
        let plugin = if plugins.is_empty() { None } else { plugins.get(&skill.dir()) };
        let agents = agents_text(skill, agents, output);
        for line in row(skill, &display_name(skill, context), plugin, &agents, &widths, output) {
            output.line(line)?;
        }
    }
    Ok(())
}

/// Returns the agents to which a skill is available: all of them in a pipe, the first ones on a terminal.
fn agents_text(skill: &Skill, agents: &AgentsByDir, output: &Output) -> String {
    let names = agents.get(&skill.canonical_dir()).map(Vec::as_slice).unwrap_or_default();
    let max = if output.is_terminal() { 2 } else { usize::MAX };
    first_few(names.iter().map(|name| (*name).to_owned()), max, " and")
}

/// Returns the lines for a skill: wrapped on a terminal, a single line in a pipe.
fn row(
    skill: &Skill,
    name: &str,
    plugin: Option<&String>,
    agents: &str,
    widths: &Widths,
    output: &Output,
) -> Vec<String> {
    let own_line = output.is_terminal() && columns::width(name) > widths.name;
    let name_width = if own_line { widths.name } else { widths.name.max(columns::width(name)) };
    let mut column = name_width + 2;
    let agents_fit = column + widths.agents + 2 + DESCRIPTION_MIN <= output.width() || !output.is_terminal();
    let mut texts = if agents_fit && widths.agents > 0 {
        column += widths.agents + 2;
        describe(skill, plugin, column, output)
    } else {
        let mut texts = describe(skill, plugin, column, output);
        texts.extend((!agents.is_empty()).then(|| format!("available to {agents}")));
        texts
    };
    if own_line {
        texts.insert(0, String::new());
    }
    let indent = " ".repeat(column);
    let name = output.styled_text(TextStyle::Strong, &columns::pad(name, name_width));
    let agents = match agents_fit && widths.agents > 0 {
        true => format!("  {}", output.styled_text(TextStyle::Faint, &columns::pad(agents, widths.agents))),
        false => String::new(),
    };
    let first = |text: &String| format!("{name}{agents}  {text}").trim_end().to_owned();
    let others = texts.iter().skip(1).map(|text| format!("{indent}{text}"));
    texts.first().map(first).into_iter().chain(others).collect()
}

/// Returns the description of a skill, or the reason why it is listed only with `--all`. Neither is truncated: a reason
/// ends with the command that helps.
fn describe(skill: &Skill, plugin: Option<&String>, column: usize, output: &Output) -> Vec<String> {
    let example = || skill.is_example().then(|| ("example:".to_owned(), "not offered to models".to_owned()));
    let Some((status, reason)) = status_and_reason(skill).or_else(example) else {
        let description = match plugin {
            None => clean(skill.description()).into_owned(),
            Some(plugin) => format!("[{}] {}", clean(plugin), clean(skill.description())),
        };
        let mut lines = output.wrap_prose(&description, column);
        lines.resize(lines.len().max(1), String::new());
        return lines;
    };
    let mut lines = output.wrap(&format!("{status} {reason}"), column);
    if let Some(first) = lines.first_mut() {
        let painted = output.styled_text(TextStyle::Caution, &status);
        *first = first.replacen(&status, &painted, 1);
    }
    lines
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

/// Returns the number of skills that are not available, without symlinks to other skills.
pub(super) fn unavailable_count(snapshot: &Snapshot) -> usize {
    snapshot.without_links().filter(|skill| !skill.is_enabled()).count()
}

fn is_collision(located: &prowess::FileDiagnostic) -> bool {
    use prowess_format::Code;
    matches!(located.diagnostic.code, Code::Shadowed | Code::ShadowsBundled | Code::SameName)
}
