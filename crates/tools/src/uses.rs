//! Which skills were used, written down now and then: a process that stays need not wait for the disk at each use.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prowess::Registry;
use prowess::usage::Usage;

/// How long uses may wait to be written down.
const WAIT: Duration = Duration::from_secs(2);

/// The most uses that wait.
const WAITING: usize = 1_000;

/// The uses of a registry's skills. What waits is written down when this is dropped; a process that is killed loses two
/// seconds of a convenience.
#[derive(Debug)]
pub(crate) struct Uses {
    registry: Arc<Registry>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    names: Vec<String>,
    written: Option<Instant>,
}

impl Uses {
    pub(crate) fn of(registry: Arc<Registry>) -> Self {
        Self { registry, waiting: Mutex::default() }
    }

    /// Notes a use.
    pub(crate) fn note(&self, name: &str) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.names.push(name.to_owned());
        let is_due = waiting.written.is_none_or(|written| written.elapsed() >= WAIT);
        if is_due || waiting.names.len() >= WAITING {
            self.write(&mut waiting);
        }
    }

    fn write(&self, waiting: &mut Waiting) {
        let names = std::mem::take(&mut waiting.names);
        // What is remembered across runs is a convenience; that it cannot be written fails nothing.
        let _ = Usage::record_all(self.registry.surroundings(), names.iter().map(String::as_str));
        waiting.written = Some(Instant::now());
    }
}

impl Drop for Uses {
    fn drop(&mut self) {
        let mut waiting = std::mem::take(self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !waiting.names.is_empty() {
            self.write(&mut waiting);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prowess::{Policy, Progress, Surroundings};

    #[test]
    fn every_use_is_written_down_in_the_end() {
        let home = tempfile::tempdir().unwrap();
        let world = Surroundings {
            project: home.path().to_owned(),
            home: Some(home.path().to_owned()),
            path: Default::default(),
        };
        let registry = Registry::open_in(Policy::default(), world.clone(), &Progress::default());
        let uses = Uses::of(Arc::new(registry));
        uses.note("first");
        assert_eq!(Usage::load(&world).recent(9), ["first"], "the first does not wait");
        uses.note("second");
        uses.note("second");
        assert_eq!(Usage::load(&world).len(), 1);
        drop(uses);
        assert_eq!(Usage::load(&world).len(), 2);
    }
}
