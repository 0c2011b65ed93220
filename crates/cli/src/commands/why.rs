//! `prowess why`: is my skill there, and if not, why not?

use prowess::{RootProblem, Skill, Snapshot, Status, short_path};
use prowess_tools::shapes::{Provenance, SkillJson};
use serde_json::json;

use super::elsewhere::{self, Sighting};
use super::packages::origin;
use super::remedy::remedy;
use super::{Outcome, YES, no, place, print_located, standing};
use crate::args::Global;
use crate::columns;
use crate::context::Context;
use crate::output::{Output, Tone, clean, clean_path};
use crate::report::DiagnosticJson;

/// All there is to say about a name.
struct Answer<'a> {
    name: &'a str,
    copies: Vec<&'a Skill>,
    /// The copy that counts.
    winner: Option<&'a Skill>,
    sightings: Vec<Sighting>,
    snapshot: &'a Snapshot,
}

pub(super) fn run(context: &Context, global: &Global, name: &str, output: &mut Output) -> Outcome {
    let registry = context.registry_of(global, &[name]);
    let snapshot = registry.snapshot();
    let copies: Vec<&Skill> = snapshot.copies(name).collect();
    // Where skills are called by their folders, several may have the name: one that is offered counts most.
    let counts = |skill: &&&Skill| {
        matches!(skill.status(), Status::Disabled(_) | Status::Unavailable(_) | Status::Modified(_))
    };
    let winner =
        copies.iter().find(|skill| skill.is_enabled()).or_else(|| copies.iter().find(counts)).copied();
    let offered = winner.is_some_and(Skill::is_enabled);
    // Only where the roots do not answer it is it worth looking everywhere else.
    let sightings = if offered { Vec::new() } else { elsewhere::look(name, &snapshot, context) };
    let answer = Answer { name, copies, winner, sightings, snapshot: &snapshot };
    if output.json() {
        output.answer(&answer.json(context))?;
    } else {
        answer.tell(context, output)?;
    }
    Ok(if offered { YES } else { no() })
}

impl Answer<'_> {
    fn json(&self, context: &Context) -> serde_json::Value {
        let copies: Vec<_> = self
            .copies
            .iter()
            .map(|skill| {
                let location = skill.location();
                let diagnostics: Vec<_> =
                    skill.diagnostics().iter().map(|said| DiagnosticJson::new(&location, said)).collect();
                json!({
                    "skill": SkillJson::of(skill),
                    "wins": self.winner.is_some_and(|winner| winner == *skill),
                    "help": remedy(skill, context),
                    "installed": Provenance::of(skill, &context.surroundings).map(|installed| installed.json()),
                    "diagnostics": diagnostics,
                })
            })
            .collect();
        let elsewhere: Vec<_> = self
            .sightings
            .iter()
            .map(|sighting| json!({"path": sighting.path, "why": sighting.why, "help": sighting.help}))
            .collect();
        json!({
            "schema": 1,
            "name": self.name,
            "offered": self.winner.is_some_and(Skill::is_enabled),
            "winner": self.winner.map(|skill| skill.location()),
            "copies": copies,
            "elsewhere": elsewhere,
            "scanned": self.snapshot.roots().map(|root| root.path()).collect::<Vec<_>>(),
            "not_scanned": self.snapshot.absent_roots().iter().map(|root| &root.path).collect::<Vec<_>>(),
        })
    }

    fn tell(&self, context: &Context, output: &mut Output) -> std::io::Result<()> {
        let name = clean(self.name);
        let short = |path: &std::path::Path| clean_path(&short_path(path, &context.surroundings));
        let (good, bad) = (output.tone(Tone::Good, "✓"), output.tone(Tone::Bad, "✗"));
        let arrow = output.tone(Tone::Good, "→");
        for skill in self.copies.iter().filter(|skill| skill.is_enabled()) {
            output.line(format!("{good} {name} is offered, from {}", short(&skill.location())))?;
            self.tell_provenance(skill, context, output)?;
        }
        if !self.winner.is_some_and(Skill::is_enabled) {
            output.line(match self.copies.is_empty() {
                _ if !context.policy().enabled => format!("{bad} {name} is not offered"),
                true => format!("{bad} there is no skill named {name}"),
                false => format!("{bad} {name} is not offered"),
            })?;
        }
        for skill in &self.copies {
            let Some((status, rest)) = standing(skill) else { continue };
            output.line("")?;
            output.line(format!("  {}", short(&skill.location())))?;
            output.line(format!("    {} {rest}", output.tone(Tone::Caution, &status)))?;
            if let Some(remedy) = remedy(skill, context) {
                output.line(format!("    {arrow} {}", clean(&remedy)))?;
            }
            self.tell_provenance(skill, context, output)?;
        }
        for sighting in &self.sightings {
            output.line("")?;
            // That all skills are off has no place.
            let indent = if context.policy().enabled { "    " } else { "  " };
            if context.policy().enabled {
                output.line(format!("  {}", short(&sighting.path)))?;
            }
            output.line(format!("{indent}{}", clean(&sighting.why)))?;
            output.line(format!("{indent}{arrow} {}", clean(&sighting.help)))?;
        }
        if self.copies.is_empty() && context.policy().enabled {
            output.line("")?;
            looked(self.snapshot, context, output)?;
        }
        self.tell_diagnostics(output);
        Ok(())
    }

    /// What a copy was installed from, and whether it was changed since.
    fn tell_provenance(&self, skill: &Skill, context: &Context, output: &mut Output) -> std::io::Result<()> {
        let Some(provenance) = Provenance::of(skill, &context.surroundings) else { return Ok(()) };
        output.line(format!("    installed from {}", clean(&origin(&provenance.locked))))?;
        // The status says already what was modified and not accepted.
        let changed = provenance.changed().filter(|_| !matches!(skill.status(), Status::Modified(_)));
        let Some(changed) = changed else { return Ok(()) };
        output.line(format!("    {}", output.tone(Tone::Caution, &clean(&changed))))
    }

    /// What is wrong with the copies that are not offered, each with its line.
    fn tell_diagnostics(&self, output: &mut Output) {
        let refused = self.copies.iter().filter(|skill| !skill.is_enabled());
        let said: Vec<_> = refused
            .flat_map(|skill| {
                skill.diagnostics().iter().map(|said| prowess::Located::new(skill.location(), said.clone()))
            })
            .collect();
        if !said.is_empty() {
            output.remark("");
        }
        print_located(output, &said);
    }
}

/// Where was looked, for when nothing was found there.
fn looked(snapshot: &Snapshot, context: &Context, output: &mut Output) -> std::io::Result<()> {
    output.line(format!("Looked in (preset {}):", context.policy().preset))?;
    let present = snapshot.roots().map(|root| {
        let count = snapshot.all().iter().filter(|skill| skill.root() == root).count();
        (place(root, context), format!("{count} found"), true)
    });
    let absent = snapshot.absent_roots().iter().map(|absent| {
        let why = match &absent.problem {
            RootProblem::Missing => "does not exist".to_owned(),
            RootProblem::Unreadable(why) => format!("cannot be read: {why}"),
            RootProblem::NotAFolder => "is not a directory".to_owned(),
            RootProblem::Outside(target) => format!("leads out of the project, to {}", clean_path(target)),
            RootProblem::NoHome => "there is no home".to_owned(),
        };
        (clean_path(&short_path(&absent.path, &context.surroundings)), why, false)
    });
    let rows: Vec<_> = present.chain(absent).collect();
    let widest = rows.iter().map(|(path, _, _)| columns::width(path)).max().unwrap_or(0);
    for (path, told, scanned) in rows {
        let line = format!("  {}  {told}", columns::pad(&path, widest));
        output.line(if scanned { line } else { output.tone(Tone::Faint, &line) })?;
    }
    Ok(())
}
