//! `prowess prompt`: prints the catalog, which is the list of skills for a model, exactly as the model sees it.

use prowess::catalog::CatalogCut;
use prowess::policy::CatalogFormat;
use prowess_tools::{PromptRequest, json, render_prompt};

use super::{CommandResult, SUCCESS, print_notices, toolbox};
use crate::args::{GlobalArgs, PromptArgs, PromptFormat};
use crate::context::CommandContext;
use crate::output::{Output, clean, pluralize};

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &PromptArgs,
    output: &mut Output,
) -> CommandResult {
    let toolbox = toolbox(context, global);
    let request = PromptRequest {
        query: args.query.as_deref(),
        format: args.format.map(|format| match format {
            PromptFormat::Xml => CatalogFormat::Xml,
            PromptFormat::Json => CatalogFormat::Json,
            PromptFormat::Markdown => CatalogFormat::Bullets,
            PromptFormat::Tiers => CatalogFormat::Tiers,
        }),
        location: args.location,
        budget_chars: args.budget_chars,
        budget_tokens: args.budget_tokens,
        files: &args.file,
        search_tool: None,
    };
    let prompt = render_prompt(&toolbox, &request);
    print_notices(&toolbox, output);
    let cuts: Vec<CatalogCut> = prompt.plan.cuts().collect();
    if output.json() {
        output.write_json(&json::prompt_json(&prompt))?;
        return Ok(SUCCESS);
    }
    output.text(&prompt.text)?;
    print_cuts(&cuts, prompt.plan.total(), output);
    Ok(SUCCESS)
}

/// Prints the number of cut skills, and their names with `--verbose`.
fn print_cuts(cuts: &[CatalogCut], total: usize, output: &mut Output) {
    if cuts.is_empty() {
        return;
    }
    let message = format!("{} of {} cut to fit the budget", cuts.len(), pluralize(total, "skill"));
    if !output.verbose() {
        output.note(format!("{message}; pass -v to list them"));
        return;
    }
    output.note(format!("{message}:"));
    for cut in cuts {
        output.note(format!("  {}: {}", clean(&cut.name), cut.level.as_str()));
    }
}
