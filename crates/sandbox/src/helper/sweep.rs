//! Kills all processes that a script left behind.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

use crate::processes;

/// How long to try.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// Kills all descendants of this process. Returns the exit status of `main`, and how many other processes were running
/// when it ended.
pub(super) fn kill_all(main: Pid) -> (Option<i32>, u32) {
    let started = Instant::now();
    let mut status = None;
    let remaining = count_remaining();
    while started.elapsed() < KILL_TIMEOUT {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((ended, wait_status))) if ended == main => status = Some(wait_status.as_raw()),
            Ok(Some(_)) => {}
            Ok(None) => {
                for pid in descendants(std::process::id()) {
                    // The process may have ended already.
                    let _ = rustix::process::kill_process(pid, Signal::KILL);
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(rustix::io::Errno::INTR) => {}
            // No children are left.
            Err(_) => break,
        }
    }
    (status, remaining)
}

/// Returns how many descendants of this process are running.
pub(super) fn count_remaining() -> u32 {
    let running = descendants(std::process::id()).into_iter().filter(|pid| !processes::has_ended(*pid));
    u32::try_from(running.count()).unwrap_or(u32::MAX)
}

/// Returns all descendants of a process.
fn descendants(root: u32) -> Vec<Pid> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, parent) in processes::process_parents() {
        children.entry(parent).or_default().push(pid);
    }
    let mut pids = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            open.push(child);
            pids.extend(i32::try_from(child).ok().and_then(Pid::from_raw));
        }
    }
    pids
}
