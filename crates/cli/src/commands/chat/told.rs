//! What is seen of a turn, as it happens.

use std::io::{self, Write};

use prowess_chat::Event;
use prowess_chat::store::Numbered;
use tokio_util::sync::CancellationToken;

use super::calls::Calls;
use super::words::Words;
use crate::output::{Output, Tone};

/// The longest line of a call in a pipe, in columns.
const LINE_MAX: usize = 300;

/// Whoever is told. When nobody reads any more, the turn is ended.
pub(super) struct Told<'a> {
    output: &'a mut Output,
    calls: &'a mut Calls,
    words: Words,
    /// Whether something was called since the last word.
    apart: bool,
    gone: Option<io::Error>,
    stop: CancellationToken,
}

impl<'a> Told<'a> {
    pub(super) fn new(output: &'a mut Output, calls: &'a mut Calls, stop: CancellationToken) -> Self {
        let words = Words::new(output.is_terminal());
        Self { output, calls, words, apart: false, gone: None, stop }
    }

    /// One event.
    pub(super) fn hear(&mut self, numbered: &Numbered) {
        if self.gone.is_some() {
            return;
        }
        let written = match self.output.json() {
            true => self.output.answer(numbered).and_then(|()| self.output.finish()),
            false => self.show(&numbered.event),
        };
        if let Err(error) = written {
            self.gone = Some(error);
            self.stop.cancel();
        }
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Delta { text } => self.say(text),
            Event::ToolCall { id, name, arguments } => {
                self.calls.called(id, name, arguments);
                Ok(())
            }
            Event::ToolResult { id, status, data, .. } => {
                let line = self.calls.answered(id, status, data, self.width());
                // On a terminal the line must not stand in the middle of another.
                if self.output.is_terminal() && !self.words.at_start() {
                    self.say("\n")?;
                }
                self.apart = true;
                self.output.finish()?;
                self.output.remark_in(Tone::Faint, &line);
                Ok(())
            }
            Event::Done { .. } | Event::Error { .. } => Ok(()),
        }
    }

    /// How long a line may be. Where nobody looks at it now, more of it may be wanted later.
    fn width(&self) -> usize {
        if self.output.is_terminal() { self.output.width() } else { LINE_MAX }
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        // What is said before and after a call are two things.
        if self.apart && !self.words.at_start() {
            let space = self.words.shown("\n\n");
            self.output.out().write_all(space.as_bytes())?;
        }
        self.apart = false;
        let shown = self.words.shown(text);
        self.output.out().write_all(shown.as_bytes())?;
        self.output.finish()
    }

    /// The turn is over: the last line ends. Why nobody was told, if so.
    pub(super) fn end(mut self) -> io::Result<()> {
        if let Some(error) = self.gone {
            return Err(error);
        }
        if !self.output.json() && !self.words.at_start() {
            self.apart = false;
            self.say("\n")?;
        }
        Ok(())
    }
}
