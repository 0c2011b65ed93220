//! What skills may run.

use std::time::Duration;

/// What skills may run, and within which limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Whether scripts run.
    pub scripts: Scripts,
    /// What `allowed-tools` of a skill means for its scripts.
    pub allowed_tools: AllowedTools,
    /// Skills whose scripts run without asking: names, or folders for skills of projects.
    pub allowed_skills: Vec<String>,
    /// Skills whose scripts reach the network: names, or folders for skills of projects.
    pub network: Vec<String>,
    /// Variables that are passed to skills that ask for them: `NAME`, or `SKILL:NAME`.
    pub env: Vec<String>,
    /// How much a script may take.
    pub limits: RunLimits,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            scripts: Scripts::Ask,
            allowed_tools: AllowedTools::Advisory,
            allowed_skills: Vec::new(),
            network: Vec::new(),
            env: Vec::new(),
            limits: RunLimits::default(),
        }
    }
}

/// How much a script may take. A project can lower each of these, and only the user can raise them.
///
/// ```
/// use std::time::Duration;
/// use prowess::policy::RunLimits;
///
/// let limits = RunLimits::default();
/// assert_eq!((limits.time, limits.processes), (Duration::from_secs(60), 64));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLimits {
    /// How long it may run.
    pub time: Duration,
    /// The most output, both streams together, in bytes.
    pub output_bytes: u64,
    /// The most memory, in bytes: of each process by the kernel, of all together by watching.
    pub memory_bytes: u64,
    /// The most processes and threads.
    pub processes: u32,
    /// The largest file that may be written, in bytes.
    pub file_bytes: u64,
    /// The most open files of each process.
    pub open_files: u32,
    /// The most that all files may take that a script writes, in bytes.
    pub scratch_bytes: u64,
    /// The most arguments that it is passed.
    pub arguments: u32,
    /// The most bytes of all arguments together.
    pub argument_bytes: u32,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(60),
            output_bytes: 1024 * 1024,
            memory_bytes: 2 * 1024 * 1024 * 1024,
            processes: 64,
            file_bytes: 64 * 1024 * 1024,
            open_files: 256,
            scratch_bytes: 512 * 1024 * 1024,
            arguments: 100,
            argument_bytes: 4_096,
        }
    }
}

/// What `allowed-tools` of a skill means for its scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedTools {
    /// A script runs only if a listed tool covers running it. A skill that lists none is not restricted.
    Required,
    /// The list pre-approves tools for a client, as in the specification. It neither allows nor forbids a script.
    Advisory,
}

/// Whether the scripts of skills run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripts {
    /// None.
    Never,
    /// Those of the skills that are named, and others once the user says so.
    Ask,
    /// All.
    Allowed,
}
