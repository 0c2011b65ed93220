//! The HTTP endpoints for skills. All users can read skills; only administrators can change them.
//!
//! | module | subject |
//! |---|---|
//! | `list` | the list of skills |
//! | `admin` | details of all skills, for administrators |
//! | `detail`, `file` | one skill, and its files |
//! | `check` | checks a text while it is edited |
//! | `change` | creates, deletes, enables, disables and rescans skills |
//! | `import`, `upload_form` | imports uploaded archives and directories |
//! | `install` | installs and updates skills from repositories and sites |
//! | `planned` | files and audit findings before an installation |
//! | `query` | the prompt, matching skills, and completions |
//! | `inspect` | previews the input of a model for a message |
//! | `overview` | statistics |
//! | `test_reports` | results of `prowess test` |
//! | `publish` | the index for installing skills from this server |
//! | `redact` | removes paths from responses for users |
//! | `errors` | error responses for failed changes |
//! | `schemas` | response schemas for the OpenAPI description |
//!
//! Invariants: a change is visible in the next request, on this and every other server; only administrators see absolute paths.

mod admin;
mod change;
mod check;
mod detail;
mod errors;
mod file;
mod import;
mod inspect;
mod install;
mod list;
mod overview;
mod planned;
mod publish;
mod query;
mod redact;
pub(crate) mod schemas;
mod test_reports;
mod upload_form;

use std::sync::Arc;

use prowess::format::hidden;
use prowess::{ErrorCode, HostEnv, Policy, Skill, Snapshot};
use prowess_chat::store::Topic;
use prowess_package::InstallTarget;
use tokio::task::spawn_blocking;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use redact::PathRedactor;

use crate::app::App;
use crate::problem::{ApiResult, Problem};
use crate::reloadable::LoadedState;

/// Returns the routes of all skill endpoints.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list, change::create))
        .routes(routes!(admin::skills))
        .routes(routes!(detail::one, change::delete))
        .routes(routes!(detail::files))
        .routes(routes!(file::get, file::put, file::delete))
        .routes(routes!(file::rename))
        .routes(routes!(check::check))
        .routes(routes!(install::install))
        .routes(routes!(install::update))
        .routes(routes!(change::enable))
        .routes(routes!(change::disable))
        .routes(routes!(change::rescan))
        .routes(routes!(query::prompt))
        .routes(routes!(query::matching))
        .routes(routes!(query::complete))
        .routes(routes!(inspect::inspect))
        .routes(routes!(overview::overview))
        .routes(routes!(test_reports::list))
        .routes(routes!(test_reports::one))
        .routes(routes!(publish::index))
        .routes(routes!(publish::artifact))
        .merge(import::routes())
}

/// Returns the skill with this id or name, whatever its status. Prefers the available one.
fn find<'s>(snapshot: &'s Snapshot, id: &str) -> ApiResult<&'s Skill> {
    let copies = || snapshot.all().iter();
    snapshot
        .get(id)
        .or_else(|| copies().find(|skill| skill.id() == id))
        .or_else(|| copies().find(|skill| skill.name() == id))
        .ok_or_else(|| {
            Problem::new(ErrorCode::NotFound, format!("skill {} not found", hidden::escape_for_display(id)))
        })
}

/// Like [`find`], but prefers a copy that can be edited.
fn find_editable<'s>(
    snapshot: &'s Snapshot,
    id: &'s str,
    policy: &Policy,
    host: &HostEnv,
) -> ApiResult<&'s Skill> {
    let is_editable = |skill: &&Skill| InstallTarget::for_editing(skill, policy, host).is_ok();
    snapshot.copies(id).find(is_editable).map_or_else(|| find(snapshot, id), Ok)
}

/// Runs file system work on the blocking thread pool.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    spawn_blocking(work)
        .await
        .map_err(|error| Problem::new(ErrorCode::InternalError, format!("the operation failed: {error}")))
}

/// Refreshes the skills after a change and notifies every server.
async fn refresh_after_change(app: &App, loaded: &Arc<LoadedState>) -> ApiResult<Arc<Snapshot>> {
    let registry = Arc::clone(&loaded.registry);
    let snapshot = blocking(move || registry.refresh()).await?;
    app.store.announce(Topic::Skills);
    Ok(snapshot)
}
