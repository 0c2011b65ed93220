//! A line on the terminal while something takes long.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use prowess::Progress;
use prowess_package::Work;

use crate::args::Global;

/// Work that is done by then needs no progress.
const PATIENCE: Duration = Duration::from_millis(400);

/// How often the line is written anew.
const BEAT: Duration = Duration::from_millis(100);

/// Does the work; if standard error is a terminal and it takes long, a line tells how far it is.
pub(crate) fn during<T: Send>(global: &Global, doing: &str, work: impl FnOnce(&Progress) -> T + Send) -> T {
    let progress = Progress::default();
    let line = || format!("{doing} … {} folders", progress.folders());
    telling(global, line, || work(&progress))
}

/// The same for work that tells its steps. Nothing is written while a question waits for its answer.
pub(crate) fn of_work<T>(global: &Global, watched: &Work, work: impl FnOnce() -> T) -> T {
    let line = || {
        let (step, done, total) = watched.state();
        match (step.as_str(), total) {
            ("", _) => String::new(),
            ("receiving", 0) => format!("{step} … {} KiB", done / 1_024),
            (_, 0) => format!("{step} …"),
            (_, total) => format!("{step} … {done} of {total}"),
        }
    };
    telling(global, line, work)
}

/// An empty line of progress is not shown.
fn telling<T>(global: &Global, line: impl Fn() -> String + Send, work: impl FnOnce() -> T) -> T {
    if global.quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let (done, wait) = channel::<()>();
        scope.spawn(move || {
            let mut beat = PATIENCE;
            let mut shown = false;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(beat) {
                let text = line();
                (beat, shown) = (BEAT, shown || !text.is_empty());
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
