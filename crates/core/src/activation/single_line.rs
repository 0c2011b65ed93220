//! Writing text on a single line.

use std::fmt::{self, Write};

use prowess_format::hidden;

/// Escapes line breaks, control characters and hidden characters.
pub(super) struct SingleLine<'w, W>(pub(super) &'w mut W);

impl<W: Write> Write for SingleLine<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.0.write_str(text);
        }
        text.chars().try_for_each(|c| {
            if c.is_control() || hidden::is_hidden(c) {
                write!(self.0, "{}", c.escape_unicode())
            } else {
                self.0.write_char(c)
            }
        })
    }
}
