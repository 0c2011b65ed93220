//! Runs scripts of skills in a sandbox.
//!
//! | module | subject |
//! |---|---|
//! | `gate`, `allowed_tools` | whether a script may run: the user's permissions and the skill's own |
//! | `access` | what a script may access, for a question to the user |
//! | `interpreter`, `locate` | which interpreter runs a script, and where it is |
//! | `programs` | programs that a skill names |
//! | `executable` | what a run executes: a script, or a command in the instructions |
//! | `prepare` | combines these steps |
//! | `run_dir` | the verified files of a run |
//! | `workspace` | files of the user for a script, and files that it changes |
//! | `start` | long-running scripts that exchange messages with the caller |
//! | `program`, `program_files` | programs that belong to no skill, and the files that they need |
//! | [`sandbox`] | what can be enforced, and enforcing it |
//! | `helper` | this program, started again to be confined |
//! | [`environments`] | the packages that scripts depend on |
//! | `network` | the network access of a script |
//! | `watch` | output and time |
//! | `meter` | the memory, processes and files that a script uses |
//! | [`log`] | the record of runs |
//!
//! Invariants: the bytes that were hashed and checked are the bytes that run; a script that cannot be confined does not
//! run unless the caller asks for no sandbox; when [`run`] returns, none of its processes are left, and
//! its files are deleted with the result.

#![cfg_attr(
    any(not(target_os = "linux"), prowess_portable),
    allow(dead_code, reason = "much of it is only used with a sandbox")
)]

mod access;
mod allowed_tools;
pub mod environments;
mod error;
mod executable;
mod gate;
#[cfg(all(target_os = "linux", not(prowess_portable)))]
mod helper;
mod interpreter;
mod locate;
pub mod log;
mod meter;
mod network;
mod options;
mod prepare;
mod processes;
mod program;
mod program_files;
mod programs;
mod result;
mod run_dir;
pub mod sandbox;
mod start;
mod status;
mod system_paths;
mod watch;
#[cfg(all(target_os = "linux", not(prowess_portable)))]
mod wire;
mod workspace;

use std::time::Instant;

use prowess::Skill;
pub use prowess::policy::RunLimits as Limits;

pub use access::{AccessSummary, ConsentAnswer};
pub use error::{DENIED_HINT, RunError};
pub use gate::check_consent;
pub use gate::{
    RequestedVariable, grant_entry, is_allowed, is_any_allowed, is_denied, may_ask, network_access,
    pinned_grant_entry, requested_variables,
};
#[cfg(all(target_os = "linux", not(prowess_portable)))]
pub use helper::helper_main;
pub use interpreter::{UnknownRunnerError, detect_runner};
pub use options::{
    Cancel, Consent, NetworkAccess, OutputHandler, Protection, RunOptions, SandboxHelper, ScriptInput,
};
pub use program::{ProgramOptions, ProgramResult, ProgramTask, RunningProgram, run_program, start_program};
pub use program_files::{LocateProgramError, LocatedProgram, locate_program};
pub use result::{OutputStream, RunLimit, SandboxTier, ScriptResult};
pub use sandbox::SandboxError;
pub use start::{PreparedScript, RunningScript, prepare_script};
pub use status::{SandboxStatus, status};
pub use workspace::{Artifact, FinishedWorkspace, InputFile, ScriptFilesError, Workspace, check_workspace};

use executable::Executable;
pub use executable::InlineCommand;
use log::{RunEnd, RunRecord};
use prepare::{WorkspaceUse, prepare};

/// Does nothing on systems without a sandbox.
#[cfg(any(not(target_os = "linux"), prowess_portable))]
pub fn helper_main() {}

/// Runs a script of a skill and waits until it and all its processes have ended.
///
/// ```no_run
/// use prowess::{Policy, Registry};
/// use prowess_sandbox::{Consent, RunOptions, helper_main, run};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// helper_main();   // must be first: this program is also the sandbox helper
/// let registry = Registry::open(Policy::default())?;
/// let snapshot = registry.snapshot();
/// let skill = snapshot.get("skills-system-validation").ok_or("it is bundled")?;
/// let mut options = RunOptions::from_registry(&registry);
/// options.consent = Consent::Given;
/// let result = run(skill, "scripts/echo.sh", &[], options)?;
/// assert!(result.stdout_text().contains("PROWESS_SCRIPT_MARKER_"));
/// # Ok(())
/// # }
/// ```
pub fn run(
    skill: &Skill,
    script: &str,
    arguments: &[String],
    options: RunOptions<'_>,
) -> Result<ScriptResult, RunError> {
    run_executable(skill, Executable::Script(script), arguments, options)
}

/// Runs a command in the instructions of a skill, with the same permissions as its scripts. In the command, `$0` is the
/// first argument. Changes in the workspace are discarded.
pub fn run_command(
    skill: &Skill,
    command: &InlineCommand,
    arguments: &[String],
    options: RunOptions<'_>,
) -> Result<ScriptResult, RunError> {
    // Without an argument, `$0` would be the name of the shell.
    let arguments = if arguments.is_empty() { &[String::new()] } else { arguments };
    run_executable(skill, Executable::Command(command), arguments, options)
}

fn run_executable(
    skill: &Skill,
    executable: Executable<'_>,
    arguments: &[String],
    mut options: RunOptions<'_>,
) -> Result<ScriptResult, RunError> {
    let started = Instant::now();
    let prepared = prepare(skill, executable, arguments, &options, WorkspaceUse::FromOptions)?;
    let mut record = prepared.record(skill, arguments.len());
    let log_path = options.log.take();
    let write_record = |record: &RunRecord| match &log_path {
        Some(path) => log::append(path, record)
            .map_err(|error| RunError::Log { path: path.display().to_string(), error }),
        None => Ok(()),
    };
    write_record(&record)?;
    let lock_warning = record_grants(skill, &options);
    let mut outcome = prepared.run(&mut options);
    if let Ok(outcome) = &mut outcome {
        outcome.remarks.extend(lock_warning);
    }
    record.end = Some(match &outcome {
        Ok(outcome) => {
            record.sandbox = Some(outcome.tier.to_string());
            outcome.end(started)
        }
        Err(error) => RunEnd { error: Some(error.to_string()), ..RunEnd::default() },
    });
    let recorded = write_record(&record);
    let outcome = outcome?;
    recorded?;
    Ok(outcome.into_result(started, record))
}

/// Records the grants of an installed skill in its lock file. Returns a warning on failure; each run also has its own
/// record, which is required.
fn record_grants(skill: &Skill, options: &RunOptions<'_>) -> Option<String> {
    let granted = prowess::grants::grants_for_skill(skill, &options.policy.run, options.env);
    let recorded = prowess::lock::record_grants(skill, &granted, options.env);
    recorded.err().map(|error| format!("cannot record grants in the lock file: {error}"))
}

/// Returns the environment that a script uses; `None` if it needs none. Fails with the error that a run would have if the
/// script needs an environment that is not built or cannot be used. Whether the script may run is not checked.
pub fn environment_of_script(
    skill: &Skill,
    script: &str,
    options: &RunOptions<'_>,
) -> Result<Option<environments::ReadyEnvironment>, RunError> {
    prepare::environment_of_script(skill, script, options)
}

struct RunOutcome {
    watched: watch::WatchResult,
    tier: SandboxTier,
    remarks: Vec<String>,
    workspace: Option<FinishedWorkspace>,
}

impl RunOutcome {
    fn end(&self, started: Instant) -> RunEnd {
        RunEnd {
            exit_code: self.watched.exit_code,
            signal: self.watched.signal,
            truncated: self.watched.limits_hit.contains(&RunLimit::Output),
            timed_out: self.watched.limits_hit.contains(&RunLimit::Time),
            limits_hit: self.watched.limits_hit.iter().map(ToString::to_string).collect(),
            left_behind: self.watched.left_behind,
            duration_ms: elapsed_ms(started),
            error: None,
        }
    }

    fn into_result(self, started: Instant, record: RunRecord) -> ScriptResult {
        ScriptResult {
            exit_code: self.watched.exit_code,
            signal: self.watched.signal,
            truncated: self.watched.limits_hit.contains(&RunLimit::Output),
            timed_out: self.watched.limits_hit.contains(&RunLimit::Time),
            cancelled: self.watched.cancelled,
            stdout: self.watched.stdout,
            stderr: self.watched.stderr,
            duration_ms: elapsed_ms(started),
            sandbox: self.tier,
            limits_hit: self.watched.limits_hit,
            left_behind: self.watched.left_behind,
            digest: record.digest,
            tree: record.tree,
            remarks: self.remarks,
            workspace: self.workspace,
        }
    }
}

fn elapsed_ms(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}
