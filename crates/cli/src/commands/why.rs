//! `prowess why`: is my skill there, and if not, why not?

use prowess::{RootProblem, Skill, Snapshot, short_path};
use serde_json::json;

use super::elsewhere::{self, Sighting};
use super::{Outcome, YES, list, no, print_located};
use crate::args::Global;
use crate::context::Context;
use crate::output::{Output, Tone, clean, clean_path};
use crate::report::DiagnosticJson;

pub(super) fn run(context: &Context, global: &Global, name: &str, output: &mut Output) -> Outcome {
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    let copies: Vec<&Skill> = snapshot.copies(name).collect();
    let winner =
        copies.iter().copied().find(|skill| snapshot.get(&skill.name()).is_some_and(|found| found == *skill));
    let offered = winner.is_some_and(Skill::is_enabled);
    // Only where the roots do not answer it is it worth looking everywhere else.
    let sightings = if offered { Vec::new() } else { elsewhere::look(name, &snapshot, context) };
    if output.json() {
        answer(name, &copies, winner, &sightings, &snapshot, output)?;
    } else {
        tell(name, &copies, winner, &sightings, &snapshot, context, output)?;
    }
    Ok(if offered { YES } else { no() })
}

fn answer(
    name: &str,
    copies: &[&Skill],
    winner: Option<&Skill>,
    sightings: &[Sighting],
    snapshot: &Snapshot,
    output: &mut Output,
) -> std::io::Result<()> {
    let copies: Vec<_> = copies
        .iter()
        .map(|skill| {
            let location = skill.location();
            let diagnostics: Vec<_> = skill
                .diagnostics()
                .iter()
                .map(|diagnostic| DiagnosticJson::new(&location, diagnostic))
                .collect();
            let wins = winner.is_some_and(|winner| winner == *skill);
            json!({"skill": list::SkillJson::of(skill), "wins": wins, "diagnostics": diagnostics})
        })
        .collect();
    let elsewhere: Vec<_> = sightings
        .iter()
        .map(|sighting| json!({"path": sighting.path, "why": sighting.why, "help": sighting.help}))
        .collect();
    output.answer(&json!({
        "schema": 1,
        "name": name,
        "offered": winner.is_some_and(Skill::is_enabled),
        "winner": winner.map(|skill| skill.location()),
        "copies": copies,
        "elsewhere": elsewhere,
        "scanned": snapshot.roots().map(|root| root.path()).collect::<Vec<_>>(),
        "not_scanned": snapshot.absent_roots().iter().map(|root| &root.path).collect::<Vec<_>>(),
    }))
}

fn tell(
    name: &str,
    copies: &[&Skill],
    winner: Option<&Skill>,
    sightings: &[Sighting],
    snapshot: &Snapshot,
    context: &Context,
    output: &mut Output,
) -> std::io::Result<()> {
    let name = clean(name);
    let short = |path: &std::path::Path| clean_path(&short_path(path, &context.surroundings));
    match winner {
        Some(skill) if skill.is_enabled() => {
            let place = short(&skill.location());
            let mark = output.tone(Tone::Good, "✓");
            output.line(format!("{mark} {name} is offered, from {place}"))?;
        }
        Some(_) | None if !copies.is_empty() => {
            let mark = output.tone(Tone::Bad, "✗");
            output.line(format!("{mark} {name} is not offered"))?;
        }
        Some(_) | None => {
            let mark = output.tone(Tone::Bad, "✗");
            output.line(format!("{mark} there is no skill named {name}"))?;
        }
    }
    for skill in copies.iter().filter(|skill| !skill.is_enabled()) {
        output.line("")?;
        output.line(format!("  {}", short(&skill.location())))?;
        let status = output.tone(Tone::Caution, skill.status().as_str());
        output.line(format!("    {status}: {}", clean(&skill.reason().unwrap_or_default())))?;
    }
    for sighting in sightings {
        output.line("")?;
        output.line(format!("  {}", short(&sighting.path)))?;
        output.line(format!("    {}", clean(&sighting.why)))?;
        output.line(format!("    {} {}", output.tone(Tone::Good, "→"), clean(&sighting.help)))?;
    }
    if copies.is_empty() {
        output.line("")?;
        looked(snapshot, context, output)?;
    }
    let said: Vec<_> = copies
        .iter()
        .filter(|skill| !skill.is_enabled())
        .flat_map(|skill| {
            skill.diagnostics().iter().map(|said| prowess::Located::new(skill.location(), said.clone()))
        })
        .collect();
    print_located(output, &said);
    Ok(())
}

/// Where was looked, for when nothing was found there.
fn looked(snapshot: &Snapshot, context: &Context, output: &mut Output) -> std::io::Result<()> {
    output.line(format!("Looked in (preset {}):", context.policy().preset))?;
    for root in snapshot.roots() {
        let count = snapshot.all().iter().filter(|skill| skill.root() == root).count();
        let path = clean_path(&short_path(root.path(), &context.surroundings));
        output.line(format!("  {path}  ({count} found)"))?;
    }
    for absent in snapshot.absent_roots() {
        let why = match &absent.problem {
            RootProblem::Missing => "does not exist".to_owned(),
            RootProblem::Unreadable(why) => format!("cannot be read: {why}"),
            RootProblem::NotAFolder => "is not a directory".to_owned(),
            RootProblem::Outside(target) => format!("leads out of the project, to {}", target.display()),
            RootProblem::NoHome => "there is no home".to_owned(),
        };
        let path = clean_path(&short_path(&absent.path, &context.surroundings));
        output.line(output.tone(Tone::Faint, &format!("  {path}  ({why})")))?;
    }
    Ok(())
}
