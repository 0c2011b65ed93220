//! What this server is: all that the page needs to know before anything else.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use prowess_chat::turn::MESSAGE_MAX;
use prowess_config::Provider;
use prowess_package::settings;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::guard::{Access, Door};

/// What is said of a configuration with errors where paths are not shown.
pub(crate) const NOT_IN_FORCE: &str = "the configuration has errors";

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
    /// Whether the model is offered tools. Some cannot call them: then people load skills by name.
    can_call_tools: bool,
    /// Whether whoever asks may change skills and settings.
    admin: bool,
    /// Whether skills are used at all.
    skills_enabled: bool,
    /// Where chats are kept, for administrators.
    store: Option<String>,
    /// The configuration file that settings are kept in, for administrators; null where there is no home directory.
    configuration: Option<String>,
    /// Why the configuration file, as it is now, is not in force: the last valid one is. Null where it is in force. Only
    /// administrators are told what is wrong with it.
    configuration_error: Option<String>,
    /// Whether this browser has signed in, and can sign out (`DELETE /api/session`).
    signed_in: bool,
    /// The longest message, in bytes.
    message_max: usize,
}

/// What this server is, and as what you were let in.
#[utoipa::path(get, path = "/api/about", tag = "operations", responses((status = 200, body = About)))]
pub(crate) async fn about(
    State(app): State<App>,
    access: Access,
    Extension(door): Extension<Arc<Door>>,
    headers: HeaderMap,
) -> Json<About> {
    let loaded = app.live.now();
    let file = || settings::file_of(&loaded.configuration.inputs).ok();
    let (chat, policy) = (&loaded.configuration.chat, &loaded.configuration.policy);
    let admin = access == Access::Admin;
    Json(About {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        preset: policy.preset.to_string(),
        provider: chat.provider.as_str(),
        model: chat.model.clone(),
        is_model: chat.provider != Provider::Rehearsal,
        can_call_tools: loaded.agent.model().can_call_tools(),
        admin,
        skills_enabled: policy.enabled,
        store: admin.then(|| app.store.place()),
        configuration: if admin { file().map(|path| path.display().to_string()) } else { None },
        configuration_error: app
            .live
            .error()
            .map(|error| if admin { error } else { NOT_IN_FORCE.to_owned() }),
        signed_in: door.has_session(&headers),
        message_max: MESSAGE_MAX,
    })
}
