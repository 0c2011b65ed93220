//! Agents that speak the Agent Client Protocol (<https://agentclientprotocol.com>) over standard input and output.
//!
//! The agent runs in the sandbox and accesses its files itself, so this client offers neither files nor terminals. It allows
//! what the agent asks for, because the sandbox confines it.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, InitializeRequest, NewSessionRequest, PermissionOptionKind,
    PromptRequest, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionId, SessionNotification, SessionUpdate, StopReason, TextContent,
    ToolCallContent, ToolCallStatus,
};
use agent_client_protocol::{Agent, Client, Lines};
use async_trait::async_trait;
use prowess::format::hidden::escape_for_display;
use prowess_sandbox::ScriptInput;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::acp_process::{AcpProcess, AcpProcessEnd};
use super::command::{CancelOnDrop, describe_exit, describe_run_error, end_at_limit, failed};
use super::presets::{AgentPreset, DEFAULT_SKILL_DIR};
use super::settings::{
    AgentProgram, AgentSetupError, ProgramSettings, fill_placeholders, provider_variables,
};
use super::transcript::{REPLY_MAX, TranscriptBuilder, last_lines, shorten};
use super::workspace::AgentDirs;
use super::{AgentEnd, AgentOutcome, AgentTask, EvalAgent, TranscriptEntry};

/// How long an agent may take to end its turn after it was cancelled.
const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// How long the messages of an agent that has ended are read.
const EXIT_GRACE: Duration = Duration::from_secs(5);

/// How long a killed agent may take to end.
const KILL_GRACE: Duration = Duration::from_secs(20);

/// An agent that speaks the Agent Client Protocol. Each task is one process in the sandbox with one session.
#[derive(Debug, Clone)]
pub struct AcpAgent {
    program: AgentProgram,
    /// The words after the program.
    arguments: Vec<String>,
    preset: Option<AgentPreset>,
    dirs: AgentDirs,
}

impl AcpAgent {
    /// Creates an agent from the words of the command that starts it. `{model}` and `{base_url}` are replaced in each word.
    pub fn custom(words: &[String], settings: ProgramSettings) -> Result<Self, AgentSetupError> {
        let (program, rest) = words.split_first().ok_or(AgentSetupError::EmptyCommand)?;
        let program = AgentProgram::find(program, settings)?;
        let dirs = AgentDirs { skills: DEFAULT_SKILL_DIR.to_owned(), settings: Vec::new() };
        Ok(Self { program, arguments: rest.to_vec(), preset: None, dirs })
    }

    /// Creates a known agent with this program: a name in `PATH`, or a path. Fails if it does not speak the protocol itself.
    pub fn preset_at(
        preset: AgentPreset,
        program: &str,
        settings: ProgramSettings,
    ) -> Result<Self, AgentSetupError> {
        let arguments = preset.acp_arguments().ok_or(AgentSetupError::NoAcp { agent: preset.as_str() })?;
        let program = AgentProgram::find_preset(preset, program, settings)?;
        Ok(Self { program, arguments, preset: Some(preset), dirs: preset.dirs() })
    }

    /// Puts skills into this directory of the workspace.
    pub fn with_skill_dir(mut self, dir: impl Into<String>) -> Self {
        self.dirs.skills = dir.into();
        self
    }

    async fn start(&self, task: &mut AgentTask<'_>) -> Result<AcpProcess, prowess_sandbox::RunError> {
        let arguments = self.arguments.iter().map(|word| fill_placeholders(word, task.gateway)).collect();
        let environment = match self.preset {
            Some(preset) => preset.environment(task.gateway),
            None => provider_variables(task.gateway),
        };
        let mut program_task = self.program.task(task, arguments, environment, ScriptInput::Empty);
        program_task.files = self.dirs.stage(std::mem::take(&mut task.files), task.skills)?;
        let settings = &self.program.settings;
        AcpProcess::start(program_task, settings.protection, settings.helper.clone()).await
    }
}

#[async_trait]
impl EvalAgent for AcpAgent {
    fn fingerprint(&self) -> String {
        self.program.fingerprint("acp", &self.arguments, &self.dirs)
    }

    async fn run(&self, mut task: AgentTask<'_>) -> AgentOutcome {
        let deadline = Instant::now() + task.time;
        let process = match self.start(&mut task).await {
            Ok(process) => process,
            Err(error) => return failed(describe_run_error(&error)),
        };
        // If this future is dropped, the agent ends, too.
        let guard = CancelOnDrop(process.cancel.clone());
        let AcpProcess { workspace, outgoing, incoming, ended, .. } = process;
        let session = Arc::new(Mutex::new(SessionState::default()));
        let turn = Turn {
            prompt: task.prompt.to_owned(),
            workspace,
            deadline,
            cancel: task.cancel.clone(),
            session: Arc::clone(&session),
        };
        let sink = futures_util::sink::unfold(outgoing, |outgoing, line: String| async move {
            outgoing.send(line).map_err(|_| std::io::Error::from(std::io::ErrorKind::BrokenPipe))?;
            Ok::<_, std::io::Error>(outgoing)
        });
        let stream = futures_util::stream::unfold(incoming, |mut incoming| async move {
            incoming.recv().await.map(|line| (line, incoming))
        });
        let conversation = converse(Lines::new(sink, stream), turn);
        let (turn_end, process_end) = watch_conversation(conversation, ended, deadline, guard).await;
        let end = end_of(turn_end, &process_end);
        let (reply, transcript) = take_transcript(&session);
        let files = self.dirs.outputs(process_end.workspace.as_ref(), task.skills);
        AgentOutcome { reply, transcript, files, end }
    }
}

/// Waits for the end of a conversation and of the process, which `guard` ends.
async fn watch_conversation(
    conversation: impl Future<Output = Result<TurnEnd, agent_client_protocol::Error>>,
    mut ended: oneshot::Receiver<AcpProcessEnd>,
    deadline: Instant,
    guard: CancelOnDrop,
) -> (Result<TurnEnd, agent_client_protocol::Error>, AcpProcessEnd) {
    let conversation = tokio::time::timeout_at(deadline + 2 * CANCEL_GRACE, conversation);
    let mut conversation = std::pin::pin!(conversation);
    let unanswered = || Err(agent_client_protocol::Error::internal_error());
    tokio::select! {
        turn_end = &mut conversation => {
            drop(guard);
            let process_end = tokio::time::timeout(KILL_GRACE, ended).await.ok().and_then(Result::ok);
            (turn_end.unwrap_or(Ok(TurnEnd::TimedOut)), process_end.unwrap_or_default())
        }
        process_end = &mut ended => {
            let process_end = process_end.unwrap_or_default();
            // Messages that were received before a limit was exceeded do not matter any more.
            let grace = if process_end.limits_hit.is_empty() { EXIT_GRACE } else { Duration::ZERO };
            let turn_end = tokio::time::timeout(grace, conversation).await;
            let turn_end = turn_end.map_or_else(|_| unanswered(), |end| end.unwrap_or(Ok(TurnEnd::TimedOut)));
            (turn_end, process_end)
        }
    }
}

/// What happens in one connection.
struct Turn {
    prompt: String,
    workspace: std::path::PathBuf,
    deadline: Instant,
    cancel: CancellationToken,
    session: Arc<Mutex<SessionState>>,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnEnd {
    Stopped(StopReason),
    TimedOut,
    Cancelled,
}

/// Does one task: initializes the connection, creates a session, and sends the prompt.
async fn converse(
    transport: impl agent_client_protocol::ConnectTo<Client> + 'static,
    turn: Turn,
) -> Result<TurnEnd, agent_client_protocol::Error> {
    let session = Arc::clone(&turn.session);
    Client
        .v1()
        .name("prowess")
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                lock(&session).add_update(notification);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| {
                responder.respond(RequestPermissionResponse::new(allow(&request)))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, async move |connection: ConnectionTo<Agent>| {
            let initialize = connection.send_request(InitializeRequest::new(ProtocolVersion::V1));
            if let Interrupted::By(end) = turn.interruptible(initialize.block_task()).await? {
                return Ok(end);
            }
            let create = connection.send_request(NewSessionRequest::new(turn.workspace.clone()));
            let created = match turn.interruptible(create.block_task()).await? {
                Interrupted::No(created) => created,
                Interrupted::By(end) => return Ok(end),
            };
            let id = created.session_id;
            lock(&turn.session).id = Some(id.clone());
            let content = vec![ContentBlock::Text(TextContent::new(turn.prompt.clone()))];
            let prompt = connection.send_request(PromptRequest::new(id.clone(), content)).block_task();
            let mut prompt = std::pin::pin!(prompt);
            match turn.interruptible(&mut prompt).await? {
                Interrupted::No(response) => Ok(TurnEnd::Stopped(response.stop_reason)),
                Interrupted::By(end) => {
                    connection.send_notification(CancelNotification::new(id))?;
                    // The agent may report what it was doing; whether it does makes no difference.
                    let _ = tokio::time::timeout(CANCEL_GRACE, prompt).await;
                    Ok(end)
                }
            }
        })
        .await
}

/// A result, or the reason for which it was not awaited.
enum Interrupted<T> {
    No(T),
    By(TurnEnd),
}

impl Turn {
    /// Awaits a response until the time is over or the run is cancelled.
    async fn interruptible<T>(
        &self,
        response: impl Future<Output = Result<T, agent_client_protocol::Error>>,
    ) -> Result<Interrupted<T>, agent_client_protocol::Error> {
        tokio::select! {
            biased;
            response = response => response.map(Interrupted::No),
            () = self.cancel.cancelled() => Ok(Interrupted::By(TurnEnd::Cancelled)),
            () = tokio::time::sleep_until(self.deadline) => Ok(Interrupted::By(TurnEnd::TimedOut)),
        }
    }
}

/// Chooses the option that allows what the agent asks for, once if possible.
fn allow(request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    let kinds = [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways];
    let option = kinds.iter().find_map(|kind| request.options.iter().find(|option| option.kind == *kind));
    match option {
        Some(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
        }
        None => RequestPermissionOutcome::Cancelled,
    }
}

fn end_of(turn: Result<TurnEnd, agent_client_protocol::Error>, process: &AcpProcessEnd) -> AgentEnd {
    let reason = match turn {
        Ok(TurnEnd::Stopped(StopReason::EndTurn)) => return AgentEnd::Finished,
        Ok(TurnEnd::TimedOut) => return AgentEnd::TimedOut,
        Ok(TurnEnd::Cancelled) => return AgentEnd::Cancelled,
        Ok(TurnEnd::Stopped(StopReason::MaxTokens)) => "the agent reached its maximum number of tokens",
        Ok(TurnEnd::Stopped(StopReason::MaxTurnRequests)) => {
            "the agent reached its maximum number of requests"
        }
        Ok(TurnEnd::Stopped(StopReason::Refusal)) => "the agent refused to continue",
        Ok(TurnEnd::Stopped(StopReason::Cancelled)) => "the agent cancelled the turn",
        Ok(TurnEnd::Stopped(_)) => "the agent stopped for an unknown reason",
        Err(error) => return end_of_failed_turn(&error, process),
    };
    AgentEnd::Failed(reason.to_owned())
}

/// Returns why a turn failed: a limit, the end of the process, or an error in the conversation.
fn end_of_failed_turn(error: &agent_client_protocol::Error, process: &AcpProcessEnd) -> AgentEnd {
    if let Some(end) = end_at_limit(&process.limits_hit) {
        return end;
    }
    let stderr = last_lines(&process.stderr);
    if process.exited {
        return AgentEnd::Failed(describe_exit(process.exit_code, process.signal, &stderr));
    }
    let data = error.data.as_ref().map(|data| match data {
        serde_json::Value::String(text) => text.clone(),
        data => data.to_string(),
    });
    let parts = [Some(error.message.clone()), data].into_iter().flatten().filter(|part| !part.is_empty());
    let message = shorten(&parts.collect::<Vec<_>>().join(": "), 1_000);
    let message = escape_for_display(&message).into_owned();
    match stderr.is_empty() {
        true => AgentEnd::Failed(format!("the conversation with the agent failed: {message}")),
        false => AgentEnd::Failed(format!("the conversation with the agent failed: {message} ({stderr})")),
    }
}

/// What is known of the session.
#[derive(Debug, Default)]
struct SessionState {
    id: Option<SessionId>,
    transcript: TranscriptBuilder,
    /// The message that the agent is writing.
    message: String,
    last_message: String,
}

fn lock(session: &Mutex<SessionState>) -> std::sync::MutexGuard<'_, SessionState> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

fn take_transcript(session: &Mutex<SessionState>) -> (String, Vec<TranscriptEntry>) {
    let mut session = std::mem::take(&mut *lock(session));
    session.end_message();
    (session.last_message, session.transcript.finish())
}

impl SessionState {
    fn add_update(&mut self, notification: SessionNotification) {
        if self.id.as_ref().is_some_and(|id| *id != notification.session_id) {
            return;
        }
        match notification.update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                if let ContentBlock::Text(text) = chunk.content
                    && self.message.len() <= REPLY_MAX
                {
                    self.message.push_str(&text.text);
                }
            }
            SessionUpdate::ToolCall(call) => {
                self.end_message();
                let (id, name) = (call.tool_call_id.to_string(), call.name.unwrap_or(call.title));
                let arguments = call.raw_input.map(|input| input.to_string()).unwrap_or_default();
                if self.transcript.has_call(&id) {
                    self.transcript.update_call(&id, Some(&name), Some(&arguments));
                } else {
                    self.transcript.add_call(&id, &name, &arguments);
                }
                self.set_result(&id, Some(call.status), &call.content, call.raw_output.as_ref());
            }
            SessionUpdate::ToolCallUpdate(update) => {
                let (id, fields) = (update.tool_call_id.to_string(), update.fields);
                let arguments = fields.raw_input.map(|input| input.to_string());
                self.transcript.update_call(&id, fields.name.as_deref(), arguments.as_deref());
                let content = fields.content.unwrap_or_default();
                self.set_result(&id, fields.status, &content, fields.raw_output.as_ref());
            }
            _ => {}
        }
    }

    fn set_result(
        &mut self,
        id: &str,
        status: Option<ToolCallStatus>,
        content: &[ToolCallContent],
        raw_output: Option<&serde_json::Value>,
    ) {
        let texts: Vec<&str> = content.iter().filter_map(text_of_content).collect();
        let failed = status == Some(ToolCallStatus::Failed);
        match (texts.is_empty(), raw_output) {
            (false, _) => self.transcript.set_result(id, &texts.join("\n"), failed),
            (true, Some(output)) => self.transcript.set_result(id, &output.to_string(), failed),
            (true, None) if failed => self.transcript.set_result(id, "", true),
            (true, None) => {}
        }
    }

    fn end_message(&mut self) {
        let message = std::mem::take(&mut self.message);
        if !message.trim().is_empty() {
            self.transcript.add_text(&message);
            self.last_message = shorten(&message, REPLY_MAX);
        }
    }
}

fn text_of_content(content: &ToolCallContent) -> Option<&str> {
    match content {
        ToolCallContent::Content(content) => match &content.content {
            ContentBlock::Text(text) => Some(&text.text),
            _ => None,
        },
        ToolCallContent::Diff(diff) => Some(&diff.new_text),
        _ => None,
    }
}
