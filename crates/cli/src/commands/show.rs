//! `prowess show`: all skills, grouped by where they come from, as document 002 lays them out.

use prowess::{Root, Skill, Snapshot, Status};
use prowess_tools::shapes::SkillJson;
use serde_json::json;

use super::{Outcome, YES, called, nothing_found, place};
use crate::args::Global;
use crate::context::Context;
use crate::output::{Output, Tone, clean, cut};

pub(super) fn run(context: &Context, global: &Global, output: &mut Output) -> Outcome {
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    let groups: Vec<(&Root, Vec<&Skill>)> = groups(&snapshot);
    if output.json() {
        let groups: Vec<_> = groups
            .iter()
            .map(|(root, skills)| {
                let skills: Vec<_> = skills.iter().map(|skill| SkillJson::of(skill)).collect();
                json!({"label": root.label(), "source": root.path(), "scope": root.scope().as_str(), "skills": skills})
            })
            .collect();
        output.answer(&json!({"schema": 1, "groups": groups}))?;
        return Ok(YES);
    }
    if groups.is_empty() {
        nothing_found(context, output);
    }
    for (at, (root, skills)) in groups.iter().enumerate() {
        if at > 0 {
            output.line("")?;
        }
        let alike = groups.iter().filter(|(other, _)| other.label() == root.label()).count() > 1;
        let place = if alike { format!("  {}", place(root, context)) } else { String::new() };
        let title = output.tone(Tone::Strong, &format!("[{} Skills]", root.label()));
        output.line(format!("{title}{place}"))?;
        for skill in skills {
            entry(skill, context, output)?;
        }
    }
    Ok(YES)
}

fn entry(skill: &Skill, context: &Context, output: &mut Output) -> std::io::Result<()> {
    let (mark, tone) = match skill.status() {
        Status::Enabled => ("✓", Tone::Good),
        Status::Disabled(_) | Status::Shadowed(_) => ("○", Tone::Faint),
        Status::Unavailable(_) | Status::Untrusted(_) | Status::Modified(_) | Status::Invalid => {
            ("✗", Tone::Bad)
        }
    };
    let mark = output.tone(tone, mark);
    output.line(format!("  {mark} {}", called(skill, context)))?;
    let status = skill.status().as_str();
    let room = output.width().saturating_sub(6 + status.len() + 3).max(20);
    let description = match skill.description() {
        "" => String::new(),
        description => format!("{} ", cut(description, room)),
    };
    output.line(format!("      {description}({status})"))?;
    for line in skill.reason().map(|reason| output.wrapped(&clean(&reason), 6)).unwrap_or_default() {
        output.line(format!("      {line}"))?;
    }
    Ok(())
}

/// The skills of each root, in the order in which the roots win, the weakest first as people read precedence.
fn groups(snapshot: &Snapshot) -> Vec<(&Root, Vec<&Skill>)> {
    let mut groups: Vec<(&Root, Vec<&Skill>)> = Vec::new();
    for root in snapshot.roots() {
        let skills: Vec<_> = snapshot.all().iter().filter(|skill| skill.root() == root).collect();
        if !skills.is_empty() {
            groups.push((root, skills));
        }
    }
    groups.reverse();
    groups
}
