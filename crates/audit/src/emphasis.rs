//! The marks of emphasis in a line of Markdown. They change how a phrase looks and not what it says.

/// Adds the places of the marks in a line that begins at `start`, in order. What stands in a code span is left alone.
pub(super) fn marks(line: &[u8], start: usize, marks: &mut Vec<usize>) {
    let mut at = 0;
    while let Some(step) = line.get(at..).and_then(|rest| memchr::memchr3(b'*', b'_', b'`', rest)) {
        at += step;
        let Some(mark) = line.get(at).copied() else { return };
        let run = run(line, at);
        match mark {
            b'`' => at = span_end(line, at, run),
            b'*' => {
                if is_star(line, at, run) {
                    marks.extend(start + at..start + at + run);
                }
                at += run;
            }
            _ => match closing(line, at, run) {
                Some(close) => {
                    let inner = marks.len();
                    marks.extend(start + at..start + at + run);
                    // What is inside may be emphasised once more.
                    let inside = line.get(at + run..close).unwrap_or_default();
                    self::marks(inside, start + at + run, marks);
                    marks.extend(start + close..start + close + run);
                    debug_assert!(marks.get(inner..).is_some_and(<[usize]>::is_sorted));
                    at = close + run;
                }
                None => at += run,
            },
        }
    }
}

/// How often the byte at a place is repeated.
fn run(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| Some(*byte) == rest.first()).count().max(1)
}

/// Where the code span that begins here ends; without an end it is no span.
fn span_end(line: &[u8], at: usize, width: usize) -> usize {
    let mut next = at + width;
    while let Some(step) = line.get(next..).and_then(|rest| memchr::memchr(b'`', rest)) {
        next += step;
        let found = run(line, next);
        next += found;
        if found == width {
            return next;
        }
    }
    at + width
}

/// Stars are emphasis unless they are a bullet, a wildcard or a sign of arithmetic.
fn is_star(line: &[u8], at: usize, run: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| line.get(before)).copied().unwrap_or(b' ');
    let after = line.get(at + run).copied().unwrap_or(b' ');
    let open = before.is_ascii_whitespace() && after.is_ascii_whitespace();
    !open && (run > 1 || is_word(before) || is_word(after))
}

/// The run of underscores that closes the one here, both at the edge of a word.
fn closing(line: &[u8], at: usize, width: usize) -> Option<usize> {
    let before = at.checked_sub(1).and_then(|before| line.get(before)).copied().unwrap_or(b' ');
    let after = line.get(at + width).copied()?;
    if is_word(before) || after.is_ascii_whitespace() {
        return None;
    }
    let mut next = at + width;
    while let Some(step) = line.get(next..).and_then(|rest| memchr::memchr(b'_', rest)) {
        next += step;
        let found = run(line, next);
        let after = line.get(next + found).copied().unwrap_or(b' ');
        if found == width && !is_word(after) && after != b'(' {
            return Some(next);
        }
        next += found;
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
    fn emphasis_goes_and_everything_else_stays() {
        let plain = |line: &str| {
            let mut found = Vec::new();
            marks(line.as_bytes(), 0, &mut found);
            let kept = line.bytes().enumerate().filter(|(at, _)| !found.contains(at)).map(|(_, byte)| byte);
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
