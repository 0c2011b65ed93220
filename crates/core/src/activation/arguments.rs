//! The arguments of a skill, and their substitution into the instructions.
//!
//! Substitution is a single pass: placeholders inside the arguments are not replaced.

use std::fmt::{self, Write as _};
use std::path::Path;

use super::pieces::{Piece, Variable, may_have_placeholders, split_pieces};
use super::single_line::SingleLine;
use crate::error_code::ErrorCode;
use crate::resources::text::strip_escapes;

/// The maximum size of the arguments in bytes.
pub const ARGUMENTS_MAX: usize = 64 * 1024;

const PLACEHOLDER: &str = "$ARGUMENTS";

/// Arguments for a skill: bounded, without escapes and control characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arguments {
    text: String,
    words: Vec<String>,
}

/// The reason why arguments are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseArgumentsError {
    /// They are longer than [`ARGUMENTS_MAX`].
    #[error("the arguments have {0} bytes; the limit is {ARGUMENTS_MAX}")]
    TooLong(usize),
    /// They contain a NUL.
    #[error("the arguments contain a NUL")]
    Nul,
}

impl ParseArgumentsError {
    /// Returns the error code that tools report.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::InvalidParam
    }
}

/// Which placeholders are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceholderSyntax {
    /// Only `$ARGUMENTS`, anywhere. Without arguments, it stays (preset `skill-tool`).
    Whole,
    /// `$ARGUMENTS` anywhere, replaced by nothing if there are no arguments; `$name` anywhere for a declared name;
    /// outside of code also `$ARGUMENTS[0]` and `$0`, counted from zero. `$5` stays if there is no sixth argument,
    /// and `$1.50` always, because it may be a price. A backslash keeps a placeholder and is removed.
    /// `${CLAUDE_SKILL_DIR}` and `${CLAUDE_PROJECT_DIR}` are replaced anywhere.
    Positions,
    /// Like [`PlaceholderSyntax::Positions`], but the first argument is `$1`, and a missing one is empty (Codex).
    PositionsFromOne,
}

/// What placeholders stand for, besides the arguments.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlaceholderValues<'a> {
    /// The names of the arguments, in order.
    pub names: &'a [Box<str>],
    /// The directory of the skill; `None` keeps its placeholder.
    pub skill_dir: Option<&'a Path>,
    /// The directory of the project; `None` keeps its placeholder.
    pub project_dir: Option<&'a Path>,
}

/// Whether the instructions had a placeholder for the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Substitution {
    /// The arguments are in the text.
    Yes,
    /// The arguments are not in the text.
    No,
}

impl Arguments {
    /// Parses arguments. Removes escapes and control characters except line breaks and tabs.
    pub fn parse(args: Option<&str>) -> Result<Self, ParseArgumentsError> {
        let Some(args) = args else { return Ok(Self::default()) };
        if args.len() > ARGUMENTS_MAX {
            return Err(ParseArgumentsError::TooLong(args.len()));
        }
        if args.contains('\0') {
            return Err(ParseArgumentsError::Nul);
        }
        let mut text = args.replace("\r\n", "\n");
        text.retain(|c| c != '\r');
        strip_escapes(&mut text, 0);
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let words = split_words(&text);
        Ok(Self { text, words })
    }

    /// Returns `true` if there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns all arguments as one text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the arguments, split as by a shell.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Writes `body` with the arguments substituted. Values are written as they are: placeholders in them are not
    /// replaced.
    pub fn write(
        &self,
        body: &str,
        placeholders: PlaceholderSyntax,
        values: PlaceholderValues<'_>,
        out: &mut impl fmt::Write,
    ) -> Result<Substitution, fmt::Error> {
        match placeholders {
            PlaceholderSyntax::Whole => self.write_whole(body, out),
            PlaceholderSyntax::Positions => self.write_positions(body, values, 0, out),
            PlaceholderSyntax::PositionsFromOne => self.write_positions(body, values, 1, out),
        }
    }

    fn write_whole(&self, body: &str, out: &mut impl fmt::Write) -> Result<Substitution, fmt::Error> {
        if self.is_empty() {
            out.write_str(body)?;
            return Ok(Substitution::No);
        }
        let mut substituted = Substitution::No;
        for (index, text) in body.split(PLACEHOLDER).enumerate() {
            if index > 0 {
                out.write_str(&self.text)?;
                substituted = Substitution::Yes;
            }
            out.write_str(text)?;
        }
        Ok(substituted)
    }

    fn write_positions(
        &self,
        body: &str,
        values: PlaceholderValues<'_>,
        first: usize,
        out: &mut impl fmt::Write,
    ) -> Result<Substitution, fmt::Error> {
        let mut substituted = Substitution::No;
        let positions = if first == 0 { self.words.len() } else { usize::MAX };
        if !may_have_placeholders(body, positions, values.names) {
            out.write_str(body)?;
            return Ok(substituted);
        }
        for piece in split_pieces(body, values.names) {
            let text = match piece {
                Piece::Text(text) | Piece::Escaped(text) => text,
                Piece::All => {
                    substituted = Substitution::Yes;
                    &self.text
                }
                Piece::Named(index) => {
                    substituted = Substitution::Yes;
                    self.words.get(index).map_or("", String::as_str)
                }
                Piece::Position(index, source) => {
                    match index.checked_sub(first).map(|index| self.words.get(index)) {
                        Some(Some(word)) => {
                            substituted = Substitution::Yes;
                            word
                        }
                        Some(None) if first > 0 => "",
                        Some(None) | None => source,
                    }
                }
                Piece::Variable(variable, source) => {
                    let dir = match variable {
                        Variable::SkillDir => values.skill_dir,
                        Variable::ProjectDir => values.project_dir,
                    };
                    match dir {
                        Some(dir) => {
                            write!(SingleLine(out), "{}", dir.display())?;
                            continue;
                        }
                        None => source,
                    }
                }
            };
            out.write_str(text)?;
        }
        Ok(substituted)
    }
}

/// Splits text like a shell: at white space, with quotes and backslashes. An unclosed quote extends to the end.
fn split_words(text: &str) -> Vec<String> {
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
                // Between double quotes, a backslash only escapes a quote or a backslash.
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
