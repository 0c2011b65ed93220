//! Agents that are commands: one process per task, in the sandbox.

use async_trait::async_trait;
use prowess_sandbox::{Cancel, ProgramOptions, ProgramResult, RunError, RunLimit, ScriptInput, run_program};

use super::output::{ParsedOutput, read_events, read_text};
use super::presets::{AgentPreset, DEFAULT_SKILL_DIR};
use super::settings::{
    AgentProgram, AgentSetupError, ProgramSettings, provider_variables, replace_placeholders,
};
use super::transcript::last_lines;
use super::workspace::AgentDirs;
use super::{AgentEnd, AgentOutcome, AgentTask, EvalAgent};

/// An agent that is a command. Each task is one process in the sandbox, with a new workspace and an empty home directory.
#[derive(Debug, Clone)]
pub struct CommandAgent {
    program: AgentProgram,
    kind: CommandKind,
    dirs: AgentDirs,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CommandKind {
    Preset(AgentPreset),
    /// The words after the program.
    Custom(Vec<String>),
}

impl CommandAgent {
    /// Creates a known agent, whose program is in `PATH`.
    pub fn preset(preset: AgentPreset, settings: ProgramSettings) -> Result<Self, AgentSetupError> {
        Self::preset_at(preset, preset.as_str(), settings)
    }

    /// Creates a known agent with this program: a name in `PATH`, or a path.
    pub fn preset_at(
        preset: AgentPreset,
        program: &str,
        settings: ProgramSettings,
    ) -> Result<Self, AgentSetupError> {
        let program = AgentProgram::find_preset(preset, program, settings)?;
        Ok(Self { program, kind: CommandKind::Preset(preset), dirs: preset.dirs() })
    }

    /// Creates an agent from the words of a command. `{prompt}`, `{model}` and `{base_url}` are replaced in each word; without
    /// `{prompt}`, the prompt is the standard input. What the command prints is its reply.
    pub fn custom(words: &[String], settings: ProgramSettings) -> Result<Self, AgentSetupError> {
        let (program, rest) = words.split_first().ok_or(AgentSetupError::EmptyCommand)?;
        let program = AgentProgram::find(program, settings)?;
        let dirs = AgentDirs { skills: DEFAULT_SKILL_DIR.to_owned(), settings: Vec::new() };
        Ok(Self { program, kind: CommandKind::Custom(rest.to_vec()), dirs })
    }

    /// Puts skills into this directory of the workspace.
    pub fn with_skill_dir(mut self, dir: impl Into<String>) -> Self {
        self.dirs.skills = dir.into();
        self
    }

    fn program_task(&self, task: &mut AgentTask<'_>) -> Result<prowess_sandbox::ProgramTask, RunError> {
        let gateway = task.gateway;
        let stdin = || ScriptInput::Bytes(task.prompt.as_bytes().to_vec());
        let (arguments, environment, input) = match &self.kind {
            CommandKind::Preset(preset) => (preset.arguments(gateway), preset.environment(gateway), stdin()),
            CommandKind::Custom(words) => {
                let base_url = gateway.base_url();
                let values =
                    [("{prompt}", task.prompt), ("{model}", &gateway.model), ("{base_url}", &base_url)];
                let arguments = words.iter().map(|word| replace_placeholders(word, &values)).collect();
                let has_prompt = words.iter().any(|word| word.contains("{prompt}"));
                let input = if has_prompt { ScriptInput::Empty } else { stdin() };
                (arguments, provider_variables(gateway), input)
            }
        };
        let mut program_task = self.program.task(task, arguments, environment, input);
        program_task.files = self.dirs.stage(std::mem::take(&mut task.files), task.skills)?;
        Ok(program_task)
    }

    fn outcome(&self, task: &AgentTask<'_>, result: &ProgramResult) -> AgentOutcome {
        let parsed = match self.kind {
            CommandKind::Preset(preset) => read_events(preset, &result.stdout),
            CommandKind::Custom(_) => read_text(&result.stdout),
        };
        let files = self.dirs.outputs(result.workspace.as_ref(), task.skills);
        let end = end_of(result, &parsed);
        AgentOutcome { reply: parsed.reply, transcript: parsed.transcript, files, end }
    }
}

#[async_trait]
impl EvalAgent for CommandAgent {
    fn fingerprint(&self) -> String {
        let (kind, words) = match &self.kind {
            CommandKind::Preset(preset) => (preset.as_str(), Vec::new()),
            CommandKind::Custom(words) => ("command", words.clone()),
        };
        self.program.fingerprint(kind, &words, &self.dirs)
    }

    async fn run(&self, mut task: AgentTask<'_>) -> AgentOutcome {
        let program_task = match self.program_task(&mut task) {
            Ok(program_task) => program_task,
            Err(error) => return failed(describe_run_error(&error)),
        };
        let cancel = Cancel::default();
        // If this future is dropped, the program ends, too.
        let _guard = CancelOnDrop(cancel.clone());
        let settings = &self.program.settings;
        let (protection, helper) = (settings.protection, settings.helper.clone());
        let running = cancel.clone();
        let mut job = tokio::task::spawn_blocking(move || {
            let options = ProgramOptions { protection, helper, cancel: running, on_output: None };
            run_program(program_task, options)
        });
        let ended = tokio::select! {
            biased;
            ended = &mut job => ended,
            () = task.cancel.cancelled() => {
                cancel.cancel();
                job.await
            }
        };
        match ended {
            Ok(Ok(result)) => self.outcome(&task, &result),
            Ok(Err(error)) => failed(describe_run_error(&error)),
            Err(error) => failed(format!("the agent could not be watched: {error}")),
        }
    }
}

/// Cancels a run when it is dropped.
pub(super) struct CancelOnDrop(pub(super) Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

pub(super) fn failed(reason: String) -> AgentOutcome {
    AgentOutcome { end: AgentEnd::Failed(reason), ..AgentOutcome::default() }
}

/// Returns why a program did not run, with what to do about it.
pub(super) fn describe_run_error(error: &RunError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

fn end_of(result: &ProgramResult, parsed: &ParsedOutput) -> AgentEnd {
    if result.cancelled {
        return AgentEnd::Cancelled;
    }
    if let Some(end) = end_at_limit(&result.limits_hit) {
        return end;
    }
    let error = parsed.error.as_deref().map(|error| last_lines(error.as_bytes()));
    let details = error.clone().unwrap_or_else(|| last_lines(&result.stderr));
    match (result.exit_code, result.signal) {
        (Some(0), _) => error.map_or(AgentEnd::Finished, AgentEnd::Failed),
        (code, signal) => AgentEnd::Failed(describe_exit(code, signal, &details)),
    }
}

/// Returns the end of a program that was killed at a limit.
pub(super) fn end_at_limit(limits: &[RunLimit]) -> Option<AgentEnd> {
    if limits.contains(&RunLimit::Time) {
        return Some(AgentEnd::TimedOut);
    }
    let fatal = limits.iter().filter(|limit| **limit != RunLimit::Processes);
    let names: Vec<String> = fatal.map(ToString::to_string).collect();
    (!names.is_empty())
        .then(|| AgentEnd::Failed(format!("the agent was killed at the limit of {}", names.join(" and "))))
}

/// Returns how a program ended, with the last lines that it printed.
pub(super) fn describe_exit(code: Option<i32>, signal: Option<i32>, details: &str) -> String {
    let end = match (code, signal) {
        (Some(code), _) => format!("the agent ended with exit code {code}"),
        (None, Some(signal)) => format!("signal {signal} ended the agent"),
        (None, None) => "the agent ended".to_owned(),
    };
    if details.is_empty() { end } else { format!("{end}: {details}") }
}
