//! The requests of one client that are being answered.
//!
//! What must always hold: a request counts from the moment it is read until its answer is written, or, where the client
//! gave it up, until nobody works on it anymore. Whoever gives up requests as fast as they make them gets no more done.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// The most requests that are answered at once. Each may ask for a file of 16 MiB.
pub(super) const AT_ONCE: usize = 64;

/// The requests that are being answered.
#[derive(Debug, Default)]
pub(super) struct Answering {
    open: Mutex<Open>,
    fewer: Notify,
}

#[derive(Debug, Default)]
struct Open {
    requests: HashMap<RequestId, Stage>,
    /// Lines that were no message, whose answers are not written yet.
    refusals: usize,
    /// Whether nothing can be written anymore.
    broken: bool,
}

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is worked on.
    Working,
    /// It is worked on, and nobody wants the answer.
    GivenUp,
    /// There is an answer.
    Worked,
}

impl Answering {
    /// Takes a request, unless one of the same number is being answered.
    pub(super) fn begin(&self, id: &RequestId) -> bool {
        let mut open = self.lock();
        let is_new = !open.requests.contains_key(id);
        if is_new {
            open.requests.insert(id.clone(), Stage::Working);
        }
        is_new
    }

    /// Somebody works on a request from now on.
    pub(super) fn work(self: &Arc<Self>, id: &RequestId) -> Working {
        Working { answering: Arc::clone(self), id: id.clone(), stage: None }
    }

    /// The client does not want the answer anymore. There may be none.
    pub(super) fn give_up(&self, id: &RequestId) {
        self.change(id, |stage| (stage == Stage::Working).then_some(Stage::GivenUp));
    }

    /// The answer was written.
    pub(super) fn end(&self, id: &RequestId) {
        self.change(id, |_| None);
    }

    /// A line that was no message is about to be answered.
    pub(super) fn refuse(&self) {
        self.lock().refusals += 1;
    }

    /// That answer was written.
    pub(super) fn refused(&self) {
        self.lock().refusals -= 1;
        self.fewer.notify_one();
    }

    /// Nothing can be written anymore: there is nobody to be read.
    pub(super) fn break_off(&self) {
        self.lock().broken = true;
        self.fewer.notify_one();
    }

    /// Waits until there is room for one more; `false` where there will never be.
    pub(super) async fn room(&self) -> bool {
        loop {
            if self.lock().broken {
                return false;
            }
            if self.count() < AT_ONCE {
                return true;
            }
            self.fewer.notified().await;
        }
    }

    fn count(&self) -> usize {
        let open = self.lock();
        open.requests.len() + open.refusals
    }

    /// Takes a request to another stage, or forgets it.
    fn change(&self, id: &RequestId, next: impl FnOnce(Stage) -> Option<Stage>) {
        let mut open = self.lock();
        let Some(stage) = open.requests.get_mut(id) else { return };
        match next(*stage) {
            Some(next) => *stage = next,
            None => {
                open.requests.remove(id);
                self.fewer.notify_one();
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work on a request. Dropped without an answer, the request is forgotten: nobody will ever write one.
#[derive(Debug)]
pub(super) struct Working {
    answering: Arc<Answering>,
    id: RequestId,
    stage: Option<Stage>,
}

impl Working {
    /// There is an answer.
    pub(super) fn done(mut self) {
        self.stage = Some(Stage::Worked);
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let next = self.stage;
        self.answering.change(&self.id, |stage| next.filter(|_| stage != Stage::GivenUp));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_until_nobody_is_busy_with_it() {
        let answering = Arc::<Answering>::default();
        let id = RequestId::Number(1);
        // Answered.
        assert!(answering.begin(&id) && !answering.begin(&id));
        answering.work(&id).done();
        assert_eq!(answering.count(), 1);
        answering.end(&id);
        assert_eq!(answering.count(), 0);
        // Given up while it is worked on.
        answering.begin(&id);
        let working = answering.work(&id);
        answering.give_up(&id);
        assert_eq!(answering.count(), 1);
        working.done();
        assert_eq!(answering.count(), 0);
        // Given up when there was an answer that is not written yet.
        answering.begin(&id);
        answering.work(&id).done();
        answering.give_up(&id);
        assert_eq!(answering.count(), 0);
        // Never answered at all.
        answering.begin(&id);
        drop(answering.work(&id));
        assert_eq!(answering.count(), 0);
        // Unknown ones.
        answering.give_up(&id);
        answering.end(&id);
        answering.refuse();
        assert_eq!(answering.count(), 1);
        answering.refused();
        assert_eq!(answering.count(), 0);
    }
}
