//! Agents that speak the Agent Client Protocol (<https://agentclientprotocol.com>) over standard input and output.
//!
//! The agent runs in the sandbox and accesses its files itself, so this client offers neither files nor terminals. It allows
//! what the agent asks for, because the sandbox confines it.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use prowess::format::hidden::escape_for_display;
use prowess_sandbox::ScriptInput;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::acp_connection::{AcpConnection, AcpError, SessionState, lock, take_transcript};
use super::acp_process::{AcpProcess, AcpProcessEnd};
use super::command::{CancelOnDrop, describe_exit, describe_run_error, end_at_limit, failed};
use super::presets::{AgentPreset, DEFAULT_SKILL_DIR};
use super::settings::{
    AgentProgram, AgentSetupError, ProgramSettings, fill_placeholders, provider_variables,
};
use super::transcript::{last_lines, shorten};
use super::workspace::AgentDirs;
use super::{AgentEnd, AgentOutcome, AgentTask, EvalAgent};

/// The version of the protocol.
const PROTOCOL_VERSION: u64 = 1;

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
        let connection = AcpConnection::new(outgoing, incoming, Arc::clone(&session));
        let conversation = converse(connection, turn);
        let (turn_end, process_end) = watch_conversation(conversation, ended, deadline, guard).await;
        let end = end_of(turn_end, &process_end);
        let (reply, transcript) = take_transcript(&session);
        let files = self.dirs.outputs(process_end.workspace.as_ref(), task.skills);
        AgentOutcome { reply, transcript, files, end }
    }
}

/// Waits for the end of a conversation and of the process, which `guard` ends.
async fn watch_conversation(
    conversation: impl Future<Output = Result<TurnEnd, AcpError>>,
    mut ended: oneshot::Receiver<AcpProcessEnd>,
    deadline: Instant,
    guard: CancelOnDrop,
) -> (Result<TurnEnd, AcpError>, AcpProcessEnd) {
    let conversation = tokio::time::timeout_at(deadline + 2 * CANCEL_GRACE, conversation);
    let mut conversation = std::pin::pin!(conversation);
    let unanswered = || Err(AcpError::Closed);
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
#[derive(Debug, Clone, PartialEq, Eq)]
enum TurnEnd {
    /// The agent stopped, for this reason.
    Stopped(String),
    TimedOut,
    Cancelled,
}

/// Does one task: initializes the connection, creates a session, and sends the prompt.
async fn converse(mut connection: AcpConnection, turn: Turn) -> Result<TurnEnd, AcpError> {
    let capabilities = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
    let client = json!({"name": "prowess", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({
        "protocolVersion": PROTOCOL_VERSION, "clientCapabilities": capabilities, "clientInfo": client,
    });
    let id = connection.send_request("initialize", params)?;
    match turn.interruptible(connection.response(id)).await? {
        Interrupted::No(initialized) if initialized["protocolVersion"] == PROTOCOL_VERSION => {}
        Interrupted::No(initialized) => {
            let version = initialized["protocolVersion"].to_string();
            return Err(AcpError::Invalid(format!("it speaks version {version} of the protocol, not 1")));
        }
        Interrupted::By(end) => return Ok(end),
    }
    let params = json!({"cwd": turn.workspace, "mcpServers": []});
    let id = connection.send_request("session/new", params)?;
    let created = match turn.interruptible(connection.response(id)).await? {
        Interrupted::No(created) => created,
        Interrupted::By(end) => return Ok(end),
    };
    let session_id = created["sessionId"].as_str().map(str::to_owned);
    let session_id = session_id.ok_or_else(|| AcpError::Invalid("a session without an id".to_owned()))?;
    lock(&turn.session).id = Some(session_id.clone());
    let prompt = json!([{"type": "text", "text": turn.prompt}]);
    let id = connection.send_request("session/prompt", json!({"sessionId": session_id, "prompt": prompt}))?;
    match turn.interruptible(connection.response(id)).await? {
        Interrupted::No(response) => match response["stopReason"].as_str() {
            Some(reason) => Ok(TurnEnd::Stopped(reason.to_owned())),
            None => Err(AcpError::Invalid("an end without a reason".to_owned())),
        },
        Interrupted::By(end) => {
            connection.send_notification("session/cancel", json!({"sessionId": session_id}))?;
            // The agent may report what it was doing; whether it does makes no difference.
            let _ = tokio::time::timeout(CANCEL_GRACE, connection.response(id)).await;
            Ok(end)
        }
    }
}

/// A response, or the reason for which it was not awaited.
enum Interrupted {
    No(Value),
    By(TurnEnd),
}

impl Turn {
    /// Awaits a response until the time is over or the run is cancelled.
    async fn interruptible(
        &self,
        response: impl Future<Output = Result<Value, AcpError>>,
    ) -> Result<Interrupted, AcpError> {
        tokio::select! {
            biased;
            response = response => response.map(Interrupted::No),
            () = self.cancel.cancelled() => Ok(Interrupted::By(TurnEnd::Cancelled)),
            () = tokio::time::sleep_until(self.deadline) => Ok(Interrupted::By(TurnEnd::TimedOut)),
        }
    }
}

fn end_of(turn: Result<TurnEnd, AcpError>, process: &AcpProcessEnd) -> AgentEnd {
    let reason = match turn {
        Ok(TurnEnd::Stopped(reason)) => reason,
        Ok(TurnEnd::TimedOut) => return AgentEnd::TimedOut,
        Ok(TurnEnd::Cancelled) => return AgentEnd::Cancelled,
        Err(error) => return end_of_failed_turn(&error, process),
    };
    let reason = match reason.as_str() {
        "end_turn" => return AgentEnd::Finished,
        "max_tokens" => "the agent reached its maximum number of tokens",
        "max_turn_requests" => "the agent reached its maximum number of requests",
        "refusal" => "the agent refused to continue",
        "cancelled" => "the agent cancelled the turn",
        _ => "the agent stopped for an unknown reason",
    };
    AgentEnd::Failed(reason.to_owned())
}

/// Returns why a turn failed: a limit, the end of the process, or an error in the conversation.
fn end_of_failed_turn(error: &AcpError, process: &AcpProcessEnd) -> AgentEnd {
    if let Some(end) = end_at_limit(&process.limits_hit) {
        return end;
    }
    let stderr = last_lines(&process.stderr);
    if process.exited {
        return AgentEnd::Failed(describe_exit(process.exit_code, process.signal, &stderr));
    }
    let message = shorten(&error.to_string(), 1_000);
    let message = escape_for_display(&message).into_owned();
    match stderr.is_empty() {
        true => AgentEnd::Failed(format!("the conversation with the agent failed: {message}")),
        false => AgentEnd::Failed(format!("the conversation with the agent failed: {message} ({stderr})")),
    }
}
