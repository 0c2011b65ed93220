//! The tools of the preset and of active skills, and calling them.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prowess::{ErrorCode, resource};
use prowess_tools::{Envelope, Outcome, Session, Tool, ToolDefinition};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, ListToolsResult, MetaObject, PaginatedRequestParams,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::instructions::dotless;
use super::progress::Progress;
use super::said::{self, Said};
use super::{Shared, attached, schemas};

/// The most tools on a page.
const PAGE: usize = 500;

/// Where a result says with which code of the contract it failed.
const ERROR_KEY: &str = "prowess/error";

/// The tools on offer now.
pub(super) async fn list(
    connection: &Connection,
    request: Option<PaginatedRequestParams>,
    context: &RequestContext<RoleServer>,
) -> Result<ListToolsResult, ErrorData> {
    let session = connection.session();
    let cursor = request.and_then(|request| request.cursor);
    let listed = connection.work(move |shared| {
        let mut tools: Vec<_> = shared.toolbox.definitions_in(&session).into_iter().map(tool).collect();
        // Ours come first; more than a page needs the order of cursors.
        if tools.len() > PAGE || cursor.is_some() {
            tools.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let (page, next) =
            shared.cursors.page("tools", cursor.as_deref(), tools, name_of, PAGE).map_err(Said::from)?;
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

fn name_of(tool: &rmcp::model::Tool) -> &str {
    &tool.name
}

/// A tool as the protocol has it.
fn tool(definition: ToolDefinition) -> rmcp::model::Tool {
    let ours = Tool::named(&definition.name);
    let Value::Object(input) = definition.input_schema else {
        return rmcp::model::Tool::new(definition.name, definition.description, Map::new());
    };
    let description = if ours.is_some() { dotless(definition.description) } else { definition.description };
    let tool = rmcp::model::Tool::new(definition.name.replace('.', "_"), description, input);
    let Some(ours) = ours else { return tool };
    let reads = ToolAnnotations::new().read_only(ours != Tool::Run).destructive(false);
    tool.with_title(schemas::title(ours))
        .with_raw_output_schema(Arc::new(schemas::output(ours)))
        .with_annotations(reads.idempotent(ours != Tool::Run).open_world(ours == Tool::Run))
}

/// Calls a tool.
pub(super) async fn call(
    connection: &Connection,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let name = request.name.into_owned();
    let params = Value::Object(request.arguments.unwrap_or_default());
    let called = Tool::named(&name);
    let envelope = match called {
        Some(Tool::Activate | Tool::Skill | Tool::ReadResource | Tool::ListResources | Tool::ReadFile) => {
            let name = name.clone();
            connection.change(move |shared, session| shared.toolbox.call(session, &name, params)).await?
        }
        _ => work(connection, name.clone(), params, &context).await?,
    };
    let (status, time) = (envelope.status, envelope.stats.time_ms);
    let said = || {
        let status = serde_json::to_value(status).unwrap_or_default();
        let name = prowess::format::hidden::brief(&name);
        format!("{name}: {}, {time} ms", status.as_str().unwrap_or_default())
    };
    connection.log.debug(&context, said).await;
    if envelope.error.is_none() {
        return Ok(success(called, envelope));
    }
    let session = connection.session();
    connection.work(move |shared| failure(shared, &session, &name, envelope)).await?
}

/// Calls a tool that may take long: others are answered meanwhile, and the client may lose patience.
async fn work(
    connection: &Connection,
    name: String,
    params: Value,
    context: &RequestContext<RoleServer>,
) -> Result<Envelope, ErrorData> {
    let mut session = connection.session();
    let _patience = Patience::of(&mut session, &context.ct, &connection.gone);
    let progress = Progress::of(&mut session, context);
    let working = connection.work(move |shared| shared.toolbox.call(&mut session, &name, params));
    progress.during(working).await
}

/// Ends a call that the client gave up.
struct Patience(tokio::task::JoinHandle<()>);

impl Patience {
    fn of(session: &mut Session, given_up: &CancellationToken, gone: &CancellationToken) -> Self {
        let scripts = prowess_sandbox::Cancel::default();
        session.waiting.cancel = Some(scripts.clone());
        #[cfg(feature = "toolsets")]
        let toolsets = {
            session.cancel = prowess_toolset::Cancel::default();
            session.cancel.clone()
        };
        let (given_up, gone) = (given_up.clone(), gone.clone());
        Self(tokio::spawn(async move {
            tokio::select! {
                () = given_up.cancelled() => {}
                () = gone.cancelled() => {}
            }
            scripts.cancel();
            #[cfg(feature = "toolsets")]
            toolsets.cancel();
        }))
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A failure as the protocol has it. A tool that is not there is an error of the call, all else is the tool's answer.
fn failure(
    shared: &Shared,
    session: &Session,
    name: &str,
    envelope: Envelope,
) -> Result<CallToolResult, ErrorData> {
    let called = Tool::named(name);
    let Some(error) = &envelope.error else { return Ok(success(called, envelope)) };
    if error.code == ErrorCode::NotFound && !is_offered(shared, session, name) {
        return Err(said::invalid(dotless(error.message.clone())));
    }
    if let (Some(Tool::ReadResource), ErrorCode::BinaryFile) = (called, error.code)
        && let Some(image) = image(shared, session, &envelope)
    {
        return Ok(image);
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(dotless(envelope.text))]);
    let meta = Map::from_iter([(ERROR_KEY.to_owned(), json!(error))]);
    result.meta = Some(MetaObject::from(meta));
    Ok(result)
}

fn is_offered(shared: &Shared, session: &Session, name: &str) -> bool {
    let dotless = name.replace('.', "_");
    shared.toolbox.definitions_in(session).iter().any(|tool| tool.name.replace('.', "_") == dotless)
}

fn success(called: Option<Tool>, envelope: Envelope) -> CallToolResult {
    let Envelope { mut data, text, status, .. } = envelope;
    let mut content = vec![ContentBlock::text(text.clone())];
    if called.is_none() {
        let attachments = data.remove("attachments");
        let attachments =
            attachments.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        content.extend(attachments.iter().map(attached::block));
        // Some clients show a model the structured part instead of all the rest.
        if !attachments.is_empty() {
            return CallToolResult::success(content);
        }
        data.retain(|key, _| ["title", "metadata", "output", "truncated"].contains(&key.as_str()));
    }
    if called == Some(Tool::Activate) {
        // Some clients show a model only this.
        data.insert("content".to_owned(), text.into());
    }
    if status == Outcome::Partial {
        data.insert("truncated".to_owned(), true.into());
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(Value::Object(data));
    result
}

/// A picture among a skill's files, which no text can stand for.
fn image(shared: &Shared, session: &Session, envelope: &Envelope) -> Option<CallToolResult> {
    let asked = &envelope.context.params_input;
    let snapshot = shared.toolbox.snapshot();
    let skill = shared.toolbox.find(&snapshot, session, asked["name"].as_str()?).ok()?;
    let file = resource::read_bytes(skill, asked["path"].as_str()?).ok()?;
    if !file.mime.starts_with("image/") {
        return None;
    }
    let picture = ContentBlock::image(BASE64_STANDARD.encode(&file.bytes), file.mime);
    let mut result = CallToolResult::success(vec![picture]);
    result.structured_content =
        Some(json!({"name": file.name, "path": file.path, "bytes": file.bytes.len(), "mime": file.mime}));
    Some(result)
}

impl Shared {
    /// Returns `true` if a skill became active that brings tools.
    pub(super) fn brings_tools(&self, before: &[String], session: &Session) -> bool {
        let mut active = session.active();
        active.retain(|name| !before.contains(name));
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
