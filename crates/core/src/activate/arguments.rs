//! What a person or a model writes after a skill's name, and how it gets into the instructions.
//!
//! Pure. Substitution is a single pass: what stands in the arguments is never looked at again.

use std::fmt;

use super::pieces::{Piece, may_have_pieces, pieces};
use crate::error_code::ErrorCode;
use crate::resource::text::strip_escapes;

/// The most bytes of arguments.
pub const ARGUMENTS_MAX: usize = 64 * 1024;

const PLACEHOLDER: &str = "$ARGUMENTS";

/// Arguments that may go into instructions: bounded, without escapes and control characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arguments {
    whole: String,
    words: Vec<String>,
}

/// Arguments that are not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// More than [`ARGUMENTS_MAX`].
    #[error("the arguments have {0} bytes; at most {ARGUMENTS_MAX} are taken")]
    TooLong(usize),
    /// A NUL is in them.
    #[error("the arguments have a NUL")]
    Nul,
}

impl ArgumentsError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::InvalidParam
    }
}

/// Which placeholders count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholders {
    /// `$ARGUMENTS` alone, wherever it stands; without arguments it is left as it stands (document 001).
    Whole,
    /// `$ARGUMENTS`, wherever it stands, which becomes nothing without arguments; and outside of code
    /// `$ARGUMENTS[0]` and `$0` to `$9`, counted from nought. `$5` without a sixth argument is left alone: it
    /// may be a price. So are `$10`, `$name` and `\$1`.
    Positions,
}

/// Whether the instructions had a place for the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// They are in the text now.
    Yes,
    /// They are not.
    No,
}

impl Arguments {
    /// Takes arguments as they were given. Escapes and control characters but line breaks and tabs are
    /// removed.
    pub fn parse(args: Option<&str>) -> Result<Self, ArgumentsError> {
        let Some(args) = args else { return Ok(Self::default()) };
        if args.len() > ARGUMENTS_MAX {
            return Err(ArgumentsError::TooLong(args.len()));
        }
        if args.contains('\0') {
            return Err(ArgumentsError::Nul);
        }
        let mut whole = args.replace("\r\n", "\n");
        whole.retain(|c| c != '\r');
        strip_escapes(&mut whole, 0);
        if whole.trim().is_empty() {
            return Ok(Self::default());
        }
        let words = words(&whole);
        Ok(Self { whole, words })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// All of them.
    pub fn as_str(&self) -> &str {
        &self.whole
    }

    /// One by one, as a shell would split them.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Writes `body` with the arguments in place.
    pub fn write(
        &self,
        body: &str,
        placeholders: Placeholders,
        out: &mut impl fmt::Write,
    ) -> Result<Placed, fmt::Error> {
        match placeholders {
            Placeholders::Whole => self.write_whole(body, out),
            Placeholders::Positions => self.write_positions(body, out),
        }
    }

    fn write_whole(&self, body: &str, out: &mut impl fmt::Write) -> Result<Placed, fmt::Error> {
        if self.is_empty() {
            out.write_str(body)?;
            return Ok(Placed::No);
        }
        let mut placed = Placed::No;
        for (at, text) in body.split(PLACEHOLDER).enumerate() {
            if at > 0 {
                out.write_str(&self.whole)?;
                placed = Placed::Yes;
            }
            out.write_str(text)?;
        }
        Ok(placed)
    }

    fn write_positions(&self, body: &str, out: &mut impl fmt::Write) -> Result<Placed, fmt::Error> {
        let mut placed = Placed::No;
        if !may_have_pieces(body, self.words.len()) {
            out.write_str(body)?;
            return Ok(placed);
        }
        for piece in pieces(body) {
            let text = match piece {
                Piece::Text(text) => text,
                Piece::All => {
                    placed = Placed::Yes;
                    &self.whole
                }
                Piece::Indexed(at) => {
                    placed = Placed::Yes;
                    self.words.get(at).map_or("", String::as_str)
                }
                Piece::Digit(at, source) => match self.words.get(at) {
                    Some(word) => {
                        placed = Placed::Yes;
                        word
                    }
                    None => source,
                },
            };
            out.write_str(text)?;
        }
        Ok(placed)
    }
}

/// Splits as a shell does: at white space, with quotes and backslashes. A quote that is never closed goes to
/// the end.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None | Some('"'), '\\') => {
                // Between double quotes, a backslash only takes the meaning of a quote or a backslash away.
                let escapes = |next: &char| quote.is_none() || matches!(next, '"' | '\\');
                let next = characters.next_if(escapes).unwrap_or('\\');
                word.get_or_insert_default().push(next);
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests;
