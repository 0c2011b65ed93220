//! Prints the events of a turn.

use std::io::{self, Write};

use prowess_chat::TurnEvent;
use prowess_chat::store::NumberedEvent;
use tokio_util::sync::CancellationToken;

use super::files::{SaveHint, note_artifacts};
use super::sanitize::StreamSanitizer;
use super::tool_calls::ToolCallLog;
use crate::output::{Output, TextStyle, clean};

/// The maximum width of a tool call in a pipe.
const LINE_MAX: usize = 300;

/// Prints the events of a turn. If standard output is closed, the turn is cancelled.
pub(super) struct TurnRenderer<'a> {
    output: &'a mut Output,
    calls: &'a mut ToolCallLog,
    sanitizer: StreamSanitizer,
    save_hint: SaveHint,
    /// Whether a tool was called since the last text.
    called_tool: bool,
    /// Whether the last text was thinking.
    thinks: bool,
    write_error: Option<io::Error>,
    stop: CancellationToken,
}

impl<'a> TurnRenderer<'a> {
    pub(super) fn new(
        output: &'a mut Output,
        calls: &'a mut ToolCallLog,
        save_hint: SaveHint,
        stop: CancellationToken,
    ) -> Self {
        let sanitizer = StreamSanitizer::new(output.is_terminal());
        Self {
            output,
            calls,
            sanitizer,
            save_hint,
            called_tool: false,
            thinks: false,
            write_error: None,
            stop,
        }
    }

    pub(super) fn print_event(&mut self, numbered: &NumberedEvent) {
        if self.write_error.is_some() {
            return;
        }
        let result = match self.output.json() {
            true => self.output.write_json(numbered).and_then(|()| self.output.finish()),
            false => self.show(&numbered.event),
        };
        if let Err(error) = result {
            self.write_error = Some(error);
            self.stop.cancel();
        }
    }

    fn show(&mut self, event: &TurnEvent) -> io::Result<()> {
        match event {
            TurnEvent::Delta { text } => self.write_text(text),
            TurnEvent::Thinking { text, .. } => self.write_thinking(text),
            TurnEvent::Summary { replaces, .. } => {
                self.write_note(&format!("[{} earlier messages were replaced by a summary]", replaces.len()))
            }
            TurnEvent::Waiting { reason, seconds } => {
                self.write_note(&format!("[retrying in {seconds} s: {}]", clean(reason)))
            }
            TurnEvent::ToolsDisabled { reason } => {
                self.write_note(&format!("[continuing without tools: {}]", clean(reason)))
            }
            TurnEvent::ToolCall { id, name, arguments } => {
                self.calls.record_call(id, name, arguments);
                Ok(())
            }
            TurnEvent::ToolResult { id, status, data, .. } => {
                let line = self.calls.record_result(id, status, data, self.width());
                // On a terminal, start a new line.
                if self.output.is_terminal() && !self.sanitizer.at_line_start() {
                    self.write_text("\n")?;
                }
                self.called_tool = true;
                self.output.finish()?;
                self.output.styled_note(TextStyle::Faint, &line);
                note_artifacts(data, &self.save_hint, self.output);
                Ok(())
            }
            // The question itself is asked elsewhere, because it needs an answer.
            TurnEvent::Consent { .. } => {
                if self.output.is_terminal() && !self.sanitizer.at_line_start() {
                    self.write_text("\n")?;
                }
                self.called_tool = true;
                self.output.finish()
            }
            TurnEvent::Done { .. } | TurnEvent::Error { .. } => Ok(()),
        }
    }

    /// Writes a line about the turn on standard error.
    fn write_note(&mut self, line: &str) -> io::Result<()> {
        if self.output.is_terminal() && !self.sanitizer.at_line_start() {
            self.write_text("\n")?;
        }
        self.output.finish()?;
        self.output.styled_note(TextStyle::Faint, line);
        Ok(())
    }

    /// Shows thinking on a terminal. In a pipe, only the reply is written.
    fn write_thinking(&mut self, text: &str) -> io::Result<()> {
        if !self.output.is_terminal() || text.is_empty() {
            return Ok(());
        }
        if !self.thinks && !self.sanitizer.at_line_start() {
            self.write_text("\n")?;
        }
        // The text that follows is separated from the thinking as from a tool call.
        (self.thinks, self.called_tool) = (true, true);
        let sanitized = self.sanitizer.sanitize(text);
        let styled = self.output.styled_text(TextStyle::Faint, &sanitized);
        self.output.out().write_all(styled.as_bytes())?;
        self.output.finish()
    }

    /// Returns the maximum width of a tool call, which is larger in a pipe.
    fn width(&self) -> usize {
        if self.output.is_terminal() { self.output.width() } else { LINE_MAX }
    }

    fn write_text(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        // Separate the texts before and after a tool call.
        if self.called_tool && !self.sanitizer.at_line_start() {
            let separator = self.sanitizer.sanitize("\n\n");
            self.output.out().write_all(separator.as_bytes())?;
        }
        (self.called_tool, self.thinks) = (false, false);
        let sanitized = self.sanitizer.sanitize(text);
        self.output.out().write_all(sanitized.as_bytes())?;
        self.output.finish()
    }

    /// Terminates the last line. Returns the error if an event could not be written.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Some(error) = self.write_error {
            return Err(error);
        }
        if !self.output.json() && !self.sanitizer.at_line_start() {
            self.called_tool = false;
            self.write_text("\n")?;
        }
        Ok(())
    }
}
