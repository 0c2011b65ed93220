//! Limits of toolsets.

use std::time::Duration;

/// The limits of a toolset. The default is suitable for untrusted skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsetLimits {
    /// The memory of the engine, in bytes.
    pub memory: usize,
    /// The stack of the engine, in bytes.
    pub stack: usize,
    /// The time to load all modules.
    pub load_time: Duration,
    /// The time for a call.
    pub call_time: Duration,
    /// How long a cancelled call may continue before it is stopped.
    pub grace: Duration,
    /// The output of a call, in bytes; more is truncated.
    pub output: usize,
    /// The metadata of a call, as JSON; more is an error.
    pub metadata: usize,
    /// The attachments of a call, as JSON; more is an error.
    pub attachments: usize,
    /// The console output that is kept, in bytes.
    pub console: usize,
    /// The size of a module, in bytes.
    pub module_bytes: usize,
    /// The size of a TypeScript module, in bytes. Parsing deep nesting needs far more memory than the text.
    pub typescript_bytes: usize,
    /// The number of modules of a skill.
    pub modules: usize,
    /// The number of cached engines.
    pub engines: usize,
    /// How long an unused engine is kept.
    pub idle: Duration,
}

impl Default for ToolsetLimits {
    fn default() -> Self {
        Self {
            memory: 64 * 1024 * 1024,
            stack: 512 * 1024,
            load_time: Duration::from_secs(5),
            call_time: Duration::from_secs(30),
            grace: Duration::from_millis(500),
            output: 1024 * 1024,
            metadata: 256 * 1024,
            attachments: 4 * 1024 * 1024,
            console: 64 * 1024,
            module_bytes: 1024 * 1024,
            typescript_bytes: 256 * 1024,
            modules: 200,
            engines: 16,
            idle: Duration::from_secs(600),
        }
    }
}
