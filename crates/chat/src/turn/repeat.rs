//! Detects repeated calls with the same result: first the model is warned, then the turn ends.

use std::collections::HashMap;

/// The number of calls from which the model is warned.
const WARN_FROM: u32 = 3;

/// The number of calls at which the turn ends.
const STOP_AT: u32 = 6;

/// Counts the calls of a turn by tool, arguments and result.
#[derive(Debug, Default)]
pub(super) struct RepeatTracker {
    counts: HashMap<(String, String, String), u32>,
}

/// What to do about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RepeatAction {
    Continue,
    /// Add this warning to the result.
    Warn(String),
    /// End the turn.
    Stop,
}

impl RepeatTracker {
    /// Counts a call. A different result counts separately, because the model may poll for a change.
    pub(super) fn record_call(&mut self, tool: &str, arguments: &str, digest: &str) -> RepeatAction {
        let key = (tool.to_owned(), arguments.to_owned(), digest.to_owned());
        let count = self.counts.entry(key).or_default();
        *count += 1;
        match *count {
            0..WARN_FROM => RepeatAction::Continue,
            STOP_AT.. => RepeatAction::Stop,
            count => RepeatAction::Warn(format!(
                "[This call was made {count} times in this turn, with the same arguments and the same result. Do something \
                 else, or answer with what you have.]"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_call_is_warned_about_and_the_sixth_ends_the_turn() {
        let mut repeats = RepeatTracker::default();
        let mut call = |arguments: &str, result: &str| match repeats.record_call("t", arguments, result) {
            RepeatAction::Continue => "continue",
            RepeatAction::Warn(_) => "warn",
            RepeatAction::Stop => "stop",
        };
        let same: Vec<_> = (0..6).map(|_| call("{}", "x")).collect();
        assert_eq!(same, ["continue", "continue", "warn", "warn", "warn", "stop"]);
        assert_eq!([call("{\"a\":1}", "x"), call("{}", "another result")], ["continue", "continue"]);
        // Two alternating calls count separately.
        let alternating: Vec<_> =
            (0..6).map(|number| call(if number % 2 == 0 { "[a]" } else { "[b]" }, "x")).collect();
        assert_eq!(alternating, ["continue", "continue", "continue", "continue", "warn", "warn"]);
    }
}
