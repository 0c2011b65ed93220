//! A pseudo-terminal with scripted input.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::fs::File;
use std::io::{Read, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::TestEnv;

/// The maximum time to wait for output.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A command that runs on its own terminal.
pub struct TerminalSession<'w> {
    env: &'w TestEnv,
    child: Child,
    master: File,
    receiver: Receiver<Vec<u8>>,
    seen: String,
    /// The end of the output that was already matched.
    answered: usize,
}

impl<'w> TerminalSession<'w> {
    pub fn start(env: &'w TestEnv, args: &[&str]) -> Self {
        Self::start_after_typing(env, "", args)
    }

    /// Starts a command on a terminal on which these lines were typed before.
    pub fn start_after_typing(env: &'w TestEnv, lines: &str, args: &[&str]) -> Self {
        // The command must not hold its own terminal open.
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 110, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap();
        let open = || File::options().read(true).write(true).open(path.to_str().unwrap()).unwrap();
        let mut master = File::from(master);
        let terminal = open();
        if !lines.is_empty() {
            master.write_all(lines.as_bytes()).unwrap();
            // The lines must have arrived.
            let mut input = [PollFd::new(&terminal, PollFlags::IN)];
            assert_eq!(poll(&mut input, None).unwrap(), 1);
        }
        let mut command = env.command(args);
        let child = command.stdin(terminal).stdout(open()).stderr(open()).spawn().unwrap();
        let mut reading = master.try_clone().unwrap();
        let (send, receiver) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // On Linux, reading fails when the other side is closed.
            while let Ok(count @ 1..) = reading.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { env, child, master, receiver, seen: String::new(), answered: 0 }
    }

    /// Waits for a text and skips all output so far.
    pub fn until(&mut self, text: &str) -> &mut Self {
        while !self.seen[self.answered..].contains(text) {
            match self.receiver.recv_timeout(TIMEOUT) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("“{text}” never came ({error}); seen:\n{}", self.seen),
            }
        }
        self.answered = self.seen.len();
        self
    }

    /// Waits for a text after the previous match.
    pub fn then(&mut self, text: &str) -> &mut Self {
        let position = loop {
            if let Some(position) = self.seen[self.answered..].find(text) {
                break position;
            }
            match self.receiver.recv_timeout(TIMEOUT) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("“{text}” never came ({error}); seen:\n{:?}", self.seen),
            }
        };
        self.answered += position + text.len();
        self
    }

    /// Types a line.
    pub fn answer(&mut self, line: &str) -> &mut Self {
        self.master.write_all(format!("{line}\n").as_bytes()).unwrap();
        self
    }

    /// Presses keys, without Enter.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        self.master.write_all(keys.as_bytes()).unwrap();
        self
    }

    /// Returns `true` if the terminal is in canonical mode with echo.
    pub fn is_cooked(&self) -> bool {
        use rustix::termios::{LocalModes, tcgetattr};
        tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Returns the output so far.
    pub fn seen(&self) -> &str {
        &self.seen
    }

    pub fn id(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Waits for the exit and returns the output and the exit code.
    pub fn end(&mut self) -> (String, i32) {
        let code = loop {
            match self.receiver.recv_timeout(Duration::from_millis(50)) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Disconnected) => break self.child.wait().unwrap().code(),
                Err(RecvTimeoutError::Timeout) => match self.child.try_wait().unwrap() {
                    Some(status) => break status.code(),
                    None => continue,
                },
            }
        };
        while let Ok(bytes) = self.receiver.recv_timeout(Duration::from_millis(50)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        let seen = self.seen.replace("\r\n", "\n");
        (self.env.redact(&without_progress(&seen)), code.unwrap_or(-1))
    }

    /// Returns output and exit code as text, for snapshots.
    pub fn transcript(&mut self) -> String {
        let (seen, code) = self.end();
        format!("{seen}--- exit {code}\n")
    }
}

/// A command that waits for an answer must not outlive a failed test.
impl Drop for TerminalSession<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Removes the progress line, which is shown only if a command takes long. Other output ends with a line break.
fn without_progress(seen: &str) -> String {
    let mut parts = seen.split("\r\u{1b}[K");
    let first = parts.next().unwrap_or_default();
    std::iter::once(first).chain(parts.filter(|part| part.contains('\n'))).collect()
}
