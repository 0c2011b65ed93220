//! Emphasis marks in a line of Markdown. They change the look of a phrase, not its meaning.

/// Appends the offsets of the emphasis marks in a line that starts at `start`, in order. Code spans are skipped.
pub(super) fn emphasis_marks(line: &[u8], start: usize, marks: &mut Vec<usize>) {
    let mut offset = 0;
    while let Some(step) = line.get(offset..).and_then(|rest| memchr::memchr3(b'*', b'_', b'`', rest)) {
        offset += step;
        let Some(mark) = line.get(offset).copied() else { return };
        let run = run_length(line, offset);
        match mark {
            b'`' => offset = span_end(line, offset, run),
            b'*' => {
                if is_star(line, offset, run) {
                    marks.extend(start + offset..start + offset + run);
                }
                offset += run;
            }
            _ => match closing_underscores(line, offset, run) {
                Some(close) => {
                    let inner = marks.len();
                    marks.extend(start + offset..start + offset + run);
                    // The inner text may contain more emphasis.
                    let inside = line.get(offset + run..close).unwrap_or_default();
                    self::emphasis_marks(inside, start + offset + run, marks);
                    marks.extend(start + close..start + close + run);
                    debug_assert!(marks.get(inner..).is_some_and(<[usize]>::is_sorted));
                    offset = close + run;
                }
                None => offset += run,
            },
        }
    }
}

/// Returns how often the byte at an offset is repeated.
fn run_length(line: &[u8], offset: usize) -> usize {
    let rest = line.get(offset..).unwrap_or_default();
    rest.iter().take_while(|byte| Some(*byte) == rest.first()).count().max(1)
}

/// Returns the end of the code span that starts here, or the end of the backticks if it is not closed.
fn span_end(line: &[u8], start: usize, ticks: usize) -> usize {
    let mut next = start + ticks;
    while let Some(step) = line.get(next..).and_then(|rest| memchr::memchr(b'`', rest)) {
        next += step;
        let run = run_length(line, next);
        next += run;
        if run == ticks {
            return next;
        }
    }
    start + ticks
}

/// Returns `true` if stars are emphasis, not a bullet, a wildcard or multiplication.
fn is_star(line: &[u8], offset: usize, run: usize) -> bool {
    let before = offset.checked_sub(1).and_then(|previous| line.get(previous)).copied().unwrap_or(b' ');
    let after = line.get(offset + run).copied().unwrap_or(b' ');
    let is_isolated = before.is_ascii_whitespace() && after.is_ascii_whitespace();
    !is_isolated && (run > 1 || is_word(before) || is_word(after))
}

/// Returns the offset of the underscores that close the ones here. Both must be at a word boundary.
fn closing_underscores(line: &[u8], start: usize, width: usize) -> Option<usize> {
    let before = start.checked_sub(1).and_then(|previous| line.get(previous)).copied().unwrap_or(b' ');
    let after = line.get(start + width).copied()?;
    if is_word(before) || after.is_ascii_whitespace() {
        return None;
    }
    let mut next = start + width;
    while let Some(step) = line.get(next..).and_then(|rest| memchr::memchr(b'_', rest)) {
        next += step;
        let run = run_length(line, next);
        let after = line.get(next + run).copied().unwrap_or(b' ');
        if run == width && !is_word(after) && after != b'(' {
            return Some(next);
        }
        next += run;
    }
    None
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emphasis_is_removed_and_everything_else_kept() {
        let plain = |line: &str| {
            let mut removed = Vec::new();
            emphasis_marks(line.as_bytes(), 0, &mut removed);
            let kept = line.bytes().enumerate().filter(|(at, _)| !removed.contains(at)).map(|(_, byte)| byte);
            String::from_utf8(kept.collect()).unwrap()
        };
        assert_eq!(plain("**Download** it. ***Password***: *x*"), "Download it. Password: x");
        assert_eq!(plain("pass**word** and __pass *word*__ and _it_"), "password and pass word and it");
        for kept in [
            "* item",
            "a * b",
            "0 * * * *",
            "~/*",
            "*.py",
            "`a*b*c` and ``**x** ` y``",
            "snake_case_name",
            "__import__('os')",
        ] {
            assert_eq!(plain(kept), kept);
        }
    }
}
