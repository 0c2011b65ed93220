//! Options of a run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use prowess::policy::Policy;
use prowess::{HostEnv, Registry};

use super::Limits;
pub use super::network::NetworkAccess;
use super::result::OutputStream;
use super::result::SandboxTier;
use super::workspace::Workspace;

/// The standard input of a script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ScriptInput {
    /// Empty.
    #[default]
    Empty,
    /// These bytes.
    Bytes(Vec<u8>),
}

/// How standard input is provided.
#[derive(Debug, Clone)]
pub(crate) enum InputSource {
    /// All input is known in advance.
    Complete(ScriptInput),
    /// The input stays open for messages from the caller.
    Open,
}

/// How a script is confined and provided with input.
#[derive(Debug, Clone)]
pub(crate) struct RunSetup {
    pub(crate) limits: Limits,
    pub(crate) protection: Protection,
    pub(crate) helper: SandboxHelper,
    pub(crate) input: InputSource,
}

/// Whether the user was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Consent {
    /// Not asked: the configuration decides.
    #[default]
    Configured,
    /// The user allowed this one script to run now.
    Given,
    /// The user allowed this one script to run now, if the files of the skill have this tree hash.
    GivenAt(String),
}

/// Whether a script is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protection {
    /// Use the best protection of this machine; fail if there is none.
    #[default]
    Required,
    /// Use exactly this protection.
    Only(SandboxTier),
    /// No protection: the script may do everything the user may. Only a caller can choose this, not the configuration.
    Unsafe,
}

/// The program that acts as the sandbox helper.
#[derive(Debug, Clone, Default)]
pub struct SandboxHelper {
    path: Option<PathBuf>,
    /// For tests: behave as on a kernel that cannot confine signals.
    #[doc(hidden)]
    pub deny_signals: bool,
}

impl SandboxHelper {
    /// Uses this program, which must call [`helper_main`](super::helper_main) first.
    pub fn current_exe() -> Self {
        Self::default()
    }

    /// Uses another program that calls [`helper_main`](super::helper_main).
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    #[cfg(all(target_os = "linux", not(prowess_portable)))]
    pub(crate) fn path(&self) -> Result<PathBuf, String> {
        match &self.path {
            Some(path) => Ok(path.clone()),
            // A program that does not know the helper's argument would run normally.
            None if !super::helper::is_ready() => {
                Err("this program does not call helper_main, and no other helper is set".to_owned())
            }
            None => Ok(PathBuf::from("/proc/self/exe")),
        }
    }
}

/// Cancels runs and calls from another thread. Clones share the flag.
///
/// ```
/// let cancel = prowess_sandbox::Cancel::default();
/// cancel.clone().cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Cancels the run and everything it started. A tool of a skill is stopped after a short time, in which it may end by
    /// itself.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns `true` after [`cancel`](Self::cancel).
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

/// Receives partial output.
pub type OutputHandler<'a> = Box<dyn FnMut(OutputStream, &[u8]) + 'a>;

/// Options of a run.
pub struct RunOptions<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) env: &'a HostEnv,
    /// The limits, by default those of the policy.
    pub limits: Limits,
    /// Whether the user was asked.
    pub consent: Consent,
    /// Whether the script is confined.
    pub protection: Protection,
    /// Network access, or `None` to follow the configuration.
    pub network: Option<NetworkAccess>,
    /// The directory in which the script works, or `None` to follow the policy.
    pub workspace: Option<Workspace>,
    /// Files and directories of the user that the script may read.
    pub read: Vec<PathBuf>,
    /// The directory that relative paths of the user refer to, in `read` and in arguments.
    pub current_dir: Option<PathBuf>,
    /// The standard input.
    pub input: ScriptInput,
    /// The available environment variables. Only those that the skill requests and the user grants are passed.
    pub environment: Vec<(OsString, OsString)>,
    /// Receives partial output.
    pub on_output: Option<OutputHandler<'a>>,
    /// Cancels the run.
    pub cancel: Cancel,
    /// The sandbox helper.
    pub helper: SandboxHelper,
    /// The file that records runs, if any.
    pub log: Option<PathBuf>,
}

impl<'a> RunOptions<'a> {
    /// Returns the policy.
    pub fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// Returns the environment.
    pub fn host(&self) -> &'a HostEnv {
        self.env
    }

    pub(crate) fn setup(&self, input: InputSource) -> RunSetup {
        RunSetup {
            limits: self.limits.clone(),
            protection: self.protection,
            helper: self.helper.clone(),
            input,
        }
    }

    /// Uses the policy and environment of a registry, and the log in the user's state directory. No variables are granted
    /// unless [`environment`](Self::environment) contains them.
    pub fn from_registry(registry: &'a Registry) -> Self {
        Self::new(registry.policy(), registry.host())
    }

    /// Uses this policy and environment.
    pub fn new(policy: &'a Policy, env: &'a HostEnv) -> Self {
        Self {
            policy,
            env,
            limits: policy.run.limits.clone(),
            consent: Consent::default(),
            protection: Protection::default(),
            network: None,
            workspace: None,
            read: Vec::new(),
            current_dir: None,
            input: ScriptInput::default(),
            environment: Vec::new(),
            on_output: None,
            cancel: Cancel::default(),
            helper: SandboxHelper::current_exe(),
            log: super::log::path(env),
        }
    }
}
