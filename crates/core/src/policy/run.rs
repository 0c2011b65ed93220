//! The settings for running scripts of skills.

use std::path::PathBuf;
use std::time::Duration;

/// Whether scripts of skills may run, and within which limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPolicy {
    /// Whether scripts may run.
    pub scripts: ScriptPolicy,
    /// The effect of a skill's `allowed-tools` on its scripts.
    pub allowed_tools: AllowedTools,
    /// The current directory of a script, unless the caller names a workspace.
    pub directory: ScriptDirectory,
    /// Skills whose scripts run without confirmation: names, or directories for project skills. An entry may be bound to
    /// the files of the skill: `NAME@sha256-tree-v1:HEX`.
    pub allowed_skills: Vec<String>,
    /// Skills whose scripts never run.
    pub denied_skills: Vec<String>,
    /// Skills whose scripts have network access: names, or directories for project skills.
    pub network: Vec<String>,
    /// Environment variables that are passed to skills that need them: `NAME`, or `SKILL:NAME`.
    pub env: Vec<String>,
    /// Whether scripts may read inputs from the roots of an MCP client.
    pub client_roots: bool,
    /// The resource limits of a script.
    pub limits: RunLimits,
    /// Where the packages of scripts come from, and where they are installed.
    pub environments: EnvironmentSettings,
}

impl Default for RunPolicy {
    fn default() -> Self {
        Self {
            scripts: ScriptPolicy::Ask,
            allowed_tools: AllowedTools::Advisory,
            directory: ScriptDirectory::Workspace,
            allowed_skills: Vec::new(),
            denied_skills: Vec::new(),
            network: Vec::new(),
            env: Vec::new(),
            client_roots: false,
            limits: RunLimits::default(),
            environments: EnvironmentSettings::default(),
        }
    }
}

/// Where the packages of scripts come from, and where they are installed. Only the user can set it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnvironmentSettings {
    /// The URL of the Python package index; `None` for the public one.
    pub python_index: Option<String>,
    /// The URL of the npm registry; `None` for the public one.
    pub npm_registry: Option<String>,
    /// Hosts besides those of the indexes that packages may be downloaded from: `HOST`, or `HOST:PORT`.
    pub hosts: Vec<String>,
    /// The directory of environments; `None` for the default.
    pub directory: Option<PathBuf>,
}

/// The resource limits of a script. A project can lower them; only the user can raise them.
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
    /// The maximum run time.
    pub time: Duration,
    /// The maximum output of both streams together, in bytes.
    pub output_bytes: u64,
    /// The maximum memory in bytes: per process, enforced by the kernel, and in total, by monitoring.
    pub memory_bytes: u64,
    /// The maximum number of processes and threads.
    pub processes: u32,
    /// The maximum size of a written file, in bytes.
    pub file_bytes: u64,
    /// The maximum number of open files per process.
    pub open_files: u32,
    /// The maximum total size of all written files, in bytes.
    pub scratch_bytes: u64,
    /// The maximum total size of the files in a workspace, in bytes.
    pub workspace_bytes: u64,
    /// The maximum number of files and directories in a workspace.
    pub workspace_files: u32,
    /// The maximum number of arguments.
    pub arguments: u32,
    /// The maximum total size of the arguments, in bytes.
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
            workspace_bytes: 512 * 1024 * 1024,
            workspace_files: 10_000,
            arguments: 100,
            argument_bytes: 4_096,
        }
    }
}

/// The effect of a skill's `allowed-tools` on its scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedTools {
    /// A script runs only if a listed tool covers it. A skill that lists no tools is not restricted.
    Required,
    /// The list pre-approves tools for a client, as in the specification. It neither allows nor forbids a
    /// script.
    Advisory,
}

/// The current directory of a script, unless the caller names a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptDirectory {
    /// A new workspace, which the script may write to.
    Workspace,
    /// The directory of the skill, which is read-only.
    Skill,
}

/// Whether scripts of skills may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptPolicy {
    /// Scripts never run.
    Never,
    /// Scripts of listed skills run; others need the user's confirmation.
    Ask,
    /// All scripts run.
    Allowed,
}
