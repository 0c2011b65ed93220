//! Collects what is said about fields, at the right place of the file.

use crate::diagnostic::{Code, Diagnostic, Place, Severity};
use crate::position::{LineMap, Span};
use crate::repair::Repaired;
use crate::rules::Level;

/// Knows how spans of the YAML lead back to the file.
pub(crate) struct Sink<'s> {
    /// The file.
    pub(crate) source: &'s [u8],
    /// Where the YAML begins in it.
    pub(crate) offset: usize,
    /// What was quoted, if anything: spans of the repaired text are not those of the file.
    pub(crate) repaired: Option<&'s Repaired>,
    /// What was said.
    pub(crate) out: Vec<Diagnostic>,
    /// Made once there is much to say: looking for the line from the top each time would take the square of the file.
    pub(crate) lines: Option<LineMap>,
}

/// From how many diagnostics on a map of the lines pays.
const MANY: usize = 8;

impl Sink<'_> {
    /// Says something about a span of the YAML, as strongly as the rules want it.
    pub(crate) fn say(
        &mut self,
        level: Level,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: &str,
    ) {
        let severity = match level {
            Level::Ignore => return,
            Level::Warn => Severity::Warning,
            Level::Reject => Severity::Error,
        };
        let original =
            |offset: u32| self.repaired.map_or(offset as usize, |text| text.original(offset as usize));
        let span = Span::new(original(span.start), original(span.end)).shifted(self.offset);
        if self.out.len() == MANY {
            self.lines = Some(LineMap::new(self.source));
        }
        let place = match &self.lines {
            None => Place::of(self.source, span),
            Some(lines) => {
                let (line, column) = lines.position(self.source, span.start as usize);
                Place { line, column, span }
            }
        };
        let mut diagnostic = Diagnostic::new(code, severity, message).at(place);
        diagnostic.help = (!help.is_empty()).then(|| help.to_owned());
        self.out.push(diagnostic);
    }
}
