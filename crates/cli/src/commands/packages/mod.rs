//! The commands that install, update, remove and verify skills.
//!
//! They work on install targets: a skills directory of the project or the user, with its lock file, which records the
//! installed skills, their sources and their digests.

mod agents_in_use;
mod agents_md;
mod diff;
mod environments;
mod find;
mod import;
mod install;
mod links;
mod outdated;
mod pack;
mod picker;
mod plugin_parts;
mod plugin_servers;
mod plugins;
pub(super) mod prompts;
mod remove;
mod render;
mod sync;
mod update;
mod verify;

use std::path::Path;
use std::sync::Arc;

use prowess_package::{FileUrls, InstallScope, InstallTarget, PackageError, Task};

use crate::context::CommandContext;
use crate::failure::Failure;
use crate::scope::{ScopeArgs, ScopeChoice};

pub(super) use agents_in_use::agents_by_dir;
pub(super) use diff::run as diff;
pub(super) use find::run as find;
pub(super) use import::run as import;
pub(super) use install::run as install;
pub(super) use outdated::run as outdated;
pub(super) use pack::{index, pack};
pub(super) use plugin_parts::plugins_by_dir;
pub(super) use plugins::run as plugins;
pub(super) use remove::run as remove;
pub(super) use render::origin;
pub(super) use sync::run as sync;
pub(super) use update::run as update;
pub(super) use verify::run as verify;

/// Returns the install target of the given or default scope.
fn install_target(context: &CommandContext, scope: &ScopeArgs) -> Result<InstallTarget, Failure> {
    let (policy, host_env) = (context.policy(), &context.host_env);
    let scope = match scope.explicit() {
        Some(ScopeChoice::Project) => InstallScope::Project,
        Some(ScopeChoice::User) => InstallScope::User,
        None => InstallScope::default_for(policy, host_env),
    };
    InstallTarget::new(scope, policy, host_env).map_err(failure)
}

/// Returns the install target of the given scope, or those of both scopes, the project first.
pub(super) fn install_targets(
    context: &CommandContext,
    scope: &ScopeArgs,
) -> Result<Vec<InstallTarget>, Failure> {
    let (policy, host_env) = (context.policy(), &context.host_env);
    if scope.explicit().is_some() {
        return install_target(context, scope).map(|target| vec![target]);
    }
    let targets: Vec<InstallTarget> = [InstallScope::Project, InstallScope::User]
        .into_iter()
        .filter_map(|scope| InstallTarget::new(scope, policy, host_env).ok())
        .collect();
    let share_lock = targets.len() == 2 && targets[0].lock_path == targets[1].lock_path;
    Ok(targets.into_iter().take(if share_lock { 1 } else { 2 }).collect())
}

/// Returns whether `file://` URLs are allowed.
pub(super) fn file_urls() -> FileUrls {
    match std::env::var_os("PROWESS_ALLOW_FILE_URLS").is_some_and(|value| value == "1") {
        true => FileUrls::Allowed,
        false => FileUrls::Refused,
    }
}

/// Returns a task that Ctrl-C cancels.
pub(super) fn cancellable_task() -> Arc<Task> {
    let task = Arc::new(Task::default());
    // If a second signal kills the process, the next run removes the staged files.
    crate::signals::set_on_termination(&task.cancel_flag());
    task
}

pub(super) fn failure(error: PackageError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Returns a path for display, relative to the project or home directory.
pub(super) fn display_path(path: &Path, context: &CommandContext) -> String {
    crate::output::clean_path(&prowess::short_path(path, &context.host_env))
}
