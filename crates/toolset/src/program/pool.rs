//! The running processes, their tools, and their failures.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use prowess::Skill;

use super::limits::ProgramLimits;
use super::process::{ProgramProcess, StartError};
use super::tool::ProgramTool;
use crate::error::ToolsetError;
use crate::program_fault::ProgramFault;
use prowess_sandbox::RunOptions;

/// How many tool lists are remembered.
const KNOWN_MAX: usize = 256;

/// The processes of a [`Programs`](super::Programs).
#[derive(Debug, Default)]
pub(super) struct ProcessPool {
    pub(super) limits: ProgramLimits,
    state: Mutex<PoolState>,
}

#[derive(Debug, Default)]
struct PoolState {
    processes: Vec<PooledProcess>,
    known_tools: Vec<KnownTools>,
    failures: Vec<FailureRecord>,
}

/// A program, and the tree hash of the skill's files: after a change, it is a different program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProgramKey {
    pub(super) dir: PathBuf,
    pub(super) file: String,
    pub(super) tree: String,
}

#[derive(Debug)]
struct PooledProcess {
    owner: Weak<()>,
    key: ProgramKey,
    process: Arc<ProgramProcess>,
    used: Instant,
}

#[derive(Debug)]
struct KnownTools {
    key: ProgramKey,
    tools: Arc<Vec<ProgramTool>>,
}

#[derive(Debug)]
struct FailureRecord {
    key: ProgramKey,
    times: u32,
    last: ProgramFault,
    failed_at: Instant,
}

impl ProcessPool {
    pub(super) fn new(limits: ProgramLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// Returns the number of running processes.
    pub(super) fn running(&self) -> usize {
        self.state().processes.iter().filter(|pooled| !pooled.process.has_ended()).count()
    }

    /// Ends the processes of an owner that are not in these directories.
    pub(super) fn keep_only(&self, owner: &Weak<()>, dirs: &[PathBuf]) {
        self.remove(|pooled| pooled.owner.ptr_eq(owner) && !dirs.contains(&pooled.key.dir));
    }

    /// Ends all processes of a skill.
    pub(super) fn end_skill(&self, dir: &Path) {
        self.remove(|pooled| pooled.key.dir == dir);
    }

    /// Returns the tools of a program, if they are known.
    pub(super) fn known_tools(&self, key: &ProgramKey) -> Option<Arc<Vec<ProgramTool>>> {
        let state = self.state();
        state.known_tools.iter().find(|entry| entry.key == *key).map(|entry| Arc::clone(&entry.tools))
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the matching processes. This takes a moment, so it happens outside of the lock.
    fn remove(&self, matches: impl Fn(&PooledProcess) -> bool) {
        let mut state = self.state();
        let (removed, remaining) =
            std::mem::take(&mut state.processes).into_iter().partition::<Vec<_>, _>(matches);
        state.processes = remaining;
        drop(state);
        drop(removed);
    }

    /// Returns the process of a program, and starts it if necessary.
    pub(super) fn process(
        &self,
        skill: &Skill,
        key: &ProgramKey,
        owner: &Weak<()>,
        options: &RunOptions<'_>,
    ) -> Result<Arc<ProgramProcess>, ToolsetError> {
        if let Some(process) = self.existing(key, owner)? {
            return Ok(process);
        }
        self.evict(owner, key)?;
        let refused = |error: &prowess_sandbox::RunError| ToolsetError::cannot_run(&key.file, error);
        let ready =
            prowess_sandbox::prepare_script(skill, &key.file, options).map_err(|error| refused(&error))?;
        let process = match ProgramProcess::start(ready, &self.limits, owner.clone(), options.cancel.clone())
        {
            Ok(process) => Arc::new(process),
            Err(StartError::Run(error)) => return Err(refused(&error)),
            Err(StartError::Fault(fault)) => return Err(self.record_failure(key, fault)),
            Err(StartError::Cancelled) => return Err(ToolsetError::Cancelled),
            Err(StartError::Thread(reason)) => {
                return Err(ToolsetError::load(format!("{}: cannot start a thread: {reason}", key.file)));
            }
        };
        // The files may have changed meanwhile; use the hash of those it runs with.
        let key = ProgramKey { tree: process.tree.clone(), ..key.clone() };
        let mut state = self.state();
        state.known_tools.retain(|entry| entry.key.dir != key.dir || entry.key.file != key.file);
        let excess = state.known_tools.len().saturating_sub(KNOWN_MAX - 1);
        state.known_tools.drain(..excess);
        state.known_tools.push(KnownTools { key: key.clone(), tools: Arc::clone(&process.tools) });
        state.processes.push(PooledProcess {
            owner: owner.clone(),
            key,
            process: Arc::clone(&process),
            used: Instant::now(),
        });
        Ok(process)
    }

    /// Returns the existing process, if it can be used. A fault that occurred meanwhile is reported once.
    fn existing(
        &self,
        key: &ProgramKey,
        owner: &Weak<()>,
    ) -> Result<Option<Arc<ProgramProcess>>, ToolsetError> {
        let mut state = self.state();
        let is_match = |pooled: &&mut PooledProcess| pooled.owner.ptr_eq(owner) && pooled.key == *key;
        if let Some(pooled) = state.processes.iter_mut().find(is_match) {
            if !pooled.process.has_ended() {
                pooled.used = Instant::now();
                return Ok(Some(Arc::clone(&pooled.process)));
            }
            if let Some(fault) = pooled.process.take_fault() {
                drop(state);
                return Err(self.record_failure(key, fault));
            }
        }
        if let Some(failed) = state.failures.iter().find(|failed| failed.key == *key)
            && failed.times >= self.limits.failures
            && failed.failed_at.elapsed() < self.limits.pause
        {
            let (times, last, pause) = (failed.times, Box::new(failed.last.clone()), self.limits.pause);
            return Err(ToolsetError::Program {
                file: key.file.clone(),
                fault: ProgramFault::Suspended { times, last, pause },
            });
        }
        Ok(None)
    }

    /// Removes ended and outdated processes. If the pool is still full, ends the least recently used one.
    fn evict(&self, owner: &Weak<()>, key: &ProgramKey) -> Result<(), ToolsetError> {
        self.remove(|pooled| {
            pooled.process.has_ended()
                || pooled.owner.strong_count() == 0
                || pooled.owner.ptr_eq(owner) && pooled.key.dir == key.dir && pooled.key.tree != key.tree
        });
        let oldest = {
            let state = self.state();
            if state.processes.len() < self.limits.running.max(1) {
                return Ok(());
            }
            // A process that handles a call has another reference.
            let idle = state.processes.iter().filter(|pooled| Arc::strong_count(&pooled.process) == 1);
            idle.min_by_key(|pooled| pooled.used).map(|pooled| Arc::as_ptr(&pooled.process))
        };
        match oldest {
            Some(oldest) => {
                self.remove(|pooled| Arc::as_ptr(&pooled.process) == oldest);
                Ok(())
            }
            None => Err(ToolsetError::TooManyPrograms(self.limits.running)),
        }
    }

    pub(super) fn record_failure(&self, key: &ProgramKey, fault: ProgramFault) -> ToolsetError {
        let mut state = self.state();
        let previous =
            state.failures.iter().find(|failed| failed.key == *key).map_or(0, |failed| failed.times);
        state.failures.retain(|failed| failed.key.dir != key.dir || failed.key.file != key.file);
        let (key, failed_at) = (key.clone(), Instant::now());
        let file = key.file.clone();
        state.failures.push(FailureRecord {
            key,
            times: previous.saturating_add(1),
            last: fault.clone(),
            failed_at,
        });
        drop(state);
        self.remove(|pooled| pooled.process.has_ended());
        ToolsetError::Program { file, fault }
    }

    /// Clears the failures of a program.
    pub(super) fn record_success(&self, key: &ProgramKey) {
        self.state().failures.retain(|failed| failed.key != *key);
    }
}
