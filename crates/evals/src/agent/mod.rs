//! Agents that do the tasks of evaluations.
//!
//! Every agent reaches its model only through the gateway of this process, which counts, limits and records requests and
//! detects which instructions reach the model. Every run has a new workspace.

mod acp;
mod acp_connection;
mod acp_process;
mod chat;
mod command;
mod output;
mod presets;
mod settings;
mod transcript;
mod workspace;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use prowess_sandbox::InputFile;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

pub use acp::AcpAgent;
pub use chat::ChatAgent;
pub use command::CommandAgent;
pub use presets::AgentPreset;
pub use settings::{AgentSetupError, ProgramSettings, agent_limits};

/// A task for an agent.
#[derive(Debug)]
pub struct AgentTask<'a> {
    /// What the user asks for.
    pub prompt: &'a str,
    /// The files of the workspace.
    pub files: Vec<InputFile>,
    /// The skills that the agent can use.
    pub skills: &'a [StagedSkill],
    /// The gateway to the model.
    pub gateway: &'a GatewayAddress,
    /// The maximum time.
    pub time: Duration,
    /// Ends the run early, with everything it started.
    pub cancel: CancellationToken,
}

/// The verified files of a skill that is offered to an agent, without its evaluations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedSkill {
    /// The name of the skill, which is the name of its directory.
    pub name: String,
    /// The files: the path in the skill, the content, and whether it is executable.
    pub files: Vec<(String, Vec<u8>, bool)>,
}

/// The address of the gateway for one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayAddress {
    /// The port on 127.0.0.1.
    pub port: u16,
    /// The path that identifies the run, without slashes. It is unguessable.
    pub token: String,
    /// The model.
    pub model: String,
}

impl GatewayAddress {
    /// Returns the base URL for clients that append `/v1/messages`.
    ///
    /// ```
    /// use prowess_evals::agent::GatewayAddress;
    ///
    /// let gateway = GatewayAddress { port: 8080, token: "t".into(), model: "m".into() };
    /// assert_eq!(gateway.base_url(), "http://127.0.0.1:8080/t");
    /// ```
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/{}", self.port, self.token)
    }

    /// Returns the directory for the files of the run. Its path is replaced in recordings, because it differs each time.
    pub fn staging_dir(&self) -> PathBuf {
        std::env::temp_dir().join(format!("prowess-eval-{}", self.token))
    }
}

/// What an agent did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentOutcome {
    /// The last message of the agent.
    pub reply: String,
    /// The messages and tool calls, in order.
    pub transcript: Vec<TranscriptEntry>,
    /// The files that the agent created or changed in its workspace.
    #[serde(skip)]
    pub files: Vec<OutputFile>,
    /// Why the run ended.
    pub end: AgentEnd,
}

/// A file that an agent created or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// The path in the workspace, with `/`.
    pub path: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// A part of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TranscriptEntry {
    /// Text of the agent.
    Text {
        /// The text.
        text: String,
    },
    /// A tool call.
    ToolCall {
        /// The name of the tool.
        name: String,
        /// The arguments, as JSON text; shortened if they are long.
        arguments: String,
        /// The result; shortened if it is long.
        result: String,
        /// Whether the call failed.
        failed: bool,
    },
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "end", content = "reason", rename_all = "snake_case")]
pub enum AgentEnd {
    /// The agent finished.
    #[default]
    Finished,
    /// The time was over.
    TimedOut,
    /// The run was cancelled.
    Cancelled,
    /// The agent failed.
    Failed(String),
}

/// An agent that does tasks.
#[async_trait]
pub trait EvalAgent: Send + Sync {
    /// Returns the settings that influence its work, which are part of the key of stored results.
    fn fingerprint(&self) -> String;

    /// Does a task. When the future returns, nothing that it started is running.
    async fn run(&self, task: AgentTask<'_>) -> AgentOutcome;
}
