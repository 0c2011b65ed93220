//! `prowess show`: all skills, grouped by where they come from, as document 002 lays them out.

use prowess::{Root, Skill, Snapshot, Status, short_path};
use serde_json::json;

use super::{Outcome, YES, list};
use crate::args::Global;
use crate::context::Context;
use crate::output::{Output, Tone, clean, clean_path, cut};

pub(super) fn run(context: &Context, global: &Global, output: &mut Output) -> Outcome {
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    let groups: Vec<(&Root, Vec<&Skill>)> = groups(&snapshot);
    if output.json() {
        let groups: Vec<_> = groups
            .iter()
            .map(|(root, skills)| {
                let skills: Vec<_> = skills.iter().map(|skill| list::SkillJson::of(skill)).collect();
                json!({"label": root.label(), "source": root.path(), "scope": root.scope().as_str(), "skills": skills})
            })
            .collect();
        output.answer(&json!({"schema": 1, "groups": groups}))?;
        return Ok(YES);
    }
    if groups.is_empty() {
        output.remark("no skills found; prowess doctor tells where was looked, prowess new makes one");
    }
    for (at, (root, skills)) in groups.iter().enumerate() {
        if at > 0 {
            output.line("")?;
        }
        let alike = groups.iter().filter(|(other, _)| other.label() == root.label()).count() > 1;
        let place = match alike {
            true => format!("  {}", clean_path(&short_path(root.path(), &context.surroundings))),
            false => String::new(),
        };
        let title = output.tone(Tone::Strong, &format!("[{} Skills]", root.label()));
        output.line(format!("{title}{place}"))?;
        for skill in skills {
            entry(skill, output)?;
        }
    }
    Ok(YES)
}

fn entry(skill: &Skill, output: &mut Output) -> std::io::Result<()> {
    let (mark, tone) = match skill.status() {
        Status::Enabled => ("✓", Tone::Good),
        Status::Disabled(_) | Status::Shadowed(_) => ("○", Tone::Faint),
        Status::Unavailable(_) | Status::Untrusted(_) | Status::Invalid => ("✗", Tone::Bad),
    };
    let mark = output.tone(tone, mark);
    output.line(format!("  {mark} {}", clean(&skill.name())))?;
    let status = skill.status().as_str();
    let room = output.width().saturating_sub(6 + status.len() + 3).max(20);
    let description = match skill.description() {
        "" => String::new(),
        description => format!("{} ", cut(description, room)),
    };
    output.line(format!("      {description}({status})"))?;
    match skill.reason() {
        Some(reason) => output.line(format!("      {}", clean(&reason))),
        None => Ok(()),
    }
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
