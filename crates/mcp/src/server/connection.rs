//! The connection of one client: its session, and the dispatch of its requests.
#![expect(
    deprecated,
    reason = "the protocol is going to remove logging, but clients of all current revisions have it"
)]

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use prowess_sandbox::{AccessSummary, ConsentAnswer};
use prowess_tools::Session;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::changes::ChangeEvent;
use super::instructions::InstructionsLimit;
use super::log::ClientLog;
use super::subscriptions::{NotificationSink, PendingSubscription, Subscriptions, forward_changes};
use super::workspace::ConnectionWorkspace;
use super::{Shared, complete, consent, errors, prompts, resources, scripts, skills, tools};
use crate::extension;
use crate::owner::is_owner_request;

/// The supported revisions of the protocol.
const VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// The maximum number of subscription requests of one client.
const LISTENERS_MAX: usize = 32;

/// How a connection is transported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    /// On a stream of its own.
    Stream,
    /// Over HTTP: as a session, or for a single request.
    Http,
}

/// The connection of one client, with the state of its conversation.
#[derive(Debug)]
pub struct Connection {
    pub(super) shared: Arc<Shared>,
    /// The number of the connection within its server.
    pub(super) number: u64,
    transport: Transport,
    pub(super) workspace: ConnectionWorkspace,
    /// Limits how many questions the user of the client is asked at the same time.
    pub(super) question_permits: Semaphore,
    session: Arc<Mutex<Session>>,
    /// Held while a call changes the session, so that such calls run one after the other. The session itself is
    /// locked only to copy it: never while a file is read.
    update_lock: tokio::sync::Mutex<()>,
    pub(super) log: ClientLog,
    subscriptions: Arc<Subscriptions>,
    /// How much of the instructions the client shows to its model.
    instructions_limit: OnceLock<InstructionsLimit>,
    /// Whether the client sent `initialize`.
    is_initialized: AtomicBool,
    /// Whether the client sent `notifications/initialized`.
    is_ready: AtomicBool,
    pending_subscriptions: Mutex<Vec<PendingSubscription>>,
    /// Held by each subscription request of this client.
    listeners: Arc<()>,
    /// Counts the connected clients.
    _alive: Arc<()>,
    /// Cancelled when this is dropped, or when the server stops.
    pub(super) closed: CancellationToken,
    _close_on_drop: DropGuard,
}

impl Connection {
    pub(super) fn new(
        shared: Arc<Shared>,
        transport: Transport,
        number: u64,
        closed: CancellationToken,
    ) -> Self {
        let workspace = shared.workspaces.open();
        let mut session = Session::default();
        for name in &shared.options.active {
            session.mark_invoked(name);
        }
        session.info.session_id = format!("mcp-{number}");
        session.call_options.text_only = true;
        session.call_options.repeat_instructions = true;
        session.call_options.workspace = Some(workspace.for_calls());
        Self {
            _alive: Arc::clone(&shared.alive),
            shared,
            number,
            transport,
            workspace,
            question_permits: Semaphore::new(scripts::QUESTIONS_MAX),
            session: Arc::new(Mutex::new(session)),
            update_lock: tokio::sync::Mutex::default(),
            log: ClientLog::default(),
            subscriptions: Arc::default(),
            pending_subscriptions: Mutex::default(),
            listeners: Arc::default(),
            instructions_limit: OnceLock::new(),
            is_initialized: AtomicBool::new(false),
            is_ready: AtomicBool::new(false),
            _close_on_drop: closed.clone().drop_guard(),
            closed,
        }
    }

    /// Returns a copy of the session. Long-running calls work on the copy, so that others need not wait.
    pub(super) fn session(&self) -> Session {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the limit of the instructions for a client; the first one that is known counts.
    fn instructions_limit(&self, client: Option<&Implementation>) -> InstructionsLimit {
        let limit = || InstructionsLimit::new(self.shared.options.instructions_chars, client);
        match client {
            Some(_) => *self.instructions_limit.get_or_init(limit),
            None => self.instructions_limit.get().copied().unwrap_or_else(limit),
        }
    }

    /// Returns `true` if a request comes from the user who runs the server. Only that user is asked about scripts and roots.
    pub(super) fn is_owner(&self, context: &RequestContext<RoleServer>) -> bool {
        match self.transport {
            Transport::Stream => true,
            Transport::Http => is_owner_request(&context.extensions),
        }
    }

    /// Returns `true` if the client can ask the user who runs the server.
    pub(super) fn can_ask(&self, context: &RequestContext<RoleServer>) -> bool {
        self.is_owner(context) && consent::supports_forms(context.client_capabilities().as_ref())
    }

    /// Returns a copy of the session for listing tools: `skills_run` is listed if the user can be asked.
    pub(super) fn session_for_listing(&self, context: &RequestContext<RoleServer>) -> Session {
        let mut session = self.session();
        if self.can_ask(context) {
            session.call_options.ask_consent = Some(Arc::new(|_: &AccessSummary| ConsentAnswer::NotNow));
        }
        session
    }

    /// Returns `true` if the connection ends with the current request.
    pub(super) fn is_single_request(&self) -> bool {
        self.transport == Transport::Http && !self.is_initialized.load(Ordering::Relaxed)
    }

    /// Runs work that changes the session, without blocking other requests on disk access. Skills that become
    /// active may bring tools, of which the client is notified.
    pub(super) async fn update_session<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, &mut Session) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let _update = self.update_lock.lock().await;
        let mut session = self.session();
        let (result, brings_tools, session) = self
            .run_blocking_in_place(move |shared| {
                let previous = session.active_skills();
                let result = work(shared, &mut session);
                (result, shared.brings_tools(&previous, &session), session)
            })
            .await?;
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
        // A client that lists its tools at once sees the new ones.
        if brings_tools {
            self.shared.changes.notify(ChangeEvent::Tools(self.number));
        }
        Ok(result)
    }

    /// Returns the prepared subscription of a request, or prepares it.
    async fn take_subscription(
        &self,
        accepted: &SubscriptionFilter,
    ) -> Result<PendingSubscription, ErrorData> {
        let prepared = {
            let mut pending = self.pending_subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
            let index = pending.iter().position(|subscription| subscription.matches(accepted));
            index.map(|index| pending.swap_remove(index))
        };
        match prepared {
            Some(subscription) => Ok(subscription),
            None => {
                let accepted = accepted.clone();
                self.run_blocking(move |shared| PendingSubscription::new(shared, accepted)).await
            }
        }
    }

    /// Runs short work that may wait for the disk, without blocking other requests. The current thread runs it
    /// while another thread takes over its tasks, because moving the work to another thread would take longer than
    /// most of it. Meanwhile the request itself cannot be cancelled or report progress.
    async fn run_blocking_in_place<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        match Handle::current().runtime_flavor() {
            RuntimeFlavor::MultiThread => Ok(tokio::task::block_in_place(|| work(&self.shared))),
            _ => self.run_blocking(work).await,
        }
    }

    /// Runs long work on a thread for blocking work.
    pub(super) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shared = Arc::clone(&self.shared);
        let result = tokio::task::spawn_blocking(move || work(&shared)).await;
        result.map_err(|_| errors::internal_error("the task was cancelled"))
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let settings = json!(extension::ExtensionSettings { directory_read: true });
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
            .enable_extensions_with([(extension::EXTENSION_ID.to_owned(), settings)].into())
            .build();
        let implementation =
            Implementation::new("prowess", env!("CARGO_PKG_VERSION")).with_title("Prowess: agent skills");
        let mut config = ServerConfig::new(capabilities).with_server_info(implementation);
        let instructions = self.shared.instructions.get(&self.shared.toolbox, self.instructions_limit(None));
        config.instructions = instructions.map(|text| text.to_string());
        config
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.is_initialized.swap(true, Ordering::Relaxed) {
            return Err(errors::invalid_request("the session is already initialized"));
        }
        context.peer.set_peer_info(request.clone());
        self.instructions_limit(Some(&request.client_info));
        self.negotiate_initialize(&request)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.instructions_limit(context.client_info().as_ref());
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // Repeated notifications are ignored.
        if self.is_ready.swap(true, Ordering::Relaxed) {
            return;
        }
        tokio::spawn(forward_changes(
            Arc::clone(&self.shared),
            self.number,
            self.shared.changes.subscribe(),
            Arc::clone(&self.subscriptions),
            NotificationSink::Peer(context.peer),
            self.closed.clone(),
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
        tools::call(self, request, context).await
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
        self.run_blocking(move |shared| subscriptions.add(shared, &request.uri)).await?
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
        let accepted = PendingSubscription::accept_filter(requested);
        let prepare = || PendingSubscription::new(&self.shared, accepted.clone());
        // It reads the disk.
        let subscription = match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(prepare),
            _ => prepare(),
        };
        let mut pending = self.pending_subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        // Bounds the list: a request that fails never takes its subscription.
        pending.truncate(LISTENERS_MAX);
        pending.push(subscription);
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let _listener = Arc::clone(&self.listeners);
        if Arc::strong_count(&self.listeners) > 1 + LISTENERS_MAX {
            return Err(errors::invalid_params(format!(
                "at most {LISTENERS_MAX} subscription requests are allowed"
            )));
        }
        let PendingSubscription { subscriptions, changes, .. } =
            self.take_subscription(context.accepted()).await?;
        let (shared, sink) = (Arc::clone(&self.shared), NotificationSink::Listener(context.sink().clone()));
        tokio::select! {
            () = context.cancelled() => {}
            () = forward_changes(shared, self.number, changes, subscriptions, sink, self.closed.clone()) => {}
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
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // Since revision 2026-07-28, each request has its own level.
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            return Err(errors::method_not_found("logging/setLevel"));
        }
        self.log.set_level(request.level);
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        skills::handle_custom_request(self, request, context.meta.protocol_version()).await
    }
}
