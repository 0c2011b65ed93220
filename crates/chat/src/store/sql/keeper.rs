//! What a store does by itself while it is open: it says that this process lives, and ends turns of those that do not.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::Driver;
use super::sweep;

/// Tasks that end with whoever holds them.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Vec<JoinHandle<()>>);

impl Tasks {
    pub(crate) fn add(&mut self, task: JoinHandle<()>) {
        self.0.push(task);
    }

    /// Keeps house.
    pub(crate) fn keep<D: Driver>(&mut self, driver: Arc<D>, every: Duration) {
        self.add(tokio::spawn(async move {
            let mut ticks = interval(every);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                // A database that is away is met again at the next tick. Whoever did not say that it lives must not judge
                // others: it may be the one that was away.
                if driver.beat().await.is_ok() {
                    let _ = sweep(&*driver).await;
                }
            }
        }));
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}
