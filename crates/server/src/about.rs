//! What this server is: all that the page needs to know before anything else.

use axum::Json;
use axum::extract::State;
use prowess::config::Provider;
use prowess_chat::turn::MESSAGE_MAX;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::guard::Access;

/// What this server is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct About {
    schema: u32,
    /// The version of Prowess.
    version: &'static str,
    /// The preset in force.
    preset: String,
    /// Whose interface the model is behind.
    provider: &'static str,
    /// The model, as its provider calls it; null where there is none.
    model: Option<String>,
    /// Whether there is a model at all. Without one, a rehearsal shows what it would have been given.
    is_model: bool,
    /// Whether whoever asks may change skills and settings.
    admin: bool,
    /// Whether skills are used at all.
    skills_enabled: bool,
    /// Where chats are kept, for administrators.
    store: Option<String>,
    /// The longest message, in bytes.
    message_max: usize,
}

/// What this server is, and as what you were let in.
#[utoipa::path(get, path = "/api/about", tag = "operations", responses((status = 200, body = About)))]
pub(crate) async fn about(State(app): State<App>, access: Access) -> Json<About> {
    let loaded = app.live.now();
    let (chat, policy) = (&loaded.configuration.chat, &loaded.configuration.policy);
    let admin = access == Access::Admin;
    Json(About {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        preset: policy.preset.to_string(),
        provider: chat.provider.as_str(),
        model: chat.model.clone(),
        is_model: chat.provider != Provider::Rehearsal,
        admin,
        skills_enabled: policy.enabled,
        store: admin.then(|| app.store.place()),
        message_max: MESSAGE_MAX,
    })
}
