//! The chat endpoints.
//!
//! | module | subject |
//! |---|---|
//! | `consent` | answers to questions about scripts |
//! | `files`, `file_headers` | lists, uploads, downloads and deletes the files of a chat |
//! | `manage` | creates, lists, reads, changes and deletes chats |
//! | `messages` | sends, replaces and deletes messages, and stops answers |
//! | `stream` | streams the events of a chat |

mod consent;
mod file_headers;
mod files;
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
        .routes(routes!(manage::delete_summary))
        .routes(routes!(files::list))
        .routes(routes!(files::upload, files::download, files::remove))
        .routes(routes!(messages::send))
        .routes(routes!(messages::stop))
        .routes(routes!(messages::switch))
        .routes(routes!(messages::delete))
        .routes(routes!(consent::answer))
        .routes(routes!(stream::follow))
}
