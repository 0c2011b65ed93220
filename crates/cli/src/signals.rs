//! Signals that end the process: Ctrl-C, `kill` and a hangup.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use tokio::signal::unix::SignalKind;
use tokio_util::sync::CancellationToken;

/// The last signal that [`set_on_termination`] handled; 0 if there was none.
static RECEIVED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Returns the exit code of a command that was stopped by a handled signal; `None` if there was none.
pub(crate) fn exit_code() -> Option<ExitCode> {
    let signal = i32::try_from(RECEIVED.load(Ordering::Relaxed)).ok().filter(|signal| *signal > 0)?;
    Some(exit_code_for(signal))
}

/// Returns the exit code that shells report for a signal: 130 for Ctrl-C.
pub(crate) fn exit_code_for(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

/// Sets `flag` at the first signal; the second one ends the process at once.
pub(crate) fn set_on_termination(flag: &Arc<AtomicBool>) {
    for signal in termination_signals() {
        // If a handler cannot be installed, the first signal ends the process.
        let _ = flag::register_conditional_default(signal, Arc::clone(flag));
        let _ = flag::register(signal, Arc::clone(flag));
        if let Ok(number) = usize::try_from(signal) {
            let _ = flag::register_usize(signal, Arc::clone(&RECEIVED), number);
        }
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
