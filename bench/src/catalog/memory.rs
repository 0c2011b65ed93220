//! The most memory that this process had, as Linux counts it.

use std::fs;

/// Counts from now on.
pub fn forget_peak() {
    // Where this is not possible, the figure is that of the whole run.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most since then, in bytes; `None` where the system does not say.
pub fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}
