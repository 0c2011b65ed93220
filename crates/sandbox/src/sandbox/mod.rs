//! The sandbox: what this system can enforce, and enforcing it.
//!
//! Invariant: a script is started only by [`Enforced::spawn`], and an [`Enforced`] is returned only by
//! [`Sandbox::enforce`], after the processes that will run the script have reported that every layer is in force. There
//! is no separate probe: the confined process is the one that runs.

#[cfg(all(target_os = "linux", not(prowess_portable)))]
mod linux;
#[cfg(any(not(target_os = "linux"), prowess_portable, test))]
mod refusing;
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
use super::options::{InputSource, NetworkAccess, Protection, SandboxHelper};
use super::result::OutputStream;
pub use super::result::SandboxTier;
use super::workspace::PathMap;

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
    /// The arguments, in which paths of the user refer to the copies.
    pub(crate) arguments: TaskArguments<'a>,
    /// The environment, without `HOME` and `TMPDIR`.
    pub(crate) environment: Vec<(String, OsString)>,
    /// The files of the skill.
    pub(crate) skill: &'a Path,
    /// Copies of files of the user. The first one is the current directory if it is writable, otherwise that is the skill.
    pub(crate) copies: &'a [FileCopy],
    /// The scratch directory.
    pub(crate) scratch: &'a Path,
    /// Where a namespace has the scratch directory.
    pub(crate) scratch_location: ScratchLocation,
    /// Readable paths besides the system directories.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) limits: &'a Limits,
    pub(crate) network: NetworkAccess,
    pub(crate) input: InputSource,
    /// The user to become, if Prowess is root.
    pub(crate) user: Option<u32>,
}

/// The arguments of a program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskArguments<'a> {
    /// Arguments that are passed unchanged.
    pub(crate) fixed: &'a [String],
    /// Arguments of the user, which follow.
    pub(crate) user: &'a [String],
    /// The directory that relative paths of the user refer to.
    pub(crate) current_dir: Option<&'a Path>,
}

/// Where a namespace has the scratch directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScratchLocation {
    /// At `/tmp`, where programs expect to write.
    Tmp,
    /// At its own path.
    Unchanged,
}

/// A copy of a file or directory of the user, which a script accesses in its place.
#[derive(Debug, Clone)]
pub(crate) struct FileCopy {
    /// The path as the user typed it.
    pub(crate) typed: PathBuf,
    /// The resolved path. In a mount namespace, the copy is there.
    pub(crate) path: PathBuf,
    /// The path of the copy.
    pub(crate) copy: PathBuf,
    /// Whether the script may change it.
    pub(crate) writable: bool,
}

/// Where a script sees the copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyLocation {
    /// At the paths of the user.
    UserPath,
    /// Where the copies are.
    CopyPath,
}

impl FileCopy {
    /// Returns the path at which the script sees the copy.
    pub(crate) fn inside(&self, location: CopyLocation) -> &Path {
        match location {
            CopyLocation::UserPath => &self.path,
            CopyLocation::CopyPath => &self.copy,
        }
    }
}

impl SandboxTask<'_> {
    /// Returns the arguments for a script that sees the copies at `location`.
    pub(crate) fn arguments_at(&self, location: CopyLocation) -> Vec<String> {
        let workspace = self.workspace().map(|copy| copy.copy.as_path());
        let mut paths = PathMap::new(self.arguments.current_dir, workspace);
        for copy in self.copies {
            paths.add([&copy.typed, &copy.path], copy.inside(location));
        }
        let user = self.arguments.user.iter().map(|argument| paths.translate(argument));
        self.arguments.fixed.iter().cloned().chain(user).collect()
    }

    /// Returns the workspace, if the script has one.
    pub(crate) fn workspace(&self) -> Option<&FileCopy> {
        self.copies.first().filter(|copy| copy.writable)
    }

    /// Returns the current directory of a script that sees the copies at `location`.
    pub(crate) fn directory(&self, location: CopyLocation) -> &Path {
        self.workspace().map_or(self.skill, |copy| copy.inside(location))
    }
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

/// Enforces the best available protection for a task. Also returns why better ones failed; fails with all reasons if there is
/// none.
pub(crate) fn enforce(
    task: &SandboxTask<'_>,
    protection: Protection,
    helper: &SandboxHelper,
) -> Result<(Enforced, Vec<SandboxError>), Vec<SandboxError>> {
    let backends = match protection {
        Protection::Required => backends(helper, None),
        Protection::Only(tier) => backends(helper, Some(tier)),
        Protection::Unsafe => vec![unprotected(helper)],
    };
    let mut errors = Vec::new();
    for backend in backends {
        match backend.enforce(task) {
            Ok(enforced) => return Ok((enforced, errors)),
            Err(error) => errors.push(error),
        }
    }
    Err(errors)
}

/// Returns the available sandboxes, best first.
pub(crate) fn backends(helper: &SandboxHelper, only: Option<SandboxTier>) -> Vec<Box<dyn Sandbox>> {
    let mut backends = system::backends(helper);
    backends.retain(|backend| only.is_none_or(|only| backend.tier() == only));
    backends
}

/// Returns a sandbox without confinement: only the limits, the cleared environment and the cleanup apply.
fn unprotected(helper: &SandboxHelper) -> Box<dyn Sandbox> {
    system::unprotected(helper)
}
