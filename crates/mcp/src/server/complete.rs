//! What could be meant by what was typed so far: names of skills, and paths of their files.

use prowess::disclose::{Visibility, visibility};
use prowess::resource;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::Shared;
use super::connection::Connection;
use super::resources::TEMPLATE;
use super::said;

/// Completes an argument.
pub(super) async fn complete(
    connection: &Connection,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let completed = connection.work(move |shared| {
        let argument = &request.argument;
        let values = match &request.r#ref {
            Reference::Resource(template) if template.uri == TEMPLATE => match argument.name.as_str() {
                "name" => names(shared, &argument.value),
                "path" => {
                    let name = request.context.as_ref().and_then(|context| context.get_argument("name"));
                    paths(shared, name.map(String::as_str).unwrap_or_default(), &argument.value)
                }
                _ => return Err(said::invalid("the template has the arguments name and path")),
            },
            Reference::Prompt(prompt) => {
                let snapshot = shared.toolbox.snapshot();
                if !shared.invocable(&snapshot).iter().any(|(called, _)| **called == prompt.name) {
                    return Err(said::invalid("there is no such prompt"));
                }
                // What a skill takes is its own business; often it is one of its files.
                paths(shared, &prompt.name, &argument.value)
            }
            _ => return Err(said::invalid("there is no such resource template")),
        };
        Ok(CompleteResult::new(info(values)))
    });
    completed.await?
}

fn info(mut values: Vec<String>) -> CompletionInfo {
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.has_more = Some(values.len() < total);
    info.total = u32::try_from(total).ok();
    info.values = values;
    info
}

/// The skills that could be meant, the best first.
fn names(shared: &Shared, typed: &str) -> Vec<String> {
    let snapshot = shared.toolbox.snapshot();
    let policy = shared.registry().policy();
    let router = shared.toolbox.router(&snapshot);
    let found = router.complete_among(typed, |skill| visibility(skill, policy) != Visibility::Manual);
    found.into_iter().map(|completion| completion.name.to_owned()).collect()
}

/// The files of a skill that begin with what was typed, then those that have it.
fn paths(shared: &Shared, name: &str, typed: &str) -> Vec<String> {
    let snapshot = shared.toolbox.snapshot();
    let contents = snapshot.get(name).and_then(|skill| resource::list(skill, None).ok()).unwrap_or_default();
    let typed = typed.to_lowercase();
    let (begin, rest): (Vec<_>, Vec<_>) = contents
        .files
        .into_iter()
        .map(|file| file.path)
        .filter(|path| path.to_lowercase().contains(&typed))
        .partition(|path| path.to_lowercase().starts_with(&typed));
    begin.into_iter().chain(rest).collect()
}
