//! The chat endpoints.
//!
//! | module | subject |
//! |---|---|
//! | `manage` | creates, lists, reads, changes and deletes chats |
//! | `messages` | sends a message, and stops the answer |
//! | `stream` | streams the events of a chat |

mod manage;
mod messages;
pub(crate) mod stream;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// Returns the routes of all chat endpoints.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(manage::list, manage::create))
        .routes(routes!(manage::get, manage::change, manage::delete))
        .routes(routes!(messages::send))
        .routes(routes!(messages::stop))
        .routes(routes!(stream::follow))
}
