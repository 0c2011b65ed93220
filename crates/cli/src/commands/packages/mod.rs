//! Getting skills, keeping them, and checking that they are still what they were.

pub(super) mod asks;
mod import;
mod install;
mod links;
mod listed;
mod pack;
mod remove;
mod told;
mod update;
mod verify;

use std::path::Path;
use std::sync::Arc;

use prowess_package::{FileUrls, For, PackageError, Place, Work};

use crate::context::Context;
use crate::failure::Failure;
use crate::scope::{Chosen, ScopeArgs};

pub(super) use import::run as import;
pub(super) use install::run as install;
pub(super) use listed::run as plugins;
pub(super) use pack::{index, pack};
pub(super) use remove::run as remove;
pub(super) use told::origin;
pub(super) use update::run as update;
pub(super) use verify::run as verify;

/// The place that was chosen, or the usual one.
fn place(context: &Context, scope: &ScopeArgs) -> Result<Place, Failure> {
    let (policy, world) = (context.policy(), &context.surroundings);
    let scope = match scope.said() {
        Some(Chosen::Project) => For::Project,
        Some(Chosen::User) => For::User,
        None => For::usual(policy, world),
    };
    Place::new(scope, policy, world).map_err(failure)
}

/// The places that commands look through where nobody says which: the project's first.
pub(super) fn places(context: &Context, scope: &ScopeArgs) -> Result<Vec<Place>, Failure> {
    let (policy, world) = (context.policy(), &context.surroundings);
    if scope.said().is_some() {
        return place(context, scope).map(|place| vec![place]);
    }
    let places: Vec<Place> = [For::Project, For::User]
        .into_iter()
        .filter_map(|scope| Place::new(scope, policy, world).ok())
        .collect();
    let same = places.len() == 2 && places[0].lock == places[1].lock;
    Ok(places.into_iter().take(if same { 1 } else { 2 }).collect())
}

/// Whether the user allows `file://` for this call.
fn file_urls() -> FileUrls {
    match std::env::var_os("PROWESS_ALLOW_FILE_URLS").is_some_and(|value| value == "1") {
        true => FileUrls::Allowed,
        false => FileUrls::Refused,
    }
}

/// Work that ends when somebody presses Ctrl-C, so that nothing is left behind.
fn cancellable() -> Arc<Work> {
    let work = Arc::new(Work::default());
    // After a second signal, the next run removes what is staged.
    crate::signals::set_on_termination(&work.flag());
    work
}

pub(super) fn failure(error: PackageError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// A path as people call it.
pub(super) fn short(path: &Path, context: &Context) -> String {
    crate::output::clean_path(&prowess::short_path(path, &context.surroundings))
}
