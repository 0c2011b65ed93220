//! A progress line on the terminal for slow operations.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prowess::ScanProgress;
use prowess_package::Task;

use crate::args::GlobalArgs;

/// The progress line is shown after this time.
const SHOW_AFTER: Duration = Duration::from_millis(400);

/// The interval between updates of the progress line.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// The progress line of this process.
static LINE: ProgressLine = ProgressLine::new();

/// A line at the cursor that is replaced or removed as a whole.
struct ProgressLine {
    /// Whether the line is on the terminal. Locked while the line is written.
    shown: Mutex<bool>,
}

impl ProgressLine {
    const fn new() -> Self {
        Self { shown: Mutex::new(false) }
    }

    /// Replaces the line, unless the text is empty. The text is computed while no one else can write the line.
    fn draw(&self, terminal: &mut impl Write, text: impl FnOnce() -> String) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let text = text();
        if !text.is_empty() {
            *shown = true;
            let _ = write!(terminal, "\r\x1b[K{text}");
        }
    }

    /// Removes the line. `prevent` runs first and must keep [`draw`](Self::draw) from showing it again.
    fn remove(&self, terminal: &mut impl Write, prevent: impl FnOnce()) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        prevent();
        if std::mem::take(&mut *shown) {
            let _ = write!(terminal, "\r\x1b[K");
        }
    }
}

/// Hides the progress of a task until its next step, so that a prompt can be shown.
pub(crate) fn hide_task_progress(task: &Task) {
    LINE.remove(&mut std::io::stderr(), || task.begin_step("", 0));
}

/// Runs `work` and shows the number of searched directories if it takes long.
pub(crate) fn with_scan_progress<T: Send>(
    global: &GlobalArgs,
    action: &str,
    work: impl FnOnce(&ScanProgress) -> T + Send,
) -> T {
    let progress = ScanProgress::default();
    let line = || format!("{action} … {} directories", progress.dirs());
    with_progress_line(global, line, || work(&progress))
}

/// Runs `work` and shows the steps of the task if it takes long. Nothing is shown while a prompt waits for input.
pub(crate) fn with_task_progress<T>(global: &GlobalArgs, task: &Task, work: impl FnOnce() -> T) -> T {
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
pub(crate) fn with_progress_line<T>(
    global: &GlobalArgs,
    line: impl Fn() -> String + Send,
    work: impl FnOnce() -> T,
) -> T {
    if global.quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let (stop, stopped) = channel::<()>();
        scope.spawn(move || {
            let mut interval = SHOW_AFTER;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(interval) {
                interval = UPDATE_INTERVAL;
                LINE.draw(&mut std::io::stderr(), &line);
            }
            LINE.remove(&mut std::io::stderr(), || ());
        });
        let result = work();
        drop(stop);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_on_a_line_of_its_own() {
        let (line, mut terminal) = (ProgressLine::new(), Vec::new());
        line.remove(&mut terminal, || ());
        line.draw(&mut terminal, || "auditing … 1 of 2".to_owned());
        line.draw(&mut terminal, String::new);
        line.remove(&mut terminal, || ());
        terminal.extend(b"Install it? y\n");
        line.remove(&mut terminal, || ());
        line.draw(&mut terminal, || "writing …".to_owned());
        assert_eq!(
            String::from_utf8(terminal).unwrap(),
            "\r\x1b[Kauditing … 1 of 2\r\x1b[KInstall it? y\n\r\x1b[Kwriting …"
        );
    }
}
