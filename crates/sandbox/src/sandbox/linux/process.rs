//! Confined and running processes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStderr, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::forward::PortForwarder;
use crate::processes::children;
use crate::result::OutputStream;
use crate::sandbox::{ProcessEvent, SandboxError, SandboxTier};
use crate::wire::{HelperMessage, receive, send_start};

/// How long the helper may take to kill all processes before it is killed itself. This is longer than the helper tries,
/// because processes that still run then would never be killed.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(12);

/// A confined script that waits for the start signal. Returned only by
/// [`Sandbox::enforce`](crate::sandbox::Sandbox::enforce).
#[derive(Debug)]
pub struct Enforced {
    pub(super) landlock: u32,
    pub(super) process: SandboxedProcess,
}

impl Enforced {
    /// Returns the ABI version of Landlock that is in force, or 0.
    pub fn landlock(&self) -> u32 {
        self.landlock
    }

    /// Starts the script.
    pub fn spawn(mut self) -> Result<SandboxedProcess, SandboxError> {
        let tier = self.process.tier;
        let result = self.process.control.as_mut().map(send_start);
        match result {
            Some(Ok(())) => Ok(self.process),
            Some(Err(error)) => Err(SandboxError::new(tier, error)),
            None => Err(SandboxError::new(tier, "the helper exited")),
        }
    }
}

/// A running script. Dropping it kills the script and everything it started.
#[derive(Debug)]
pub struct SandboxedProcess {
    pub(super) tier: SandboxTier,
    pub(super) child: Child,
    pub(super) control: Option<File>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
    pub(super) input: Option<File>,
    pub(super) unsent: Vec<u8>,
    /// The directories that are file systems of their own, the scratch directory first.
    pub(super) private_dirs: Vec<OwnedFd>,
    /// Forwards connections, if the script has a network of its own with a gateway.
    pub(super) forwarder: Option<PortForwarder>,
    pub(super) ended: bool,
}

impl SandboxedProcess {
    /// Returns the protection under which the script runs.
    pub fn tier(&self) -> SandboxTier {
        self.tier
    }

    /// Returns the id of the process whose descendants belong to the script.
    pub(crate) fn root_pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the directories that are file systems of their own, the scratch directory first.
    pub(crate) fn private_dirs(&self) -> &[OwnedFd] {
        &self.private_dirs
    }

    /// Returns the bytes and entries in use in the scratch directory and in shared memory, if they are file systems of their
    /// own. The kernel's count includes deleted files.
    pub(crate) fn private_usage(&self) -> Option<io::Result<(u64, u64)>> {
        if self.private_dirs.is_empty() {
            return None;
        }
        let add = |(bytes, entries): (u64, u64), dir: &OwnedFd| {
            let stat = rustix::fs::fstatfs(dir)?;
            let block = u64::try_from(stat.f_bsize).unwrap_or(4096);
            let used = stat.f_blocks.saturating_sub(stat.f_bfree).saturating_mul(block);
            Ok((bytes.saturating_add(used), entries + stat.f_files.saturating_sub(stat.f_ffree)))
        };
        Some(self.private_dirs.iter().try_fold((0, 0), add))
    }

    /// Queues input. It is written while [`next_events`](Self::next_events) waits, as fast as the script reads.
    pub fn send(&mut self, bytes: &[u8]) {
        if self.input.is_some() {
            self.unsent.extend_from_slice(bytes);
        }
    }

    /// Closes the standard input.
    pub fn close_input(&mut self) {
        self.input = None;
        self.unsent.clear();
    }

    /// Returns `true` if the standard output is closed.
    pub fn has_closed_output(&self) -> bool {
        self.stdout.is_none()
    }

    /// Returns `true` if there is no more output and no more events.
    pub fn is_finished(&self) -> bool {
        self.control.is_none() && self.stdout.is_none() && self.stderr.is_none()
    }

    /// Waits for events, at most for this duration.
    pub fn next_events(&mut self, wait: Duration) -> io::Result<Vec<ProcessEvent>> {
        let mut ready = [false; 4];
        {
            let fds = [
                self.control.as_ref().map(AsFd::as_fd),
                self.stdout.as_ref().map(AsFd::as_fd),
                self.stderr.as_ref().map(AsFd::as_fd),
                self.input.as_ref().filter(|_| !self.unsent.is_empty()).map(AsFd::as_fd),
            ];
            let mut indices = Vec::new();
            let mut polled = Vec::new();
            for (index, fd) in fds.iter().enumerate() {
                if let Some(fd) = fd {
                    indices.push(index);
                    let flags = if index == 3 { PollFlags::OUT } else { PollFlags::IN };
                    polled.push(PollFd::from_borrowed_fd(*fd, flags));
                }
            }
            let timeout = Timespec::try_from(wait).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
            match poll(&mut polled, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for (index, polled) in indices.iter().zip(&polled) {
                ready[*index] = !polled.revents().is_empty();
            }
        }
        let mut events = Vec::new();
        let [control, stdout, stderr, input] = ready;
        if input {
            self.write_input();
        }
        if stdout {
            read_output(&mut self.stdout, OutputStream::Out, &mut events);
        }
        if stderr {
            read_output(&mut self.stderr, OutputStream::Err, &mut events);
        }
        if control && let Some(socket) = &mut self.control {
            match receive(socket) {
                Ok(HelperMessage::NotStarted(reason) | HelperMessage::Refused(reason)) => {
                    events.push(ProcessEvent::NotStarted(reason))
                }
                Ok(HelperMessage::Exited { code, signal, left }) => {
                    events.push(ProcessEvent::Exited { code, signal, left_behind: left })
                }
                Ok(HelperMessage::Enforced { .. } | HelperMessage::PrivateDir | HelperMessage::Listener) => {}
                Err(_) => self.control = None,
            }
        }
        Ok(events)
    }

    /// Writes queued input without blocking.
    fn write_input(&mut self) {
        let Some(input) = &mut self.input else { return };
        match input.write(&self.unsent) {
            Ok(count) => drop(self.unsent.drain(..count)),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            // The script no longer reads, which is not an error here.
            Err(_) => self.close_input(),
        }
    }

    /// Kills the script and everything it started.
    pub fn kill(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        match self.tier {
            // The namespace ends with its first process. Bubblewrap waits for it, so all processes have ended then.
            SandboxTier::Tier1 => {
                for first in children(self.child.id()) {
                    let first = i32::try_from(first).ok().and_then(rustix::process::Pid::from_raw);
                    let _ = first.map(|first| rustix::process::kill_process(first, Signal::KILL));
                }
            }
            // The helper kills the other processes when its socket is closed.
            SandboxTier::Tier2 | SandboxTier::None => {
                if let Some(control) = &self.control {
                    let _ = rustix::net::shutdown(control, rustix::net::Shutdown::Write);
                }
            }
        }
        let started = Instant::now();
        while started.elapsed() < SWEEP_TIMEOUT && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.forwarder = None;
    }
}

impl Drop for SandboxedProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read_output(from: &mut Option<impl Read>, stream: OutputStream, events: &mut Vec<ProcessEvent>) {
    let mut buffer = vec![0; 64 * 1024];
    match from.as_mut().map(|from| from.read(&mut buffer)) {
        Some(Ok(count)) if count > 0 => {
            buffer.truncate(count);
            events.push(ProcessEvent::Output(stream, buffer));
        }
        Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
        _ => *from = None,
    }
}
