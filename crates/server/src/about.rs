//! Information about this server, which the page requests first.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use prowess_chat::turn::MESSAGE_MAX;
use prowess_config::ChatProvider;
use prowess_package::settings;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::guard::{Access, GuardState};

/// The message about an invalid configuration for clients that may not see paths.
pub(crate) const INVALID_CONFIGURATION: &str = "the configuration has errors";

/// Information about this server.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = About)]
pub(crate) struct AboutResponse {
    schema: u32,
    /// The version of Prowess.
    version: &'static str,
    /// The active preset.
    preset: String,
    /// The model provider.
    provider: &'static str,
    /// The model name, as the provider spells it; null if no model is configured.
    model: Option<String>,
    /// Whether a model is configured. Without one, rehearsal mode shows what the model would receive.
    is_model: bool,
    /// Whether the model can call tools. If it cannot, people load skills by name.
    can_call_tools: bool,
    /// Whether this client may change skills and settings.
    admin: bool,
    /// Whether skills are enabled.
    skills_enabled: bool,
    /// Where chats are stored. Only for administrators.
    store: Option<String>,
    /// The user's configuration file. Only for administrators; null if there is no home directory.
    configuration: Option<String>,
    /// Why the current configuration file is not used; the last valid configuration stays active. Null if it is used. Only
    /// administrators see the details.
    configuration_error: Option<String>,
    /// Whether this browser is signed in and can sign out (`DELETE /api/session`).
    signed_in: bool,
    /// The maximum length of a message, in bytes.
    message_max: usize,
}

/// Returns information about this server and the client's access level.
#[utoipa::path(get, path = "/api/about", tag = "operations", responses((status = 200, body = AboutResponse)))]
pub(crate) async fn about(
    State(app): State<App>,
    access: Access,
    Extension(door): Extension<Arc<GuardState>>,
    headers: HeaderMap,
) -> Json<AboutResponse> {
    let loaded = app.reloadable.current();
    let file = || settings::user_settings_file(&loaded.configuration.inputs).ok();
    let (chat, policy) = (&loaded.configuration.chat, &loaded.configuration.policy);
    let admin = access == Access::Admin;
    Json(AboutResponse {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        preset: policy.preset.to_string(),
        provider: chat.provider.as_str(),
        model: chat.model.clone(),
        is_model: chat.provider != ChatProvider::Rehearsal,
        can_call_tools: loaded.agent.model().can_call_tools(),
        admin,
        skills_enabled: policy.enabled,
        store: admin.then(|| app.store.location()),
        configuration: if admin { file().map(|path| path.display().to_string()) } else { None },
        configuration_error: app
            .reloadable
            .error()
            .map(|error| if admin { error } else { INVALID_CONFIGURATION.to_owned() }),
        signed_in: door.has_session(&headers),
        message_max: MESSAGE_MAX,
    })
}
