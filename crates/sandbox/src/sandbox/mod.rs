//! Where scripts run: what can be enforced here, and enforcing it.
//!
//! What must always hold: a script is started only by [`Enforced::spawn`], and an [`Enforced`] comes only from
//! [`Sandbox::enforce`], when the processes that will run the script have reported that every layer holds. There is no
//! probing and trusting: what was confined is what runs.

#[cfg(any(not(target_os = "linux"), prowess_portable))]
mod elsewhere;
#[cfg(all(target_os = "linux", not(prowess_portable)))]
mod linux;
pub(crate) mod places;
#[cfg(any(not(target_os = "linux"), prowess_portable, test))]
mod refused;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

#[cfg(any(not(target_os = "linux"), prowess_portable))]
use elsewhere as system;
#[cfg(all(target_os = "linux", not(prowess_portable)))]
use linux as system;

pub use system::{Enforced, Running};
pub(crate) use system::{may_enter, scratch_parent, unused_user};

use super::Limits;
use super::options::{Feed, Helper, Network};
use super::ran::Stream;
pub use super::ran::Tier;

/// What happened to a script.
#[derive(Debug)]
pub enum Event {
    /// It wrote something.
    Output(Stream, Vec<u8>),
    /// It could not be started.
    NotStarted(String),
    /// It ended by itself, and left some processes behind.
    Exited {
        /// What it ended with.
        code: Option<i32>,
        /// What ended it.
        signal: Option<i32>,
        /// How many processes.
        left: u32,
    },
}

/// What is to run, and what it may reach.
#[derive(Debug)]
pub struct Task<'a> {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, OsString)>,
    /// The skill's files, where the script runs.
    pub(crate) skill: &'a Path,
    /// The scratch folder.
    pub(crate) scratch: &'a Path,
    /// What may be read besides the system.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) limits: &'a Limits,
    pub(crate) network: Network,
    pub(crate) input: Feed,
    /// Whom to become, where Prowess is root.
    pub(crate) user: Option<u32>,
}

/// A way to confine a script. Another system fills this in.
pub trait Sandbox {
    /// Which protection it gives.
    fn tier(&self) -> Tier;

    /// Gets everything ready for a task and confines it, up to the word to begin.
    fn enforce(&self, task: &Task<'_>) -> Result<Enforced, SandboxError>;
}

/// Why a sandbox could not be enforced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{tier} cannot be enforced: {why}")]
pub struct SandboxError {
    /// Which.
    pub tier: Tier,
    /// Why not.
    pub why: String,
}

impl SandboxError {
    pub(crate) fn new(tier: Tier, why: impl fmt::Display) -> Self {
        Self { tier, why: why.to_string() }
    }
}

/// The ways to confine a script here, the best first.
pub(crate) fn ways(helper: &Helper, only: Option<Tier>) -> Vec<Box<dyn Sandbox>> {
    let mut ways = system::ways(helper);
    ways.retain(|way| only.is_none_or(|only| way.tier() == only));
    ways
}

/// No confinement at all: the limits, the cleared environment and the end of everything are kept.
pub(crate) fn unprotected(helper: &Helper) -> Box<dyn Sandbox> {
    system::unprotected(helper)
}
