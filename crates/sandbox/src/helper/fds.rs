//! Open files that were not meant for anybody else.

use std::io;

/// Sees to it that no descriptor from `first` upwards outlives an exec.
#[allow(unsafe_code, reason = "there is no safe way to reach descriptors that this program does not know of")]
pub(super) fn close_on_exec_from(first: u32) -> io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: u32 = 1 << 2;
    // SAFETY: the call takes three numbers and touches no memory; it closes nothing, and the flag it sets changes nothing
    // for whoever owns a descriptor in this process.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
