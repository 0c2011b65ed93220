//! One client: its conversation, and which request goes where.
#![expect(
    deprecated,
    reason = "the protocol is about to drop logging; clients of all its revisions so far have it"
)]

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use prowess_tools::Session;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::changes::Change;
use super::log::Log;
use super::subscriptions::{Listening, Sink, Subscriptions, forward};
use super::{Shared, complete, prompts, resources, said, skills, tools};
use crate::extension;

/// The revisions of the protocol that are spoken.
const VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// The most requests of one client that listen for changes.
const LISTENERS_MAX: usize = 32;

/// One client: it is answered here, and what its conversation has loaded is kept here.
#[derive(Debug)]
pub struct Connection {
    pub(super) shared: Arc<Shared>,
    /// Tells connections of one server apart.
    pub(super) number: u64,
    session: Arc<Mutex<Session>>,
    /// Held while a call changes the session, so that one such call follows the other. The session itself is locked only to
    /// take a copy and to put one back: never while a file is read.
    changing: tokio::sync::Mutex<()>,
    pub(super) log: Log,
    subscriptions: Arc<Subscriptions>,
    /// Whether the client began with a handshake, and whether it said that it is ready.
    begun: AtomicBool,
    ready: AtomicBool,
    about_to_listen: Mutex<Vec<Listening>>,
    /// Held by each request of this client that listens.
    listeners: Arc<()>,
    /// Counts the clients that are there.
    _alive: Arc<()>,
    /// Cancelled when this is dropped, or the server stops.
    pub(super) gone: CancellationToken,
    _going: DropGuard,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>, number: u64, gone: CancellationToken) -> Self {
        let mut session = Session::default();
        for name in &shared.options.active {
            session.call_by_name(name);
        }
        session.about.session_id = format!("mcp-{number}");
        session.waiting.text_only = true;
        session.waiting.repeat_instructions = true;
        Self {
            _alive: Arc::clone(&shared.alive),
            shared,
            number,
            session: Arc::new(Mutex::new(session)),
            changing: tokio::sync::Mutex::default(),
            log: Log::default(),
            subscriptions: Arc::default(),
            about_to_listen: Mutex::default(),
            listeners: Arc::default(),
            begun: AtomicBool::new(false),
            ready: AtomicBool::new(false),
            _going: gone.clone().drop_guard(),
            gone,
        }
    }

    /// The conversation as it is now. Calls that take long work on this, so that others need not wait.
    pub(super) fn session(&self) -> Session {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Does work that changes the conversation, where waiting for the disk keeps nobody else waiting. Skills that become
    /// active in it may bring tools, of which the client is told.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, &mut Session) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let _changing = self.changing.lock().await;
        let mut session = self.session();
        let (done, brings_tools, session) = self
            .work_briefly(move |shared| {
                let before = session.active();
                let done = work(shared, &mut session);
                (done, shared.brings_tools(&before, &session), session)
            })
            .await?;
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
        // A client that asks for its tools at once sees the new ones.
        if brings_tools {
            self.shared.changes.tell(Change::Tools(self.number));
        }
        Ok(done)
    }

    /// What was made ready for a request that listens.
    async fn listening(&self, accepted: &SubscriptionFilter) -> Result<Listening, ErrorData> {
        let ready = {
            let mut about_to = self.about_to_listen.lock().unwrap_or_else(PoisonError::into_inner);
            let at = about_to.iter().position(|listening| listening.is_for(accepted));
            at.map(|at| about_to.swap_remove(at))
        };
        match ready {
            Some(listening) => Ok(listening),
            None => {
                let accepted = accepted.clone();
                self.work(move |shared| Listening::to(shared, accepted)).await
            }
        }
    }

    /// Does work that may wait for the disk, but not for long, and keeps nobody else waiting. The thread goes on with it
    /// while another one takes over its other tasks: handing the work over, and waiting to be woken, would take longer than
    /// most of it. The request itself cannot be cancelled meanwhile, nor report progress.
    async fn work_briefly<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        match Handle::current().runtime_flavor() {
            RuntimeFlavor::MultiThread => Ok(tokio::task::block_in_place(|| work(&self.shared))),
            _ => self.work(work).await,
        }
    }

    /// Runs work that may take long on a thread for blocking work.
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

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.begun.swap(true, Ordering::Relaxed) {
            return Err(said::out_of_place("the conversation has begun; a client begins once"));
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // Whoever says it often is still told once.
        if self.ready.swap(true, Ordering::Relaxed) {
            return;
        }
        tokio::spawn(forward(
            Arc::clone(&self.shared),
            self.number,
            self.shared.changes.listen(),
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
        let accepted = Listening::filter(requested);
        let mut about_to = self.about_to_listen.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that never came to listen are not waited for.
        about_to.truncate(LISTENERS_MAX);
        about_to.push(Listening::to(&self.shared, accepted.clone()));
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let _listening = Arc::clone(&self.listeners);
        if Arc::strong_count(&self.listeners) > 1 + LISTENERS_MAX {
            return Err(said::invalid(format!("at most {LISTENERS_MAX} subscriptions can be listened to")));
        }
        let Listening { subscriptions, changes, .. } = self.listening(context.accepted()).await?;
        let (shared, sink) = (Arc::clone(&self.shared), Sink::Listener(context.sink().clone()));
        tokio::select! {
            () = context.cancelled() => {}
            () = forward(shared, self.number, changes, subscriptions, sink, self.gone.clone()) => {}
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
        // There, each request says what it wants to hear.
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            return Err(said::no_method("logging/setLevel"));
        }
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
