//! Runs programs that belong to no skill in the sandbox, each in a new workspace.
//!
//! A program sees the system directories, the paths that the caller names, its workspace and an empty home directory. Its
//! files are collected even if it was killed, and are never applied to a directory of the user.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::Limits;
use super::elapsed_ms;
use super::error::RunError;
use super::meter::Meter;
use super::options::{
    Cancel, InputSource, NetworkAccess, OutputHandler, Protection, SandboxHelper, ScriptInput,
};
use super::prepare::PATH;
use super::result::{RunLimit, SandboxTier};
use super::run_dir::RunDir;
use super::sandbox::{
    self, FileCopy, SandboxError, SandboxTask, SandboxedProcess, ScratchLocation, TaskArguments, unused_user,
};
use super::watch;
use super::workspace::{
    Changes, CopiedTree, CopyLimits, FinishedWorkspace, InputFile, ProtectedFiles, write_inputs,
};

/// A program to run, and what it may access.
#[derive(Debug, Clone)]
pub struct ProgramTask {
    /// The absolute path of the program.
    pub program: PathBuf,
    /// The arguments, without the name of the program.
    pub arguments: Vec<String>,
    /// Variables besides `HOME`, `TMPDIR`, `XDG_CONFIG_HOME`, `LANG` and `PATH`, which they replace.
    pub environment: Vec<(String, OsString)>,
    /// The files of the workspace, which is the current directory.
    pub files: Vec<InputFile>,
    /// Readable paths besides the system directories.
    pub readable: Vec<PathBuf>,
    /// The network access.
    pub network: NetworkAccess,
    /// The limits.
    pub limits: Limits,
    /// The standard input. [`start_program`] ignores it: its input stays open for messages.
    pub input: ScriptInput,
}

impl ProgramTask {
    /// Creates a task for a program without arguments, files and network access, with default limits.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            files: Vec::new(),
            readable: Vec::new(),
            network: NetworkAccess::Off,
            limits: Limits::default(),
            input: ScriptInput::Empty,
        }
    }
}

/// How a program is confined and watched.
#[derive(Default)]
pub struct ProgramOptions<'a> {
    /// Whether the program is confined. By default it is; without a sandbox, it does not run.
    pub protection: Protection,
    /// The sandbox helper.
    pub helper: SandboxHelper,
    /// Cancels the run.
    pub cancel: Cancel,
    /// Receives partial output.
    pub on_output: Option<OutputHandler<'a>>,
}

/// The result of a program that ran.
#[derive(Debug)]
#[non_exhaustive]
pub struct ProgramResult {
    /// The exit code; `None` if a signal ended the program.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// The standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// The standard error, up to the limit.
    pub stderr: Vec<u8>,
    /// The limits that the program exceeded. It was killed, unless the only one is [`RunLimit::Processes`].
    pub limits_hit: Vec<RunLimit>,
    /// Whether the run was cancelled.
    pub cancelled: bool,
    /// The protection under which the program ran.
    pub sandbox: SandboxTier,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// Why a better protection was not available, and why some files are not in the workspace.
    pub remarks: Vec<String>,
    /// The workspace, also if the program was killed; `None` if it is too large to be read.
    pub workspace: Option<FinishedWorkspace>,
}

/// Runs a program until it and all its processes have ended.
///
/// ```no_run
/// use prowess_sandbox::{ProgramOptions, ProgramTask, helper_main, run_program};
///
/// # fn main() -> Result<(), prowess_sandbox::RunError> {
/// helper_main();   // must be first: this program is also the sandbox helper
/// let mut task = ProgramTask::new("/bin/sh");
/// task.arguments = vec!["-c".to_owned(), "echo text >file".to_owned()];
/// let result = run_program(task, ProgramOptions::default())?;
/// assert_eq!(result.exit_code, Some(0));
/// # Ok(())
/// # }
/// ```
pub fn run_program(task: ProgramTask, mut options: ProgramOptions<'_>) -> Result<ProgramResult, RunError> {
    let started = Instant::now();
    let input = InputSource::Complete(task.input.clone());
    let running = start(task, input, &options)?;
    let RunningProgram { process, limits, meter, mut remarks, files } = running;
    let tier = process.tier();
    let mut watched = watch::watch(process, &limits, meter, &options.cancel, &mut options.on_output)
        .map_err(|error| RunError::Io { context: "cannot watch the program", error })?;
    if let Some(reason) = watched.not_started.take() {
        return Err(RunError::NotStarted(reason));
    }
    let workspace = files.collect(&limits, &mut remarks);
    Ok(ProgramResult {
        exit_code: watched.exit_code,
        signal: watched.signal,
        limits_hit: watched.limits_hit,
        cancelled: watched.cancelled,
        stdout: watched.stdout,
        stderr: watched.stderr,
        sandbox: tier,
        duration_ms: elapsed_ms(started),
        remarks,
        workspace,
    })
}

/// Starts a program that exchanges messages with the caller. The caller watches its time, output and limits. It must be
/// started on a thread that outlives it: the kernel kills it when the thread that started it ends.
pub fn start_program(task: ProgramTask, options: &ProgramOptions<'_>) -> Result<RunningProgram, RunError> {
    start(task, InputSource::Open, options)
}

/// A running program. Dropping it kills the program and everything it started.
pub struct RunningProgram {
    /// The process.
    pub process: SandboxedProcess,
    /// The limits.
    pub limits: Limits,
    meter: Meter,
    remarks: Vec<String>,
    // Last, so that the files are removed after the process has ended.
    files: ProgramFiles,
}

impl RunningProgram {
    /// Returns the path of the workspace, as the program sees it.
    pub fn workspace(&self) -> &Path {
        &self.files.run_dir.workspace
    }

    /// Returns the limits that the program exceeds now.
    pub fn limits_exceeded(&mut self) -> Vec<RunLimit> {
        self.meter.limits_hit(&self.process, &self.limits)
    }

    /// Kills the program and everything it started. Returns its workspace, `None` if it is too large to be read, and remarks.
    pub fn finish(mut self) -> (Option<FinishedWorkspace>, Vec<String>) {
        self.process.kill();
        let Self { process, limits, mut remarks, files, .. } = self;
        {
            // Its files are read only after it has ended.
            let _ended = process;
        }
        let workspace = files.collect(&limits, &mut remarks);
        (workspace, remarks)
    }
}

/// The directories of a program.
struct ProgramFiles {
    copied: CopiedTree,
    run_dir: RunDir,
}

impl ProgramFiles {
    fn create(task: &ProgramTask, user: Option<u32>) -> Result<Self, RunError> {
        let io_error = |error| RunError::Io { context: "cannot create the workspace", error };
        let run_dir = RunDir::empty(&sandbox::scratch_parent(), user).map_err(io_error)?;
        run_dir.create_workspace().map_err(io_error)?;
        let mut limits = CopyLimits::new(&task.limits, user);
        let copied = write_inputs(&task.files, &run_dir.workspace, &mut limits)?;
        Ok(Self { copied, run_dir })
    }

    /// Collects the files after all processes have ended.
    fn collect(self, limits: &Limits, remarks: &mut Vec<String>) -> Option<FinishedWorkspace> {
        let Self { copied, run_dir } = self;
        match Changes::collect(&run_dir.workspace, &copied, limits, ProtectedFiles::Collected) {
            Ok(mut changes) => {
                remarks.append(&mut changes.remarks);
                Some(FinishedWorkspace::new(run_dir, changes))
            }
            Err(error) => {
                remarks.push(format!("cannot read the workspace: {error}"));
                None
            }
        }
    }
}

fn start(
    task: ProgramTask,
    input: InputSource,
    options: &ProgramOptions<'_>,
) -> Result<RunningProgram, RunError> {
    let user = unused_user().map_err(|error| RunError::Sandbox(vec![error]))?;
    let files = ProgramFiles::create(&task, user)?;
    let workspace = files.run_dir.workspace.clone();
    let copies = [FileCopy {
        typed: workspace.clone(),
        path: workspace.clone(),
        copy: workspace.clone(),
        writable: true,
    }];
    let ProgramTask { program, arguments, environment, readable, network, limits, .. } = task;
    let mut variables: Vec<(String, OsString)> =
        vec![("PATH".to_owned(), PATH.into()), ("LANG".to_owned(), "C.UTF-8".into())];
    variables.extend(environment);
    let sandbox_task = SandboxTask {
        program,
        arguments: TaskArguments { fixed: &arguments, user: &[], current_dir: None },
        environment: variables,
        skill: &files.run_dir.skill,
        copies: &copies,
        scratch: &files.run_dir.scratch,
        scratch_location: ScratchLocation::Tmp,
        readable,
        limits: &limits,
        network,
        input,
        user,
    };
    let (enforced, errors) =
        sandbox::enforce(&sandbox_task, options.protection, &options.helper).map_err(RunError::Sandbox)?;
    let process = enforced.spawn().map_err(|error| RunError::Sandbox(vec![error]))?;
    let remarks = errors.iter().map(SandboxError::to_string).collect();
    let meter = Meter::new(&files.run_dir.scratch, Some([workspace.clone(), workspace]), network);
    Ok(RunningProgram { process, limits, meter, remarks, files })
}
