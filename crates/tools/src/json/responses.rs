//! The JSON of responses other than lists and details of skills.

use prowess::resources::Resource;
use prowess::{FileListing, Skill};
use prowess_config::Configuration;
use prowess_routing::Routing;
use serde_json::{Value, json};

use super::DiagnosticJson;
use crate::prompt::RenderedPrompt;
use crate::tokens;

/// Returns the skills that match a query, and why.
pub fn routing_json(query: &str, routing: &Routing) -> Value {
    let matches: Vec<_> = routing
        .matches
        .iter()
        .map(|matched| {
            let confidence = (f64::from(matched.confidence) * 1000.0).round() / 1000.0;
            json!({
                "name": matched.name, "score": matched.score, "confidence": confidence, "reasons": matched.reasons,
            })
        })
        .collect();
    json!({
        "schema": 1, "query": query, "tier": routing.tier.number(), "fits": routing.is_confident(), "matches": matches,
    })
}

/// Returns a prompt.
pub fn prompt_json(prompt: &RenderedPrompt) -> Value {
    let cut: Vec<_> =
        prompt.plan.cuts().map(|cut| json!({"name": cut.name, "level": cut.level.as_str()})).collect();
    json!({
        "schema": 1,
        "text": prompt.text,
        "chars": prompt.text.chars().count(),
        "tokens": tokens::count(&prompt.text),
        "encoding": tokens::ENCODING,
        "skills": prompt.plan.total(),
        "cut": cut,
    })
}

/// Returns the files of a skill.
pub fn files_json(skill: &Skill, listing: &FileListing) -> Value {
    let files: Vec<_> = listing
        .files
        .iter()
        .map(|file| json!({"path": file.path, "bytes": file.bytes, "executable": file.executable}))
        .collect();
    json!({"schema": 1, "name": skill.name(), "files": files, "truncated": listing.truncated})
}

/// Returns a file of a skill.
pub fn resource_json(resource: &Resource) -> Value {
    json!({
        "schema": 1,
        "name": resource.name,
        "path": resource.path,
        "content": resource.content,
        "truncated": resource.truncated.is_some(),
        "bytes": resource.bytes,
    })
}

/// Returns the effective settings and their origins.
pub fn settings_json(configuration: &Configuration) -> Value {
    let settings: Vec<_> = configuration
        .settings
        .iter()
        .map(|setting| json!({"key": setting.key, "value": setting.value, "origin": setting.origin.to_string()}))
        .collect();
    let diagnostics: Vec<_> = configuration
        .diagnostics
        .iter()
        .map(|located| DiagnosticJson::new(&located.path, &located.diagnostic))
        .collect();
    let files: Vec<_> =
        configuration.files.iter().map(|(path, read)| json!({"path": path, "read": read})).collect();
    json!({"schema": 1, "settings": settings, "files": files, "diagnostics": diagnostics})
}
