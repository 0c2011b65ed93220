//! The processes that are there, what is known of their tools, and how often which of them failed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use prowess::Skill;

use super::keeper::{Keeper, NotThere};
use super::limits::ProgramLimits;
use super::tool::Tool;
use crate::error::ToolsetError;
use crate::fault::Fault;
use prowess_sandbox::Options;

/// How many programs' tools are remembered.
const KNOWN_MAX: usize = 256;

/// All processes of a [`Programs`](super::Programs).
#[derive(Debug, Default)]
pub(super) struct Pool {
    pub(super) limits: ProgramLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    kept: Vec<Kept>,
    known: Vec<Known>,
    failed: Vec<Failed>,
}

/// Which program of which files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Which {
    pub(super) folder: PathBuf,
    pub(super) file: String,
    pub(super) tree: String,
}

#[derive(Debug)]
struct Kept {
    owner: Weak<()>,
    which: Which,
    keeper: Arc<Keeper>,
    used: Instant,
}

#[derive(Debug)]
struct Known {
    which: Which,
    tools: Arc<Vec<Tool>>,
}

#[derive(Debug)]
struct Failed {
    which: Which,
    times: u32,
    last: Fault,
    at: Instant,
}

impl Pool {
    pub(super) fn new(limits: ProgramLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// How many there are.
    pub(super) fn running(&self) -> usize {
        self.state().kept.iter().filter(|kept| !kept.keeper.has_ended()).count()
    }

    /// Ends those of an owner that belong to none of these folders.
    pub(super) fn keep_only(&self, owner: &Weak<()>, folders: &[PathBuf]) {
        self.remove(|kept| kept.owner.ptr_eq(owner) && !folders.contains(&kept.which.folder));
    }

    /// Ends all of a skill, whoever they work for.
    pub(super) fn end_all_of(&self, folder: &Path) {
        self.remove(|kept| kept.which.folder == folder);
    }

    /// The tools of a program, if they are known.
    pub(super) fn known(&self, which: &Which) -> Option<Arc<Vec<Tool>>> {
        let state = self.state();
        state.known.iter().find(|known| known.which == *which).map(|known| Arc::clone(&known.tools))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends some. That takes a moment, in which nobody else has to wait.
    fn remove(&self, which: impl Fn(&Kept) -> bool) {
        let mut state = self.state();
        let (gone, kept) = std::mem::take(&mut state.kept).into_iter().partition::<Vec<_>, _>(which);
        state.kept = kept;
        drop(state);
        drop(gone);
    }

    /// The process of a program, started unless it is there.
    pub(super) fn keeper(
        &self,
        skill: &Skill,
        which: &Which,
        owner: &Weak<()>,
        options: &Options<'_>,
    ) -> Result<Arc<Keeper>, ToolsetError> {
        if let Some(keeper) = self.kept(which, owner)? {
            return Ok(keeper);
        }
        self.make_room(owner, which)?;
        let refused = |error: &prowess_sandbox::RunError| ToolsetError::not_run(&which.file, error);
        let ready = prowess_sandbox::ready(skill, &which.file, options).map_err(|error| refused(&error))?;
        let keeper = match Keeper::start(ready, &self.limits, owner.clone(), options.cancel.clone()) {
            Ok(keeper) => Arc::new(keeper),
            Err(NotThere::Run(error)) => return Err(refused(&error)),
            Err(NotThere::Fault(fault)) => return Err(self.failed(which, fault)),
            Err(NotThere::Cancelled) => return Err(ToolsetError::Cancelled),
            Err(NotThere::Thread(why)) => {
                return Err(ToolsetError::load(format!("{}: no thread for it: {why}", which.file)));
            }
        };
        // It may have changed since it was looked at; what it runs among counts.
        let which = Which { tree: keeper.tree.clone(), ..which.clone() };
        let mut state = self.state();
        state.known.retain(|known| known.which.folder != which.folder || known.which.file != which.file);
        let old = state.known.len().saturating_sub(KNOWN_MAX - 1);
        state.known.drain(..old);
        state.known.push(Known { which: which.clone(), tools: Arc::clone(&keeper.tools) });
        state.kept.push(Kept {
            owner: owner.clone(),
            which,
            keeper: Arc::clone(&keeper),
            used: Instant::now(),
        });
        Ok(keeper)
    }

    /// The process that is there already, if it is of use. One that misbehaved meanwhile says so, once.
    fn kept(&self, which: &Which, owner: &Weak<()>) -> Result<Option<Arc<Keeper>>, ToolsetError> {
        let mut state = self.state();
        let is_it = |kept: &&mut Kept| kept.owner.ptr_eq(owner) && kept.which == *which;
        if let Some(kept) = state.kept.iter_mut().find(is_it) {
            if !kept.keeper.has_ended() {
                kept.used = Instant::now();
                return Ok(Some(Arc::clone(&kept.keeper)));
            }
            if let Some(fault) = kept.keeper.take_fault() {
                drop(state);
                return Err(self.failed(which, fault));
            }
        }
        if let Some(failed) = state.failed.iter().find(|failed| failed.which == *which)
            && failed.times >= self.limits.failures
            && failed.at.elapsed() < self.limits.pause
        {
            let (times, last, pause) = (failed.times, Box::new(failed.last.clone()), self.limits.pause);
            return Err(ToolsetError::Program {
                file: which.file.clone(),
                fault: Fault::LeftAlone { times, last, pause },
            });
        }
        Ok(None)
    }

    /// Ends what has ended, what is of other files, and the one that was longest not used.
    fn make_room(&self, owner: &Weak<()>, which: &Which) -> Result<(), ToolsetError> {
        self.remove(|kept| {
            kept.keeper.has_ended()
                || kept.owner.strong_count() == 0
                || kept.owner.ptr_eq(owner)
                    && kept.which.folder == which.folder
                    && kept.which.tree != which.tree
        });
        let oldest = {
            let state = self.state();
            if state.kept.len() < self.limits.running.max(1) {
                return Ok(());
            }
            // One that answers somebody just now is held by them, too.
            let idle = state.kept.iter().filter(|kept| Arc::strong_count(&kept.keeper) == 1);
            idle.min_by_key(|kept| kept.used).map(|kept| Arc::as_ptr(&kept.keeper))
        };
        match oldest {
            Some(oldest) => {
                self.remove(|kept| Arc::as_ptr(&kept.keeper) == oldest);
                Ok(())
            }
            None => Err(ToolsetError::Crowded(self.limits.running)),
        }
    }

    /// Remembers that a program failed.
    pub(super) fn failed(&self, which: &Which, fault: Fault) -> ToolsetError {
        let mut state = self.state();
        let before =
            state.failed.iter().find(|failed| failed.which == *which).map_or(0, |failed| failed.times);
        state.failed.retain(|failed| failed.which.folder != which.folder || failed.which.file != which.file);
        let (which, at) = (which.clone(), Instant::now());
        let file = which.file.clone();
        state.failed.push(Failed { which, times: before.saturating_add(1), last: fault.clone(), at });
        drop(state);
        self.remove(|kept| kept.keeper.has_ended());
        ToolsetError::Program { file, fault }
    }

    /// Forgives what went before.
    pub(super) fn succeeded(&self, which: &Which) {
        self.state().failed.retain(|failed| failed.which != *which);
    }
}
