//! Collecting diagnostics about fields, located in the file.

use crate::diagnostic::{Code, Diagnostic, Fix, Location, Severity};
use crate::position::{LineMap, Span};
use crate::repair::RepairedYaml;
use crate::rules::RuleLevel;

/// Collects diagnostics and maps spans of the YAML to the file.
pub(crate) struct DiagnosticSink<'s> {
    /// The bytes of the file.
    pub(crate) source: &'s [u8],
    /// The offset of the YAML in the file.
    pub(crate) offset: usize,
    /// The repaired YAML, if quotes were added: its spans differ from those of the file.
    pub(crate) repaired: Option<&'s RepairedYaml>,
    /// The diagnostics collected so far.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The line map, built once there are many diagnostics, because searching the line from the top each time
    /// is quadratic.
    pub(crate) lines: Option<LineMap>,
}

/// The number of diagnostics from which a line map is faster.
const LINE_MAP_THRESHOLD: usize = 8;

impl<'s> DiagnosticSink<'s> {
    /// Returns the YAML from the beginning to `end`, or nothing if it was repaired.
    pub(crate) fn yaml_before(&self, end: u32) -> &'s [u8] {
        let end = self.offset + end as usize;
        self.source.get(self.offset..end).filter(|_| self.repaired.is_none()).unwrap_or_default()
    }

    /// Returns the bytes of a span of the YAML, or nothing if it was repaired.
    pub(crate) fn yaml_text(&self, span: Span) -> &'s [u8] {
        let range = span.shifted(self.offset).range();
        self.source.get(range).filter(|_| self.repaired.is_none()).unwrap_or_default()
    }

    /// Returns the line break that the file uses.
    pub(crate) fn line_break(&self) -> &'static str {
        let line_break = memchr::memchr(b'\n', self.source);
        let is_crlf = line_break.and_then(|at| self.source.get(at.checked_sub(1)?)) == Some(&b'\r');
        if is_crlf { "\r\n" } else { "\n" }
    }

    /// Reports a problem with a span of the YAML, at the severity that corresponds to `level`.
    pub(crate) fn report(
        &mut self,
        level: RuleLevel,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: &str,
    ) {
        self.report_with_fix(level, code, span, message, help, None);
    }

    /// Reports a problem like [`report`](Self::report), with an edit of the YAML that fixes it.
    pub(crate) fn report_with_fix(
        &mut self,
        level: RuleLevel,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: &str,
        fix: Option<Fix>,
    ) {
        let severity = match level {
            RuleLevel::Ignore => return,
            RuleLevel::Warn => Severity::Warning,
            RuleLevel::Reject => Severity::Error,
        };
        let original =
            |offset: u32| self.repaired.map_or(offset as usize, |text| text.original_offset(offset as usize));
        let span = Span::new(original(span.start), original(span.end)).shifted(self.offset);
        if self.diagnostics.len() == LINE_MAP_THRESHOLD {
            self.lines = Some(LineMap::new(self.source));
        }
        let location = match &self.lines {
            None => Location::from_span(self.source, span),
            Some(lines) => {
                let (line, column) = lines.position(self.source, span.start as usize);
                Location { line, column, span }
            }
        };
        let mut diagnostic = Diagnostic::new(code, severity, message).at(location);
        diagnostic.help = (!help.is_empty()).then(|| help.to_owned());
        // In repaired YAML, the span of a value is not exact. The fix is offered once the repairs are applied.
        diagnostic.fix = fix
            .filter(|_| self.repaired.is_none())
            .map(|fix| Box::new(Fix { span: fix.span.shifted(self.offset), text: fix.text }));
        self.diagnostics.push(diagnostic);
    }
}
