//! What says how close a message is in meaning: asked for one vector.

use prowess_config::EmbeddingsProvider;
use prowess_routing::semantic::Purpose;

use super::{Finding, State};
use crate::context::Context;

/// Nothing where it is off, as it is for nearly everybody.
pub(super) fn embeddings(context: &Context) -> Option<Finding> {
    let wanted = &context.configuration.embeddings;
    if wanted.provider == EmbeddingsProvider::Off {
        return None;
    }
    let asked = prowess_embed::embedder(wanted, |name| std::env::var_os(name))
        .map_err(|error| error.to_string())
        .and_then(|embedder| {
            let embedder = embedder.ok_or_else(|| "it is off".to_owned())?;
            let vectors = embedder.embed(&["hello"], Purpose::Message).map_err(|error| error.to_string())?;
            Ok(vectors.first().map_or(0, Vec::len))
        });
    let (state, told, help) = match asked {
        Ok(numbers) => {
            let model = wanted.model.as_deref().unwrap_or_default();
            let told = format!("{}: {model} ({numbers} numbers a text)", wanted.provider.as_str());
            (State::Fine, told, None)
        }
        Err(why) => (
            State::Problem,
            format!("{}: {why}", wanted.provider.as_str()),
            Some(
                "skills are chosen by words alone until then; see [embeddings] in your configuration"
                    .to_owned(),
            ),
        ),
    };
    Some(Finding { what: "embeddings", state, told, help })
}
