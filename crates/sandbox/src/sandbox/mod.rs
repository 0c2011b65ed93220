//! The sandbox: what this system can enforce, and enforcing it.
//!
//! Invariant: a script is started only by [`Enforced::spawn`], and an [`Enforced`] is returned only by
//! [`Sandbox::enforce`], after the processes that will run the script have reported that every layer is in force. There
//! is no separate probe: the confined process is the one that runs.

#[cfg(all(target_os = "linux", not(prowess_portable)))]
mod linux;
#[cfg(any(not(target_os = "linux"), prowess_portable, test))]
mod refusing;
pub(crate) mod system_paths;
#[cfg(any(not(target_os = "linux"), prowess_portable))]
mod unsupported;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

#[cfg(all(target_os = "linux", not(prowess_portable)))]
use linux as system;
#[cfg(any(not(target_os = "linux"), prowess_portable))]
use unsupported as system;

pub use system::{Enforced, SandboxedProcess};
pub(crate) use system::{others_can_access, scratch_parent, unused_user};

use super::Limits;
use super::options::{InputSource, NetworkAccess, SandboxHelper};
use super::result::OutputStream;
pub use super::result::SandboxTier;

/// An event of a running script.
#[derive(Debug)]
pub enum ProcessEvent {
    /// The script wrote output.
    Output(OutputStream, Vec<u8>),
    /// The script could not be started.
    NotStarted(String),
    /// The script exited.
    Exited {
        /// The exit code.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// How many processes it left behind.
        left_behind: u32,
    },
}

/// What to run, and what it may access.
#[derive(Debug)]
pub struct SandboxTask<'a> {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, OsString)>,
    /// The files of the skill, which are the working directory.
    pub(crate) skill: &'a Path,
    /// The scratch directory.
    pub(crate) scratch: &'a Path,
    /// Readable paths besides the system directories.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) limits: &'a Limits,
    pub(crate) network: NetworkAccess,
    pub(crate) input: InputSource,
    /// The user to become, if Prowess is root.
    pub(crate) user: Option<u32>,
}

/// A way to confine a script. Other systems implement this trait.
pub trait Sandbox {
    /// Returns the protection that it provides.
    fn tier(&self) -> SandboxTier;

    /// Prepares and confines a task, up to the start signal.
    fn enforce(&self, task: &SandboxTask<'_>) -> Result<Enforced, SandboxError>;
}

/// Why a sandbox could not be enforced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{tier} cannot be enforced: {reason}")]
pub struct SandboxError {
    /// The protection.
    pub tier: SandboxTier,
    /// The reason.
    pub reason: String,
}

impl SandboxError {
    pub(crate) fn new(tier: SandboxTier, reason: impl fmt::Display) -> Self {
        Self { tier, reason: reason.to_string() }
    }
}

/// Returns the available sandboxes, best first.
pub(crate) fn backends(helper: &SandboxHelper, only: Option<SandboxTier>) -> Vec<Box<dyn Sandbox>> {
    let mut backends = system::backends(helper);
    backends.retain(|backend| only.is_none_or(|only| backend.tier() == only));
    backends
}

/// Returns a sandbox without confinement: only the limits, the cleared environment and the cleanup apply.
pub(crate) fn unprotected(helper: &SandboxHelper) -> Box<dyn Sandbox> {
    system::unprotected(helper)
}
