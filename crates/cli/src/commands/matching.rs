//! `prowess match`: which skills answer a query, and why.

use prowess::policy::Activation;
use prowess::usage::{self, Usage};
use prowess_routing::{Options, Tier};
use prowess_tools::shapes;
use unicode_width::UnicodeWidthStr;

use super::{Outcome, YES, no, nothing_found, notices, print_located, toolbox};
use crate::args::Global;
use crate::context::Context;
use crate::output::{Output, Tone, clean};

pub(super) fn run(context: &Context, global: &Global, query: &str, k: usize, output: &mut Output) -> Outcome {
    let toolbox = toolbox(context, global);
    let snapshot = toolbox.snapshot();
    let router = toolbox.router(&snapshot);
    let usage = Usage::load(&context.surroundings);
    let max_skills = match context.policy().activation {
        Activation::Pushed { max } => (max as usize).min(k),
        _ => k,
    };
    let options =
        Options { max_skills, k, usage: &usage, now: usage::now(), mention: context.policy().mention };
    let routing = router.route(query, &options);
    notices(&toolbox, output);
    let found = !routing.matches.is_empty();
    if output.json() {
        output.answer(&shapes::routed(query, &routing))?;
        return Ok(if found { YES } else { no() });
    }
    output.line(format!("tier {}: {}", routing.tier.number(), routing.tier.about()))?;
    let width = |name: &str| clean(name).width();
    let longest = routing.matches.iter().map(|found| width(&found.name)).max().unwrap_or_default();
    for found in &routing.matches {
        let gap = " ".repeat(longest - width(&found.name));
        let name = output.tone(Tone::Strong, &found.name);
        output.line(format!("{:>7.2}  {name}{gap}  {}", found.score, clean(&found.reasons.join(", "))))?;
    }
    if snapshot.enabled().next().is_none() {
        nothing_found(context, output);
    } else if !found && routing.tier == Tier::Registry {
        output.remark("no skill in particular answers that");
    } else if !found {
        output.remark("no skill answers that");
    } else if !routing.fits() {
        output.remark("none of them is likely to be right");
    }
    print_located(output, router.diagnostics());
    Ok(if found { YES } else { no() })
}
