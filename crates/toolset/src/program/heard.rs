//! What was heard of a program: lines, whatever pieces they came in, and how much of it there was. Pure.

use std::collections::VecDeque;

use super::limits::ProgramLimits;
use crate::answer::one_line;
use crate::fault::Fault;

/// What is kept of standard error for the last words of a program.
const WORDS: usize = 4096;

/// What a program has said.
#[derive(Debug, Default)]
pub(super) struct Heard {
    lines: VecDeque<Vec<u8>>,
    partial: Vec<u8>,
    /// Bytes of standard output since it was last asked, and in all.
    answer: usize,
    total: u64,
    /// Bytes of standard error since it was last asked.
    aside: u64,
    console: Vec<u8>,
    words: Vec<u8>,
}

impl Heard {
    /// It is asked something: what comes now belongs to that.
    pub(super) fn ask(&mut self) {
        (self.answer, self.aside) = (0, 0);
        self.console.clear();
    }

    /// It wrote to standard output.
    pub(super) fn out(&mut self, bytes: &[u8], limits: &ProgramLimits) -> Result<(), Fault> {
        self.answer = self.answer.saturating_add(bytes.len());
        self.total = self.total.saturating_add(bytes.len() as u64);
        let mut longest = 0;
        let mut parts = bytes.split(|byte| *byte == b'\n');
        self.partial.extend_from_slice(parts.next().unwrap_or_default());
        for part in parts {
            let line = std::mem::replace(&mut self.partial, part.to_vec());
            longest = longest.max(line.len());
            // Empty lines say nothing, and there could be many.
            if !line.trim_ascii().is_empty() {
                self.lines.push_back(line);
            }
        }
        if longest.max(self.partial.len()) > limits.line {
            Err(Fault::Line(limits.line))
        } else if self.answer > limits.answer {
            Err(Fault::Answer(limits.answer))
        } else if self.total > limits.total {
            Err(Fault::Total(limits.total))
        } else {
            Ok(())
        }
    }

    /// It wrote to standard error.
    pub(super) fn err(&mut self, bytes: &[u8], limits: &ProgramLimits, most: u64) -> Result<(), Fault> {
        self.aside = self.aside.saturating_add(bytes.len() as u64);
        let room = limits.console.saturating_sub(self.console.len());
        self.console.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.words.extend_from_slice(bytes);
        let old = self.words.len().saturating_sub(WORDS);
        self.words.drain(..old);
        if self.aside > most { Err(Fault::StandardError(most)) } else { Ok(()) }
    }

    /// The next line.
    pub(super) fn line(&mut self) -> Option<Vec<u8>> {
        self.lines.pop_front()
    }

    /// Whether nothing is left, not even half a line.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.partial.is_empty()
    }

    /// Forgets what was not listened to.
    pub(super) fn forget(&mut self) {
        self.lines.clear();
        self.partial.clear();
    }

    /// Standard error since it was last asked.
    pub(super) fn console(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.console);
        text.lines().map(|line| prowess::contained::without_escapes(line.to_owned())).collect()
    }

    /// The last line of standard error that says something.
    pub(super) fn last_words(&self) -> String {
        let words = String::from_utf8_lossy(&self.words);
        let line = words.lines().rev().map(one_line).find(|line| !line.is_empty()).unwrap_or_default();
        line.chars().take(200).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_the_same_in_whatever_pieces_they_come(
            text in "[a-c\n ]{0,200}", cuts in prop::collection::vec(0..200_usize, 0..10),
        ) {
            let limits = ProgramLimits::default();
            let heard = |pieces: Vec<&[u8]>| {
                let mut heard = Heard::default();
                pieces.iter().for_each(|piece| heard.out(piece, &limits).unwrap());
                let mut lines = Vec::new();
                while let Some(line) = heard.line() {
                    lines.push(line);
                }
                (lines, heard.partial)
            };
            let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| *cut <= text.len()).collect();
            cuts.sort_unstable();
            let bytes = text.as_bytes();
            let (mut pieces, mut from) = (Vec::new(), 0);
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(heard(pieces), heard(vec![bytes]));
        }
    }

    #[test]
    fn last_words_are_short_and_on_one_line() {
        let mut heard = Heard::default();
        let limits = ProgramLimits::default();
        heard.err(format!("first\n{}\n\n", "x".repeat(9_000)).as_bytes(), &limits, 100_000).unwrap();
        assert_eq!(heard.last_words(), "x".repeat(200));
        heard.err(b"\x1b[31mred\x1b[0m  word\n \n", &limits, 100_000).unwrap();
        assert_eq!(heard.last_words(), "\\u{1b}[31mred\\u{1b}[0m word");
    }
}
