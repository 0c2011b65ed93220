//! Ending everything that a script left behind.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

use crate::processes;

/// How long it is tried.
const LONG_ENOUGH: Duration = Duration::from_secs(10);

/// Ends all descendants of this process, which are its children once their parents are gone. The answer is the status
/// that `main` ended with, and how many others were there when it had.
pub(super) fn everything(main: Pid) -> (Option<i32>, u32) {
    let begun = Instant::now();
    let mut status = None;
    let left = left();
    while begun.elapsed() < LONG_ENOUGH {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((ended, how))) if ended == main => status = Some(how.as_raw()),
            Ok(Some(_)) => {}
            Ok(None) => {
                for pid in descendants(std::process::id()) {
                    // It may be gone by now.
                    let _ = rustix::process::kill_process(pid, Signal::KILL);
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(rustix::io::Errno::INTR) => {}
            // There is nobody left.
            Err(_) => break,
        }
    }
    (status, left)
}

/// How many processes below this one have not ended.
pub(super) fn left() -> u32 {
    let running = descendants(std::process::id()).into_iter().filter(|pid| !processes::has_ended(*pid));
    u32::try_from(running.count()).unwrap_or(u32::MAX)
}

/// Everybody below a process, by what each says of its parent.
fn descendants(root: u32) -> Vec<Pid> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, parent) in processes::parents() {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            open.push(child);
            found.extend(i32::try_from(child).ok().and_then(Pid::from_raw));
        }
    }
    found
}
