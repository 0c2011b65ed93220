//! `prowess show`: shows all skills, grouped by source, in the layout of document 002.

use prowess::catalog::manual_reason;
use prowess::{Root, Skill, SkillStatus, Snapshot};
use prowess_tools::json::SkillJson;
use serde_json::json;

use super::{CommandResult, SUCCESS, display_name, display_root, print_no_skills};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean};

pub(super) fn run(context: &CommandContext, global: &GlobalArgs, output: &mut Output) -> CommandResult {
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    let groups: Vec<(&Root, Vec<&Skill>)> = group_by_root(&snapshot);
    if output.json() {
        let groups: Vec<_> = groups
            .iter()
            .map(|(root, skills)| {
                let skills: Vec<_> = skills.iter().map(|skill| SkillJson::new(skill)).collect();
                json!({"label": root.label(), "source": root.path(), "scope": root.scope().as_str(), "skills": skills})
            })
            .collect();
        output.write_json(&json!({"schema": 1, "groups": groups}))?;
        return Ok(SUCCESS);
    }
    if groups.is_empty() {
        print_no_skills(context, output);
    }
    for (index, (root, skills)) in groups.iter().enumerate() {
        if index > 0 {
            output.line("")?;
        }
        let is_ambiguous = groups.iter().filter(|(other, _)| other.label() == root.label()).count() > 1;
        let path = if is_ambiguous { format!("  {}", display_root(root, context)) } else { String::new() };
        let title = output.styled_text(TextStyle::Strong, &format!("[{} Skills]", root.label()));
        output.line(format!("{title}{path}"))?;
        for skill in skills {
            print_skill(skill, context, output)?;
        }
    }
    Ok(SUCCESS)
}

fn print_skill(skill: &Skill, context: &CommandContext, output: &mut Output) -> std::io::Result<()> {
    let (mark, tone) = match skill.status() {
        SkillStatus::Enabled => ("✓", TextStyle::Good),
        SkillStatus::Disabled(_) | SkillStatus::Shadowed(_) => ("○", TextStyle::Faint),
        SkillStatus::Unavailable(_)
        | SkillStatus::Untrusted(_)
        | SkillStatus::Modified(_)
        | SkillStatus::Invalid => ("✗", TextStyle::Bad),
    };
    let mark = output.styled_text(tone, mark);
    output.line(format!("  {mark} {}", display_name(skill, context)))?;
    let description = format!("{} ({})", clean(skill.description()), skill.status().as_str());
    for line in output.wrap_prose(description.trim_start(), 6) {
        output.line(format!("      {line}"))?;
    }
    let reason = skill.reason().or_else(|| {
        let reason = manual_reason(skill, context.policy())?;
        Some(format!("not offered to models: {}", reason.describe()))
    });
    for line in reason.map(|reason| output.wrap(&clean(&reason), 6)).unwrap_or_default() {
        output.line(format!("      {line}"))?;
    }
    Ok(())
}

/// Returns the skills of each root, in ascending precedence.
fn group_by_root(snapshot: &Snapshot) -> Vec<(&Root, Vec<&Skill>)> {
    let mut groups: Vec<(&Root, Vec<&Skill>)> = Vec::new();
    for root in snapshot.roots() {
        let skills: Vec<_> = snapshot.without_links().filter(|skill| skill.root() == root).collect();
        if !skills.is_empty() {
            groups.push((root, skills));
        }
    }
    groups.reverse();
    groups
}
