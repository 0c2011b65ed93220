//! Finding the prose of a message: everything but code blocks and inline code.

use std::collections::HashMap;
use std::ops::Range;

/// Returns the ranges of a message outside fenced blocks and backticks, in order.
pub(super) fn prose_ranges(message: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut fence: Option<&str> = None;
    let mut start = 0;
    let mut offset = 0;
    for line in message.split_inclusive('\n') {
        let next = offset + line.len();
        let mark = fence_mark(line);
        match (fence, mark) {
            (None, Some(mark)) => {
                skip_inline_code(message, start..offset, &mut ranges);
                fence = Some(mark);
            }
            // A block ends with a fence of the same kind that is at least as long, with nothing after it.
            (Some(open), Some(mark)) if mark.starts_with(open) && line.trim() == mark => {
                fence = None;
                start = next;
            }
            _ => {}
        }
        offset = next;
    }
    if fence.is_none() {
        skip_inline_code(message, start..offset, &mut ranges);
    }
    ranges
}

/// Returns the backticks or tildes that open or close a block.
fn fence_mark(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(' ');
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    // More backticks in the line make it inline code.
    (length >= 3 && (mark == '~' || !line[length..].contains('`'))).then(|| &line[..length])
}

/// Appends the ranges of a text without code blocks that are outside inline code.
fn skip_inline_code(message: &str, range: Range<usize>, ranges: &mut Vec<Range<usize>>) {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (offset, _) in message[range.clone()].match_indices('`') {
        let offset = range.start + offset;
        match runs.last_mut() {
            Some(run) if run.end == offset => run.end += 1,
            _ => runs.push(offset..offset + 1),
        }
    }
    // For each run, find the next one of its length from the end, in linear time.
    let mut closes = vec![None; runs.len()];
    let mut next_of_length: HashMap<usize, usize> = HashMap::new();
    for (number, run) in runs.iter().enumerate().rev() {
        closes[number] = next_of_length.insert(run.len(), number);
    }
    let mut start = range.start;
    let mut number = 0;
    while let Some(run) = runs.get(number) {
        match closes[number] {
            Some(close) => {
                ranges.push(start..run.start);
                start = runs[close].end;
                number = close + 1;
            }
            None => number += 1,
        }
    }
    ranges.push(start..range.end);
    ranges.retain(|range| !range.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segments(message: &str) -> Vec<&str> {
        prose_ranges(message).into_iter().map(|range| &message[range]).collect()
    }

    #[test]
    fn code_is_skipped() {
        assert_eq!(segments("a `b` c ``d ` e`` f"), ["a ", " c ", " f"]);
        assert_eq!(segments("a ` b"), ["a ` b"]);
        assert_eq!(segments("a\n```sh\nb\n~~~\n````\nc"), ["a\n", "c"]);
        assert_eq!(segments("~~~\nnever closed"), [] as [&str; 0]);
        assert_eq!(segments("```x``` y"), [" y"]);
    }

    proptest! {
        #[test]
        fn ranges_are_in_order(message in "[a`~\n é]{0,60}") {
            let mut end = 0;
            for range in prose_ranges(&message) {
                prop_assert!(range.start >= end && message.get(range.clone()).is_some());
                end = range.end;
            }
        }
    }
}
