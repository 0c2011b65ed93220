//! The output of a program: lines, regardless of how they are split, and their total size.

use std::collections::VecDeque;

use super::limits::ProgramLimits;
use crate::program_fault::ProgramFault;
use crate::response::one_line;

/// How many bytes of standard error are kept for error messages.
const STDERR_TAIL_MAX: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct ProgramOutput {
    lines: VecDeque<Vec<u8>>,
    partial: Vec<u8>,
    /// Bytes of standard output since the last request.
    answer_bytes: usize,
    /// Bytes of standard output in total.
    total_bytes: u64,
    /// Bytes of standard error since the last request.
    stderr_bytes: u64,
    console: Vec<u8>,
    stderr_tail: Vec<u8>,
}

impl ProgramOutput {
    /// Starts a request: further output belongs to it.
    pub(super) fn start_request(&mut self) {
        (self.answer_bytes, self.stderr_bytes) = (0, 0);
        self.console.clear();
    }

    /// Adds standard output.
    pub(super) fn push_stdout(&mut self, bytes: &[u8], limits: &ProgramLimits) -> Result<(), ProgramFault> {
        self.answer_bytes = self.answer_bytes.saturating_add(bytes.len());
        self.total_bytes = self.total_bytes.saturating_add(bytes.len() as u64);
        let mut longest = 0;
        let mut parts = bytes.split(|byte| *byte == b'\n');
        self.partial.extend_from_slice(parts.next().unwrap_or_default());
        for part in parts {
            let line = std::mem::replace(&mut self.partial, part.to_vec());
            longest = longest.max(line.len());
            // Empty lines are ignored, because there could be many.
            if !line.trim_ascii().is_empty() {
                self.lines.push_back(line);
            }
        }
        if longest.max(self.partial.len()) > limits.line {
            Err(ProgramFault::LineTooLong(limits.line))
        } else if self.answer_bytes > limits.answer {
            Err(ProgramFault::AnswerTooLong(limits.answer))
        } else if self.total_bytes > limits.total {
            Err(ProgramFault::OutputTooLong(limits.total))
        } else {
            Ok(())
        }
    }

    /// Adds standard error.
    pub(super) fn push_stderr(
        &mut self,
        bytes: &[u8],
        limits: &ProgramLimits,
        max: u64,
    ) -> Result<(), ProgramFault> {
        self.stderr_bytes = self.stderr_bytes.saturating_add(bytes.len() as u64);
        let room = limits.console.saturating_sub(self.console.len());
        self.console.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.stderr_tail.extend_from_slice(bytes);
        let excess = self.stderr_tail.len().saturating_sub(STDERR_TAIL_MAX);
        self.stderr_tail.drain(..excess);
        if self.stderr_bytes > max { Err(ProgramFault::StderrTooLong(max)) } else { Ok(()) }
    }

    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        self.lines.pop_front()
    }

    /// Returns `true` if nothing is left, not even a partial line.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.partial.is_empty()
    }

    /// Discards pending output.
    pub(super) fn discard(&mut self) {
        self.lines.clear();
        self.partial.clear();
    }

    /// Returns standard error since the last request.
    pub(super) fn console(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.console);
        text.lines().map(|line| prowess::contained::strip_terminal_escapes(line.to_owned())).collect()
    }

    /// Returns the last line of standard error that is not empty.
    pub(super) fn last_stderr_line(&self) -> String {
        let tail = String::from_utf8_lossy(&self.stderr_tail);
        let line = tail.lines().rev().map(one_line).find(|line| !line.is_empty()).unwrap_or_default();
        line.chars().take(200).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn splitting_does_not_affect_lines(
            text in "[a-c\n ]{0,200}", cuts in prop::collection::vec(0..200_usize, 0..10),
        ) {
            let limits = ProgramLimits::default();
            let parse = |pieces: Vec<&[u8]>| {
                let mut output = ProgramOutput::default();
                pieces.iter().for_each(|piece| output.push_stdout(piece, &limits).unwrap());
                let mut lines = Vec::new();
                while let Some(line) = output.next_line() {
                    lines.push(line);
                }
                (lines, output.partial)
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
            prop_assert_eq!(parse(pieces), parse(vec![bytes]));
        }
    }

    #[test]
    fn the_last_stderr_line_is_short_and_escaped() {
        let mut output = ProgramOutput::default();
        let limits = ProgramLimits::default();
        output.push_stderr(format!("first\n{}\n\n", "x".repeat(9_000)).as_bytes(), &limits, 100_000).unwrap();
        assert_eq!(output.last_stderr_line(), "x".repeat(200));
        output.push_stderr(b"\x1b[31mred\x1b[0m  word\n \n", &limits, 100_000).unwrap();
        assert_eq!(output.last_stderr_line(), "\\u{1b}[31mred\\u{1b}[0m word");
    }
}
