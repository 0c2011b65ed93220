//! Skills over HTTP: seen by everybody, changed by administrators.
//!
//! | module | subject |
//! |---|---|
//! | `list` | all skills, written once for each state of them |
//! | `admin` | all there is to know about all of them |
//! | `one`, `file` | one skill, and its files |
//! | `change` | making, deleting, switching, looking again |
//! | `import`, `sent` | what is sent, as an archive or as a folder |
//! | `ask` | what a model is shown, and which skills answer |
//! | `inspect` | what a model would be given for a message, part by part |
//! | `overview` | figures |
//! | `publish` | the index by which others install from here |
//! | `hide` | what people who are no administrators are not shown |
//! | `wrong` | what is wrong with a change, as an answer |
//! | `told` | the shapes of answers, for the description |
//!
//! What must always hold: a change is there in the next request, here and on every other server; nobody but an administrator
//! learns where on the machine something lies.

mod admin;
mod ask;
mod change;
mod file;
mod hide;
mod import;
mod inspect;
mod list;
mod one;
mod overview;
mod publish;
mod sent;
pub(crate) mod told;
mod wrong;

use std::sync::Arc;

use prowess::format::hidden;
use prowess::{ErrorCode, Policy, Skill, Snapshot, Surroundings};
use prowess_chat::store::Topic;
use prowess_package::Place;
use tokio::task::spawn_blocking;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use hide::Hide;

use crate::app::App;
use crate::live::Loaded;
use crate::problem::{Answer, Problem};

/// All of them.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let mut routes = OpenApiRouter::new()
        .routes(routes!(list::list, change::create))
        .routes(routes!(admin::skills))
        .routes(routes!(one::one, change::delete))
        .routes(routes!(one::files))
        .routes(routes!(file::get, file::put))
        .routes(routes!(change::enable))
        .routes(routes!(change::disable))
        .routes(routes!(change::rescan))
        .routes(routes!(ask::prompt))
        .routes(routes!(ask::matching))
        .routes(routes!(ask::complete))
        .routes(routes!(inspect::inspect))
        .routes(routes!(overview::overview))
        .routes(routes!(publish::index))
        .routes(routes!(publish::artifact))
        .merge(import::routes());
    // A path with slashes in it is one parameter to us; the description has no word for that.
    let paths = &mut routes.get_openapi_mut().paths.paths;
    for path in paths.keys().filter(|path| path.contains("{*")).cloned().collect::<Vec<_>>() {
        if let Some(item) = paths.remove(&path) {
            paths.insert(path.replace("{*", "{"), item);
        }
    }
    routes
}

/// The skill of this id or name, whatever became of it; the one that counts goes first.
fn find<'s>(snapshot: &'s Snapshot, id: &str) -> Answer<&'s Skill> {
    let copies = || snapshot.all().iter();
    snapshot
        .get(id)
        .or_else(|| copies().find(|skill| skill.id() == id))
        .or_else(|| copies().find(|skill| skill.name() == id))
        .ok_or_else(|| Problem::new(ErrorCode::NotFound, format!("there is no skill {}", hidden::shown(id))))
}

/// The same for changing it: of several copies, the one that may be changed.
fn find_own<'s>(
    snapshot: &'s Snapshot,
    id: &'s str,
    policy: &Policy,
    world: &Surroundings,
) -> Answer<&'s Skill> {
    let own = |skill: &&Skill| Place::of_own(skill, policy, world).is_ok();
    snapshot.copies(id).find(own).map_or_else(|| find(snapshot, id), Ok)
}

/// Does what reads or writes files where nobody waits for it.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    spawn_blocking(work)
        .await
        .map_err(|error| Problem::new(ErrorCode::InternalError, format!("it was given up: {error}")))
}

/// Looks at the skills again after a change, and tells every server.
async fn changed(app: &App, loaded: &Arc<Loaded>) -> Answer<Arc<Snapshot>> {
    let registry = Arc::clone(&loaded.registry);
    let snapshot = blocking(move || registry.refresh()).await?;
    app.store.announce(Topic::Skills);
    Ok(snapshot)
}
