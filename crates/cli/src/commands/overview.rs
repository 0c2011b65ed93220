//! `prowess` without arguments, on a terminal: the skills that were found, and what to do next.

use prowess_tools::json::{ListFilter, listed_skills};

use super::{CommandResult, SUCCESS, list, print_no_skills};
use crate::args::GlobalArgs;
use crate::columns;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, pluralize};

/// The next commands if there are skills.
const WITH_SKILLS: [(&str, &str); 3] = [
    ("prowess list", "List the available skills"),
    ("prowess match QUERY", "Show which skills match a query"),
    ("prowess --help", "Show all commands"),
];

/// The next commands if there are no skills.
const WITHOUT_SKILLS: [(&str, &str); 3] = [
    ("prowess new NAME --description TEXT", "Create a skill"),
    ("prowess install SOURCE", "Install skills"),
    ("prowess --help", "Show all commands"),
];

pub(crate) fn run(global: &GlobalArgs, output: &mut Output) -> CommandResult {
    let context = CommandContext::load(global, output)?;
    let snapshot = context.registry(global).snapshot();
    let available = listed_skills(&snapshot, ListFilter::WithoutExamples).count();
    let unavailable = list::unavailable_count(&snapshot);
    let diagnostics = snapshot.diagnostics().count();
    output.line(output.styled_text(TextStyle::Strong, concat!("prowess ", env!("CARGO_PKG_VERSION"))))?;
    if available > 0 {
        let verb = if available == 1 { "is" } else { "are" };
        output.line(format!("{} {verb} available", pluralize(available, "skill")))?;
    }
    if unavailable > 0 {
        let verb = if unavailable == 1 { "is" } else { "are" };
        let skills = pluralize(unavailable, "skill");
        output.line(format!("{skills} {verb} not available; run `prowess list --all` to see why"))?;
    }
    if diagnostics > 0 {
        let diagnostics = pluralize(diagnostics, "diagnostic");
        output.line(format!("{diagnostics}; run `prowess list --verbose` for details"))?;
    }
    if available + unavailable == 0 {
        print_no_skills(&context, output);
    }
    let commands = if available > 0 { WITH_SKILLS } else { WITHOUT_SKILLS };
    let widest = commands.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    output.line("")?;
    for (command, about) in commands {
        output.line(format!("  {}  {about}", columns::pad(command, widest)))?;
    }
    Ok(SUCCESS)
}
