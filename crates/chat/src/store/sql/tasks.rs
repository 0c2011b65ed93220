//! Background tasks of an open store: the heartbeat of this process, and ending abandoned turns.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::SqlDriver;
use super::sweep;

/// Tasks that are aborted when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct BackgroundTasks(Vec<JoinHandle<()>>);

impl BackgroundTasks {
    pub(crate) fn add(&mut self, task: JoinHandle<()>) {
        self.0.push(task);
    }

    /// Starts the maintenance task.
    pub(crate) fn spawn_maintenance<D: SqlDriver>(&mut self, driver: Arc<D>, period: Duration) {
        self.add(tokio::spawn(async move {
            let mut ticks = interval(period);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                // Errors are retried at the next tick. Without a heartbeat of its own, a process must not end the turns of
                // others: it may be the one that was disconnected.
                if driver.heartbeat().await.is_ok() {
                    let _ = sweep(&*driver).await;
                }
            }
        }));
    }
}

impl Drop for BackgroundTasks {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}
