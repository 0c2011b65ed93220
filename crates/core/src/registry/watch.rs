//! Watching the roots and telling what changed.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use notify_debouncer_full::notify::{self, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, NoCache, new_debouncer_opt};

use super::{Difference, Registry, Snapshot};
use crate::skill::{Link, Root};

/// How long changes are gathered before they are looked at: an editor saves in several steps.
const GATHER: Duration = Duration::from_millis(200);

/// How long after a difference it is looked once more. What comes and goes while changes are gathered makes no event; a look
/// in between has seen it all the same, and has to see that it went.
const ONCE_MORE: Duration = GATHER.saturating_mul(2);

/// How often it is looked again at once because new folders had to be watched.
const LOOKS_MAX: usize = 8;

/// The file system cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("the directories of skills cannot be watched")]
pub struct WatchError(#[from] notify::Error);

/// Watches the roots of a registry, what its links lead to, the user's trust, and what servers offer. Dropping it ends the watch.
#[derive(Debug)]
pub struct Watcher {
    registry: Arc<Registry>,
    signals: Receiver<()>,
    debouncer: Debouncer<RecommendedWatcher, NoCache>,
    watched: HashMap<PathBuf, Identity>,
    last: Arc<Snapshot>,
    /// When to look without a signal.
    once_more: Option<Instant>,
}

/// What tells a folder from another one that took its place. A number alone is soon given to the next.
type Identity = ((u64, u64), Option<SystemTime>);

impl Watcher {
    /// Starts watching. Roots that do not exist yet are noticed through the nearest folder above them that does.
    pub fn new(registry: Arc<Registry>) -> Result<Self, WatchError> {
        let (sender, signals) = sync_channel(1);
        // Whatever changed between the last look at the roots and now is looked for first.
        let _ = sender.try_send(());
        let state = registry.surroundings().state();
        // The folder of the state holds chats, too, and those are written all the time.
        let matters = move |path: &PathBuf| {
            state.is_none() || path.parent() != state.as_deref() || decides_about_skills(path)
        };
        let handler = move |result: DebounceEventResult| {
            let is_change = |event: &notify_debouncer_full::DebouncedEvent| {
                // Reading is no change, and reading is what a refresh does.
                !event.kind.is_access() && (event.paths.is_empty() || event.paths.iter().any(&matters))
            };
            if result.map_or(true, |events| events.iter().any(is_change)) {
                // One signal that waits is enough.
                let _ = sender.try_send(());
            }
        };
        // A link may lead to the whole disk.
        let config = notify::Config::default().with_follow_symlinks(false);
        let debouncer = new_debouncer_opt(GATHER, None, handler, NoCache::new(), config)?;
        let last = registry.snapshot();
        let mut watcher =
            Self { registry, signals, debouncer, watched: HashMap::new(), last, once_more: None };
        watcher.watch(&watcher.last.clone())?;
        Ok(watcher)
    }

    /// Watches what a snapshot came from. Gives whether anything was not watched before.
    fn watch(&mut self, snapshot: &Snapshot) -> Result<bool, WatchError> {
        let wanted = self.wanted(snapshot);
        for path in self.watched.keys().filter(|path| !wanted.contains_key(*path)) {
            // Of what is gone the watch is gone, too.
            let _ = self.debouncer.unwatch(path);
        }
        self.watched.retain(|path, identity| wanted.get(path).is_some_and(|(_, now)| now == identity));
        let mut grown = false;
        for (path, (mode, identity)) in wanted {
            if self.watched.contains_key(&path) {
                continue;
            }
            match self.debouncer.watch(&path, mode) {
                Ok(()) => {
                    self.watched.insert(path, identity);
                    grown = true;
                }
                // It is gone already; what took it away is an event of its own.
                Err(_) if identify(&path).is_none() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(grown)
    }

    fn wanted(&self, snapshot: &Snapshot) -> HashMap<PathBuf, (RecursiveMode, Identity)> {
        let roots: Vec<&Path> =
            snapshot.roots().filter(|root| root.is_folder()).map(Root::canonical).collect();
        let above = |path: &Path| path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned);
        let absent = snapshot.absent_roots().iter().filter_map(|absent| above(&absent.path));
        let state = self.registry.surroundings().state();
        let state = state.and_then(|state| above(&state.join("trust.json")));
        let linked = snapshot.all().iter().filter(|skill| !skill.is_outside()).filter_map(|skill| {
            let Link { target, folder, .. } = skill.link()?;
            if *folder { Some(target.clone()) } else { above(target) }
        });
        let apart = |path: &PathBuf| !roots.iter().any(|root| path.starts_with(root));
        let single = linked.chain(absent).chain(state).filter(apart);
        let single = single.map(|path| (path, RecursiveMode::NonRecursive));
        let roots = roots.iter().map(|root| (root.to_path_buf(), RecursiveMode::Recursive));
        single
            .chain(roots)
            .filter_map(|(path, mode)| identify(&path).map(|identity| (path, (mode, identity))))
            .collect()
    }

    /// Waits until something changes, at most `timeout`, and tells the difference. `None` when the time is up.
    pub fn next(&mut self, timeout: Duration) -> Option<Difference> {
        // A time that lies beyond the clock is none at all.
        let end = Instant::now().checked_add(timeout);
        loop {
            let begin = Instant::now();
            let left = |until: Option<Instant>| {
                until.map_or(Duration::MAX, |until| until.saturating_duration_since(begin))
            };
            let is_first = self.once_more.is_some() && left(self.once_more) <= left(end);
            match self.signals.recv_timeout(left(end).min(left(self.once_more))) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) if is_first => self.once_more = None,
                // Servers make no events; they say by themselves whether they offer something else.
                Err(_) if self.registry.is_offered_otherwise() => {}
                Err(_) => return None,
            }
            let mut now = self.registry.refresh();
            for _ in 0..LOOKS_MAX {
                // What cannot be watched is still seen at the next refresh.
                if !self.watch(&now).unwrap_or(false) {
                    break;
                }
                // What came into a folder before it was watched made no event.
                now = self.registry.refresh();
            }
            let difference = now.since(&self.last);
            self.last = now;
            if !difference.is_empty() {
                self.once_more = Instant::now().checked_add(ONCE_MORE);
                return Some(difference);
            }
        }
    }
}

/// Whether a file of the state says which skills there are: trust, approvals and locks are JSON. So are uses, which do not.
fn decides_about_skills(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("json")) && path.file_stem() != Some(OsStr::new("usage"))
}

fn identify(path: &Path) -> Option<Identity> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some((prowess_fs::identity(&metadata), metadata.created().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats_and_uses_say_nothing_about_skills() {
        for file in ["trust.json", "accepted.json", "installed.json"] {
            assert!(decides_about_skills(&Path::new("/home/ada/.prowess/state").join(file)), "{file}");
        }
        for file in ["chats.sqlite3", "chats.sqlite3-wal", "usage.json", "log", "index"] {
            assert!(!decides_about_skills(&Path::new("/home/ada/.prowess/state").join(file)), "{file}");
        }
    }
}
