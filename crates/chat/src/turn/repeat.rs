//! The same call over and over, with the same result: first the model is told, then the turn ends. Pure.

use std::collections::HashMap;

/// From this time on the model is told.
const TOLD: u32 = 3;

/// This time is the last.
const LAST: u32 = 6;

/// What was called in a turn, and what came of it.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    seen: HashMap<(String, String, String), u32>,
}

/// What there is to do about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    Fine,
    /// The model is to hear this with the result.
    Tell(String),
    /// The turn ends.
    Enough,
}

impl Repeats {
    /// A tool was called with these arguments, and gave a result of this digest. A result that differs counts anew:
    /// whoever waits for something may ask again.
    pub(super) fn called(&mut self, tool: &str, arguments: &str, digest: &str) -> Verdict {
        let key = (tool.to_owned(), arguments.to_owned(), digest.to_owned());
        let times = self.seen.entry(key).or_default();
        *times += 1;
        match *times {
            0..TOLD => Verdict::Fine,
            LAST.. => Verdict::Enough,
            times => Verdict::Tell(format!(
                "[This call was made {times} times in this turn, with the same arguments and the same result. Do something \
                 else, or answer with what you have.]"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_from_the_third_time_on_and_ended_at_the_sixth() {
        let mut repeats = Repeats::default();
        let mut call = |arguments: &str, result: &str| match repeats.called("t", arguments, result) {
            Verdict::Fine => "fine",
            Verdict::Tell(_) => "tell",
            Verdict::Enough => "enough",
        };
        let same: Vec<_> = (0..6).map(|_| call("{}", "x")).collect();
        assert_eq!(same, ["fine", "fine", "tell", "tell", "tell", "enough"]);
        assert_eq!([call("{\"a\":1}", "x"), call("{}", "another result")], ["fine", "fine"]);
        // Two calls in turns are no less the same.
        let turns: Vec<_> = (0..6).map(|at| call(if at % 2 == 0 { "[a]" } else { "[b]" }, "x")).collect();
        assert_eq!(turns, ["fine", "fine", "fine", "fine", "tell", "tell"]);
    }
}
