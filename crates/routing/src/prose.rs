//! What of a message is prose: everything but code blocks and inline code.

use std::collections::HashMap;
use std::ops::Range;

/// The stretches of a message outside of fenced blocks and backticks, in order.
pub(super) fn prose(message: &str) -> Vec<Range<usize>> {
    let mut stretches = Vec::new();
    let mut fence: Option<&str> = None;
    let mut start = 0;
    let mut at = 0;
    for line in message.split_inclusive('\n') {
        let next = at + line.len();
        let mark = fence_of(line);
        match (fence, mark) {
            (None, Some(mark)) => {
                inline(message, start..at, &mut stretches);
                fence = Some(mark);
            }
            // A block ends with a fence of its kind, at least as long, and nothing behind it.
            (Some(open), Some(mark)) if mark.starts_with(open) && line.trim() == mark => {
                fence = None;
                start = next;
            }
            _ => {}
        }
        at = next;
    }
    if fence.is_none() {
        inline(message, start..at, &mut stretches);
    }
    stretches
}

/// The backticks or tildes that open or close a block.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(' ');
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    // Backticks further on make it inline code.
    (length >= 3 && (mark == '~' || !line[length..].contains('`'))).then(|| &line[..length])
}

/// The stretches of a text without blocks that are not between two equal runs of backticks.
fn inline(message: &str, range: Range<usize>, stretches: &mut Vec<Range<usize>>) {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in message[range.clone()].match_indices('`') {
        let at = range.start + at;
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    // For each run, the next one of its length: found from behind, so that many backticks cost no more than few.
    let mut closes = vec![None; runs.len()];
    let mut last: HashMap<usize, usize> = HashMap::new();
    for (number, run) in runs.iter().enumerate().rev() {
        closes[number] = last.insert(run.len(), number);
    }
    let mut start = range.start;
    let mut number = 0;
    while let Some(run) = runs.get(number) {
        match closes[number] {
            Some(close) => {
                stretches.push(start..run.start);
                start = runs[close].end;
                number = close + 1;
            }
            None => number += 1,
        }
    }
    stretches.push(start..range.end);
    stretches.retain(|stretch| !stretch.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(message: &str) -> Vec<&str> {
        prose(message).into_iter().map(|range| &message[range]).collect()
    }

    #[test]
    fn code_is_left_out() {
        assert_eq!(told("a `b` c ``d ` e`` f"), ["a ", " c ", " f"]);
        assert_eq!(told("a ` b"), ["a ` b"]);
        assert_eq!(told("a\n```sh\nb\n~~~\n````\nc"), ["a\n", "c"]);
        assert_eq!(told("~~~\nnever closed"), [] as [&str; 0]);
        assert_eq!(told("```x``` y"), [" y"]);
    }

    proptest! {
        #[test]
        fn stretches_are_in_order(message in "[a`~\n é]{0,60}") {
            let mut end = 0;
            for stretch in prose(&message) {
                prop_assert!(stretch.start >= end && message.get(stretch.clone()).is_some());
                end = stretch.end;
            }
        }
    }
}
