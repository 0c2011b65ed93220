//! Limits on concurrent work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prowess::ErrorCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// A limit on the number of concurrent operations of one kind.
pub(crate) struct ConcurrencyLimit {
    operations: &'static str,
    max: usize,
    permits: Arc<Semaphore>,
    rejected: AtomicU64,
}

/// Permission for one operation, returned on drop.
#[derive(Debug)]
pub(crate) struct ConcurrencyPermit(#[allow(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

impl ConcurrencyLimit {
    /// Allows `max` concurrent operations. `operations` names them in error messages.
    pub(crate) fn new(operations: &'static str, max: usize) -> Self {
        let max = max.min(Semaphore::MAX_PERMITS);
        Self { operations, max, permits: Arc::new(Semaphore::new(max)), rejected: AtomicU64::new(0) }
    }

    /// Acquires a permit; an error if none is left.
    pub(crate) fn acquire(&self) -> Result<ConcurrencyPermit, Problem> {
        Arc::clone(&self.permits).try_acquire_owned().map(ConcurrencyPermit).map_err(|_| {
            self.rejected.fetch_add(1, Ordering::Relaxed);
            let detail =
                format!("too many concurrent {} (the maximum is {}); retry later", self.operations, self.max);
            Problem::new(ErrorCode::Unavailable, detail)
        })
    }

    /// Returns the number of permits in use.
    pub(crate) fn in_use(&self) -> usize {
        self.max.saturating_sub(self.permits.available_permits())
    }

    /// Returns how often no permit was left.
    pub(crate) fn rejected(&self) -> u64 {
        self.rejected.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_returned() {
        let limit = ConcurrencyLimit::new("answers", 1);
        let permit = limit.acquire().unwrap();
        assert_eq!(
            limit.acquire().unwrap_err().detail,
            "too many concurrent answers (the maximum is 1); retry later"
        );
        assert_eq!((limit.in_use(), limit.rejected()), (1, 1));
        drop(permit);
        assert!(limit.acquire().is_ok());
    }
}
