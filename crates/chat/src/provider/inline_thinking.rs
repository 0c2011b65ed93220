//! Thinking in the text of a reply: `<think>…</think>` at its start, as many open models write it.

use std::collections::VecDeque;

use super::request::Chunk;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Separates thinking from the text of a reply, which arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct InlineThinking {
    state: State,
    /// The text that may be a part of a tag.
    pending: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// The reply may start with a tag.
    #[default]
    Start,
    Thinking,
    /// White space after the closing tag is omitted.
    AfterThinking,
    Text,
}

impl InlineThinking {
    /// Adds a piece of text.
    pub(super) fn push(&mut self, piece: &str, out: &mut VecDeque<Chunk>) {
        self.pending.push_str(piece);
        loop {
            match self.state {
                State::Start => {
                    let start = self.pending.trim_start();
                    if let Some(rest) = start.strip_prefix(OPEN) {
                        (self.state, self.pending) = (State::Thinking, rest.to_owned());
                    } else if OPEN.starts_with(start) {
                        return;
                    } else {
                        self.state = State::Text;
                    }
                }
                State::Thinking => match self.pending.find(CLOSE) {
                    Some(end) => {
                        let rest = self.pending.split_off(end);
                        self.emit(Chunk::Thinking, out);
                        (self.state, self.pending) = (State::AfterThinking, rest[CLOSE.len()..].to_owned());
                    }
                    None => {
                        // The end of the text may be the start of the tag.
                        let is_start = |length: &usize| self.pending.ends_with(&CLOSE[..*length]);
                        let held = (1..CLOSE.len()).rev().find(is_start).unwrap_or_default();
                        let rest = self.pending.split_off(self.pending.len() - held);
                        self.emit(Chunk::Thinking, out);
                        self.pending = rest;
                        return;
                    }
                },
                State::AfterThinking => {
                    self.pending = self.pending.trim_start().to_owned();
                    if self.pending.is_empty() {
                        return;
                    }
                    self.state = State::Text;
                }
                State::Text => return self.emit(Chunk::Text, out),
            }
        }
    }

    /// Handles the end of the reply.
    pub(super) fn finish(&mut self, out: &mut VecDeque<Chunk>) {
        match self.state {
            State::Thinking => self.emit(Chunk::Thinking, out),
            State::Start | State::AfterThinking | State::Text => self.emit(Chunk::Text, out),
        }
    }

    fn emit(&mut self, chunk: fn(String) -> Chunk, out: &mut VecDeque<Chunk>) {
        let text = std::mem::take(&mut self.pending);
        if !text.is_empty() {
            out.push_back(chunk(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the thinking and the text of a reply in pieces of this size.
    fn split(reply: &str, size: usize) -> (String, String) {
        let (mut parser, mut out) = (InlineThinking::default(), VecDeque::new());
        let characters: Vec<char> = reply.chars().collect();
        for piece in characters.chunks(size) {
            parser.push(&piece.iter().collect::<String>(), &mut out);
        }
        parser.finish(&mut out);
        let (mut thinking, mut text) = (String::new(), String::new());
        for chunk in out {
            match chunk {
                Chunk::Thinking(delta) => thinking.push_str(&delta),
                Chunk::Text(delta) => text.push_str(&delta),
                other => panic!("{other:?}"),
            }
        }
        (thinking, text)
    }

    #[test]
    fn thinking_at_the_start_is_separated() {
        for (reply, thinking, text) in [
            ("<think>a</think>b", "a", "b"),
            ("\n <think>\na < b </ think\n</think>\n\nb </think>", "\na < b </ think\n", "b </think>"),
            ("b <think>a</think>", "", "b <think>a</think>"),
            ("<thin", "", "<thin"),
            ("<thinking>a</thinking>", "", "<thinking>a</thinking>"),
            ("<think>unfinished </t", "unfinished </t", ""),
            (" \n", "", " \n"),
            ("", "", ""),
        ] {
            for size in 1..9 {
                assert_eq!(split(reply, size), (thinking.to_owned(), text.to_owned()), "{reply:?} by {size}");
            }
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(reply in "(<think>)?[a</think>é ]{0,40}", size in 1_usize..9) {
            prop_assert_eq!(split(&reply, size), split(&reply, usize::MAX));
        }
    }
}
