//! Runs the commands in a skill's instructions, written as `` !`command` ``, and inserts their output.
//!
//! The text of a skill must not decide by itself what runs. A command has the same permissions as the skill's scripts: it
//! runs in the sandbox, and only if the user allowed scripts for the current files of the skill. Loading a skill never asks
//! for permission. Arguments are passed as values, so they cannot become part of a command.

use std::time::{Duration, Instant};

use prowess::activation::{ActivatedSkill, CommandOutput};
use prowess::{Registry, Skill, Snapshot};
use prowess_sandbox::{InlineCommand, RunOptions, ScriptResult, run_command};

use crate::remote_guard::check_run_allowed;
use crate::run::{ScriptRunner, prepare_workspace};
use crate::session::Session;

/// The maximum number of commands of a skill. Further ones stay text.
const COMMANDS_MAX: usize = 10;

/// The maximum time for all commands of a skill.
const TIME_MAX: Duration = Duration::from_secs(30);

/// The maximum number of bytes of all outputs.
const OUTPUT_MAX: usize = 32 * 1024;

impl ScriptRunner {
    /// Runs the commands of a skill that is loaded, if they may run, and inserts their output. A command that may not or
    /// cannot run stays text, like all that follow.
    pub fn insert_command_outputs(
        &self,
        registry: &Registry,
        snapshot: &Snapshot,
        skill: &Skill,
        activated: &mut ActivatedSkill,
        session: &Session,
    ) {
        let commands: Vec<String> =
            activated.inline_commands().take(COMMANDS_MAX).map(str::to_owned).collect();
        let may_run = || !session.call_options.is_preview && check_run_allowed(snapshot, session).is_ok();
        if commands.is_empty() || !may_run() {
            return;
        }
        let started = Instant::now();
        let mut outputs: Vec<CommandOutput> = Vec::new();
        let mut remaining = OUTPUT_MAX;
        for text in commands {
            let Some(time) = TIME_MAX.checked_sub(started.elapsed()).filter(|_| remaining > 0) else { break };
            let Some(mut options) = self.command_options(registry, skill, session) else { break };
            options.limits.time = options.limits.time.min(time);
            let command = InlineCommand {
                variables: variables(activated),
                skill_md: activated.digest().to_owned(),
                text,
            };
            let Ok(result) = run_command(skill, &command, activated.args.words(), options) else { break };
            let output = render(&result, remaining);
            remaining -= output.len().min(remaining);
            outputs.push(CommandOutput { command: command.text, output });
        }
        activated.set_command_outputs(outputs);
    }

    /// Returns the options for a command of a skill whose scripts may run now, without asking; otherwise `None`.
    fn command_options<'a>(
        &self,
        registry: &'a Registry,
        skill: &Skill,
        session: &Session,
    ) -> Option<RunOptions<'a>> {
        let mut options = self.options(registry);
        let call_options = &session.call_options;
        if let Some(cancel) = &call_options.cancel {
            options.cancel = cancel.clone();
        }
        let max = options.limits.workspace_bytes;
        options.workspace = prepare_workspace(call_options.workspace.as_ref(), Vec::new(), max).ok()?;
        options.consent = self.decisions.known_consent(skill, &options)?;
        Some(options)
    }
}

/// Returns the variables for the arguments: `ARGUMENTS`, and the names that the skill declares.
fn variables(activated: &ActivatedSkill) -> Vec<(String, String)> {
    let is_harmless = |name: &str| {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        name.bytes().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    let named = activated.named_arguments().filter(|(name, _)| is_harmless(name));
    let named = named.map(|(name, value)| (name.to_owned(), value.to_owned()));
    std::iter::once(("ARGUMENTS".to_owned(), activated.args.as_str().to_owned())).chain(named).collect()
}

/// Renders what the model sees in place of a command.
fn render(result: &ScriptResult, max: usize) -> String {
    let mut output = result.stdout_text().trim_end().to_owned();
    if !result.is_success() {
        let errors = result.stderr_text();
        for part in [errors.trim(), &format!("[{}]", result.describe_end())] {
            if !output.is_empty() && !part.is_empty() {
                output.push('\n');
            }
            output.push_str(part);
        }
    }
    if output.len() > max || result.truncated {
        output.truncate(output.floor_char_boundary(max));
        output.push_str("\n[truncated]");
    }
    output
}
