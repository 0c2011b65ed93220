//! `prowess trust` and `prowess untrust`.

use std::path::{Path, PathBuf};

use prowess::Difference;
use prowess::trust::{self, TrustError};
use serde_json::json;

use super::{Outcome, YES, no};
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, Tone, clean_path};

pub(super) fn trust(context: &Context, path: Option<PathBuf>, pinned: bool, output: &mut Output) -> Outcome {
    let folder = folder(context, path)?;
    let world = &context.surroundings;
    let before = trust::record_for(&folder, world).filter(|record| record.trusted);
    let changes = before.as_ref().map(|record| trust::changes_since(record, context.policy(), world));
    let (record, _) = trust::trust(&folder, pinned, context.policy(), world).map_err(failure)?;
    if output.json() {
        let changes = changes.unwrap_or_default();
        output.answer(&json!({
            "schema": 1,
            "path": record.path,
            "trusted": true,
            "pinned": record.pinned,
            "skills": record.skills.keys().collect::<Vec<_>>(),
            "changed_since": {"added": changes.added, "removed": changes.removed, "changed": changes.changed},
        }))?;
        return Ok(YES);
    }
    let how = if pinned { ", as it is now" } else { "" };
    output.line(format!("{} trusted{how}: {}", output.tone(Tone::Good, "✓"), clean_path(&record.path)))?;
    for skill in record.skills.keys() {
        let inner = skill.strip_prefix(&record.path).unwrap_or(skill);
        output.line(format!("    {}", clean_path(inner)))?;
    }
    if record.skills.is_empty() {
        output.remark("it has no skills yet; those that are added will be trusted, too");
    }
    if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
        output.line("  since it was last trusted:")?;
        tell(&changes, &record.path, output)?;
    }
    Ok(YES)
}

fn tell(changes: &Difference, base: &Path, output: &mut Output) -> std::io::Result<()> {
    for (mark, paths) in [("+", &changes.added), ("-", &changes.removed), ("~", &changes.changed)] {
        for path in paths {
            let inner = Path::new(path).strip_prefix(base).unwrap_or(Path::new(path));
            output.line(format!("    {mark} {}", clean_path(inner)))?;
        }
    }
    Ok(())
}

pub(super) fn untrust(context: &Context, path: Option<PathBuf>, output: &mut Output) -> Outcome {
    let folder = folder(context, path)?;
    let before = trust::untrust(&folder, &context.surroundings).map_err(failure)?;
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
    let code = match &error {
        TrustError::Missing(_) => ErrorCode::NotFound,
        TrustError::NoHome | TrustError::State(_) => ErrorCode::InvalidParam,
        TrustError::Write { .. } => ErrorCode::PermissionDenied,
    };
    let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
    let failure = Failure::new(code, format!("{error}{cause}"));
    match &error {
        TrustError::Missing(_) => failure.hint("name a folder that is there, or none for the project"),
        TrustError::State(_) => failure.hint("mend that file, or delete it and trust again"),
        TrustError::NoHome | TrustError::Write { .. } => failure,
    }
}
