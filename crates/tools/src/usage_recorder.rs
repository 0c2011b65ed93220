//! Records used skills in batches, so that a long-running process does not wait for the disk on each use.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prowess::Registry;
use prowess::usage::SkillUsage;

/// How long uses may stay in memory.
const FLUSH_INTERVAL: Duration = Duration::from_secs(2);

/// The maximum number of uses in memory.
const PENDING_MAX: usize = 1_000;

/// Records the uses of a registry's skills. Flushes when it is dropped; a killed process loses the last two
/// seconds.
#[derive(Debug)]
pub(crate) struct UsageRecorder {
    registry: Arc<Registry>,
    pending: Mutex<PendingUses>,
}

#[derive(Debug, Default)]
struct PendingUses {
    names: Vec<String>,
    last_flush: Option<Instant>,
}

impl UsageRecorder {
    pub(crate) fn new(registry: Arc<Registry>) -> Self {
        Self { registry, pending: Mutex::default() }
    }

    /// Records a use.
    pub(crate) fn record(&self, name: &str) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.names.push(name.to_owned());
        let is_due = pending.last_flush.is_none_or(|last_flush| last_flush.elapsed() >= FLUSH_INTERVAL);
        if is_due || pending.names.len() >= PENDING_MAX {
            self.flush(&mut pending);
        }
    }

    fn flush(&self, pending: &mut PendingUses) {
        let names = std::mem::take(&mut pending.names);
        // Usage is only a convenience, so a failed write is not an error.
        let _ = SkillUsage::record_all(self.registry.host(), names.iter().map(String::as_str));
        pending.last_flush = Some(Instant::now());
    }
}

impl Drop for UsageRecorder {
    fn drop(&mut self) {
        let mut pending = std::mem::take(self.pending.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !pending.names.is_empty() {
            self.flush(&mut pending);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prowess::{HostEnv, Policy, ScanProgress};

    #[test]
    fn every_use_is_finally_recorded() {
        let home = tempfile::tempdir().unwrap();
        let host = HostEnv {
            project: home.path().to_owned(),
            home: Some(home.path().to_owned()),
            path: Default::default(),
        };
        let registry = Registry::open_in(Policy::default(), host.clone(), &ScanProgress::default());
        let uses = UsageRecorder::new(Arc::new(registry));
        uses.record("first");
        assert_eq!(SkillUsage::load(&host).recent(9), ["first"], "the first use is recorded at once");
        uses.record("second");
        uses.record("second");
        assert_eq!(SkillUsage::load(&host).len(), 1);
        drop(uses);
        assert_eq!(SkillUsage::load(&host).len(), 2);
    }
}
