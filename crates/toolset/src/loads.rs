//! Loads of toolsets: one at a time for each folder, and none again that had to be given up.
//!
//! The record is shared by the whole process, because a server makes new [`Toolsets`](super::Toolsets) whenever its
//! configuration changes, while the threads of the old ones may still be running.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use prowess::Skill;

use super::engine::FailedLoad;
use super::error::ToolsetError;
use super::sources::are_unchanged;

/// How long a load that hit a limit and ended is not tried again. One whose thread still runs is never tried again.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// The most loads that are remembered after their thread has ended.
const REMEMBERED_MAX: usize = 256;

static LOADS: Mutex<Option<Loads>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Loads {
    /// Held by the thread that loads the toolsets of a folder.
    loading: HashMap<PathBuf, Arc<Mutex<()>>>,
    given_up: Vec<GivenUp>,
}

/// A load that hit a limit.
#[derive(Debug)]
struct GivenUp {
    folder: PathBuf,
    toolsets: Vec<(String, String)>,
    stamps: Arc<[(String, String)]>,
    error: ToolsetError,
    thread: JoinHandle<()>,
    since: Instant,
}

impl GivenUp {
    fn may_be_retried(&self) -> bool {
        self.thread.is_finished() && self.since.elapsed() >= RETRY_AFTER
    }
}

fn with_loads<T>(work: impl FnOnce(&mut Loads) -> T) -> T {
    let mut loads: MutexGuard<'_, Option<Loads>> = LOADS.lock().unwrap_or_else(PoisonError::into_inner);
    work(loads.get_or_insert_default())
}

/// Runs `load` for a folder while no other thread loads the toolsets of the same folder.
pub(super) fn one_at_a_time<T>(folder: &Path, load: impl FnOnce() -> T) -> T {
    let gate = with_loads(|loads| Arc::clone(loads.loading.entry(folder.to_owned()).or_default()));
    let done = {
        let _held = gate.lock().unwrap_or_else(PoisonError::into_inner);
        load()
    };
    drop(gate);
    with_loads(|loads| loads.loading.retain(|_, gate| Arc::strong_count(gate) > 1));
    done
}

/// Returns the error of an earlier load of the same files that had to be given up.
pub(super) fn given_up(skill: &Skill, folder: &Path, toolsets: &[(String, String)]) -> Option<ToolsetError> {
    let earlier: Vec<_> = with_loads(|loads| {
        loads.given_up.retain(|load| !load.may_be_retried());
        let same = loads.given_up.iter().filter(|load| load.folder == folder && load.toolsets == toolsets);
        same.map(|load| (Arc::clone(&load.stamps), load.error.clone())).collect()
    });
    earlier.into_iter().find(|(stamps, _)| are_unchanged(stamps, skill)).map(|(_, error)| error)
}

/// Remembers a load that failed, if it hit a limit. Returns its error.
pub(super) fn remember(folder: &Path, toolsets: &[(String, String)], failed: FailedLoad) -> ToolsetError {
    let FailedLoad { error, stamps, thread } = failed;
    let hit_a_limit =
        matches!(error, ToolsetError::Time { .. } | ToolsetError::Memory { .. } | ToolsetError::Stack { .. });
    if let (true, Some(thread)) = (hit_a_limit, thread) {
        let load = GivenUp {
            folder: folder.to_owned(),
            toolsets: toolsets.to_vec(),
            stamps: stamps.into(),
            error: error.clone(),
            thread,
            since: Instant::now(),
        };
        with_loads(|loads| {
            let ended = |load: &GivenUp| load.thread.is_finished();
            if loads.given_up.len() >= REMEMBERED_MAX
                && let Some(at) = loads.given_up.iter().position(ended)
            {
                loads.given_up.remove(at);
            }
            loads.given_up.push(load);
        });
    }
    error
}
