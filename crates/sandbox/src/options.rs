//! How a script is to be run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use prowess::policy::Policy;
use prowess::{Registry, Surroundings};

use super::Limits;
use super::ran::Stream;
use super::ran::Tier;

/// Whether a script reaches the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// It does not.
    Off,
    /// It does.
    On,
}

/// What a script reads from standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Input {
    /// Nothing.
    #[default]
    Nothing,
    /// These bytes.
    Bytes(Vec<u8>),
}

/// What becomes of standard input.
#[derive(Debug, Clone)]
pub(crate) enum Feed {
    /// It is all there before anything begins.
    Given(Input),
    /// It stays open, for those who talk to the script.
    Open,
}

/// How a script is confined and fed.
#[derive(Debug, Clone)]
pub(crate) struct Means {
    pub(crate) limits: Limits,
    pub(crate) protection: Protection,
    pub(crate) helper: Helper,
    pub(crate) feed: Feed,
}

/// Whether the user was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consent {
    /// No: the configuration decides.
    #[default]
    Configured,
    /// Yes, and said that this one script may run now.
    Given,
}

/// Whether a script is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protection {
    /// As well as this machine can, and not at all where it cannot.
    #[default]
    Required,
    /// In exactly this way.
    Only(Tier),
    /// Not at all: it may do whatever this user may. No configuration can say so, only a caller.
    Unsafe,
}

/// The program that becomes the sandbox's helper.
#[derive(Debug, Clone, Default)]
pub struct Helper {
    path: Option<PathBuf>,
    /// For tests: as on a kernel that cannot keep signals inside.
    #[doc(hidden)]
    pub deny_signals: bool,
}

impl Helper {
    /// This program, which calls [`helper_main`](super::helper_main) first thing.
    pub fn own() -> Self {
        Self::default()
    }

    /// Another program that does.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    #[cfg(all(target_os = "linux", not(prowess_portable)))]
    pub(crate) fn path(&self) -> Result<PathBuf, String> {
        match &self.path {
            Some(path) => Ok(path.clone()),
            // A program that does not know the helper's argument would do something else altogether.
            None if !super::helper::is_ready() => {
                Err("this program does not call helper_main, and names no other helper".to_owned())
            }
            None => Ok(PathBuf::from("/proc/self/exe")),
        }
    }
}

/// Ends a run from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// The run is to end, with everything it started.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

/// Where partial output goes.
pub type OnOutput<'a> = Box<dyn FnMut(Stream, &[u8]) + 'a>;

/// How a script is to be run.
pub struct Options<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) world: &'a Surroundings,
    /// The limits; those of the policy unless changed.
    pub limits: Limits,
    /// Whether the user was asked.
    pub consent: Consent,
    /// Whether the script is confined.
    pub protection: Protection,
    /// Whether it reaches the network; the configuration decides where nobody says so.
    pub network: Option<Network>,
    /// What it reads.
    pub input: Input,
    /// The variables that could be granted. Only those are passed that the skill names and the user grants.
    pub environment: Vec<(OsString, OsString)>,
    /// Where partial output goes.
    pub on_output: Option<OnOutput<'a>>,
    /// What ends it early.
    pub cancel: Cancel,
    /// The helper.
    pub helper: Helper,
    /// Where the run is recorded; none where nobody wants to know.
    pub log: Option<PathBuf>,
}

impl<'a> Options<'a> {
    pub(crate) fn means(&self, feed: Feed) -> Means {
        Means { limits: self.limits.clone(), protection: self.protection, helper: self.helper.clone(), feed }
    }

    /// As a registry's policy and world say, recorded in the user's state. No variables can be granted until
    /// [`environment`](Self::environment) holds some.
    pub fn of(registry: &'a Registry) -> Self {
        Self::new(registry.policy(), registry.surroundings())
    }

    /// As a policy and a world say.
    pub fn new(policy: &'a Policy, world: &'a Surroundings) -> Self {
        Self {
            policy,
            world,
            limits: policy.run.limits.clone(),
            consent: Consent::default(),
            protection: Protection::default(),
            network: None,
            input: Input::default(),
            environment: Vec::new(),
            on_output: None,
            cancel: Cancel::default(),
            helper: Helper::own(),
            log: super::log::path(world),
        }
    }
}
