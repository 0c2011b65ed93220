//! A line on the terminal while something takes long.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use prowess::Progress;

use crate::args::Global;

/// Work that is done by then needs no progress.
const PATIENCE: Duration = Duration::from_millis(400);

/// How often the line is written anew.
const BEAT: Duration = Duration::from_millis(100);

/// Does the work; if standard error is a terminal and it takes long, a line tells how far it is.
pub(crate) fn during<T: Send>(global: &Global, doing: &str, work: impl FnOnce(&Progress) -> T + Send) -> T {
    let progress = Progress::default();
    if global.quiet || !std::io::stderr().is_terminal() {
        return work(&progress);
    }
    std::thread::scope(|scope| {
        let (done, wait) = channel::<()>();
        let watched = &progress;
        scope.spawn(move || {
            let mut beat = PATIENCE;
            let mut shown = false;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(beat) {
                (beat, shown) = (BEAT, true);
                let _ = write!(std::io::stderr(), "\r{doing} … {} folders", watched.folders());
            }
            if shown {
                let _ = write!(std::io::stderr(), "\r\x1b[K");
            }
        });
        let result = work(&progress);
        drop(done);
        result
    })
}
