//! What came of a run.

use std::fmt;

use serde::Serialize;

/// Under which protection a script ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Namespaces, Landlock, seccomp and resource limits.
    Tier1,
    /// Landlock, seccomp and resource limits.
    Tier2,
    /// None, because the user said so.
    None,
}

impl Tier {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tier1 => "tier1",
            Self::Tier2 => "tier2",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which of its streams a script wrote to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A limit that a script ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// It ran too long.
    Time,
    /// It wrote too much.
    Output,
    /// It took too much memory.
    Memory,
    /// It started as many processes as there may be.
    Processes,
    /// A file of it grew too large.
    FileSize,
    /// All its files together did.
    Scratch,
}

impl Limit {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Output => "output",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::FileSize => "file-size",
            Self::Scratch => "scratch",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A script that ran, to whatever end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ran {
    /// Its exit code; none where a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// Whether it wrote more than that, and was ended for it.
    pub truncated: bool,
    /// Whether it ran too long, and was ended for it.
    pub timed_out: bool,
    /// Whether somebody asked for it to end.
    pub cancelled: bool,
    /// How long it took, with getting ready and cleaning up.
    pub duration_ms: u64,
    /// Under which protection it ran.
    pub sandbox: Tier,
    /// The limits that it ran into.
    pub limits_hit: Vec<Limit>,
    /// How many processes it left behind when it ended by itself. They were ended, too.
    pub left_behind: u32,
    /// The digest of the script.
    pub digest: String,
    /// The tree hash of all files that it ran among.
    pub tree: String,
    /// Why no better protection was to be had.
    pub remarks: Vec<String>,
}

impl Ran {
    /// Whether it ended well, by itself.
    pub fn is_success(&self) -> bool {
        self.exit_code == Some(0) && !self.truncated && !self.timed_out && !self.cancelled
    }

    /// What it wrote to standard output, as text.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// What it wrote to standard error, as text.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// The contract's answer.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "schema": 1,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "stdout": self.stdout_text(),
            "stderr": self.stderr_text(),
            "truncated": self.truncated,
            "timed_out": self.timed_out,
            "cancelled": self.cancelled,
            "duration_ms": self.duration_ms,
            "sandbox": self.sandbox,
            "limits_hit": self.limits_hit,
            "left_behind": self.left_behind,
            "digest": self.digest,
        })
    }

    /// How it ended, in words.
    ///
    /// They say what happened, not what it means: `exit code 3`, `ended by signal 9`, `killed: time limit`.
    pub fn ending(&self) -> String {
        let why: Vec<_> = self.limits_hit.iter().map(|limit| limit.as_str()).collect();
        match (self.timed_out || self.truncated, self.cancelled, self.exit_code, self.signal) {
            (_, true, ..) => "cancelled".to_owned(),
            (true, ..) => format!("killed at the limit of {}", why.join(" and ")),
            (_, _, Some(code), _) => format!("exit code {code}"),
            (_, _, None, Some(signal)) if why.is_empty() => format!("ended by signal {signal}"),
            (_, _, None, Some(signal)) => {
                format!("ended by signal {signal} at the limit of {}", why.join(" and "))
            }
            (_, _, None, None) => "ended".to_owned(),
        }
    }
}
