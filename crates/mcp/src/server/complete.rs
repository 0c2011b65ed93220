//! Completes names of skills and paths of their files.

use prowess::catalog::{Visibility, visibility};
use prowess::resources;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::Shared;
use super::connection::Connection;
use super::errors;
use super::resources::{URI_TEMPLATE, WORKSPACE_URI_TEMPLATE};

/// Completes an argument.
pub(super) async fn complete(
    connection: &Connection,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let workspace = connection.workspace.clone();
    let completed = connection.run_blocking(move |shared| {
        let argument = &request.argument;
        let values = match &request.r#ref {
            Reference::Resource(template) if template.uri == URI_TEMPLATE => match argument.name.as_str() {
                "name" => complete_name(shared, &argument.value),
                "path" => {
                    let name = request.context.as_ref().and_then(|context| context.get_argument("name"));
                    complete_path(shared, name.map(String::as_str).unwrap_or_default(), &argument.value)
                }
                _ => return Err(errors::invalid_params("the template has the arguments name and path")),
            },
            Reference::Resource(template) if template.uri == WORKSPACE_URI_TEMPLATE => {
                let id = request.context.as_ref().and_then(|context| context.get_argument("id"));
                match argument.name.as_str() {
                    "id" => vec![workspace.id().to_owned()],
                    "path" if id.is_none_or(|id| id == workspace.id()) => {
                        let files = workspace.list().unwrap_or_default();
                        files.into_iter().map(|file| file.path).collect()
                    }
                    "path" => Vec::new(),
                    _ => return Err(errors::invalid_params("the template has the arguments id and path")),
                }
                .into_iter()
                .filter(|value| value.starts_with(&argument.value))
                .collect()
            }
            Reference::Prompt(prompt) => {
                let snapshot = shared.toolbox.snapshot();
                if !shared.invocable_skills(&snapshot).iter().any(|skill| *skill.key() == *prompt.name) {
                    return Err(errors::invalid_params("no such prompt"));
                }
                // The arguments of a skill are often its files.
                complete_path(shared, &prompt.name, &argument.value)
            }
            _ => return Err(errors::invalid_params("no such resource template")),
        };
        Ok(CompleteResult::new(completion_info(values)))
    });
    completed.await?
}

fn completion_info(mut values: Vec<String>) -> CompletionInfo {
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.has_more = Some(values.len() < total);
    info.total = u32::try_from(total).ok();
    info.values = values;
    info
}

/// Returns the matching skills, the best first.
fn complete_name(shared: &Shared, typed: &str) -> Vec<String> {
    let snapshot = shared.toolbox.snapshot();
    let policy = shared.registry().policy();
    let router = shared.toolbox.router(&snapshot);
    let completions = router.complete_among(typed, |skill| visibility(skill, policy) != Visibility::Manual);
    completions.into_iter().map(|completion| completion.name.to_owned()).collect()
}

/// Returns the files of a skill that start with the text, then those that contain it.
fn complete_path(shared: &Shared, name: &str, typed: &str) -> Vec<String> {
    let snapshot = shared.toolbox.snapshot();
    let contents =
        snapshot.get(name).and_then(|skill| resources::list_files(skill, None).ok()).unwrap_or_default();
    let typed = typed.to_lowercase();
    let (prefix_matches, other_matches): (Vec<_>, Vec<_>) = contents
        .files
        .into_iter()
        .map(|file| file.path)
        .filter(|path| path.to_lowercase().contains(&typed))
        .partition(|path| path.to_lowercase().starts_with(&typed));
    prefix_matches.into_iter().chain(other_matches).collect()
}
