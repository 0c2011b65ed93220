//! How much a script may take.

use std::time::Duration;

use prowess::policy::{Policy, Run};

/// The limits of one run. All of them come from the configuration, where a project can only lower them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// The most output, both streams together, in bytes.
    pub output_bytes: u64,
    /// The most memory, in bytes: of each process by the kernel, of all together by watching.
    pub memory_bytes: u64,
    /// The most processes and threads.
    pub processes: u32,
    /// The largest file, in bytes.
    pub file_bytes: u64,
    /// The most open files of each process.
    pub open_files: u32,
    /// The most that all files together may take, in bytes.
    pub scratch_bytes: u64,
}

impl Limits {
    /// The limits of a policy.
    ///
    /// ```
    /// use std::time::Duration;
    /// use prowess::Policy;
    /// use prowess_run::script::Limits;
    ///
    /// let limits = Limits::of(&Policy::default());
    /// assert_eq!((limits.time, limits.processes), (Duration::from_secs(60), 64));
    /// ```
    pub fn of(policy: &Policy) -> Self {
        let run = &policy.run;
        let time = run.script_timeout_ms.unwrap_or(Run::SCRIPT_TIMEOUT_MS);
        Self {
            time: Duration::from_millis(time.into()),
            output_bytes: run.output_bytes,
            memory_bytes: run.memory_bytes,
            processes: run.processes,
            file_bytes: run.file_bytes,
            open_files: run.open_files,
            scratch_bytes: run.scratch_bytes,
        }
    }
}
