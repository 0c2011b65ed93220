//! How much a program that brings tools may take, beside what the sandbox limits.

use std::time::Duration;

/// The limits of programs that bring tools. Memory, processes, files, the time of a call and the length of its output
/// are those of [scripts](prowess_sandbox::Limits).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramLimits {
    /// Time to tell its tools, once it runs.
    pub start_time: Duration,
    /// How long a call that was cancelled may go on to end in good order.
    pub grace: Duration,
    /// How long a program may take to end when its input does.
    pub end_time: Duration,
    /// One line, in bytes.
    pub line: usize,
    /// Everything until an answer is complete, in bytes.
    pub answer: usize,
    /// Everything in the life of one process, in bytes.
    pub total: u64,
    /// Values in one message: numbers, texts, arrays, objects and the rest.
    pub values: usize,
    /// Arguments of a call as JSON, in bytes.
    pub arguments: usize,
    /// Tools of one program.
    pub tools: usize,
    /// A tool's description and parameters as JSON, in bytes.
    pub definition: usize,
    /// Metadata of an answer, as JSON; more is an error.
    pub metadata: usize,
    /// Attachments of an answer, as JSON; more is an error.
    pub attachments: usize,
    /// What is kept of standard error during a call, in bytes.
    pub console: usize,
    /// Programs of one skill.
    pub programs: usize,
    /// Processes that are kept.
    pub running: usize,
    /// How long a process that nobody asks is kept.
    pub idle: Duration,
    /// How long a process is kept in any case.
    pub life: Duration,
    /// Failures in a row after which a program is left alone…
    pub failures: u32,
    /// …for so long.
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
