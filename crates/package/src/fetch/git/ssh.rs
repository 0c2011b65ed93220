//! The way to a server through the user's own `ssh`, with its configuration, keys and known hosts.
//!
//! What must always hold: nobody is asked for anything; nothing of the URL is taken for an option or by a shell here;
//! and when this ends, `ssh` ends with whatever it started.

use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prowess_fs::{in_own_group, kill_group, wait_readable};

use super::error::GitError;
use super::packet::words;
use super::url::Ssh;
use super::wire::Link;
use crate::Work;
use prowess_archive::limits::DOWNLOAD_MAX;

/// How long a cancelled request may go on.
const STEP: Duration = Duration::from_millis(100);

/// What `ssh` says is kept up to here.
const COMPLAINT_MAX: u64 = 8 * 1024;

/// The program that connects. `GIT_SSH_COMMAND` is a line for the shell, `GIT_SSH` a program, as in git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SshProgram {
    /// A program that takes the options of OpenSSH.
    Program(OsString),
    /// A line for `sh`, to which the options of OpenSSH are added.
    Line(OsString),
}

impl SshProgram {
    /// What the environment says, or `ssh`.
    pub fn from_env() -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        match (set("GIT_SSH_COMMAND"), set("GIT_SSH")) {
            (Some(line), _) => Self::Line(line),
            (None, Some(program)) => Self::Program(program),
            (None, None) => Self::Program("ssh".into()),
        }
    }

    fn command(&self) -> Command {
        match self {
            Self::Program(program) => Command::new(program),
            Self::Line(line) => {
                let mut script = line.clone();
                script.push(" \"$@\"");
                let mut command = Command::new("sh");
                // What comes after the line is $0 and the arguments.
                command.arg("-c").arg(script).arg("ssh");
                command
            }
        }
    }
}

/// A running `ssh`.
pub(super) struct Connection {
    host: String,
    url: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<Output>,
    complaint: Arc<Mutex<Vec<u8>>>,
    complained: Receiver<()>,
}

/// What comes, within its bounds.
struct Output {
    from: ChildStdout,
    host: String,
    stall: Duration,
    /// How long all of it may take, and since when.
    total: Duration,
    begun: Instant,
    left: u64,
    work: Arc<Work>,
}

impl Connection {
    pub(super) fn open(
        ssh: &Ssh,
        url: String,
        program: &SshProgram,
        timeouts: crate::fetch::http::Timeouts,
        work: &Arc<Work>,
    ) -> Result<Self, GitError> {
        work.go_on()?;
        let mut command = program.command();
        // Its own group, so that it can be ended with all that it started, and so that it gets no terminal to ask on.
        in_own_group(&mut command);
        command.args(["-T", "-o", "BatchMode=yes", "-o", "SendEnv=GIT_PROTOCOL"]);
        if let Some(port) = ssh.port {
            command.arg("-p").arg(port.to_string());
        }
        let bare = ssh.host.trim_matches(['[', ']']);
        let host = ssh.user.as_ref().map_or_else(|| bare.to_owned(), |user| format!("{user}@{bare}"));
        command.arg("--").arg(&host).arg(format!("git-upload-pack {}", quoted(&ssh.path)));
        command.env("GIT_PROTOCOL", "version=2").env("SSH_ASKPASS_REQUIRE", "never");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let no_ssh = |error: io::Error| GitError::NoSsh { why: error.kind().to_string() };
        let mut child = command.spawn().map_err(no_ssh)?;
        let (Some(input), Some(from), Some(complaints)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(GitError::NoSsh { why: "it has no pipes".to_owned() });
        };
        let complaint = Arc::<Mutex<Vec<u8>>>::default();
        let complained = listen(complaints, Arc::clone(&complaint));
        let output = BufReader::with_capacity(
            64 * 1024,
            Output {
                from,
                host: bare.to_owned(),
                stall: timeouts.stall,
                total: timeouts.total,
                begun: Instant::now(),
                left: DOWNLOAD_MAX,
                work: Arc::clone(work),
            },
        );
        Ok(Self { host: bare.to_owned(), url, child, input, output, complaint, complained })
    }

    /// Why nothing came at all, by what `ssh` or the program on the other side said.
    fn complaint(&self) -> GitError {
        // A connection that is shared with others keeps the channel open: what is there by then has to do.
        let _ = self.complained.recv_timeout(Duration::from_secs(1));
        let heard = words(&self.complaint.lock().unwrap_or_else(PoisonError::into_inner));
        let small = heard.to_lowercase();
        let gone =
            ["not found", "does not exist", "not appear to be a git", "no such file", "not a git repository"];
        if gone.iter().any(|words| small.contains(words)) && !small.contains("command not found") {
            return GitError::NotFound { url: self.url.clone() };
        }
        let why = if heard.is_empty() { "it ended without a word".to_owned() } else { heard };
        GitError::Ssh { host: self.host.clone(), why }
    }
}

impl Link for Connection {
    fn greeting(&mut self) -> Result<Box<dyn Read + '_>, GitError> {
        use std::io::BufRead as _;
        let empty = self.output.fill_buf().map_err(|error| GitError::from_io(&error))?.is_empty();
        if empty { Err(self.complaint()) } else { Ok(Box::new(&mut self.output)) }
    }

    fn ask(&mut self, request: &[u8]) -> Result<Box<dyn Read + '_>, GitError> {
        // Requests are far smaller than a pipe holds, so that this does not wait.
        if self.input.write_all(request).and_then(|()| self.input.flush()).is_err() {
            return Err(self.complaint());
        }
        Ok(Box::new(&mut self.output))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        kill_group(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Output {
    fn wait(&self) -> Result<(), GitError> {
        let begin = Instant::now();
        loop {
            self.work.go_on()?;
            let total = self.total.saturating_sub(self.begun.elapsed());
            let left = self.stall.saturating_sub(begin.elapsed()).min(total);
            if left.is_zero() {
                return Err(GitError::Timeout { host: self.host.clone() });
            }
            match wait_readable(&self.from, left.min(STEP)) {
                Ok(false) => {}
                Ok(true) => return Ok(()),
                Err(error) => return Err(GitError::io("reading from ssh", &error)),
            }
        }
    }
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait().map_err(io::Error::other)?;
        let count = self.from.read(buffer)?;
        let bytes = count as u64;
        self.left = self.left.checked_sub(bytes).ok_or_else(|| io::Error::other(GitError::TooLarge))?;
        self.work.add(bytes);
        Ok(count)
    }
}

/// Keeps the beginning of what is said, and reads on so that nobody waits for us.
fn listen(mut from: impl Read + Send + 'static, into: Arc<Mutex<Vec<u8>>>) -> Receiver<()> {
    let (done, complained) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let mut kept = into.lock().unwrap_or_else(PoisonError::into_inner);
            if (kept.len() as u64) < COMPLAINT_MAX {
                kept.extend_from_slice(&buffer[..count]);
            }
        }
        let _ = done.send(());
    });
    complained
}

/// For the shell of the other side, as git does it.
fn quoted(path: &str) -> String {
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
    fn a_path_is_one_word_for_the_other_side() {
        assert_eq!(quoted("/srv/x y"), "'/srv/x y'");
        assert_eq!(quoted("a'b!c"), "'a'\\''b'\\!'c'");
        let hostile = "x'; touch pwned; echo '$(id)`id`";
        let echoed =
            Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(hostile))).output().unwrap();
        assert_eq!(String::from_utf8(echoed.stdout).unwrap(), hostile);
    }
}
