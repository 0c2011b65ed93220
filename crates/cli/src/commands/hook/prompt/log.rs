//! The log of the hook. It never contains texts of the event or of skills.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use prowess_fs::{read_bounded, unix_millis, write_private_nosync};
use prowess_package::connect::hooks::find_hook_client;
use prowess_package::format_iso_time;

use crate::args::GlobalArgs;

/// The maximum size of the log, in bytes.
const LOG_MAX: usize = 64 * 1024;

/// The maximum size of a log that is read, in bytes.
pub(in crate::commands) const LOG_FILE_MAX: u64 = 1024 * 1024;

/// Why the hook gave no hint although it should have looked for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HookProblem {
    /// The arguments are invalid, or a path in them does not exist.
    Usage,
    UnknownClient,
    Input,
    EventTooLarge,
    InvalidEvent,
    Configuration,
    Timeout(Duration),
    Output,
    /// A panic at this file and line.
    Panic(Option<(String, u32)>),
}

impl fmt::Display for HookProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => f.write_str("the arguments are invalid; run `prowess hook install` again"),
            Self::UnknownClient => f.write_str("unknown client; run `prowess hook install` again"),
            Self::Input => f.write_str("cannot read the event"),
            Self::EventTooLarge => f.write_str("the event is larger than 1 MiB"),
            Self::InvalidEvent => f.write_str("the event is not the JSON of a known client"),
            Self::Configuration => f.write_str("the configuration is invalid; run `prowess config`"),
            Self::Timeout(limit) => write!(
                f,
                "no result within {} ms; run `prowess match TEXT` once to build the index, or pass --timeout-ms",
                limit.as_millis()
            ),
            Self::Output => f.write_str("cannot write the answer"),
            Self::Panic(Some((file, line))) => write!(f, "internal error at {file}:{line}"),
            Self::Panic(None) => f.write_str("internal error"),
        }
    }
}

/// Appends a problem to the log, in which the newest lines are kept. A log that cannot be written is ignored.
pub(super) fn write_problem(global: &GlobalArgs, client: &str, problem: HookProblem) {
    let Some(path) = log_path(global) else { return };
    // The name comes from the command line and can be anything.
    let client = find_hook_client(client).map_or("hook", |client| client.id);
    let time = format_iso_time(unix_millis() / 1_000);
    let mut log = read_bounded(&path, LOG_FILE_MAX).unwrap_or_default();
    log.extend(format!("{time} {client}: {problem}\n").into_bytes());
    let excess = log.len().saturating_sub(LOG_MAX);
    let start = match log.get(excess..) {
        Some(kept) if excess > 0 => {
            excess + kept.iter().position(|byte| *byte == b'\n').map_or(kept.len(), |end| end + 1)
        }
        _ => 0,
    };
    let _ = write_private_nosync(&path, log.get(start..).unwrap_or_default());
}

fn log_path(global: &GlobalArgs) -> Option<PathBuf> {
    let home = global.home.clone().or_else(std::env::home_dir)?;
    home.is_absolute().then(|| home.join(".prowess/state/hook.log"))
}
