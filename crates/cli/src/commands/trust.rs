//! `prowess trust` and `prowess untrust`.

use std::path::{Path, PathBuf};

use prowess::trust::{self, TrustError};
use prowess::{Difference, Skill, Status};
use serde_json::json;

use super::{Outcome, YES, no, standing};
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, Tone, clean, clean_path};

pub(super) fn trust(context: &Context, path: Option<PathBuf>, pinned: bool, output: &mut Output) -> Outcome {
    let folder = folder(context, path)?;
    let world = &context.surroundings;
    let before = trust::record_for(&folder, world).filter(|record| record.trusted);
    let changes = before.as_ref().map(|record| trust::changes_since(record, context.policy(), world));
    let (record, _) = trust::trust(&folder, pinned, context.policy(), world).map_err(failure)?;
    let (closed, trusted): (Vec<Skill>, Vec<Skill>) =
        trust::skills_in(&record.path, context.policy(), world).into_iter().partition(is_closed);
    if output.json() {
        let changes = changes.unwrap_or_default();
        output.answer(&json!({
            "schema": 1,
            "path": record.path,
            "trusted": true,
            "pinned": record.pinned,
            "skills": trusted.iter().map(|skill| skill.canonical_folder()).collect::<Vec<_>>(),
            "not_trusted": closed.iter().map(closed_json).collect::<Vec<_>>(),
            "changed_since": {"added": changes.added, "removed": changes.removed, "changed": changes.changed},
        }))?;
        return Ok(YES);
    }
    let how = if pinned { ", as it is now" } else { "" };
    output.line(format!("{} trusted{how}: {}", output.tone(Tone::Good, "✓"), clean_path(&record.path)))?;
    for skill in &trusted {
        output.line(format!("    {}", inner(skill, &record.path)))?;
    }
    for skill in &closed {
        let (status, rest) = standing(skill).unwrap_or_default();
        let mark = output.tone(Tone::Caution, "○");
        output.line(format!("  {mark} {} stays {status} {rest}", inner(skill, &record.path)))?;
    }
    let empty = if trusted.is_empty() && closed.is_empty() { "it has no skills yet; " } else { "" };
    output.remark(match pinned {
        true => format!("{empty}skills that change or are added later have to be trusted again"),
        false => format!("{empty}skills added later are trusted too; use --pinned to be asked"),
    });
    if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
        output.line("  since it was last trusted:")?;
        tell(&changes, &record.path, output)?;
    }
    Ok(YES)
}

/// Whether trust in its folder does not make a skill trusted.
fn is_closed(skill: &Skill) -> bool {
    match skill.status() {
        Status::Untrusted(_) | Status::Modified(_) | Status::Invalid => true,
        Status::Enabled | Status::Disabled(_) | Status::Unavailable(_) | Status::Shadowed(_) => false,
    }
}

fn closed_json(skill: &Skill) -> serde_json::Value {
    let (status, reason) = (skill.status().as_str(), skill.reason());
    json!({"path": skill.canonical_folder(), "status": status, "reason": reason})
}

/// A skill's folder below the one that is trusted; its name where they are the same.
fn inner(skill: &Skill, base: &Path) -> String {
    let folder = skill.canonical_folder();
    match folder.strip_prefix(base) {
        Ok(inner) if inner.as_os_str().is_empty() => clean(&skill.name()).into_owned(),
        Ok(inner) => clean_path(inner),
        Err(_) => clean_path(&folder),
    }
}

fn tell(changes: &Difference, base: &Path, output: &mut Output) -> std::io::Result<()> {
    for (mark, paths) in [("+", &changes.added), ("-", &changes.removed), ("~", &changes.changed)] {
        for path in paths {
            let inner = Path::new(path).strip_prefix(base).unwrap_or(Path::new(path));
            let whole = inner.as_os_str().is_empty();
            let shown = if whole { Path::new(path) } else { inner };
            output.line(format!("    {mark} {}", clean_path(shown)))?;
        }
    }
    Ok(())
}

pub(super) fn untrust(context: &Context, path: Option<PathBuf>, output: &mut Output) -> Outcome {
    let folder = folder(context, path)?;
    let before = trust::untrust(&folder, &context.surroundings).map_err(failure)?;
    // A folder that was deleted can still be named, but not one that never was there.
    if before.is_none() && !folder.exists() {
        return Err(failure(TrustError::Missing(folder)));
    }
    if output.json() {
        output.answer(
            &json!({"schema": 1, "path": folder, "trusted": false, "was_trusted": before.is_some()}),
        )?;
    } else if before.is_some() {
        output.line(format!("no longer trusted: {}", clean_path(&folder)))?;
    } else {
        output.remark(format!("{} was not trusted", clean_path(&folder)));
    }
    Ok(if before.is_some() { YES } else { no() })
}

/// The folder that was named, or the project with all its roots.
fn folder(context: &Context, path: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let world = &context.surroundings;
    match path {
        Some(path) => Ok(std::path::absolute(path)?),
        None => Ok(world.git_root().unwrap_or(&world.project).to_owned()),
    }
}

pub(super) fn failure(error: TrustError) -> Failure {
    let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
    let message = format!("{error}{cause}");
    match &error {
        TrustError::Missing(_) => {
            Failure::missing_path(message).hint("name a folder that is there, or none for the project")
        }
        TrustError::NoHome => Failure::call(message),
        TrustError::State(_) => Failure::call(message).hint("mend that file, or delete it and trust again"),
        TrustError::Write { .. } => Failure::new(ErrorCode::PermissionDenied, message),
    }
}
