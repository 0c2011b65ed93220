//! Checks the embeddings provider by requesting a vector.

use prowess_config::EmbeddingsProvider;
use prowess_routing::semantic::Purpose;

use super::{CheckState, DoctorCheck};
use crate::context::CommandContext;

/// Returns `None` if embeddings are disabled.
pub(super) fn check(context: &CommandContext) -> Option<DoctorCheck> {
    let settings = &context.configuration.embeddings;
    if settings.provider == EmbeddingsProvider::Off {
        return None;
    }
    let result = prowess_embed::embedder(settings, |name| std::env::var_os(name))
        .map_err(|error| error.to_string())
        .and_then(|embedder| {
            let embedder = embedder.ok_or_else(|| "disabled".to_owned())?;
            let vectors = embedder.embed(&["hello"], Purpose::Message).map_err(|error| error.to_string())?;
            Ok(vectors.first().map_or(0, Vec::len))
        });
    let (state, message, help) = match result {
        Ok(dimensions) => {
            let model = settings.model.as_deref().unwrap_or_default();
            let message = format!("{}: {model} ({dimensions} dimensions)", settings.provider.as_str());
            (CheckState::Fine, message, None)
        }
        Err(error) => (
            CheckState::Problem,
            format!("{}: {error}", settings.provider.as_str()),
            Some(
                "until this is fixed, routing uses words only; see [embeddings] in your configuration"
                    .to_owned(),
            ),
        ),
    };
    Some(DoctorCheck { subject: "embeddings", state, message, help })
}
