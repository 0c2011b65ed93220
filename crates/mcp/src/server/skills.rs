//! The skills extension: `skills/list`, `skills/get` and `resources/directory/read`.

use prowess::format::hidden::escape_and_truncate;
use prowess::{ErrorCode, resources};
use rmcp::ErrorData;
use rmcp::model::{ConstString, CustomRequest, CustomResult, ListResourcesResult, ProtocolVersion, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Shared;
use super::connection::Connection;
use super::errors::{self, ProtocolError};
use crate::extension::{
    self, CacheScope, DIRECTORY_MEDIA_TYPE, GetSkillParams, GetSkillResult, ListSkillsParams,
    ListSkillsResult, ReadDirectoryParams, ResultType,
};
use crate::manifest::manifest_file_name;
use crate::uri::{self, SkillUriSegments};

/// The maximum number of skills on a page; each entry contains all its files.
const PAGE_SIZE: usize = 50;

/// The maximum number of children of a directory on a page.
const CHILDREN_PAGE_SIZE: usize = 200;

/// How long a listing may be cached. Subscribed clients are notified of changes.
const TTL_MS: u64 = 5_000;

/// The methods of the SDK. It passes them here if their parameters are invalid.
const SDK_METHODS: [&str; 14] = [
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

/// The SDK methods that the revision 2026-07-28 removed.
const REMOVED_METHODS: [&str; 5] = [
    rmcp::model::InitializeResultMethod::VALUE,
    rmcp::model::PingRequestMethod::VALUE,
    rmcp::model::SetLevelRequestMethod::VALUE,
    rmcp::model::SubscribeRequestMethod::VALUE,
    rmcp::model::UnsubscribeRequestMethod::VALUE,
];

/// Handles requests for which the SDK has no types. `revision` is the protocol version in the request.
pub(super) async fn handle_custom_request(
    connection: &Connection,
    request: CustomRequest,
    revision: Option<ProtocolVersion>,
) -> Result<CustomResult, ErrorData> {
    let CustomRequest { method, params, .. } = request;
    let is_current = revision.is_some_and(|revision| revision >= ProtocolVersion::V_2026_07_28);
    let result = match method.as_str() {
        method if is_current && REMOVED_METHODS.contains(&method) => Err(errors::method_not_found(method)),
        extension::LIST_METHOD => {
            let params: ListSkillsParams = parse_params(params)?;
            connection.run_blocking(move |shared| to_json(list_skills(shared, params)?)).await?
        }
        extension::GET_METHOD => {
            let params: GetSkillParams = parse_params(params)?;
            connection.run_blocking(move |shared| to_json(get_skill(shared, &params.uri)?)).await?
        }
        extension::DIRECTORY_READ_METHOD => {
            let params: ReadDirectoryParams = parse_params(params)?;
            connection.run_blocking(move |shared| to_json(read_directory(shared, &params)?)).await?
        }
        method if SDK_METHODS.contains(&method) => {
            Err(errors::invalid_params(format!("invalid parameters of {method}")))
        }
        method => Err(errors::method_not_found(method)),
    };
    result.map(CustomResult::new)
}

fn parse_params<T: DeserializeOwned>(params: Option<Value>) -> Result<T, ErrorData> {
    let params = params.unwrap_or_else(|| json!({}));
    serde_json::from_value(params)
        .map_err(|error| errors::invalid_params(format!("invalid parameters: {error}")))
}

fn to_json(result: impl Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(result).map_err(|error| errors::internal_error(error.to_string()))
}

fn list_skills(shared: &Shared, params: ListSkillsParams) -> Result<ListSkillsResult, ErrorData> {
    let snapshot = shared.toolbox.snapshot();
    if params.cursor.is_none() {
        shared.manifests.retain(&snapshot);
    }
    let (page, next_cursor) = shared
        .cursors
        .page(
            extension::LIST_METHOD,
            params.cursor.as_deref(),
            shared.visible_skills(&snapshot),
            |skill| skill.key(),
            PAGE_SIZE,
        )
        .map_err(ProtocolError::from)?;
    // Skills that hosts would reject are omitted; `skills/get` reports the reason.
    let entries = page.into_iter().filter_map(|skill| shared.manifests.entry(skill).ok());
    Ok(ListSkillsResult {
        result_type: ResultType::Complete,
        skills: entries.map(|entry| extension::SkillEntry::clone(&entry)).collect(),
        next_cursor,
        ttl_ms: TTL_MS,
        cache_scope: CacheScope::Private,
    })
}

fn get_skill(shared: &Shared, uri: &str) -> Result<GetSkillResult, ErrorData> {
    let not_found = || errors::invalid_params(format!("no skill at {}", escape_and_truncate(uri)));
    let parts = SkillUriSegments::parse(uri).map_err(ProtocolError::from)?;
    let snapshot = shared.toolbox.snapshot();
    let (skill, path) = parts.resolve(&snapshot).ok_or_else(not_found)?;
    if path != manifest_file_name(skill) || !skill.is_enabled() {
        return Err(not_found());
    }
    let entry = shared.manifests.entry(skill);
    let entry = entry.map_err(|reason| {
        errors::invalid_params(format!("{} is not served: {reason}", escape_and_truncate(uri)))
    })?;
    Ok(GetSkillResult {
        result_type: ResultType::Complete,
        skill: extension::SkillEntry::clone(&entry),
        ttl_ms: TTL_MS,
        cache_scope: CacheScope::Private,
    })
}

fn read_directory(shared: &Shared, params: &ReadDirectoryParams) -> Result<ListResourcesResult, ErrorData> {
    let uri = &params.uri;
    let parts = SkillUriSegments::parse(uri).map_err(ProtocolError::from)?;
    let snapshot = shared.toolbox.snapshot();
    let not_a_directory =
        || errors::invalid_params(format!("{} is not a directory", escape_and_truncate(uri)));
    let (skill, path) = parts.resolve(&snapshot).ok_or_else(not_a_directory)?;
    let children = resources::list_dir(skill, &path).map_err(|error| match error.code() {
        ErrorCode::Disabled | ErrorCode::TooLarge => errors::invalid_params(error.to_string()),
        ErrorCode::InternalError => errors::internal_error(error.to_string()),
        _ => not_a_directory(),
    })?;
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let child = |child: resources::ChildEntry| {
        let resource = Resource::new(uri::file_uri(skill, &format!("{prefix}{}", child.name)), &child.name);
        match (child.bytes, resources::mime_type_for_path(&child.name)) {
            (None, _) => resource.with_mime_type(DIRECTORY_MEDIA_TYPE),
            (Some(bytes), Some(mime)) => resource.with_mime_type(mime).with_size(bytes),
            (Some(bytes), None) => resource.with_size(bytes),
        }
    };
    let children: Vec<Resource> = children.into_iter().map(child).collect();
    let list = format!("{} {uri}", extension::DIRECTORY_READ_METHOD);
    let (page, next) = shared
        .cursors
        .page(&list, params.cursor.as_deref(), children, resource_name, CHILDREN_PAGE_SIZE)
        .map_err(ProtocolError::from)?;
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = next;
    result.ttl_ms = Some(TTL_MS);
    result.cache_scope = Some(rmcp::model::CacheScope::Private);
    Ok(result)
}

fn resource_name(resource: &Resource) -> &str {
    &resource.name
}
