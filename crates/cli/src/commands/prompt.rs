//! `prowess prompt`: exactly what a model is shown.

use prowess::disclose::Cut;
use prowess::policy::CatalogFormat;
use prowess_tools::{PromptRequest, prompt, shapes};

use super::{Outcome, YES, notices, toolbox};
use crate::args::{Global, Prompt, PromptFormat};
use crate::context::Context;
use crate::output::{Output, clean, counted};

pub(super) fn run(context: &Context, global: &Global, call: &Prompt, output: &mut Output) -> Outcome {
    let toolbox = toolbox(context, global);
    let request = PromptRequest {
        query: call.query.as_deref(),
        format: call.format.map(|format| match format {
            PromptFormat::Xml => CatalogFormat::Xml,
            PromptFormat::Json => CatalogFormat::Json,
            PromptFormat::Markdown => CatalogFormat::Bullets,
            PromptFormat::Tiers => CatalogFormat::Tiers,
        }),
        location: call.location,
        budget_chars: call.budget_chars,
        budget_tokens: call.budget_tokens,
    };
    let prompt = prompt(&toolbox, &request);
    notices(&toolbox, output);
    let cuts: Vec<Cut> = prompt.plan.cuts().collect();
    if output.json() {
        output.answer(&shapes::prompted(&prompt))?;
        return Ok(YES);
    }
    output.text(&prompt.text)?;
    report(&cuts, prompt.plan.total(), output);
    Ok(YES)
}

/// What was cut, in full where that was asked for.
fn report(cuts: &[Cut], total: usize, output: &mut Output) {
    if cuts.is_empty() {
        return;
    }
    let told = format!("{} of {} cut to fit the budget", cuts.len(), counted(total, "skill"));
    if !output.verbose() {
        output.remark(format!("{told}; -v names them"));
        return;
    }
    output.remark(format!("{told}:"));
    for cut in cuts {
        output.remark(format!("  {}: {}", clean(&cut.name), cut.level.as_str()));
    }
}
