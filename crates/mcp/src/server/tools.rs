//! Lists and calls the tools of the preset and of active skills.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prowess::{ErrorCode, resources};
use prowess_tools::{BuiltinTool, CallStatus, Envelope, Session, ToolDefinition};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, MetaObject,
    PaginatedRequestParams, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};

use super::cancellation::CancellationGuard;
use super::changes::ChangeEvent;
use super::connection::Connection;
use super::errors::{self, ProtocolError};
use super::instructions::replace_dotted_names;
use super::progress::ProgressReporter;
use super::scripts::{self, RunCallOutcome};
use super::{Shared, artifacts, attachments, schemas};

/// The maximum number of tools on a page.
const PAGE_SIZE: usize = 500;

/// The key of the error code in the metadata of a result.
const ERROR_KEY: &str = "prowess/error";

/// Lists the available tools.
pub(super) async fn list(
    connection: &Connection,
    request: Option<PaginatedRequestParams>,
    context: &RequestContext<RoleServer>,
) -> Result<ListToolsResult, ErrorData> {
    let session = connection.session_for_listing(context);
    let cursor = request.and_then(|request| request.cursor);
    let changes_user_files = connection.workspace.is_directory();
    let listed = connection.run_blocking(move |shared| {
        let definitions = shared.toolbox.definitions_in(&session).into_iter();
        let mut tools: Vec<_> =
            definitions.map(|definition| to_mcp_tool(definition, changes_user_files)).collect();
        // The built-in tools come first, unless pagination requires sorting by name.
        if tools.len() > PAGE_SIZE || cursor.is_some() {
            tools.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let (page, next) = shared
            .cursors
            .page("tools", cursor.as_deref(), tools, tool_name, PAGE_SIZE)
            .map_err(ProtocolError::from)?;
        let mut result = ListToolsResult::with_all_items(page);
        result.next_cursor = next;
        Ok::<_, ErrorData>((result, shared.toolbox.take_diagnostics()))
    });
    let (result, diagnostics) = listed.await??;
    for located in diagnostics {
        connection.log.warn(context, || located.diagnostic.message.clone()).await;
    }
    Ok(result)
}

fn tool_name(tool: &rmcp::model::Tool) -> &str {
    &tool.name
}

/// Converts a tool definition. `changes_user_files` says that scripts work in a directory of the user.
fn to_mcp_tool(definition: ToolDefinition, changes_user_files: bool) -> rmcp::model::Tool {
    let builtin = BuiltinTool::from_name(&definition.name);
    let Value::Object(input) = definition.input_schema else {
        return rmcp::model::Tool::new(definition.name, definition.description, Map::new());
    };
    let description =
        if builtin.is_some() { replace_dotted_names(definition.description) } else { definition.description };
    let tool = rmcp::model::Tool::new(definition.name.replace('.', "_"), description, input);
    let Some(builtin) = builtin else { return tool };
    let is_run = builtin == BuiltinTool::Run;
    let annotations = ToolAnnotations::new().read_only(!is_run).destructive(is_run && changes_user_files);
    tool.with_title(schemas::tool_title(builtin))
        .with_raw_output_schema(Arc::new(schemas::output_schema(builtin)))
        .with_annotations(annotations.idempotent(!is_run).open_world(is_run))
}

/// Calls a tool.
pub(super) async fn call(
    connection: &Connection,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let name = request.name.clone().into_owned();
    let builtin = BuiltinTool::from_name(&name);
    let mut links = Vec::new();
    let envelope = match builtin {
        Some(BuiltinTool::Run) => match scripts::call(connection, request.into(), &context).await? {
            RunCallOutcome::InputRequired(result) => return Ok(result.into()),
            RunCallOutcome::Finished(mut envelope) => {
                links = artifacts::add_links(&connection.workspace, &mut envelope);
                connection.note_changed_files(&envelope);
                envelope
            }
        },
        Some(
            BuiltinTool::Activate
            | BuiltinTool::Skill
            | BuiltinTool::ReadResource
            | BuiltinTool::ListResources
            | BuiltinTool::ReadFile,
        ) => {
            let (name, params) = (name.clone(), Value::Object(request.arguments.unwrap_or_default()));
            connection
                .update_session(move |shared, session| shared.toolbox.call(session, &name, params))
                .await?
        }
        _ => {
            let params = Value::Object(request.arguments.unwrap_or_default());
            call_cancellable(connection, name.clone(), params, &context).await?
        }
    };
    let (status, time) = (envelope.status, envelope.stats.time_ms);
    let describe = || {
        let status = serde_json::to_value(status).unwrap_or_default();
        let name = prowess::format::hidden::escape_and_truncate(&name);
        format!("{name}: {}, {time} ms", status.as_str().unwrap_or_default())
    };
    connection.log.debug(&context, describe).await;
    let mut result = match envelope.error {
        None => success_result(builtin, envelope),
        Some(_) => {
            let session = connection.session_for_listing(&context);
            let failed =
                connection.run_blocking(move |shared| failure_result(shared, &session, &name, envelope));
            failed.await??
        }
    };
    result.content.extend(links);
    Ok(result.into())
}

impl Connection {
    /// Notifies the client if a script changed files, and retains them if the connection ends with the call.
    fn note_changed_files(&self, envelope: &Envelope) {
        let is_changed = |key: &str| {
            envelope.data.get(key).and_then(Value::as_array).is_some_and(|files| !files.is_empty())
        };
        if !is_changed("artifacts") && !is_changed("removed") {
            return;
        }
        match self.is_single_request() {
            true => self.shared.workspaces.retain(&self.workspace),
            false => self.shared.changes.notify(ChangeEvent::Files(self.number)),
        }
    }
}

/// Calls a tool that may run for a long time. Other requests are served meanwhile, and the client may cancel it.
async fn call_cancellable(
    connection: &Connection,
    name: String,
    params: Value,
    context: &RequestContext<RoleServer>,
) -> Result<Envelope, ErrorData> {
    let mut session = connection.session();
    let _guard = CancellationGuard::new(&mut session, &context.ct, &connection.closed);
    let progress = ProgressReporter::attach(&mut session, context);
    let call = connection.run_blocking(move |shared| shared.toolbox.call(&mut session, &name, params));
    progress.run(call).await
}

/// Converts a failed call. An unknown tool is an error of the request; other errors are results of the tool.
fn failure_result(
    shared: &Shared,
    session: &Session,
    name: &str,
    envelope: Envelope,
) -> Result<CallToolResult, ErrorData> {
    let builtin = BuiltinTool::from_name(name);
    let Some(error) = &envelope.error else { return Ok(success_result(builtin, envelope)) };
    if error.code == ErrorCode::NotFound && !is_available(shared, session, name) {
        return Err(errors::invalid_params(replace_dotted_names(error.message.clone())));
    }
    if let (Some(BuiltinTool::ReadResource), ErrorCode::BinaryFile) = (builtin, error.code)
        && let Some(image) = image_result(shared, session, &envelope)
    {
        return Ok(image);
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(replace_dotted_names(envelope.text))]);
    let meta = Map::from_iter([(ERROR_KEY.to_owned(), json!(error))]);
    result.meta = Some(MetaObject::from(meta));
    Ok(result)
}

fn is_available(shared: &Shared, session: &Session, name: &str) -> bool {
    let dotless = name.replace('.', "_");
    shared.toolbox.definitions_in(session).iter().any(|tool| tool.name.replace('.', "_") == dotless)
}

fn success_result(builtin: Option<BuiltinTool>, envelope: Envelope) -> CallToolResult {
    let Envelope { mut data, text, status, .. } = envelope;
    let mut content = vec![ContentBlock::text(text.clone())];
    if builtin.is_none() {
        let attachments = data.remove("attachments");
        let attachments =
            attachments.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        content.extend(attachments.iter().map(attachments::content_block));
        // Some clients show the model only the structured content.
        if !attachments.is_empty() {
            return CallToolResult::success(content);
        }
        data.retain(|key, _| ["title", "metadata", "output", "truncated"].contains(&key.as_str()));
    }
    if builtin == Some(BuiltinTool::Activate) {
        // Some clients show the model only the structured content.
        data.insert("content".to_owned(), text.into());
    }
    if status == CallStatus::Partial {
        data.insert("truncated".to_owned(), true.into());
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(Value::Object(data));
    result
}

/// Returns an image of a skill as image content.
fn image_result(shared: &Shared, session: &Session, envelope: &Envelope) -> Option<CallToolResult> {
    let params = &envelope.context.params_input;
    let snapshot = shared.toolbox.snapshot();
    let skill = shared.toolbox.find_skill(&snapshot, session, params["name"].as_str()?).ok()?;
    let file = resources::read_bytes(skill, params["path"].as_str()?).ok()?;
    if !file.mime.starts_with("image/") {
        return None;
    }
    let image = ContentBlock::image(BASE64_STANDARD.encode(&file.bytes), file.mime);
    let mut result = CallToolResult::success(vec![image]);
    result.structured_content =
        Some(json!({"name": file.name, "path": file.path, "bytes": file.bytes.len(), "mime": file.mime}));
    Some(result)
}

impl Shared {
    /// Returns `true` if a skill that brings tools became active.
    pub(super) fn brings_tools(&self, previous: &[String], session: &Session) -> bool {
        let mut active = session.active_skills();
        active.retain(|name| !previous.contains(name));
        if active.is_empty() {
            return false;
        }
        let snapshot = self.toolbox.snapshot();
        active.iter().any(|name| {
            let manifest = snapshot.get(name).and_then(|skill| skill.manifest());
            manifest.is_some_and(|manifest| !manifest.toolsets().is_empty())
        })
    }
}
