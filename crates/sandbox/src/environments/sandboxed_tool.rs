//! Runs the programs that resolve and install packages, in the same sandbox as scripts.
//!
//! A tool sees the system directories and its own scratch directory, and no file of the user. Its network access is the
//! port of our proxy.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use prowess_fs::Dir;

use super::error::EnvironmentError;
use crate::Limits;
use crate::meter::Meter;
use crate::options::{Cancel, InputSource, NetworkAccess, Protection, SandboxHelper, ScriptInput};
use crate::result::{OutputStream, RunLimit};
use crate::run_dir::RunDir;
use crate::sandbox::{self, ProcessEvent, SandboxTask, SandboxedProcess, ScratchLocation, TaskArguments};

const MEBIBYTE: u64 = 1024 * 1024;

/// The maximum total size of what a tool writes.
pub(super) const SCRATCH_MAX: u64 = 4 * 1024 * MEBIBYTE;

/// Files about the distribution. Installers describe the system to the index with them, and fail if they exist but cannot be
/// read.
const RELEASE_FILES: &[&str] =
    &["/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/redhat-release"];

/// How often cancellation and usage are checked.
const TICK: Duration = Duration::from_millis(20);
const MEASURE_INTERVAL: Duration = Duration::from_millis(250);

/// How long to wait for output after everything has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the limits of a tool: larger than those of a script, because packages are large.
pub(super) fn tool_limits(time: Duration) -> Limits {
    Limits {
        time,
        output_bytes: 8 * MEBIBYTE,
        memory_bytes: 8 * 1024 * MEBIBYTE,
        processes: 256,
        file_bytes: 2 * 1024 * MEBIBYTE,
        open_files: 1_024,
        scratch_bytes: SCRATCH_MAX,
        ..Limits::default()
    }
}

/// How tools are confined.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolSandbox {
    pub(super) helper: SandboxHelper,
    pub(super) protection: Protection,
    pub(super) cancel: Cancel,
}

/// The directories of a tool, before it runs.
pub(super) struct ToolDir {
    run_dir: RunDir,
    user: Option<u32>,
}

/// What a tool runs.
pub(super) struct ToolCommand {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, OsString)>,
    /// Readable paths besides the system directories.
    pub(super) readable: Vec<PathBuf>,
    pub(super) network: NetworkAccess,
    pub(super) limits: Limits,
}

/// A tool that has ended. Its scratch directory exists until this is dropped.
pub(super) struct FinishedTool {
    pub(super) exit_code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) limits_hit: Vec<RunLimit>,
    pub(super) cancelled: bool,
    process: SandboxedProcess,
    // Last, so that the files are removed after the process has ended.
    dir: ToolDir,
}

impl ToolDir {
    /// Creates the directories, with these files for the tool to read.
    pub(super) fn new(files: &[(&str, &[u8])]) -> Result<Self, EnvironmentError> {
        let user = sandbox::unused_user().map_err(|error| EnvironmentError::Sandbox(vec![error]))?;
        let parent = sandbox::scratch_parent();
        let failed = |error| EnvironmentError::io(&parent, error);
        let run_dir = RunDir::empty(&parent, user).map_err(failed)?;
        let dir = Self { run_dir, user };
        files.iter().try_for_each(|(name, bytes)| dir.add_input(name, bytes))?;
        Ok(dir)
    }

    /// Adds a file for the tool to read.
    pub(super) fn add_input(&self, name: &str, bytes: &[u8]) -> Result<(), EnvironmentError> {
        let path = self.input(name);
        let write = || {
            let mut file = prowess_fs::create_new(&path, 0o644)?;
            std::io::Write::write_all(&mut file, bytes)?;
            prowess_fs::set_permissions(&file, 0o644)
        };
        write().map_err(|error| EnvironmentError::io(&path, error))
    }

    /// Returns the path of a file for the tool to read.
    pub(super) fn input(&self, name: &str) -> PathBuf {
        self.run_dir.skill.join(name)
    }

    /// Returns a path in the directory that the tool may write to.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.run_dir.scratch.join(name)
    }

    /// Runs the tool until it and all its processes have ended.
    pub(super) fn run(
        self,
        command: ToolCommand,
        setup: &ToolSandbox,
    ) -> Result<FinishedTool, EnvironmentError> {
        let mut environment: Vec<(String, OsString)> =
            [("PATH", "/usr/local/bin:/usr/bin:/bin".into()), ("LANG", "C.UTF-8".into())]
                .map(|(name, value)| (name.to_owned(), value))
                .to_vec();
        environment.extend(command.environment);
        let mut readable = command.readable;
        readable.extend(RELEASE_FILES.iter().map(PathBuf::from).filter(|path| path.is_file()));
        let task = SandboxTask {
            program: command.program,
            arguments: TaskArguments { fixed: &command.arguments, user: &[], current_dir: None },
            environment,
            skill: &self.run_dir.skill,
            copies: &[],
            scratch: &self.run_dir.scratch,
            // The arguments contain paths in it.
            scratch_location: ScratchLocation::Unchanged,
            readable,
            limits: &command.limits,
            network: command.network,
            input: InputSource::Complete(ScriptInput::Empty),
            user: self.user,
        };
        let protection = match setup.protection {
            // Building is never worth giving up the sandbox.
            Protection::Unsafe => Protection::Required,
            protection => protection,
        };
        let (enforced, _) =
            sandbox::enforce(&task, protection, &setup.helper).map_err(EnvironmentError::Sandbox)?;
        let process = enforced.spawn().map_err(|error| EnvironmentError::Sandbox(vec![error]))?;
        drop(task);
        watch_tool(process, self, &command.limits, command.network, &setup.cancel)
    }
}

fn watch_tool(
    mut process: SandboxedProcess,
    dir: ToolDir,
    limits: &Limits,
    network: NetworkAccess,
    cancel: &Cancel,
) -> Result<FinishedTool, EnvironmentError> {
    let mut meter = Meter::new(&dir.run_dir.scratch, None, network);
    let started = Instant::now();
    let mut measured = started;
    let mut ended_at: Option<Instant> = None;
    let (mut stdout, mut stderr, mut exit_code) = (Vec::new(), Vec::new(), None);
    let (mut limits_hit, mut cancelled): (Vec<RunLimit>, bool) = (Vec::new(), false);
    while !process.is_finished() {
        let events =
            process.next_events(TICK).map_err(|error| EnvironmentError::io(&dir.run_dir.scratch, error))?;
        for event in events {
            match event {
                ProcessEvent::Output(stream, bytes) => {
                    let output = if stream == OutputStream::Out { &mut stdout } else { &mut stderr };
                    let remaining = usize::try_from(limits.output_bytes)
                        .unwrap_or(usize::MAX)
                        .saturating_sub(output.len());
                    output.extend_from_slice(bytes.get(..remaining).unwrap_or(&bytes));
                }
                ProcessEvent::NotStarted(reason) => {
                    stderr.extend_from_slice(reason.as_bytes());
                    ended_at = ended_at.or(Some(Instant::now()));
                }
                ProcessEvent::Exited { code, .. } => {
                    exit_code = code;
                    ended_at = ended_at.or(Some(Instant::now()));
                }
            }
        }
        if let Some(ended) = ended_at {
            process.kill();
            if ended.elapsed() > DRAIN_TIMEOUT {
                break;
            }
            continue;
        }
        if started.elapsed() >= limits.time {
            limits_hit.push(RunLimit::Time);
        }
        if measured.elapsed() >= MEASURE_INTERVAL {
            measured = Instant::now();
            let is_fatal = |limit: &RunLimit| matches!(limit, RunLimit::Memory | RunLimit::Scratch);
            limits_hit.extend(meter.limits_hit(&process, limits).into_iter().filter(is_fatal));
        }
        cancelled = cancel.is_cancelled();
        if cancelled || !limits_hit.is_empty() {
            process.kill();
            ended_at = Some(Instant::now());
        }
    }
    process.kill();
    Ok(FinishedTool { exit_code, stdout, stderr, limits_hit, cancelled, process, dir })
}

impl FinishedTool {
    /// Opens what the tool wrote.
    pub(super) fn scratch(&self) -> Result<Dir, EnvironmentError> {
        let open = |path: &Path| {
            Dir::open(path).map_err(|error| EnvironmentError::io(&self.dir.run_dir.scratch, error.into()))
        };
        match self.process.private_dirs().first() {
            // A file system of its own, which no path of ours leads to.
            Some(scratch) => open(&PathBuf::from(format!("/proc/self/fd/{}", scratch.as_raw_fd()))),
            None => open(&self.dir.run_dir.scratch),
        }
    }
}
