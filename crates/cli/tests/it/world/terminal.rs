//! A terminal that somebody answers at.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::fs::File;
use std::io::{Read, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::World;

/// How long somebody waits for a question before giving up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that runs on a terminal of its own.
pub struct Dialogue<'w> {
    world: &'w World,
    child: Child,
    master: File,
    coming: Receiver<Vec<u8>>,
    seen: String,
    /// Up to where it was answered.
    answered: usize,
}

impl<'w> Dialogue<'w> {
    pub fn start(world: &'w World, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 110, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap();
        let open = || File::options().read(true).write(true).open(path.to_str().unwrap()).unwrap();
        let mut command = world.command(args);
        let child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        let master = File::from(master);
        let mut reading = master.try_clone().unwrap();
        let (send, coming) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // On Linux, reading ends with an error once the other side is closed.
            while let Ok(count @ 1..) = reading.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { world, child, master, coming, seen: String::new(), answered: 0 }
    }

    /// Waits until this is asked.
    pub fn until(&mut self, question: &str) -> &mut Self {
        while !self.seen[self.answered..].contains(question) {
            match self.coming.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(why) => panic!("“{question}” never came ({why}); seen:\n{}", self.seen),
            }
        }
        self.answered = self.seen.len();
        self
    }

    /// Waits until this is seen after what was waited for before.
    pub fn then(&mut self, text: &str) -> &mut Self {
        let at = loop {
            if let Some(at) = self.seen[self.answered..].find(text) {
                break at;
            }
            match self.coming.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(why) => panic!("“{text}” never came ({why}); seen:\n{:?}", self.seen),
            }
        };
        self.answered += at + text.len();
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

    /// Whether the terminal takes whole lines and shows what is typed, as shells want it.
    pub fn is_cooked(&self) -> bool {
        use rustix::termios::{LocalModes, tcgetattr};
        tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// All that was seen so far.
    pub fn seen(&self) -> &str {
        &self.seen
    }

    pub fn id(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// All that was seen, and the exit code.
    pub fn end(&mut self) -> (String, i32) {
        let code = loop {
            match self.coming.recv_timeout(Duration::from_millis(50)) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Disconnected) => break self.child.wait().unwrap().code(),
                Err(RecvTimeoutError::Timeout) => match self.child.try_wait().unwrap() {
                    Some(status) => break status.code(),
                    None => continue,
                },
            }
        };
        while let Ok(bytes) = self.coming.recv_timeout(Duration::from_millis(50)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        let seen = self.seen.replace("\r\n", "\n");
        (self.world.filtered(&without_progress(&seen)), code.unwrap_or(-1))
    }

    /// The same as one text, for snapshots.
    pub fn whole(&mut self) -> String {
        let (seen, code) = self.end();
        format!("{seen}--- exit {code}\n")
    }
}

/// Without the line that tells how far it is, which comes only where it takes long.
fn without_progress(seen: &str) -> String {
    let parts: Vec<&str> = seen.split("\r\u{1b}[K").collect();
    let told = |(at, part): (usize, &&str)| match at + 1 < parts.len() && at > 0 {
        true => String::new(),
        false => (*part).to_owned(),
    };
    parts.iter().enumerate().map(told).collect()
}
