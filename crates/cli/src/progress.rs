//! A progress line on the terminal for slow operations.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use prowess::ScanProgress;
use prowess_package::Task;

use crate::args::Global;

/// The progress line is shown after this time.
const SHOW_AFTER: Duration = Duration::from_millis(400);

/// The interval between updates of the progress line.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// Runs `work` and shows the number of searched directories if it takes long.
pub(crate) fn with_scan_progress<T: Send>(
    global: &Global,
    action: &str,
    work: impl FnOnce(&ScanProgress) -> T + Send,
) -> T {
    let progress = ScanProgress::default();
    let line = || format!("{action} … {} directories", progress.dirs());
    with_progress_line(global, line, || work(&progress))
}

/// Runs `work` and shows the steps of the task if it takes long. Nothing is shown while a prompt waits for input.
pub(crate) fn with_task_progress<T>(global: &Global, task: &Task, work: impl FnOnce() -> T) -> T {
    let line = || {
        let (step, done, total) = task.progress();
        match (step.as_str(), total) {
            ("", _) => String::new(),
            ("receiving", 0) => format!("{step} … {} KiB", done / 1_024),
            (_, 0) => format!("{step} …"),
            (_, total) => format!("{step} … {done} of {total}"),
        }
    };
    with_progress_line(global, line, work)
}

/// Runs `work` and shows `line` on a terminal, unless it is empty.
fn with_progress_line<T>(global: &Global, line: impl Fn() -> String + Send, work: impl FnOnce() -> T) -> T {
    if global.quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let (done, wait) = channel::<()>();
        scope.spawn(move || {
            let mut interval = SHOW_AFTER;
            let mut shown = false;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(interval) {
                let text = line();
                (interval, shown) = (UPDATE_INTERVAL, shown || !text.is_empty());
                if !text.is_empty() {
                    let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
                }
            }
            if shown {
                let _ = write!(std::io::stderr(), "\r\x1b[K");
            }
        });
        let result = work();
        drop(done);
        result
    })
}
