//! A server process: started in the home directory, not in the project, with few environment variables.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prowess::HostEnv;
use prowess_fs::{can_execute, kill_group, programs_on_path, set_own_group};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// The environment variables that are passed to every server.
const PASSED_VARIABLES: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// The maximum size of the recorded end of standard error, for error messages.
const STDERR_MAX: usize = 1_024;

/// The time that a server has to exit after its input is closed.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// The end of a server's standard error.
#[derive(Debug, Clone, Default)]
pub(super) struct StderrTail(Arc<Mutex<Vec<u8>>>);

impl StderrTail {
    /// Returns the last line for messages; `None` if there is none.
    pub(super) fn last_line(&self) -> Option<String> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(super::entry::display_text(line))
    }
}

/// A process and all processes that it started. They are ended on drop.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Child,
    pub(super) stderr: StderrTail,
}

impl ServerProcess {
    /// Starts a server. Must be called inside a runtime.
    pub(super) fn spawn(
        program: &str,
        args: &[String],
        env: &[String],
        host: &HostEnv,
        environment: &[(OsString, OsString)],
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let path = find_program(program, &host.path)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{program} is not on PATH")))?;
        let is_passed = |name: &OsStr| {
            PASSED_VARIABLES.iter().any(|passed| name == *passed)
                || env.iter().any(|passed| name == passed.as_str())
        };
        let mut command = Command::new(path);
        command.args(args).env_clear().envs(environment.iter().filter(|(name, _)| is_passed(name)).cloned());
        // Files in a project must not affect a server of the user.
        command.current_dir(host.home.as_deref().filter(|home| home.is_dir()).unwrap_or(Path::new("/")));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = set_own_group(&mut command).spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Self { child, stderr: StderrTail::default() };
        let missing_stream = || io::Error::other("a standard stream is missing");
        let stdin = ChildStdin::from_std(stdin.ok_or_else(missing_stream)?)?;
        let stdout = ChildStdout::from_std(stdout.ok_or_else(missing_stream)?)?;
        let stderr = ChildStderr::from_std(stderr.ok_or_else(missing_stream)?)?;
        tokio::spawn(record_stderr(stderr, process.stderr.clone()));
        Ok((process, stdout, stdin))
    }
}

/// Drains standard error, so that the server does not block, and records its end.
async fn record_stderr(mut stderr: ChildStderr, tail: StderrTail) {
    let mut buffer = [0; 4_096];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut recorded = tail.0.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.extend_from_slice(&buffer[..read]);
        let surplus = recorded.len().saturating_sub(STDERR_MAX);
        recorded.drain(..surplus);
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let deadline = Instant::now() + EXIT_TIMEOUT;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // Processes that the server started are in its group and may still run.
        kill_group(self.child.id());
        let _ = self.child.wait();
    }
}

/// Finds a program. Relative entries of `PATH` are ignored.
fn find_program(program: &str, path: &OsStr) -> Option<PathBuf> {
    match program.starts_with('/') {
        true => Some(PathBuf::from(program)).filter(|program| can_execute(program)),
        false => programs_on_path(program, path).next(),
    }
}
