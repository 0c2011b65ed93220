//! `prowess config edit`: opens a configuration file in an editor, and saves it only if it is valid.

use std::path::{Path, PathBuf};
use std::process::Command;

use prowess_config::edit::file::{self, SymlinkPolicy};
use prowess_config::{ConfigLayer, Configuration};
use prowess_package::settings::settings_file;
use serde_json::json;

use super::super::{CommandResult, SUCCESS, print_diagnostics};
use super::change::{failure, layer};
use crate::args::ConfigEditArgs;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean, clean_path};

/// The text of a new configuration file.
const NEW_FILE: &str = "# Settings of Prowess; run `prowess config` for a list.\n";

pub(super) fn run(context: &CommandContext, args: &ConfigEditArgs, output: &mut Output) -> CommandResult {
    let layer = layer(&args.scope);
    let path = settings_file(&context.inputs, layer).map_err(|error| failure(&error))?;
    let before = file::read_text(&path).map_err(edit_failure)?;
    let draft = draft_path(context, &path, layer)?;
    if file::read_text(&draft).map_err(edit_failure)?.is_some() {
        output.note(format!(
            "continuing with the text that was not saved; delete {} to start over",
            clean_path(&draft)
        ));
        run_editor(&draft)?;
    } else {
        let start = before.as_deref().unwrap_or(NEW_FILE);
        prowess_fs::write_atomic(&draft, start.as_bytes(), 0o600, prowess_fs::SyncPolicy::NoSync)?;
        run_editor(&draft).inspect_err(|_| discard_unchanged(&draft, start))?;
    }
    let after = file::read_text(&draft).map_err(edit_failure)?.unwrap_or_default();
    let display = clean_path(&prowess::short_path(&path, &context.host_env));
    if before.as_deref() == Some(after.as_str()) || (before.is_none() && after == NEW_FILE) {
        let _ = std::fs::remove_file(&draft);
        return report(&path, false, &format!("{display} is unchanged"), output);
    }
    let trial = prowess_config::load_with_text(&context.inputs, &path, &after);
    if let Some(message) = first_error(&trial, &path) {
        let diagnostics: Vec<_> =
            trial.diagnostics.into_iter().filter(|located| located.path == path).collect();
        if !output.json() {
            print_diagnostics(output, &diagnostics);
        }
        let message = format!("nothing was saved: {message}");
        let hint = format!("your text is in {}; edit {display} again to continue", clean_path(&draft));
        return Err(Failure::usage(message).hint(hint));
    }
    let symlinks = match layer {
        ConfigLayer::Project => SymlinkPolicy::Rejected(&context.host_env.project),
        ConfigLayer::User | ConfigLayer::Explicit => SymlinkPolicy::Followed,
    };
    let mut is_changed_meanwhile = false;
    file::edit_file(&path, symlinks, |current| {
        is_changed_meanwhile = current != before.as_deref().unwrap_or_default();
        Ok(if is_changed_meanwhile { current.to_owned() } else { after.clone() })
    })
    .map_err(edit_failure)?;
    if is_changed_meanwhile {
        let message = format!("{display} was changed by another process; nothing was saved");
        let hint = format!("your text is in {}", clean_path(&draft));
        return Err(Failure::new(ErrorCode::Conflict, message).hint(hint));
    }
    let _ = std::fs::remove_file(&draft);
    report(&path, true, &format!("Updated {display}"), output)
}

/// Returns the first error in a file.
fn first_error(trial: &Configuration, path: &Path) -> Option<String> {
    let in_file =
        trial.diagnostics.iter().find(|located| located.path == path && located.diagnostic.is_error());
    in_file.map(|located| located.diagnostic.message.clone())
}

fn report(path: &Path, is_change: bool, message: &str, output: &mut Output) -> CommandResult {
    match output.json() {
        true => output.write_json(&json!({"schema": 1, "file": path, "changed": is_change}))?,
        false => output.note(message),
    }
    Ok(SUCCESS)
}

/// Removes a draft that was not edited.
fn discard_unchanged(draft: &Path, start: &str) {
    if matches!(file::read_text(draft), Ok(Some(text)) if text == start) {
        let _ = std::fs::remove_file(draft);
    }
}

/// Returns the path of the text of a file while it is edited. A text that is not valid stays there for the next time.
fn draft_path(context: &CommandContext, path: &Path, layer: ConfigLayer) -> Result<PathBuf, Failure> {
    let state = context.host_env.state_dir();
    let state = state.ok_or_else(|| {
        Failure::usage("no home directory for the edited text").hint("set HOME, or pass --home DIR")
    })?;
    if layer != ConfigLayer::Project {
        return Ok(state.join("config-draft.toml"));
    }
    // Each project has its own file.
    let digest = prowess::digest(path.to_string_lossy().as_bytes());
    let id = digest.rsplit(':').next().and_then(|hex| hex.get(..12)).unwrap_or_default();
    Ok(state.join(format!("config-draft-{id}.toml")))
}

/// Runs the user's editor and waits for it.
fn run_editor(draft: &Path) -> Result<(), Failure> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    // The variables may have arguments, as in `code --wait`.
    let status =
        Command::new("/bin/sh").args(["-c", &format!("{editor} \"$1\""), "prowess"]).arg(draft).status();
    let failed = |reason: String| {
        Failure::new(ErrorCode::ExecutionError, format!("cannot edit with {}: {reason}", clean(&editor)))
            .hint("set EDITOR to the command of your editor, or use `prowess config set KEY VALUE`")
    };
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(status.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn edit_failure(error: file::EditFileError) -> Failure {
    let code = match &error {
        file::EditFileError::Io { .. } => ErrorCode::PermissionDenied,
        _ => ErrorCode::Conflict,
    };
    Failure::new(code, error.to_string())
}
