//! Long-running scripts that exchange messages with the caller.
//!
//! A script is prepared on any thread, but must be started on a thread that outlives it: the kernel kills it when the
//! thread that started it ends.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use prowess::Skill;

use super::error::RunError;
use super::executable::Executable;
use super::log::{self, RunEnd, RunRecord};
use super::meter::Meter;
use super::options::{InputSource, RunOptions, RunSetup};
use super::prepare::{PreparedRun, WorkspaceUse, prepare};
use super::result::RunLimit;
use super::sandbox::SandboxedProcess;
use super::{Limits, elapsed_ms, record_grants};

/// A script that is ready to start.
pub struct PreparedScript {
    prepared: PreparedRun,
    setup: RunSetup,
    log: RunLogEntry,
}

#[derive(Debug)]
struct RunLogEntry {
    path: Option<PathBuf>,
    record: RunRecord,
}

impl RunLogEntry {
    fn write(&self) -> io::Result<()> {
        self.path.as_ref().map_or(Ok(()), |path| log::append(path, &self.record))
    }

    fn write_or_fail(&self) -> Result<(), RunError> {
        let path = || self.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        self.write().map_err(|error| RunError::Log { path: path(), error })
    }
}

/// Checks permissions for a script and copies its files.
pub fn prepare_script(
    skill: &Skill,
    script: &str,
    options: &RunOptions<'_>,
) -> Result<PreparedScript, RunError> {
    let prepared = prepare(skill, Executable::Script(script), &[], options, WorkspaceUse::None)?;
    let log = RunLogEntry { path: options.log.clone(), record: prepared.record(skill, 0) };
    // A failure here is ignored, because each start also has its own record, which is required.
    let _ = record_grants(skill, options);
    Ok(PreparedScript { prepared, setup: options.setup(InputSource::Open), log })
}

impl PreparedScript {
    /// Returns the tree hash of the files of the run.
    pub fn tree(&self) -> &str {
        &self.prepared.tree
    }

    /// Starts the script. The caller watches its time and output; the kernel enforces the other limits.
    pub fn start(self) -> Result<RunningScript, RunError> {
        let Self { prepared, setup, mut log } = self;
        log.write_or_fail()?;
        let started = Instant::now();
        let enforced = prepared.enforce(&setup);
        let process = enforced
            .and_then(|(enforced, _)| enforced.spawn().map_err(|error| RunError::Sandbox(vec![error])));
        match process {
            Ok(process) => {
                log.record.sandbox = Some(process.tier().to_string());
                // Record the tier now, in case the end is never recorded.
                log.write_or_fail()?;
                let meter = prepared.meter();
                Ok(RunningScript {
                    process,
                    limits: setup.limits,
                    meter,
                    started,
                    log,
                    ended: false,
                    _prepared: prepared,
                })
            }
            Err(error) => {
                log.record.end = Some(RunEnd { error: Some(error.to_string()), ..RunEnd::default() });
                // Nothing ran, and the caller needs the reason more than a failure to record it.
                let _ = log.write();
                Err(error)
            }
        }
    }
}

/// A running script that the caller exchanges messages with. Dropping it kills the script.
pub struct RunningScript {
    /// The process.
    pub process: SandboxedProcess,
    /// The limits.
    pub limits: Limits,
    meter: Meter,
    started: Instant,
    log: RunLogEntry,
    ended: bool,
    // Last, so that the files are removed after the process has ended.
    _prepared: PreparedRun,
}

impl RunningScript {
    /// Returns the limits that the script exceeds now.
    pub fn limits_exceeded(&mut self) -> Vec<RunLimit> {
        self.meter.limits_hit(&self.process, &self.limits)
    }

    /// Returns `true` if the scratch directory exceeds its limit, after the script has ended.
    pub fn scratch_exceeded(&self) -> bool {
        self.meter.limits_hit_at_end(&self.process, &self.limits).contains(&RunLimit::Scratch)
    }

    /// Kills the script and everything it started, and records the end.
    pub fn end(&mut self, end: RunEnd) {
        self.process.kill();
        if !std::mem::replace(&mut self.ended, true) {
            self.log.record.end = Some(RunEnd { duration_ms: elapsed_ms(self.started), ..end });
            // The script has already run, so a failure to record its end is ignored.
            let _ = self.log.write();
        }
    }
}

impl Drop for RunningScript {
    fn drop(&mut self) {
        self.end(RunEnd { signal: Some(9), ..RunEnd::default() });
    }
}
