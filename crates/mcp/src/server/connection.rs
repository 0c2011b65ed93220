//! One client: its conversation, and which request goes where.
#![expect(
    deprecated,
    reason = "the protocol is about to drop logging; clients of all its revisions so far have it"
)]

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use prowess_tools::Session;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::log::Log;
use super::subscriptions::{Sink, Subscriptions, forward};
use super::{Shared, complete, prompts, resources, said, skills, tools};
use crate::extension;

/// The revisions of the protocol that are spoken.
const VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// One client: it is answered here, and what its conversation has loaded is kept here.
#[derive(Debug)]
pub struct Connection {
    pub(super) shared: Arc<Shared>,
    /// Tells connections of one server apart.
    pub(super) number: u64,
    pub(super) session: Arc<Mutex<Session>>,
    pub(super) log: Log,
    subscriptions: Arc<Subscriptions>,
    /// Cancelled when this is dropped.
    gone: CancellationToken,
    _going: DropGuard,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>, number: u64) -> Self {
        let mut session = Session::default();
        for name in &shared.options.active {
            session.call_by_name(name);
        }
        session.about.session_id = format!("mcp-{number}");
        let gone = CancellationToken::new();
        Self {
            shared,
            number,
            session: Arc::new(Mutex::new(session)),
            log: Log::default(),
            subscriptions: Arc::default(),
            _going: gone.clone().drop_guard(),
            gone,
        }
    }

    /// The conversation as it is now. Calls that take long work on this, so that others need not wait.
    pub(super) fn session(&self) -> Session {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Does work that may wait for the disk where that keeps nobody else waiting.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shared = Arc::clone(&self.shared);
        let done = tokio::task::spawn_blocking(move || work(&shared)).await;
        done.map_err(|_| said::internal("the work was given up"))
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let settings = json!(extension::Settings { directory_read: true });
        let settings = settings.as_object().cloned().unwrap_or_default();
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_extensions_with([(extension::ID.to_owned(), settings)].into())
            .build();
        let implementation =
            Implementation::new("prowess", env!("CARGO_PKG_VERSION")).with_title("Prowess: agent skills");
        let mut config = ServerConfig::new(capabilities).with_server_info(implementation);
        let instructions =
            self.shared.instructions.of(&self.shared.toolbox, self.shared.options.instructions_chars);
        config.instructions = instructions.map(|text| text.to_string());
        config
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        tokio::spawn(forward(
            Arc::clone(&self.shared),
            self.number,
            Arc::clone(&self.subscriptions),
            Sink::Peer(context.peer),
            self.gone.clone(),
        ));
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        tools::list(self, request, &context).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(self, request, context).await.map(Into::into)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(self, request).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(self, request.uri).await.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let subscriptions = Arc::clone(&self.subscriptions);
        self.work(move |shared| subscriptions.add(shared, &request.uri)).await?
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let subscriptions = self.work(move |shared| Subscriptions::of(shared, &uris)).await?;
        let (shared, sink) = (Arc::clone(&self.shared), Sink::Listener(context.sink().clone()));
        tokio::select! {
            () = context.cancelled() => {}
            () = forward(shared, self.number, Arc::new(subscriptions), sink, self.gone.clone()) => {}
        }
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        prompts::list(self, request).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(self, request).await.map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        complete::complete(self, request).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.log.set(request.level);
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        skills::answer(self, request, context.meta.protocol_version()).await
    }
}
