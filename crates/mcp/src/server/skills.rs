//! The skills extension: `skills/list`, `skills/get` and `resources/directory/read`.

use prowess::format::hidden::brief;
use prowess::{ErrorCode, resource};
use rmcp::ErrorData;
use rmcp::model::{ConstString, CustomRequest, CustomResult, ListResourcesResult, ProtocolVersion, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Shared;
use super::connection::Connection;
use super::said::{self, Said};
use crate::extension::{
    self, CacheScope, Complete, DIRECTORY, DirectoryParams, GetParams, GetResult, ListParams, ListResult,
};
use crate::manifest::own_file;
use crate::uri::{self, Parts};

/// The most skills on a page; each brings all its files along.
const PAGE: usize = 50;

/// The most children of a folder on a page.
const CHILDREN: usize = 200;

/// For how long a listing may be kept. Clients that listen are told of changes.
const TTL_MS: u64 = 5_000;

/// The methods that the SDK knows: it hands them over here where it does not understand their parameters.
const STANDARD: [&str; 14] = [
    rmcp::model::InitializeResultMethod::VALUE,
    rmcp::model::PingRequestMethod::VALUE,
    rmcp::model::CompleteRequestMethod::VALUE,
    rmcp::model::SetLevelRequestMethod::VALUE,
    rmcp::model::GetPromptRequestMethod::VALUE,
    rmcp::model::ListPromptsRequestMethod::VALUE,
    rmcp::model::ListResourcesRequestMethod::VALUE,
    rmcp::model::ListResourceTemplatesRequestMethod::VALUE,
    rmcp::model::ReadResourceRequestMethod::VALUE,
    rmcp::model::SubscribeRequestMethod::VALUE,
    rmcp::model::UnsubscribeRequestMethod::VALUE,
    rmcp::model::CallToolRequestMethod::VALUE,
    rmcp::model::ListToolsRequestMethod::VALUE,
    rmcp::model::SubscriptionsListenRequestMethod::VALUE,
];

/// Those of them that the revision without sessions has no more, whatever their parameters.
const BEFORE_2026_07_28: [&str; 5] = [
    rmcp::model::InitializeResultMethod::VALUE,
    rmcp::model::PingRequestMethod::VALUE,
    rmcp::model::SetLevelRequestMethod::VALUE,
    rmcp::model::SubscribeRequestMethod::VALUE,
    rmcp::model::UnsubscribeRequestMethod::VALUE,
];

/// Answers what the SDK has no types for; `revision` is what the request itself says of it.
pub(super) async fn answer(
    connection: &Connection,
    request: CustomRequest,
    revision: Option<ProtocolVersion>,
) -> Result<CustomResult, ErrorData> {
    let CustomRequest { method, params, .. } = request;
    let is_later = revision.is_some_and(|revision| revision >= ProtocolVersion::V_2026_07_28);
    let answered = match method.as_str() {
        method if is_later && BEFORE_2026_07_28.contains(&method) => Err(said::no_method(method)),
        extension::LIST => {
            let params: ListParams = parse(params)?;
            connection.work(move |shared| to_json(list(shared, params)?)).await?
        }
        extension::GET => {
            let params: GetParams = parse(params)?;
            connection.work(move |shared| to_json(get(shared, &params.uri)?)).await?
        }
        extension::DIRECTORY_READ => {
            let params: DirectoryParams = parse(params)?;
            connection.work(move |shared| to_json(directory(shared, &params)?)).await?
        }
        method if STANDARD.contains(&method) => {
            Err(said::invalid(format!("the parameters of {method} are not what it takes")))
        }
        method => Err(said::no_method(method)),
    };
    answered.map(CustomResult::new)
}

fn parse<T: DeserializeOwned>(params: Option<Value>) -> Result<T, ErrorData> {
    let params = params.unwrap_or_else(|| json!({}));
    serde_json::from_value(params)
        .map_err(|error| said::invalid(format!("the parameters are wrong: {error}")))
}

fn to_json(result: impl Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(result).map_err(|error| said::internal(error.to_string()))
}

fn list(shared: &Shared, params: ListParams) -> Result<ListResult, ErrorData> {
    let (snapshot, policy) = (shared.toolbox.snapshot(), shared.registry().policy());
    if params.cursor.is_none() {
        shared.manifests.retain(&snapshot);
    }
    let (page, next_cursor) = shared
        .cursors
        .page(extension::LIST, params.cursor.as_deref(), shared.listed(&snapshot), |(called, _)| called, PAGE)
        .map_err(Said::from)?;
    // A skill that hosts would refuse is left out; asking for it says why.
    let entries = page.into_iter().filter_map(|(_, skill)| shared.manifests.entry(skill, policy).ok());
    Ok(ListResult {
        result_type: Complete::Complete,
        skills: entries.map(|entry| extension::Skill::clone(&entry)).collect(),
        next_cursor,
        ttl_ms: TTL_MS,
        cache_scope: CacheScope::Private,
    })
}

fn get(shared: &Shared, uri: &str) -> Result<GetResult, ErrorData> {
    let none = || said::invalid(format!("no skill is served at {}", brief(uri)));
    let parts = Parts::parse(uri).map_err(Said::from)?;
    let (snapshot, policy) = (shared.toolbox.snapshot(), shared.registry().policy());
    let (skill, path) = parts.resolve(&snapshot, policy).ok_or_else(none)?;
    if path != own_file(skill) || !skill.is_enabled() {
        return Err(none());
    }
    let entry = shared.manifests.entry(skill, policy);
    let entry = entry.map_err(|why| said::invalid(format!("{} is not served: {why}", brief(uri))))?;
    Ok(GetResult {
        result_type: Complete::Complete,
        skill: extension::Skill::clone(&entry),
        ttl_ms: TTL_MS,
        cache_scope: CacheScope::Private,
    })
}

fn directory(shared: &Shared, params: &DirectoryParams) -> Result<ListResourcesResult, ErrorData> {
    let uri = &params.uri;
    let parts = Parts::parse(uri).map_err(Said::from)?;
    let (snapshot, policy) = (shared.toolbox.snapshot(), shared.registry().policy());
    let none = || said::invalid(format!("{} is no directory", brief(uri)));
    let (skill, path) = parts.resolve(&snapshot, policy).ok_or_else(none)?;
    let children = resource::children(skill, &path).map_err(|error| match error.code() {
        ErrorCode::Disabled | ErrorCode::TooLarge => said::invalid(error.to_string()),
        ErrorCode::InternalError => said::internal(error.to_string()),
        _ => none(),
    })?;
    let below = if path.is_empty() { String::new() } else { format!("{path}/") };
    let child = |child: resource::Child| {
        let shown = Resource::new(uri::of(skill, policy, &format!("{below}{}", child.name)), &child.name);
        match (child.bytes, resource::mime_of_name(&child.name)) {
            (None, _) => shown.with_mime_type(DIRECTORY),
            (Some(bytes), Some(mime)) => shown.with_mime_type(mime).with_size(bytes),
            (Some(bytes), None) => shown.with_size(bytes),
        }
    };
    let children: Vec<Resource> = children.into_iter().map(child).collect();
    let list = format!("{} {uri}", extension::DIRECTORY_READ);
    let (page, next) = shared
        .cursors
        .page(&list, params.cursor.as_deref(), children, name_of, CHILDREN)
        .map_err(Said::from)?;
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = next;
    result.ttl_ms = Some(TTL_MS);
    result.cache_scope = Some(rmcp::model::CacheScope::Private);
    Ok(result)
}

fn name_of(resource: &Resource) -> &str {
    &resource.name
}
