//! Watches the roots and reports changes.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use notify_debouncer_full::notify::{self, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, NoCache, new_debouncer_opt};

use super::{Registry, Snapshot, SnapshotDiff};
use crate::skill::{Root, SkillLink};

/// The debounce interval: editors save a file in several steps.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// The delay of an extra refresh after a difference. A change that is undone within the debounce interval
/// causes no event, but a refresh in between may have seen it.
const RECHECK_DELAY: Duration = DEBOUNCE.saturating_mul(2);

/// The maximum number of immediate refreshes because new directories had to be watched.
const REFRESHES_MAX: usize = 8;

/// The file system cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch the skill directories")]
pub struct WatchError(#[from] notify::Error);

/// Watches the roots of a registry, the targets of its symlinks, the user's trust, and remote sources. Dropping
/// it ends the watch.
#[derive(Debug)]
pub struct Watcher {
    registry: Arc<Registry>,
    signals: Receiver<()>,
    debouncer: Debouncer<RecommendedWatcher, NoCache>,
    watched: HashMap<PathBuf, DirIdentity>,
    last: Arc<Snapshot>,
    /// When to refresh without a signal.
    recheck_at: Option<Instant>,
}

/// Distinguishes a directory from another one that replaced it. Inode numbers alone are reused.
type DirIdentity = ((u64, u64), Option<SystemTime>);

impl Watcher {
    /// Starts watching. Roots that do not exist yet are detected through their nearest existing ancestor.
    pub fn new(registry: Arc<Registry>) -> Result<Self, WatchError> {
        let (sender, signals) = sync_channel(1);
        // Refresh first: something may have changed since the registry's last refresh.
        let _ = sender.try_send(());
        let state = registry.host().state_dir();
        // The state directory also holds chats, which are written all the time.
        let is_relevant = move |path: &PathBuf| {
            state.is_none() || path.parent() != state.as_deref() || affects_skills(path)
        };
        let handler = move |result: DebounceEventResult| {
            let is_change = |event: &notify_debouncer_full::DebouncedEvent| {
                // Ignore reads: a refresh causes them itself.
                !event.kind.is_access() && (event.paths.is_empty() || event.paths.iter().any(&is_relevant))
            };
            if result.map_or(true, |events| events.iter().any(is_change)) {
                // One pending signal is enough.
                let _ = sender.try_send(());
            }
        };
        // A symlink may point to the whole disk.
        let config = notify::Config::default().with_follow_symlinks(false);
        let debouncer = new_debouncer_opt(DEBOUNCE, None, handler, NoCache::new(), config)?;
        let last = registry.snapshot();
        let mut watcher =
            Self { registry, signals, debouncer, watched: HashMap::new(), last, recheck_at: None };
        watcher.watch(&watcher.last.clone())?;
        Ok(watcher)
    }

    /// Watches the directories that a snapshot depends on. Returns `true` if any of them was not watched
    /// before.
    fn watch(&mut self, snapshot: &Snapshot) -> Result<bool, WatchError> {
        let required = self.required_dirs(snapshot);
        for path in self.watched.keys().filter(|path| !required.contains_key(*path)) {
            // The watch of a deleted directory is already gone.
            let _ = self.debouncer.unwatch(path);
        }
        self.watched
            .retain(|path, identity| required.get(path).is_some_and(|(_, current)| current == identity));
        let mut added = false;
        for (path, (mode, identity)) in required {
            if self.watched.contains_key(&path) {
                continue;
            }
            match self.debouncer.watch(&path, mode) {
                Ok(()) => {
                    self.watched.insert(path, identity);
                    added = true;
                }
                // The directory was just deleted, which causes an event of its own.
                Err(_) if identify(&path).is_none() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(added)
    }

    fn required_dirs(&self, snapshot: &Snapshot) -> HashMap<PathBuf, (RecursiveMode, DirIdentity)> {
        let roots: Vec<&Path> = snapshot.roots().filter(|root| root.is_dir()).map(Root::canonical).collect();
        let existing_parent =
            |path: &Path| path.ancestors().skip(1).find(|dir| dir.is_dir()).map(Path::to_owned);
        let absent = snapshot.absent_roots().iter().filter_map(|absent| existing_parent(&absent.path));
        let state = self.registry.host().state_dir();
        let state = state.and_then(|state| existing_parent(&state.join("trust.json")));
        let linked =
            snapshot.all().iter().filter(|skill| !skill.is_outside_known_dirs()).filter_map(|skill| {
                let SkillLink { target, is_dir, .. } = skill.link()?;
                if *is_dir { Some(target.clone()) } else { existing_parent(target) }
            });
        let is_outside_roots = |path: &PathBuf| !roots.iter().any(|root| path.starts_with(root));
        let single = linked.chain(absent).chain(state).filter(is_outside_roots);
        let single = single.map(|path| (path, RecursiveMode::NonRecursive));
        let roots = roots.iter().map(|root| (root.to_path_buf(), RecursiveMode::Recursive));
        single
            .chain(roots)
            .filter_map(|(path, mode)| identify(&path).map(|identity| (path, (mode, identity))))
            .collect()
    }

    /// Waits for a change and returns the difference; `None` after `timeout`.
    pub fn wait_for_change(&mut self, timeout: Duration) -> Option<SnapshotDiff> {
        // A deadline beyond the range of the clock means no deadline.
        let end = Instant::now().checked_add(timeout);
        loop {
            let begin = Instant::now();
            let time_until = |deadline: Option<Instant>| {
                deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(begin))
            };
            let recheck_is_next = self.recheck_at.is_some() && time_until(self.recheck_at) <= time_until(end);
            match self.signals.recv_timeout(time_until(end).min(time_until(self.recheck_at))) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) if recheck_is_next => self.recheck_at = None,
                // Remote sources cause no events, so ask them.
                Err(_) if self.registry.have_sources_changed() => {}
                Err(_) => return None,
            }
            let mut snapshot = self.registry.refresh();
            for _ in 0..REFRESHES_MAX {
                // A directory that cannot be watched is still read at the next refresh.
                if !self.watch(&snapshot).unwrap_or(false) {
                    break;
                }
                // Changes before the directory was watched caused no event.
                snapshot = self.registry.refresh();
            }
            let difference = snapshot.diff_from(&self.last);
            self.last = snapshot;
            if !difference.is_empty() {
                self.recheck_at = Instant::now().checked_add(RECHECK_DELAY);
                return Some(difference);
            }
        }
    }
}

/// Returns `true` for a state file that affects the status of skills: all JSON files except the usage
/// statistics.
fn affects_skills(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("json")) && path.file_stem() != Some(OsStr::new("usage"))
}

fn identify(path: &Path) -> Option<DirIdentity> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some((prowess_fs::file_id(&metadata), metadata.created().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats_and_usage_do_not_affect_skills() {
        for file in ["trust.json", "accepted.json", "installed.json"] {
            assert!(affects_skills(&Path::new("/home/ada/.prowess/state").join(file)), "{file}");
        }
        for file in ["chats.sqlite3", "chats.sqlite3-wal", "usage.json", "log", "index"] {
            assert!(!affects_skills(&Path::new("/home/ada/.prowess/state").join(file)), "{file}");
        }
    }
}
