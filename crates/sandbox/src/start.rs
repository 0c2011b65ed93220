//! A script that is left running, for those who talk to it.
//!
//! It is got ready where it is asked for, and started where it is looked after: the kernel ends it with the thread that
//! started it, so that thread has to live as long.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use prowess::Skill;

use super::error::RunError;
use super::log::{self, End, Record};
use super::meter::Meter;
use super::options::{Feed, Means, Options};
use super::prepare::{Prepared, prepare};
use super::ran::Limit;
use super::sandbox::Running;
use super::{Limits, grants_recorded, milliseconds};

/// A script that may run, with everything that it needs.
pub struct Ready {
    prepared: Prepared,
    means: Means,
    journal: Journal,
}

/// Where a run is recorded, and what of it.
#[derive(Debug)]
struct Journal {
    path: Option<PathBuf>,
    record: Record,
}

impl Journal {
    fn write(&self) -> io::Result<()> {
        self.path.as_ref().map_or(Ok(()), |path| log::append(path, &self.record))
    }

    fn must_write(&self) -> Result<(), RunError> {
        let path = || self.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        self.write().map_err(|why| RunError::Log { path: path(), why })
    }
}

/// Passes all gates for a script and lays out its files.
pub fn ready(skill: &Skill, script: &str, options: &Options<'_>) -> Result<Ready, RunError> {
    let prepared = prepare(skill, script, &[], options)?;
    let journal = Journal { path: options.log.clone(), record: prepared.record(skill, 0) };
    // Each start has its own record besides, without which it does not begin.
    let _ = grants_recorded(skill, options);
    Ok(Ready { prepared, means: options.means(Feed::Open), journal })
}

impl Ready {
    /// The tree hash of the files it will run among.
    pub fn tree(&self) -> &str {
        &self.prepared.tree
    }

    /// Begins. Its time and output are the caller's to watch; what the kernel limits is limited.
    pub fn start(self) -> Result<Started, RunError> {
        let Self { prepared, means, mut journal } = self;
        journal.must_write()?;
        let begun = Instant::now();
        let enforced = prepared.enforce(&means);
        let running = enforced
            .and_then(|(enforced, _)| enforced.spawn().map_err(|error| RunError::Sandbox(vec![error])));
        match running {
            Ok(running) => {
                journal.record.sandbox = Some(running.tier().to_string());
                // Written again, so that the tier of one that never ends is known.
                journal.must_write()?;
                let meter = prepared.meter();
                Ok(Started {
                    running,
                    limits: means.limits,
                    meter,
                    begun,
                    journal,
                    ended: false,
                    _prepared: prepared,
                })
            }
            Err(error) => {
                journal.record.end = Some(End { error: Some(error.to_string()), ..End::default() });
                journal.must_write()?;
                Err(error)
            }
        }
    }
}

/// A script that runs, with whoever started it talking to it. Dropping it ends it.
pub struct Started {
    /// The script.
    pub running: Running,
    /// What it may take.
    pub limits: Limits,
    meter: Meter,
    begun: Instant,
    journal: Journal,
    ended: bool,
    // Last: what it runs among goes when nothing runs.
    _prepared: Prepared,
}

impl Started {
    /// The limits that what it takes now is beyond.
    pub fn taken(&mut self) -> Vec<Limit> {
        self.meter.limits_hit(&self.running, &self.limits)
    }

    /// Whether what is in its scratch folder is beyond the limit, after it has ended.
    pub fn has_filled_scratch(&self) -> bool {
        self.meter.limits_hit_at_end(&self.running, &self.limits).contains(&Limit::Scratch)
    }

    /// Ends it, with everything it started, and records how it ended.
    pub fn end(&mut self, how: End) {
        self.running.kill();
        if !std::mem::replace(&mut self.ended, true) {
            self.journal.record.end = Some(End { duration_ms: milliseconds(self.begun), ..how });
            // It has run; that its end cannot be written changes nothing about it.
            let _ = self.journal.write();
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.end(End { signal: Some(9), ..End::default() });
    }
}
