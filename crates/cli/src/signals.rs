//! Signals that end the process: Ctrl-C, `kill` and a hangup.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use tokio::signal::unix::SignalKind;
use tokio_util::sync::CancellationToken;

/// Sets `flag` at the first signal; the second one ends the process at once.
pub(crate) fn set_on_termination(flag: &Arc<AtomicBool>) {
    for signal in termination_signals() {
        // If a handler cannot be installed, the first signal ends the process.
        let _ = flag::register_conditional_default(signal, Arc::clone(flag));
        let _ = flag::register(signal, Arc::clone(flag));
    }
}

/// Returns a token that is cancelled at the first signal. Must be called inside a runtime.
pub(crate) fn cancelled_on_termination() -> CancellationToken {
    let stop = CancellationToken::new();
    for number in termination_signals() {
        let Ok(mut signal) = tokio::signal::unix::signal(SignalKind::from_raw(number)) else { continue };
        let stop = stop.clone();
        tokio::spawn(async move {
            signal.recv().await;
            stop.cancel();
        });
    }
    stop
}

/// Returns the signals that end the process, except those that were ignored at its start: `nohup` ignores hangups, and a
/// shell without job control ignores Ctrl-C in background processes.
fn termination_signals() -> impl Iterator<Item = i32> {
    let ignored = ignored_signals();
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(move |signal| ignored & (1 << (signal - 1)) == 0)
}

/// Returns the set of ignored signals, with signal 1 in the lowest bit. It is empty on systems without `/proc`.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
