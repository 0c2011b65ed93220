//! What is under way at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prowess::ErrorCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// A number of places.
pub(crate) struct Room {
    what: &'static str,
    most: usize,
    places: Arc<Semaphore>,
    refused: AtomicU64,
}

/// One of them, taken until it is dropped.
#[derive(Debug)]
pub(crate) struct Place(#[allow(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

impl Room {
    /// Room for so many of these.
    pub(crate) fn new(what: &'static str, most: usize) -> Self {
        let most = most.min(Semaphore::MAX_PERMITS);
        Self { what, most, places: Arc::new(Semaphore::new(most)), refused: AtomicU64::new(0) }
    }

    /// Takes a place, if there is one.
    pub(crate) fn enter(&self) -> Result<Place, Problem> {
        Arc::clone(&self.places).try_acquire_owned().map(Place).map_err(|_| {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let detail = format!("{} {} are under way, which is all there is room for", self.most, self.what);
            Problem::new(ErrorCode::Unavailable, detail)
        })
    }

    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        self.most.saturating_sub(self.places.available_permits())
    }

    /// How often there was none left.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back() {
        let room = Room::new("answers", 1);
        let place = room.enter().unwrap();
        assert_eq!(
            room.enter().unwrap_err().detail,
            "1 answers are under way, which is all there is room for"
        );
        assert_eq!((room.taken(), room.refused()), (1, 1));
        drop(place);
        assert!(room.enter().is_ok());
    }
}
