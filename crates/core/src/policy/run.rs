//! What skills may run.

/// What skills may run, and within which limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Whether scripts run.
    pub scripts: Scripts,
    /// Skills whose scripts run without asking: names, or folders for skills of projects.
    pub allowed_skills: Vec<String>,
    /// Skills whose scripts reach the network: names, or folders for skills of projects.
    pub network: Vec<String>,
    /// Variables that are passed to skills that ask for them: `NAME`, or `SKILL:NAME`.
    pub env: Vec<String>,
    /// How long a script may run, in milliseconds; `None` where nobody says so.
    pub script_timeout_ms: Option<u32>,
    /// The most output of a script, both streams together, in bytes.
    pub output_bytes: u64,
    /// The most memory, in bytes.
    pub memory_bytes: u64,
    /// The most processes.
    pub processes: u32,
    /// The largest file that may be written, in bytes.
    pub file_bytes: u64,
    /// The most open files of a process.
    pub open_files: u32,
    /// The most that all files may take that a script writes, in bytes.
    pub scratch_bytes: u64,
}

impl Run {
    /// How long a script may run where nobody says otherwise, in milliseconds.
    pub const SCRIPT_TIMEOUT_MS: u32 = 60_000;
}

impl Default for Run {
    fn default() -> Self {
        Self {
            scripts: Scripts::Ask,
            allowed_skills: Vec::new(),
            network: Vec::new(),
            env: Vec::new(),
            script_timeout_ms: None,
            output_bytes: 1024 * 1024,
            memory_bytes: 2 * 1024 * 1024 * 1024,
            processes: 64,
            file_bytes: 64 * 1024 * 1024,
            open_files: 256,
            scratch_bytes: 512 * 1024 * 1024,
        }
    }
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
