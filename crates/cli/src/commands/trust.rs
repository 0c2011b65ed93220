//! `prowess trust` and `prowess untrust`: the user's decision that the skills of a directory may be used.
//!
//! Pinned trust covers only the current contents of these skills.

use std::path::{Path, PathBuf};

use prowess::trust::ChangedSkills;
use prowess::trust::{self, TrustError};
use prowess::{Skill, SkillStatus};
use serde_json::json;

use super::{CommandResult, SUCCESS, check_failed, status_and_reason};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, TextStyle, clean, clean_path};

pub(super) fn trust(
    context: &CommandContext,
    path: Option<PathBuf>,
    pinned: bool,
    output: &mut Output,
) -> CommandResult {
    let dir = target_dir(context, path)?;
    let host_env = &context.host_env;
    let previous = trust::record_for(&dir, host_env).filter(|record| record.trusted);
    let changes = previous.as_ref().map(|record| trust::changes_since(record, context.policy(), host_env));
    let (record, _) = trust::trust(&dir, pinned, context.policy(), host_env).map_err(failure)?;
    let (untrusted, trusted): (Vec<Skill>, Vec<Skill>) =
        trust::skills_in(&record.path, context.policy(), host_env).into_iter().partition(stays_unavailable);
    if output.json() {
        let changes = changes.unwrap_or_default();
        output.write_json(&json!({
            "schema": 1,
            "path": record.path,
            "trusted": true,
            "pinned": record.pinned,
            "skills": trusted.iter().map(|skill| skill.canonical_dir()).collect::<Vec<_>>(),
            "not_trusted": untrusted.iter().map(untrusted_json).collect::<Vec<_>>(),
            "changed_since": {"added": changes.added, "removed": changes.removed, "changed": changes.changed},
        }))?;
        return Ok(SUCCESS);
    }
    let suffix = if pinned { " (pinned)" } else { "" };
    output.line(format!(
        "{} trusted{suffix}: {}",
        output.styled_text(TextStyle::Good, "✓"),
        clean_path(&record.path)
    ))?;
    for skill in &trusted {
        output.line(format!("    {}", display_dir(skill, &record.path)))?;
    }
    for skill in &untrusted {
        let (status, reason) = status_and_reason(skill).unwrap_or_default();
        let mark = output.styled_text(TextStyle::Caution, "○");
        output.line(format!("  {mark} {} is still {status} {reason}", display_dir(skill, &record.path)))?;
    }
    let empty = if trusted.is_empty() && untrusted.is_empty() { "no skills found; " } else { "" };
    output.note(match pinned {
        true => format!("{empty}changed and new skills must be trusted again"),
        false => {
            format!("{empty}new skills will be trusted too; pass --pinned to trust only the current ones")
        }
    });
    if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
        output.line("  changes since it was last trusted:")?;
        print_changes(&changes, &record.path, output)?;
    }
    Ok(SUCCESS)
}

/// Returns `true` if trusting its directory does not make a skill available.
fn stays_unavailable(skill: &Skill) -> bool {
    match skill.status() {
        SkillStatus::Untrusted(_) | SkillStatus::Modified(_) | SkillStatus::Invalid => true,
        SkillStatus::Enabled
        | SkillStatus::Disabled(_)
        | SkillStatus::Unavailable(_)
        | SkillStatus::Shadowed(_) => false,
    }
}

fn untrusted_json(skill: &Skill) -> serde_json::Value {
    let (status, reason) = (skill.status().as_str(), skill.reason());
    json!({"path": skill.canonical_dir(), "status": status, "reason": reason})
}

/// Returns a skill's directory relative to the trusted directory, or its name if they are the same.
fn display_dir(skill: &Skill, base: &Path) -> String {
    let dir = skill.canonical_dir();
    match dir.strip_prefix(base) {
        Ok(inner) if inner.as_os_str().is_empty() => clean(&skill.name()).into_owned(),
        Ok(inner) => clean_path(inner),
        Err(_) => clean_path(&dir),
    }
}

fn print_changes(changes: &ChangedSkills, base: &Path, output: &mut Output) -> std::io::Result<()> {
    for (mark, paths) in [("+", &changes.added), ("-", &changes.removed), ("~", &changes.changed)] {
        for path in paths {
            let inner = Path::new(path).strip_prefix(base).unwrap_or(Path::new(path));
            let is_base = inner.as_os_str().is_empty();
            let relative = if is_base { Path::new(path) } else { inner };
            output.line(format!("    {mark} {}", clean_path(relative)))?;
        }
    }
    Ok(())
}

pub(super) fn untrust(context: &CommandContext, path: Option<PathBuf>, output: &mut Output) -> CommandResult {
    let dir = target_dir(context, path)?;
    let previous = trust::untrust(&dir, &context.host_env).map_err(failure)?;
    // A deleted directory can still be untrusted, but one that was never trusted is a typo.
    if previous.is_none() && !dir.exists() {
        return Err(failure(TrustError::Missing(dir)));
    }
    if output.json() {
        output.write_json(
            &json!({"schema": 1, "path": dir, "trusted": false, "was_trusted": previous.is_some()}),
        )?;
    } else if previous.is_some() {
        output.line(format!("revoked trust in {}", clean_path(&dir)))?;
    } else {
        output.note(format!("{} was not trusted", clean_path(&dir)));
    }
    Ok(if previous.is_some() { SUCCESS } else { check_failed() })
}

/// Returns the given directory, or the git root of the project.
fn target_dir(context: &CommandContext, path: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let host_env = &context.host_env;
    match path {
        Some(path) => Ok(std::path::absolute(path)?),
        None => Ok(host_env.git_root().unwrap_or(&host_env.project).to_owned()),
    }
}

pub(super) fn failure(error: TrustError) -> Failure {
    let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
    let message = format!("{error}{cause}");
    match &error {
        TrustError::Missing(_) => {
            Failure::missing_path(message).hint("pass an existing directory, or omit it to use the project")
        }
        TrustError::NoHome => Failure::usage(message),
        TrustError::Unreadable(_) => {
            Failure::usage(message).hint("fix that file, or delete it and trust again")
        }
        TrustError::Write { .. } => Failure::new(ErrorCode::PermissionDenied, message),
    }
}
