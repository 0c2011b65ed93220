//! The git protocol over the user's `ssh`, with its configuration, keys and known hosts.
//!
//! Invariants: `ssh` never prompts; no part of the URL is interpreted as an option or by a local shell; when the
//! transport is dropped, `ssh` ends together with all processes that it started.

use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prowess_fs::{kill_group, set_own_group, wait_readable};

use super::error::GitError;
use super::packet::display_message;
use super::url::SshLocation;
use super::wire::GitTransport;
use crate::Task;
use prowess_archive::limits::DOWNLOAD_MAX;

/// The interval at which cancellation is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The maximum size of the recorded error output of `ssh`.
const STDERR_MAX: u64 = 8 * 1024;

/// The program that connects. As in git, `GIT_SSH_COMMAND` is a shell command and `GIT_SSH` a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SshProgram {
    /// A program that accepts the options of OpenSSH.
    Program(OsString),
    /// A command for `sh`, to which the options of OpenSSH are appended.
    ShellCommand(OsString),
}

impl SshProgram {
    /// Returns the program from the environment, or `ssh`.
    pub fn from_env() -> Self {
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        match (var("GIT_SSH_COMMAND"), var("GIT_SSH")) {
            (Some(line), _) => Self::ShellCommand(line),
            (None, Some(program)) => Self::Program(program),
            (None, None) => Self::Program("ssh".into()),
        }
    }

    fn command(&self) -> Command {
        match self {
            Self::Program(program) => Command::new(program),
            Self::ShellCommand(command_line) => {
                let mut script = command_line.clone();
                script.push(" \"$@\"");
                let mut command = Command::new("sh");
                // The arguments after the script are $0, $1 and so on.
                command.arg("-c").arg(script).arg("ssh");
                command
            }
        }
    }
}

/// A running `ssh`.
pub(super) struct SshTransport {
    host: String,
    url: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<BoundedOutput>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_closed: Receiver<()>,
}

/// The output of `ssh`, with a timeout and a size limit.
struct BoundedOutput {
    from: ChildStdout,
    host: String,
    stall: Duration,
    /// The maximum total duration, since `started`.
    total: Duration,
    started: Instant,
    remaining: u64,
    task: Arc<Task>,
}

impl SshTransport {
    pub(super) fn open(
        ssh: &SshLocation,
        url: String,
        program: &SshProgram,
        timeouts: crate::fetch::http::Timeouts,
        task: &Arc<Task>,
    ) -> Result<Self, GitError> {
        task.check_cancelled()?;
        let mut command = program.command();
        // A separate process group, to end it with all its children, and to detach it from the terminal.
        set_own_group(&mut command);
        command.args(["-T", "-o", "BatchMode=yes", "-o", "SendEnv=GIT_PROTOCOL"]);
        if let Some(port) = ssh.port {
            command.arg("-p").arg(port.to_string());
        }
        let bare = ssh.host.trim_matches(['[', ']']);
        let host = ssh.user.as_ref().map_or_else(|| bare.to_owned(), |user| format!("{user}@{bare}"));
        command.arg("--").arg(&host).arg(format!("git-upload-pack {}", shell_quote(&ssh.path)));
        command.env("GIT_PROTOCOL", "version=2").env("SSH_ASKPASS_REQUIRE", "never");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let not_started = |error: io::Error| GitError::SshNotStarted { reason: error.kind().to_string() };
        let mut child = command.spawn().map_err(not_started)?;
        let (Some(input), Some(from), Some(stderr_pipe)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(GitError::SshNotStarted { reason: "no pipes were created".to_owned() });
        };
        let stderr = Arc::<Mutex<Vec<u8>>>::default();
        let stderr_closed = record_stderr(stderr_pipe, Arc::clone(&stderr));
        let output = BufReader::with_capacity(
            64 * 1024,
            BoundedOutput {
                from,
                host: bare.to_owned(),
                stall: timeouts.stall,
                total: timeouts.total,
                started: Instant::now(),
                remaining: DOWNLOAD_MAX,
                task: Arc::clone(task),
            },
        );
        Ok(Self { host: bare.to_owned(), url, child, input, output, stderr, stderr_closed })
    }

    /// Returns the error for a missing response, from the error output of `ssh` or of the remote program.
    fn connection_error(&self) -> GitError {
        // A shared connection keeps the pipe open, so the wait is limited.
        let _ = self.stderr_closed.recv_timeout(Duration::from_secs(1));
        let message = display_message(&self.stderr.lock().unwrap_or_else(PoisonError::into_inner));
        let lower = message.to_lowercase();
        let not_found =
            ["not found", "does not exist", "not appear to be a git", "no such file", "not a git repository"];
        if not_found.iter().any(|phrase| lower.contains(phrase)) && !lower.contains("command not found") {
            return GitError::NotFound { url: self.url.clone() };
        }
        let reason = if message.is_empty() { "ssh ended without a message".to_owned() } else { message };
        GitError::Ssh { host: self.host.clone(), reason }
    }
}

impl GitTransport for SshTransport {
    fn greeting(&mut self) -> Result<Box<dyn Read + '_>, GitError> {
        use std::io::BufRead as _;
        let empty = self.output.fill_buf().map_err(|error| GitError::from_io(&error))?.is_empty();
        if empty { Err(self.connection_error()) } else { Ok(Box::new(&mut self.output)) }
    }

    fn request(&mut self, request: &[u8]) -> Result<Box<dyn Read + '_>, GitError> {
        // Requests are much smaller than the pipe's buffer, so writing does not block.
        if self.input.write_all(request).and_then(|()| self.input.flush()).is_err() {
            return Err(self.connection_error());
        }
        Ok(Box::new(&mut self.output))
    }
}

impl Drop for SshTransport {
    fn drop(&mut self) {
        kill_group(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl BoundedOutput {
    fn wait(&self) -> Result<(), GitError> {
        let wait_start = Instant::now();
        loop {
            self.task.check_cancelled()?;
            let total = self.total.saturating_sub(self.started.elapsed());
            let timeout = self.stall.saturating_sub(wait_start.elapsed()).min(total);
            if timeout.is_zero() {
                return Err(GitError::Timeout { host: self.host.clone() });
            }
            match wait_readable(&self.from, timeout.min(POLL_INTERVAL)) {
                Ok(false) => {}
                Ok(true) => return Ok(()),
                Err(error) => return Err(GitError::io("read from ssh", &error)),
            }
        }
    }
}

impl Read for BoundedOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait().map_err(io::Error::other)?;
        let count = self.from.read(buffer)?;
        let bytes = count as u64;
        self.remaining =
            self.remaining.checked_sub(bytes).ok_or_else(|| io::Error::other(GitError::TooLarge))?;
        self.task.advance(bytes);
        Ok(count)
    }
}

/// Records the beginning of the error output, and drains the rest so that `ssh` does not block.
fn record_stderr(mut stderr: impl Read + Send + 'static, output: Arc<Mutex<Vec<u8>>>) -> Receiver<()> {
    let (done, closed) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = stderr.read(&mut buffer) {
            let mut recorded = output.lock().unwrap_or_else(PoisonError::into_inner);
            if (recorded.len() as u64) < STDERR_MAX {
                recorded.extend_from_slice(&buffer[..count]);
            }
        }
        let _ = done.send(());
    });
    closed
}

/// Quotes a path for the remote shell, like git.
fn shell_quote(path: &str) -> String {
    let mut out = String::from("'");
    for c in path.chars() {
        match c {
            '\'' | '!' => out.extend(["'\\", c.encode_utf8(&mut [0; 4]), "'"]),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_for_the_remote_shell() {
        assert_eq!(shell_quote("/srv/x y"), "'/srv/x y'");
        assert_eq!(shell_quote("a'b!c"), "'a'\\''b'\\!'c'");
        let hostile = "x'; touch pwned; echo '$(id)`id`";
        let echoed =
            Command::new("sh").arg("-c").arg(format!("printf %s {}", shell_quote(hostile))).output().unwrap();
        assert_eq!(String::from_utf8(echoed.stdout).unwrap(), hostile);
    }
}
