//! Conversations over HTTP.
//!
//! | module | subject |
//! |---|---|
//! | `keep` | beginning, listing, reading, renaming, deleting |
//! | `say` | a message, and stopping the answer |
//! | `stream` | what happens in a chat, as events that can be resumed |

mod keep;
mod say;
pub(crate) mod stream;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// All of them.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(keep::list, keep::create))
        .routes(routes!(keep::one, keep::change, keep::delete))
        .routes(routes!(say::message))
        .routes(routes!(say::stop))
        .routes(routes!(stream::follow))
}
