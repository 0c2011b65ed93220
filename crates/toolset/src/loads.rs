//! Coordinates loads of toolsets: one at a time for each directory, and no repeated attempts after an abandoned load.
//!
//! The record is shared by the whole process, because a server creates new [`Toolsets`](super::Toolsets) when its
//! configuration changes, while threads of the old ones may still be running.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use prowess::Skill;

use super::engine::FailedLoad;
use super::error::ToolsetError;
use super::sources::are_unchanged;

/// How long a load that exceeded a limit is not retried. A load whose thread is still running is never retried.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// The maximum number of abandoned loads to remember after their threads have ended.
const REMEMBERED_MAX: usize = 256;

static LOADS: Mutex<Option<Loads>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Loads {
    /// Locked by the thread that loads the toolsets of a directory.
    loading: HashMap<PathBuf, Arc<Mutex<()>>>,
    abandoned: Vec<AbandonedLoad>,
}

/// A load that exceeded a limit.
#[derive(Debug)]
struct AbandonedLoad {
    dir: PathBuf,
    toolsets: Vec<(String, String)>,
    digests: Arc<[(String, String)]>,
    error: ToolsetError,
    thread: JoinHandle<()>,
    abandoned_at: Instant,
}

impl AbandonedLoad {
    fn may_be_retried(&self) -> bool {
        self.thread.is_finished() && self.abandoned_at.elapsed() >= RETRY_AFTER
    }
}

fn with_loads<T>(action: impl FnOnce(&mut Loads) -> T) -> T {
    let mut loads: MutexGuard<'_, Option<Loads>> = LOADS.lock().unwrap_or_else(PoisonError::into_inner);
    action(loads.get_or_insert_default())
}

/// Runs `load` while no other thread loads the toolsets of the same directory.
pub(super) fn one_at_a_time<T>(dir: &Path, load: impl FnOnce() -> T) -> T {
    let lock = with_loads(|loads| Arc::clone(loads.loading.entry(dir.to_owned()).or_default()));
    let result = {
        let _guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        load()
    };
    drop(lock);
    with_loads(|loads| loads.loading.retain(|_, lock| Arc::strong_count(lock) > 1));
    result
}

/// Returns the error of an abandoned load of the same files.
pub(super) fn abandoned_error(
    skill: &Skill,
    dir: &Path,
    toolsets: &[(String, String)],
) -> Option<ToolsetError> {
    let abandoned: Vec<_> = with_loads(|loads| {
        loads.abandoned.retain(|load| !load.may_be_retried());
        let matching = loads.abandoned.iter().filter(|load| load.dir == dir && load.toolsets == toolsets);
        matching.map(|load| (Arc::clone(&load.digests), load.error.clone())).collect()
    });
    abandoned.into_iter().find(|(digests, _)| are_unchanged(digests, skill)).map(|(_, error)| error)
}

/// Remembers a failed load if it exceeded a limit. Returns its error.
pub(super) fn remember(dir: &Path, toolsets: &[(String, String)], failed: FailedLoad) -> ToolsetError {
    let FailedLoad { error, digests, thread } = failed;
    let exceeded_limit =
        matches!(error, ToolsetError::Time { .. } | ToolsetError::Memory { .. } | ToolsetError::Stack { .. });
    if let (true, Some(thread)) = (exceeded_limit, thread) {
        let load = AbandonedLoad {
            dir: dir.to_owned(),
            toolsets: toolsets.to_vec(),
            digests: digests.into(),
            error: error.clone(),
            thread,
            abandoned_at: Instant::now(),
        };
        with_loads(|loads| {
            let ended = |load: &AbandonedLoad| load.thread.is_finished();
            if loads.abandoned.len() >= REMEMBERED_MAX
                && let Some(index) = loads.abandoned.iter().position(ended)
            {
                loads.abandoned.remove(index);
            }
            loads.abandoned.push(load);
        });
    }
    error
}
