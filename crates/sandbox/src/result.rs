//! The result of a run.

use serde::Serialize;

use super::workspace::{Artifact, FinishedWorkspace};

prowess::format::named_enum! {
    /// The protection under which a script runs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SandboxTier {
        /// Namespaces, Landlock, seccomp and resource limits.
        Tier1 = "tier1",
        /// Landlock, seccomp and resource limits.
        Tier2 = "tier2",
        /// No protection, at the caller's request.
        None = "none",
    }
}

/// An output stream of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

prowess::format::named_enum! {
    /// A limit that a script exceeded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RunLimit {
        /// The script ran too long.
        Time = "time",
        /// The script wrote too much output.
        Output = "output",
        /// The script used too much memory.
        Memory = "memory",
        /// The script reached the maximum number of processes.
        Processes = "processes",
        /// A file of the script grew too large.
        FileSize = "file-size",
        /// All files of the script together grew too large.
        Scratch = "scratch",
        /// The workspace of the script grew too large.
        Workspace = "workspace",
    }
}

/// The result of a script that ran.
#[derive(Debug)]
#[non_exhaustive]
pub struct ScriptResult {
    /// The exit code; `None` if a signal ended the script.
    pub exit_code: Option<i32>,
    /// The signal that ended the script.
    pub signal: Option<i32>,
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The standard error.
    pub stderr: Vec<u8>,
    /// Whether the script was killed because it wrote more output than the limit.
    pub truncated: bool,
    /// Whether the script was killed because it ran too long.
    pub timed_out: bool,
    /// Whether the run was cancelled.
    pub cancelled: bool,
    /// The duration, including preparation and cleanup.
    pub duration_ms: u64,
    /// The protection under which the script ran.
    pub sandbox: SandboxTier,
    /// The limits that the script exceeded.
    pub limits_hit: Vec<RunLimit>,
    /// How many processes the script left behind when it exited. They were killed.
    pub left_behind: u32,
    /// The digest of the script.
    pub digest: String,
    /// The tree hash of the files of the run.
    pub tree: String,
    /// Why no better protection was available, and other warnings.
    pub remarks: Vec<String>,
    /// The workspace, if the script had one and was not killed.
    pub workspace: Option<FinishedWorkspace>,
}

impl ScriptResult {
    /// Returns `true` if the script exited with code 0 by itself.
    pub fn is_success(&self) -> bool {
        self.exit_code == Some(0) && !self.truncated && !self.timed_out && !self.cancelled
    }

    /// Returns the files that the script created or changed in its workspace.
    pub fn artifacts(&self) -> &[Artifact] {
        self.workspace.as_ref().map_or(&[], FinishedWorkspace::artifacts)
    }

    /// Returns the files that the script removed from its workspace.
    pub fn removed(&self) -> &[String] {
        self.workspace.as_ref().map_or(&[], FinishedWorkspace::removed)
    }

    /// Returns the standard output as text.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns the standard error as text.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Returns the JSON form of the contract.
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
            "artifacts": self.artifacts(),
            "removed": self.removed(),
            "remarks": self.remarks,
        })
    }

    /// Returns how the script ended.
    ///
    /// For example `exit code 3`, `ended by signal 9` or `killed at the limit of time`.
    pub fn describe_end(&self) -> String {
        let limits: Vec<_> = self.limits_hit.iter().map(|limit| limit.as_str()).collect();
        match (self.timed_out || self.truncated, self.cancelled, self.exit_code, self.signal) {
            (_, true, ..) => "cancelled".to_owned(),
            (true, ..) => format!("killed at the limit of {}", limits.join(" and ")),
            (_, _, Some(code), _) => format!("exit code {code}"),
            (_, _, None, Some(signal)) if limits.is_empty() => format!("ended by signal {signal}"),
            (_, _, None, Some(signal)) => {
                format!("ended by signal {signal} at the limit of {}", limits.join(" and "))
            }
            (_, _, None, None) => "ended".to_owned(),
        }
    }
}
