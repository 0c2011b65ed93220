//! Conversations over HTTP.
//!
//! | module | subject |
//! |---|---|
//! | `keep` | beginning, listing, reading, renaming, deleting |
//! | `say` | a message, and stopping the answer |
//! | `turns` | the answers that this process is writing |
//! | `stream` | what happens in a chat, as events that can be resumed |

mod keep;
mod say;
pub(crate) mod stream;
mod turns;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use turns::Turns;

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
