//! A server that is started here: a process of its own, in the home and not in the project, with few variables.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prowess::Surroundings;
use prowess_fs::{can_execute, in_own_group, kill_group};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// What every server is given of the environment.
const PASSED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// How much of what a server says on standard error is kept, for when it fails.
const STDERR_MAX: usize = 1_024;

/// How long a server may take to end once its input is closed.
const ENDING: Duration = Duration::from_millis(500);

/// The last words of a server on standard error.
#[derive(Debug, Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    /// Its last line, as it may be shown; `None` where it said nothing.
    pub(super) fn line(&self) -> Option<String> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(super::entry::shown(line))
    }
}

/// A process with everything it started. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Started {
    child: Child,
    pub(super) words: LastWords,
}

impl Started {
    /// Starts a server. Has to be called where a runtime is.
    pub(super) fn new(
        program: &str,
        args: &[String],
        env: &[String],
        world: &Surroundings,
        environment: &[(OsString, OsString)],
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let path = find(program, &world.path)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{program} is not on PATH")))?;
        let given = |name: &OsStr| {
            PASSED.iter().any(|known| name == *known) || env.iter().any(|known| name == known.as_str())
        };
        let mut command = Command::new(path);
        command.args(args).env_clear().envs(environment.iter().filter(|(name, _)| given(name)).cloned());
        // What lies in a project must not decide what a server of the user's does.
        command.current_dir(world.home.as_deref().filter(|home| home.is_dir()).unwrap_or(Path::new("/")));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = in_own_group(&mut command).spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let started = Self { child, words: LastWords::default() };
        let gone = || io::Error::other("its standard streams are not there");
        let stdin = ChildStdin::from_std(stdin.ok_or_else(gone)?)?;
        let stdout = ChildStdout::from_std(stdout.ok_or_else(gone)?)?;
        let stderr = ChildStderr::from_std(stderr.ok_or_else(gone)?)?;
        tokio::spawn(listen(stderr, started.words.clone()));
        Ok((started, stdout, stdin))
    }
}

/// Reads standard error to its end, lest the server waits for it, and keeps the last of it.
async fn listen(mut stderr: ChildStderr, words: LastWords) {
    let mut buffer = [0; 4_096];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = words.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..read]);
        let surplus = kept.len().saturating_sub(STDERR_MAX);
        kept.drain(..surplus);
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let until = Instant::now() + ENDING;
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // Whatever it started belongs to its group, and may have outlived it.
        kill_group(self.child.id());
        let _ = self.child.wait();
    }
}

/// The program of a name. Entries of `PATH` that depend on where one stands do not count.
fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    let runs = |file: &PathBuf| can_execute(file);
    if program.starts_with('/') {
        return Some(PathBuf::from(program)).filter(runs);
    }
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(runs)
}
