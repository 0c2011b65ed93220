//! `prowess files` and `prowess read`: lists and prints the files of a skill.

use prowess::remote::RemoteFileError;
use prowess::resources::{self, ReadResourceError};
use prowess_tools::json;

use super::{CommandResult, SUCCESS, find_active};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, clean};

pub(super) fn files(
    context: &CommandContext,
    global: &GlobalArgs,
    name: &str,
    output: &mut Output,
) -> CommandResult {
    let snapshot = context.registry_for(global, &[name]).snapshot();
    let skill = find_active(&snapshot, name)?;
    let contents =
        resources::list_files(skill, None).map_err(|error| Failure::new(error.code(), error.to_string()))?;
    if output.json() {
        output.write_json(&json::files_json(skill, &contents))?;
        return Ok(SUCCESS);
    }
    for file in &contents.files {
        output.line(format!("{:>9}  {}", file.bytes, clean(&file.path)))?;
    }
    for refused in &contents.skipped {
        output.note(format!("{} is a symlink or special file and cannot be read", clean(refused)));
    }
    if contents.truncated {
        output.note("more files are not listed");
    }
    Ok(SUCCESS)
}

pub(super) fn read(
    context: &CommandContext,
    global: &GlobalArgs,
    name: &str,
    path: &str,
    output: &mut Output,
) -> CommandResult {
    let snapshot = context.registry_for(global, &[name]).snapshot();
    let skill = find_active(&snapshot, name)?;
    let resource = resources::read_text(skill, path, &context.policy().limits)
        .map_err(|error| read_failure(name, &error))?;
    if output.json() {
        output.write_json(&json::resource_json(&resource))?;
        return Ok(SUCCESS);
    }
    output.text(&resource.content)?;
    if let Some(cut) = resource.truncated {
        output.note(format!("truncated: {} of {} bytes are shown", cut.shown, cut.total));
    }
    Ok(SUCCESS)
}

/// Converts an error of reading a file. The list of files helps only if the path was wrong.
fn read_failure(name: &str, error: &ReadResourceError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error {
        ReadResourceError::NotFound { .. }
        | ReadResourceError::InvalidPath(_)
        | ReadResourceError::Absolute
        | ReadResourceError::Escape
        | ReadResourceError::Directory { .. }
        | ReadResourceError::Remote(RemoteFileError::Unlisted { .. }) => {
            failure.hint(format!("run `prowess files {}` for a list of files", clean(name)))
        }
        ReadResourceError::Unavailable(_) | ReadResourceError::Gone { .. } => {
            failure.hint(format!("run `prowess why {}` for details", clean(name)))
        }
        _ => failure,
    }
}
