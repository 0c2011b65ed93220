//! A script that waits, and a script that runs.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, ChildStderr, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use crate::processes::children;
use crate::ran::Stream;
use crate::sandbox::{Event, SandboxError, Tier};
use crate::wire::{Said, begin, receive};

/// How long a watching helper may take to end everything before it is ended itself: longer than it tries, because
/// whatever is left then is nobody's.
const SWEEP: Duration = Duration::from_secs(12);

/// A script that is confined and waits for the word to begin. Only [`Sandbox::enforce`](crate::sandbox::Sandbox::enforce) makes one.
#[derive(Debug)]
pub struct Enforced {
    pub(super) landlock: u32,
    pub(super) running: Running,
}

impl Enforced {
    /// The version of Landlock's interface that is in force; 0 where none is.
    pub fn landlock(&self) -> u32 {
        self.landlock
    }

    /// Begins.
    pub fn spawn(mut self) -> Result<Running, SandboxError> {
        let tier = self.running.tier;
        let began = self.running.control.as_mut().map(begin);
        match began {
            Some(Ok(())) => Ok(self.running),
            Some(Err(error)) => Err(SandboxError::new(tier, error)),
            None => Err(SandboxError::new(tier, "the helper went away")),
        }
    }
}

/// A script that runs. Dropping it ends it, with everything it started.
#[derive(Debug)]
pub struct Running {
    pub(super) tier: Tier,
    pub(super) child: Child,
    pub(super) control: Option<File>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
    pub(super) input: Option<File>,
    pub(super) unsent: Vec<u8>,
    /// The scratch folder, where that is a file system of its own.
    pub(super) scratch: Option<OwnedFd>,
    pub(super) ended: bool,
}

impl Running {
    /// Under which protection it runs.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// The process that holds all of its others.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// The scratch folder, where that is a file system of its own.
    pub(crate) fn private_scratch(&self) -> Option<BorrowedFd<'_>> {
        self.scratch.as_ref().map(AsFd::as_fd)
    }

    /// Returns how many bytes and entries are in use in a scratch folder that is a file system of its own, by the
    /// kernel's count: files that have no name any more are part of it.
    pub(crate) fn private_scratch_use(&self) -> Option<io::Result<(u64, u64)>> {
        let scratch = self.scratch.as_ref()?;
        Some(rustix::fs::fstatfs(scratch).map_err(io::Error::from).map(|stat| {
            let block = u64::try_from(stat.f_bsize).unwrap_or(4096);
            let bytes = stat.f_blocks.saturating_sub(stat.f_bfree).saturating_mul(block);
            (bytes, stat.f_files.saturating_sub(stat.f_ffree))
        }))
    }

    /// Sends it something. It goes out while [`next`](Self::next) waits, as fast as it is read.
    pub fn send(&mut self, bytes: &[u8]) {
        if self.input.is_some() {
            self.unsent.extend_from_slice(bytes);
        }
    }

    /// Tells it that nothing more will come.
    pub fn close_input(&mut self) {
        self.input = None;
        self.unsent.clear();
    }

    /// Whether nothing more will come from its standard output.
    pub fn has_closed_output(&self) -> bool {
        self.stdout.is_none()
    }

    /// Whether there is nothing more to hear of it.
    pub fn is_silent(&self) -> bool {
        self.control.is_none() && self.stdout.is_none() && self.stderr.is_none()
    }

    /// Waits for something to happen, not longer than this.
    pub fn next(&mut self, wait: Duration) -> io::Result<Vec<Event>> {
        let mut ready = [false; 4];
        {
            let fds = [
                self.control.as_ref().map(AsFd::as_fd),
                self.stdout.as_ref().map(AsFd::as_fd),
                self.stderr.as_ref().map(AsFd::as_fd),
                self.input.as_ref().filter(|_| !self.unsent.is_empty()).map(AsFd::as_fd),
            ];
            let mut at = Vec::new();
            let mut polled = Vec::new();
            for (index, fd) in fds.iter().enumerate() {
                if let Some(fd) = fd {
                    at.push(index);
                    let flags = if index == 3 { PollFlags::OUT } else { PollFlags::IN };
                    polled.push(PollFd::from_borrowed_fd(*fd, flags));
                }
            }
            let timeout = Timespec::try_from(wait).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
            match poll(&mut polled, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for (index, polled) in at.iter().zip(&polled) {
                ready[*index] = !polled.revents().is_empty();
            }
        }
        let mut events = Vec::new();
        let [control, stdout, stderr, input] = ready;
        if input {
            self.write();
        }
        if stdout {
            take(&mut self.stdout, Stream::Out, &mut events);
        }
        if stderr {
            take(&mut self.stderr, Stream::Err, &mut events);
        }
        if control && let Some(socket) = &mut self.control {
            match receive(socket) {
                Ok(Said::NotStarted(why) | Said::Refused(why)) => events.push(Event::NotStarted(why)),
                Ok(Said::Exited { code, signal, left }) => events.push(Event::Exited { code, signal, left }),
                Ok(Said::Enforced { .. } | Said::Scratch) => {}
                Err(_) => self.control = None,
            }
        }
        Ok(events)
    }

    /// Writes what the pipe takes now.
    fn write(&mut self) {
        let Some(input) = &mut self.input else { return };
        match input.write(&self.unsent) {
            Ok(count) => drop(self.unsent.drain(..count)),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            // It does not read any more. That is its own affair, until it is asked for an answer.
            Err(_) => self.close_input(),
        }
    }

    /// Ends it and everything it started.
    pub fn kill(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        match self.tier {
            // The namespace goes with its first process, which bubblewrap waits for: when that has ended, all have.
            Tier::Tier1 => {
                for first in children(self.child.id()) {
                    let first = i32::try_from(first).ok().and_then(rustix::process::Pid::from_raw);
                    let _ = first.map(|first| rustix::process::kill_process(first, Signal::KILL));
                }
            }
            // The watching helper ends the others first, when it is no longer listened to.
            Tier::Tier2 | Tier::None => {
                if let Some(control) = &self.control {
                    let _ = rustix::net::shutdown(control, rustix::net::Shutdown::Write);
                }
            }
        }
        let begun = Instant::now();
        while begun.elapsed() < SWEEP && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

fn take(from: &mut Option<impl Read>, stream: Stream, events: &mut Vec<Event>) {
    let mut buffer = vec![0; 64 * 1024];
    match from.as_mut().map(|from| from.read(&mut buffer)) {
        Some(Ok(count)) if count > 0 => {
            buffer.truncate(count);
            events.push(Event::Output(stream, buffer));
        }
        Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
        _ => *from = None,
    }
}
