//! Systems for which nobody has filled in a sandbox: every script is refused.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::refused::Refused;
use super::{Event, Sandbox, SandboxError, Tier};
use crate::options::Helper;

/// A script that is ready to begin. There is none here.
#[derive(Debug)]
pub enum Enforced {}

impl Enforced {
    /// The version of Landlock's interface.
    pub fn landlock(&self) -> u32 {
        match *self {}
    }

    /// Begins.
    pub fn spawn(self) -> Result<Running, SandboxError> {
        match self {}
    }
}

/// A script that runs. There is none here.
#[derive(Debug)]
pub enum Running {}

impl Running {
    /// Under which protection it runs.
    pub fn tier(&self) -> Tier {
        match *self {}
    }

    pub(crate) fn process(&self) -> u32 {
        match *self {}
    }

    pub(crate) fn private_scratch(&self) -> Option<BorrowedFd<'_>> {
        match *self {}
    }

    pub(crate) fn private_scratch_use(&self) -> Option<io::Result<(u64, u64)>> {
        match *self {}
    }

    /// Writes to its standard input.
    pub fn send(&mut self, _: &[u8]) {
        match *self {}
    }

    /// Ends its standard input.
    pub fn close_input(&mut self) {
        match *self {}
    }

    /// Whether it has closed its outputs.
    pub fn has_closed_output(&self) -> bool {
        match *self {}
    }

    /// Whether there is nothing more to come from it.
    pub fn is_silent(&self) -> bool {
        match *self {}
    }

    /// What happened since.
    pub fn next(&mut self, _: Duration) -> io::Result<Vec<Event>> {
        match *self {}
    }

    /// Ends it.
    pub fn kill(&mut self) {
        match *self {}
    }
}

pub(super) fn ways(_: &Helper) -> Vec<Box<dyn Sandbox>> {
    vec![Box::new(Refused)]
}

pub(super) fn unprotected(_: &Helper) -> Box<dyn Sandbox> {
    Box::new(Refused)
}

pub(crate) fn unused_user() -> Result<Option<u32>, SandboxError> {
    Ok(None)
}

pub(crate) fn may_enter(_: &Path, _: u32) -> bool {
    true
}

pub(crate) fn scratch_parent() -> PathBuf {
    std::env::temp_dir()
}
