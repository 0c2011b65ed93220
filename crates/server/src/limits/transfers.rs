//! Limits on files and chats that are held in memory while they are received or sent.

use std::sync::Arc;

use prowess::ErrorCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{ConcurrencyLimit, ConcurrencyPermit};
use crate::problem::Problem;

/// The maximum number of concurrent transfers.
const TRANSFERS_MAX: usize = 32;

/// The maximum size of all concurrent transfers, in mebibytes.
const MEBIBYTES_MAX: u32 = 1024;

const MEBIBYTE: u64 = 1024 * 1024;

/// A limit on the number and the size of concurrent transfers.
pub(crate) struct TransferLimit {
    count: ConcurrencyLimit,
    mebibytes: Arc<Semaphore>,
}

/// Permission for one transfer, returned on drop.
#[derive(Debug)]
pub(crate) struct TransferPermit {
    _count: ConcurrencyPermit,
    _mebibytes: OwnedSemaphorePermit,
}

impl Default for TransferLimit {
    fn default() -> Self {
        let count = ConcurrencyLimit::new("file transfers", TRANSFERS_MAX);
        Self { count, mebibytes: Arc::new(Semaphore::new(MEBIBYTES_MAX as usize)) }
    }
}

impl TransferLimit {
    /// Acquires a permit to hold this many bytes in memory; an error if there is no room for them now.
    pub(crate) fn acquire(&self, bytes: u64) -> Result<TransferPermit, Problem> {
        let _count = self.count.acquire()?;
        let mebibytes = u32::try_from(bytes.div_ceil(MEBIBYTE)).unwrap_or(u32::MAX).clamp(1, MEBIBYTES_MAX);
        let acquired = Arc::clone(&self.mebibytes).try_acquire_many_owned(mebibytes);
        let _mebibytes = acquired.map_err(|_| {
            let detail = format!(
                "too many files are being transferred (the maximum is {MEBIBYTES_MAX} MiB); retry later"
            );
            Problem::new(ErrorCode::Unavailable, detail)
        })?;
        Ok(TransferPermit { _count, _mebibytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_are_limited_in_number_and_size() {
        let limit = TransferLimit::default();
        let small: Vec<_> = (0..TRANSFERS_MAX).map(|_| limit.acquire(0).unwrap()).collect();
        let error = |bytes| limit.acquire(bytes).unwrap_err().detail;
        insta::assert_snapshot!(error(1), @"too many concurrent file transfers (the maximum is 32); retry later");
        drop(small);
        let large: Vec<_> = (0..4).map(|_| limit.acquire(256 * MEBIBYTE).unwrap()).collect();
        insta::assert_snapshot!(error(1), @"too many files are being transferred (the maximum is 1024 MiB); retry later");
        drop(large);
        assert!(limit.acquire(u64::MAX).is_ok(), "one transfer always fits");
    }
}
