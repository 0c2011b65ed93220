//! Systems without a sandbox: every script is refused.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::refusing::RefusingSandbox;
use super::{ProcessEvent, Sandbox, SandboxError, SandboxTier};
use crate::options::SandboxHelper;

/// A confined script that is ready to start. It does not exist on this system.
#[derive(Debug)]
pub enum Enforced {}

impl Enforced {
    /// Returns the ABI version of Landlock.
    pub fn landlock(&self) -> u32 {
        match *self {}
    }

    /// Starts the script.
    pub fn spawn(self) -> Result<SandboxedProcess, SandboxError> {
        match self {}
    }
}

/// A running script. It does not exist on this system.
#[derive(Debug)]
pub enum SandboxedProcess {}

impl SandboxedProcess {
    /// Returns the protection under which the script runs.
    pub fn tier(&self) -> SandboxTier {
        match *self {}
    }

    pub(crate) fn root_pid(&self) -> u32 {
        match *self {}
    }

    pub(crate) fn private_dirs(&self) -> &[OwnedFd] {
        match *self {}
    }

    pub(crate) fn private_usage(&self) -> Option<io::Result<(u64, u64)>> {
        match *self {}
    }

    /// Writes to the standard input.
    pub fn send(&mut self, _: &[u8]) {
        match *self {}
    }

    /// Closes the standard input.
    pub fn close_input(&mut self) {
        match *self {}
    }

    /// Returns `true` if the standard output is closed.
    pub fn has_closed_output(&self) -> bool {
        match *self {}
    }

    /// Returns `true` if there is no more output and no more events.
    pub fn is_finished(&self) -> bool {
        match *self {}
    }

    /// Waits for events.
    pub fn next_events(&mut self, _: Duration) -> io::Result<Vec<ProcessEvent>> {
        match *self {}
    }

    /// Kills the script.
    pub fn kill(&mut self) {
        match *self {}
    }
}

pub(super) fn backends(_: &SandboxHelper) -> Vec<Box<dyn Sandbox>> {
    vec![Box::new(RefusingSandbox)]
}

pub(super) fn unprotected(_: &SandboxHelper) -> Box<dyn Sandbox> {
    Box::new(RefusingSandbox)
}

pub(crate) fn unused_user() -> Result<Option<u32>, SandboxError> {
    Ok(None)
}

pub(crate) fn others_can_access(_: &Path) -> bool {
    true
}

pub(crate) fn scratch_parent() -> PathBuf {
    std::env::temp_dir()
}
