//! Limits of programs that provide tools, in addition to those of the sandbox.

use std::time::Duration;

/// The limits of programs that provide tools. The limits of memory, processes, files, call time and output are those of
/// [scripts](prowess_sandbox::Limits).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramLimits {
    /// The time to list the tools after the start.
    pub start_time: Duration,
    /// How long a cancelled call may continue before it is stopped.
    pub grace: Duration,
    /// How long a program may take to exit after its input is closed.
    pub end_time: Duration,
    /// The length of a line, in bytes.
    pub line: usize,
    /// The output until an answer is complete, in bytes.
    pub answer: usize,
    /// The total output of a process, in bytes.
    pub total: u64,
    /// The number of JSON values in a message.
    pub values: usize,
    /// The size of the arguments of a call as JSON, in bytes.
    pub arguments: usize,
    /// The number of tools of a program.
    pub tools: usize,
    /// The size of the description and parameters of a tool as JSON, in bytes.
    pub definition: usize,
    /// The size of the metadata of an answer as JSON; more is an error.
    pub metadata: usize,
    /// The size of the attachments of an answer as JSON; more is an error.
    pub attachments: usize,
    /// How much standard error is kept during a call, in bytes.
    pub console: usize,
    /// The number of programs of a skill.
    pub programs: usize,
    /// The number of processes.
    pub running: usize,
    /// How long an idle process is kept.
    pub idle: Duration,
    /// How long a process is kept at most.
    pub life: Duration,
    /// The number of consecutive failures after which a program is suspended.
    pub failures: u32,
    /// How long a program is suspended.
    pub pause: Duration,
}

impl Default for ProgramLimits {
    fn default() -> Self {
        Self {
            start_time: Duration::from_secs(10),
            grace: Duration::from_millis(500),
            end_time: Duration::from_millis(200),
            line: 8 * 1024 * 1024,
            answer: 16 * 1024 * 1024,
            total: 256 * 1024 * 1024,
            values: 200_000,
            arguments: 1024 * 1024,
            tools: 64,
            definition: 64 * 1024,
            metadata: 256 * 1024,
            attachments: 4 * 1024 * 1024,
            console: 64 * 1024,
            programs: 8,
            running: 16,
            idle: Duration::from_secs(120),
            life: Duration::from_secs(3600),
            failures: 3,
            pause: Duration::from_secs(60),
        }
    }
}
