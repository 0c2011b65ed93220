//! `prowess why`: explains why a skill is or is not available.

use prowess::catalog::manual_reason;
use prowess::{RootProblem, Skill, SkillStatus, Snapshot, short_path};
use prowess_tools::json::{Provenance, SkillJson};
use serde_json::json;

use super::next_step::next_step;
use super::other_locations::{self, OtherLocation};
use super::packages::origin;
use super::{CommandResult, SUCCESS, check_failed, display_root, print_diagnostics, status_and_reason};
use crate::args::GlobalArgs;
use crate::columns;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean, clean_path};
use crate::report::DiagnosticJson;

/// The report about a name.
struct SkillReport<'a> {
    name: &'a str,
    copies: Vec<&'a Skill>,
    /// The copy with the highest precedence.
    winner: Option<&'a Skill>,
    other_locations: Vec<OtherLocation>,
    snapshot: &'a Snapshot,
}

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    name: &str,
    output: &mut Output,
) -> CommandResult {
    let registry = context.registry_for(global, &[name]);
    let snapshot = registry.snapshot();
    let copies: Vec<&Skill> = snapshot.copies(name).collect();
    // If skills are identified by directory, several may have the name. An enabled one has priority.
    let has_priority = |skill: &&&Skill| {
        matches!(
            skill.status(),
            SkillStatus::Disabled(_) | SkillStatus::Unavailable(_) | SkillStatus::Modified(_)
        )
    };
    let winner =
        copies.iter().find(|skill| skill.is_enabled()).or_else(|| copies.iter().find(has_priority)).copied();
    let available = winner.is_some_and(Skill::is_enabled);
    // Search elsewhere only if the skill is not available.
    let other_locations =
        if available { Vec::new() } else { other_locations::find_other_locations(name, &snapshot, context) };
    let report = SkillReport { name, copies, winner, other_locations, snapshot: &snapshot };
    if output.json() {
        output.write_json(&report.json(context))?;
    } else {
        report.print(context, output)?;
    }
    Ok(if available { SUCCESS } else { check_failed() })
}

impl SkillReport<'_> {
    fn json(&self, context: &CommandContext) -> serde_json::Value {
        let copies: Vec<_> = self
            .copies
            .iter()
            .map(|skill| {
                let location = skill.skill_md_path();
                let diagnostics: Vec<_> =
                    skill.diagnostics().iter().map(|diagnostic| DiagnosticJson::new(&location, diagnostic)).collect();
                let mut copy = json!({
                    "skill": SkillJson::new(skill),
                    "wins": self.winner.is_some_and(|winner| winner == *skill),
                    "help": next_step(skill, context),
                    "installed": Provenance::for_skill(skill, &context.host_env).map(|installed| installed.to_json()),
                    "diagnostics": diagnostics,
                });
                if let Some(manifest) = skill.manifest().filter(|manifest| !manifest.paths().is_empty()) {
                    copy["paths"] = json!(manifest.paths());
                }
                if let Some(reason) = manual_reason(skill, context.policy()) {
                    copy["not_offered_to_models"] = json!(reason.describe());
                }
                copy
            })
            .collect();
        let elsewhere: Vec<_> = self
            .other_locations
            .iter()
            .map(|location| json!({"path": location.path, "why": location.reason, "help": location.help}))
            .collect();
        json!({
            "schema": 1,
            "name": self.name,
            "offered": self.winner.is_some_and(Skill::is_enabled),
            "winner": self.winner.map(|skill| skill.skill_md_path()),
            "copies": copies,
            "elsewhere": elsewhere,
            "scanned": self.snapshot.roots().map(|root| root.path()).collect::<Vec<_>>(),
            "not_scanned": self.snapshot.absent_roots().iter().map(|root| &root.path).collect::<Vec<_>>(),
        })
    }

    fn print(&self, context: &CommandContext, output: &mut Output) -> std::io::Result<()> {
        let name = clean(self.name);
        let short = |path: &std::path::Path| clean_path(&short_path(path, &context.host_env));
        let (check_mark, cross) =
            (output.styled_text(TextStyle::Good, "✓"), output.styled_text(TextStyle::Bad, "✗"));
        let arrow = output.styled_text(TextStyle::Good, "→");
        for skill in self.copies.iter().filter(|skill| skill.is_enabled()) {
            output
                .line(format!("{check_mark} {name} is available from {}", short(&skill.skill_md_path())))?;
            if let Some(paths) = describe_paths(skill) {
                output.line(format!("    {}", clean(&paths)))?;
            }
            if let Some(reason) = manual_reason(skill, context.policy()) {
                output.line(format!("    not offered to models: {}", reason.describe()))?;
            }
            self.print_provenance(skill, context, output)?;
        }
        if !self.winner.is_some_and(Skill::is_enabled) {
            output.line(match self.copies.is_empty() {
                _ if !context.policy().enabled => format!("{cross} {name} is not available"),
                true => format!("{cross} skill {name} not found"),
                false => format!("{cross} {name} is not available"),
            })?;
        }
        for skill in &self.copies {
            let Some((status, reason)) = status_and_reason(skill) else { continue };
            output.line("")?;
            output.line(format!("  {}", short(&skill.skill_md_path())))?;
            output.line(format!("    {} {reason}", output.styled_text(TextStyle::Caution, &status)))?;
            if let Some(remedy) = next_step(skill, context) {
                output.line(format!("    {arrow} {}", clean(&remedy)))?;
            }
            self.print_provenance(skill, context, output)?;
        }
        for location in &self.other_locations {
            output.line("")?;
            // If all skills are disabled, there is no path.
            let indent = if context.policy().enabled { "    " } else { "  " };
            if context.policy().enabled {
                output.line(format!("  {}", short(&location.path)))?;
            }
            output.line(format!("{indent}{}", clean(&location.reason)))?;
            output.line(format!("{indent}{arrow} {}", clean(&location.help)))?;
        }
        if self.copies.is_empty() && context.policy().enabled {
            output.line("")?;
            print_searched(self.snapshot, context, output)?;
        }
        self.print_diagnostics_of_copies(output);
        Ok(())
    }

    /// Prints the source of an installed copy, and whether it was modified.
    fn print_provenance(
        &self,
        skill: &Skill,
        context: &CommandContext,
        output: &mut Output,
    ) -> std::io::Result<()> {
        let Some(provenance) = Provenance::for_skill(skill, &context.host_env) else { return Ok(()) };
        output.line(format!("    installed from {}", clean(&origin(&provenance.entry))))?;
        if let Some(plugin) = &provenance.entry.plugin {
            output.line(format!("    part of plugin {}", clean(&plugin.describe())))?;
        }
        // The status already describes modifications that the user has not accepted.
        let changed =
            provenance.describe_changes().filter(|_| !matches!(skill.status(), SkillStatus::Modified(_)));
        let Some(changed) = changed else { return Ok(()) };
        output.line(format!("    {}", output.styled_text(TextStyle::Caution, &clean(&changed))))
    }

    /// Prints the diagnostics of the copies that are not available.
    fn print_diagnostics_of_copies(&self, output: &mut Output) {
        let refused = self.copies.iter().filter(|skill| !skill.is_enabled());
        let diagnostics: Vec<_> = refused
            .flat_map(|skill| {
                skill
                    .diagnostics()
                    .iter()
                    .map(|diagnostic| prowess::FileDiagnostic::new(skill.skill_md_path(), diagnostic.clone()))
            })
            .collect();
        if !diagnostics.is_empty() {
            output.note("");
        }
        print_diagnostics(output, &diagnostics);
    }
}

/// Says for which files a skill is offered; `None` if it does not depend on files.
fn describe_paths(skill: &Skill) -> Option<String> {
    let globs = skill.manifest()?.paths();
    let list = || globs.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(" or ");
    (!globs.is_empty()).then(|| format!("offered for files that match {}, and always by name", list()))
}

/// Prints the searched directories.
fn print_searched(snapshot: &Snapshot, context: &CommandContext, output: &mut Output) -> std::io::Result<()> {
    output.line(format!("Searched directories (preset {}):", context.policy().preset))?;
    let present = snapshot.roots().map(|root| {
        let count = snapshot.all().iter().filter(|skill| skill.root() == root).count();
        (display_root(root, context), format!("{count} found"), true)
    });
    let absent = snapshot.absent_roots().iter().map(|absent| {
        let state = match &absent.problem {
            RootProblem::Missing => "does not exist".to_owned(),
            RootProblem::Unreadable(reason) => format!("is not readable: {reason}"),
            RootProblem::NotADirectory => "is not a directory".to_owned(),
            RootProblem::Outside(target) => format!("points outside the project, to {}", clean_path(target)),
            RootProblem::NoHome => "no home directory".to_owned(),
        };
        (clean_path(&short_path(&absent.path, &context.host_env)), state, false)
    });
    let rows: Vec<_> = present.chain(absent).collect();
    let widest = rows.iter().map(|(path, _, _)| columns::width(path)).max().unwrap_or(0);
    for (path, state, scanned) in rows {
        let line = format!("  {}  {state}", columns::pad(&path, widest));
        output.line(if scanned { line } else { output.styled_text(TextStyle::Faint, &line) })?;
    }
    Ok(())
}
