//! The chat loop of Prowess as an agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prowess::policy::Policy;
use prowess::{HostEnv, Registry, RootSpec, ScanProgress};
use prowess_chat::provider::connect;
use prowess_chat::turn::{Agent, ConsentSource, MemoryRecorder, TurnInput};
use prowess_chat::{ConsentQuestion, EndReason, TurnEvent};
use prowess_config::ChatSettings;
use prowess_sandbox::{AccessSummary, ConsentAnswer, SandboxHelper};
use prowess_tools::{
    MemoryWorkspace, ScriptRunner, Toolbox, WorkspaceChanges, WorkspaceFiles, WorkspaceWrite,
};
use tokio_util::sync::CancellationToken;

use super::transcript::TranscriptBuilder;
use super::{
    AgentEnd, AgentOutcome, AgentTask, EvalAgent, GatewayAddress, OutputFile, StagedSkill, TranscriptEntry,
};

/// The chat loop of Prowess, with a model of the configured provider. The model has the tools for skills, and tools to list,
/// read and write the files of its workspace.
#[derive(Debug, Clone)]
pub struct ChatAgent {
    settings: ChatSettings,
    policy: Policy,
    allow_scripts: bool,
    helper: SandboxHelper,
}

impl ChatAgent {
    /// Uses these settings of the model and this policy for skills. Scripts run in the sandbox, and only if
    /// `allow_scripts` is set.
    pub fn new(settings: ChatSettings, policy: &Policy, allow_scripts: bool) -> Self {
        let mut policy = policy.clone();
        // Only the skills of the task are offered, and settings for single skills do not apply to copies.
        policy.selection = prowess::policy::SkillSelection::default();
        policy.enabled = true;
        Self { settings, policy, allow_scripts, helper: SandboxHelper::current_exe() }
    }

    /// Uses another program as the sandbox helper.
    #[must_use]
    pub fn with_helper(self, helper: SandboxHelper) -> Self {
        Self { helper, ..self }
    }

    /// Returns the agent for the skills of a task, which are written to `dir`.
    fn build(&self, task: &AgentTask<'_>, dir: &Path) -> Result<(Agent, Arc<MemoryWorkspace>), String> {
        let skills_dir = dir.join("skills");
        for skill in task.skills {
            write_skill(&skills_dir, skill).map_err(|error| format!("cannot write the skill: {error}"))?;
        }
        prowess_fs::create_dir_all(&skills_dir).map_err(|error| error.to_string())?;
        let mut policy = self.policy.clone();
        policy.scan.roots = vec![RootSpec::explicit(skills_dir)];
        // Without a home directory, no state of the user is read or written.
        let host = HostEnv {
            project: dir.to_owned(),
            home: None,
            path: std::env::var_os("PATH").unwrap_or_default(),
        };
        let registry = Registry::open_in(policy, host, &ScanProgress::default());
        let runner = ScriptRunner { helper: self.helper.clone(), ..ScriptRunner::default() };
        let toolbox = Arc::new(Toolbox::new(Arc::new(registry)).with_runner(runner));
        let mut settings = self.settings.clone();
        // The gateway has the key.
        settings.base_url = Some(format!("{}/v1", task.gateway.base_url()));
        (settings.key_env, settings.key_file) = (None, None);
        settings.model = Some(task.gateway.model.clone());
        let model = connect(&settings, |_| None, &toolbox).map_err(|error| error.to_string())?;
        let agent = Agent::new(toolbox, model, settings.limits).with_workspace_tools();
        let workspace = Arc::new(MemoryWorkspace::default());
        let written = task.files.iter().map(|file| WorkspaceWrite {
            path: file.path().to_owned(),
            content: file.bytes().to_vec(),
            media_type: String::new(),
        });
        let changes = WorkspaceChanges { written: written.collect(), removed: Vec::new() };
        workspace.apply(changes).map_err(|error| error.to_string())?;
        Ok((agent, workspace))
    }
}

/// Writes a skill into a directory of skills.
pub(crate) fn write_skill(skills_dir: &Path, skill: &StagedSkill) -> std::io::Result<()> {
    for (path, bytes, executable) in &skill.files {
        let path = skills_dir.join(&skill.name).join(path);
        if let Some(parent) = path.parent() {
            prowess_fs::create_dir_all(parent)?;
        }
        let mode = if *executable { 0o755 } else { 0o644 };
        let mut file = prowess_fs::create_new(&path, mode)?;
        std::io::Write::write_all(&mut file, bytes)?;
        prowess_fs::set_permissions(&file, mode)?;
    }
    Ok(())
}

#[async_trait]
impl EvalAgent for ChatAgent {
    fn fingerprint(&self) -> String {
        let ChatSettings { provider, base_url, tools, limits, .. } = &self.settings;
        format!("chat {provider:?} {base_url:?} {tools:?} {limits:?} scripts={}", self.allow_scripts)
    }

    async fn run(&self, task: AgentTask<'_>) -> AgentOutcome {
        let failed =
            |reason: String| AgentOutcome { end: AgentEnd::Failed(reason), ..AgentOutcome::default() };
        let dir = match TemporaryDir::create(task.gateway) {
            Ok(dir) => dir,
            Err(error) => return failed(format!("cannot create a directory: {error}")),
        };
        let (agent, workspace) = match self.build(&task, &dir.0) {
            Ok(built) => built,
            Err(reason) => return failed(reason),
        };
        let before = task.files;
        let files: Arc<dyn WorkspaceFiles> = Arc::<MemoryWorkspace>::clone(&workspace);
        let consent: Arc<dyn ConsentSource> = Arc::new(FixedConsent(self.allow_scripts));
        let input = TurnInput {
            chat: "evaluation",
            text: task.prompt,
            workspace: Some(&files),
            consent: Some(&consent),
            ..TurnInput::default()
        };
        let mut transcript = TurnTranscript::default();
        let cancel = task.cancel.child_token();
        let timed_out = cancel_after(&cancel, task.time);
        let mut recorder = MemoryRecorder::default();
        let report = agent.turn(input, &mut recorder, &mut |event| transcript.add(event), &cancel).await;
        let is_timeout = timed_out.is_finished() && !task.cancel.is_cancelled();
        timed_out.abort();
        let end = match report.end {
            Ok(EndReason::Cancelled) if is_timeout => AgentEnd::TimedOut,
            Ok(EndReason::Cancelled) => AgentEnd::Cancelled,
            Ok(_) => AgentEnd::Finished,
            Err(error) => AgentEnd::Failed(error.to_string()),
        };
        let read = tokio::task::spawn_blocking(move || changed_files(&workspace, &before)).await;
        AgentOutcome {
            reply: transcript.reply.trim().to_owned(),
            transcript: transcript.finish(),
            files: read.unwrap_or_default(),
            end,
        }
    }
}

/// Cancels a token after a time.
fn cancel_after(cancel: &CancellationToken, time: Duration) -> tokio::task::JoinHandle<()> {
    let cancel = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(time).await;
        cancel.cancel();
    })
}

/// Returns the files that were created or changed.
fn changed_files(workspace: &MemoryWorkspace, before: &[prowess_sandbox::InputFile]) -> Vec<OutputFile> {
    let listed = workspace.list().unwrap_or_default().into_iter();
    let read = |path: String| workspace.read(&path).ok().map(|bytes| OutputFile { path, bytes });
    let is_new = |file: &OutputFile| {
        !before.iter().any(|input| input.path() == file.path && input.bytes() == file.bytes)
    };
    listed.filter_map(|file| read(file.path)).filter(is_new).collect()
}

/// Answers all questions about scripts.
struct FixedConsent(bool);

#[async_trait]
impl ConsentSource for FixedConsent {
    async fn answer(&self, _: &ConsentQuestion, _: &AccessSummary) -> ConsentAnswer {
        if self.0 { ConsentAnswer::Once } else { ConsentAnswer::NotNow }
    }
}

/// Collects the events of a turn.
#[derive(Default)]
struct TurnTranscript {
    builder: TranscriptBuilder,
    /// The text since the last tool call.
    reply: String,
}

impl TurnTranscript {
    fn add(&mut self, event: TurnEvent) {
        match event {
            TurnEvent::Delta { text } => self.reply.push_str(&text),
            TurnEvent::ToolCall { id, name, arguments } => {
                self.builder.add_text(&std::mem::take(&mut self.reply));
                self.builder.add_call(&id, &name, &arguments.to_string());
            }
            TurnEvent::ToolResult { id, status, mut data, .. } => {
                // The text of a loaded skill contains the directory of the run, and the judge must see the same in each.
                if let Some(fields) = data.as_object_mut()
                    && fields.remove("text_digest").is_some()
                {
                    fields.remove("bytes");
                }
                self.builder.set_result(&id, &data.to_string(), status == "error");
            }
            // The judge sees what a user sees of the reply, and not how the model came to it.
            TurnEvent::Thinking { .. }
            | TurnEvent::Summary { .. }
            | TurnEvent::Waiting { .. }
            | TurnEvent::ToolsDisabled { .. }
            | TurnEvent::Consent(_)
            | TurnEvent::Done { .. }
            | TurnEvent::Error { .. } => {}
        }
    }

    fn finish(mut self) -> Vec<TranscriptEntry> {
        self.builder.add_text(&self.reply);
        self.builder.finish()
    }
}

/// A directory that only this user can enter, removed on drop.
struct TemporaryDir(PathBuf);

impl TemporaryDir {
    fn create(gateway: &GatewayAddress) -> std::io::Result<Self> {
        let path = gateway.staging_dir();
        let parent = prowess_fs::Dir::open(&std::env::temp_dir())?;
        parent.create_private_dir(Path::new(path.file_name().unwrap_or_default()))?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryDir {
    fn drop(&mut self) {
        // Only copies are in it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
