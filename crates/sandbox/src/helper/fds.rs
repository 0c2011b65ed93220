//! Open descriptors that must not be passed on.

use std::io;

/// Sets close-on-exec for all descriptors from `first` upwards.
#[allow(unsafe_code, reason = "there is no safe interface for descriptors that this program does not own")]
pub(super) fn close_on_exec_from(first: u32) -> io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: u32 = 1 << 2;
    // SAFETY: the call takes three numbers and accesses no memory. It closes nothing, and the flag has no effect on the
    // owners of descriptors in this process.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
