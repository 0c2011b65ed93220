//! Systems for which nobody has filled in a sandbox: every script is refused.

use std::path::{Path, PathBuf};

use super::{Sandbox, SandboxError, Task, Tier};
use crate::script::options::Helper;

/// A script that is ready to begin. There is none here.
#[derive(Debug)]
pub enum Enforced {}

impl Enforced {
    /// Begins.
    pub fn spawn(self) -> Result<Running, SandboxError> {
        match self {}
    }
}

/// A script that runs. There is none here.
#[derive(Debug)]
pub enum Running {}

struct Refused;

impl Sandbox for Refused {
    fn tier(&self) -> Tier {
        Tier::Tier1
    }

    fn enforce(&self, _: &Task<'_>) -> Result<Enforced, SandboxError> {
        Err(SandboxError::new(
            Tier::Tier1,
            "there is no sandbox for this system yet; scripts run on Linux only",
        ))
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
