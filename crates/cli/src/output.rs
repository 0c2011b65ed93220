//! Writes results to standard output and messages to standard error.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Stderr, Stdout, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use prowess::FileDiagnostic;
use prowess_format::hidden;
use serde::Serialize;

use crate::args::{Color, GlobalArgs};
use crate::columns;
pub(crate) use crate::report::pluralize;
use crate::report::{self, ColorMode, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextStyle {
    Strong,
    Good,
    Bad,
    Caution,
    Faint,
}

impl TextStyle {
    fn style(self) -> Style {
        match self {
            Self::Strong => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Caution => AnsiColor::Yellow.on_default(),
            Self::Faint => Style::new().dimmed(),
        }
    }
}

/// The standard output and standard error of a command.
pub(crate) struct Output {
    out: BufWriter<Stdout>,
    err: Stderr,
    json: bool,
    quiet: bool,
    verbose: bool,
    styled: bool,
    styled_err: bool,
    terminal_width: Option<usize>,
}

impl Output {
    /// Configures the output from options, environment and terminal.
    pub(crate) fn new(global: &GlobalArgs) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let use_color = |terminal: bool| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        let terminal = out.is_terminal().then(|| match prowess_fs::terminal_columns(&out) {
            0 => 80,
            columns => columns.clamp(40, 200),
        });
        Self {
            styled: use_color(out.is_terminal()) && !global.json,
            styled_err: use_color(err.is_terminal()),
            out: BufWriter::with_capacity(64 * 1024, out),
            err,
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
            terminal_width: terminal,
        }
    }

    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// Returns the width of the terminal in columns, or 100 if the output is not a terminal.
    pub(crate) fn width(&self) -> usize {
        self.terminal_width.unwrap_or(100)
    }

    /// Wraps an escaped text that starts at `column`. If the output is not a terminal, returns a single line, which is
    /// easier to search.
    pub(crate) fn wrap(&self, text: &str, column: usize) -> Vec<String> {
        match self.terminal_width {
            Some(width) => columns::wrap(text, width.saturating_sub(column).max(20)),
            None => vec![text.to_owned()],
        }
    }

    /// Wraps an escaped text like [`Output::wrap`], and breaks words that do not fit.
    pub(crate) fn wrap_prose(&self, text: &str, column: usize) -> Vec<String> {
        match self.terminal_width {
            Some(width) => columns::wrap_prose(text, width.saturating_sub(column).max(20)),
            None => vec![text.to_owned()],
        }
    }

    /// Returns `true` if standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal_width.is_some()
    }

    /// Returns `true` if standard output is coloured.
    pub(crate) fn styled(&self) -> bool {
        self.styled
    }

    /// Returns `true` if only errors are printed on standard error.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Returns `true` if more details are printed on standard error.
    pub(crate) fn verbose(&self) -> bool {
        self.verbose
    }

    /// Returns standard output.
    pub(crate) fn out(&mut self) -> &mut impl Write {
        &mut self.out
    }

    /// Writes a line to standard output. The caller escapes untrusted text with [`clean`].
    pub(crate) fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        self.out.write_all(line.as_ref().as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Writes a text to standard output unchanged. On a terminal, hidden characters are escaped and the last line is
    /// terminated.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        if !self.is_terminal() {
            return self.out.write_all(text.as_bytes());
        }
        for line in text.split_inclusive('\n') {
            let mut parts = line.trim_end_matches(['\r', '\n']).split('\t');
            self.out.write_all(clean(parts.next().unwrap_or_default()).as_bytes())?;
            for part in parts {
                self.out.write_all(b"\t")?;
                self.out.write_all(clean(part).as_bytes())?;
            }
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Writes a value as JSON to standard output.
    pub(crate) fn write_json(&mut self, value: &impl Serialize) -> io::Result<()> {
        json::write_value(&mut self.out, value)
    }

    /// Returns the text, escaped and styled for standard output.
    pub(crate) fn styled_text(&self, tone: TextStyle, text: &str) -> String {
        paint(self.styled, tone, text)
    }

    /// Prints a message on standard error, unless `--quiet` is set.
    pub(crate) fn note(&mut self, text: impl AsRef<str>) {
        if !self.quiet {
            // Failures to write to standard error are ignored everywhere.
            let _ = self.out.flush();
            let _ = writeln!(self.err, "{}", text.as_ref());
        }
    }

    /// Prints a styled message of one line on standard error, unless `--quiet` is set.
    pub(crate) fn styled_note(&mut self, tone: TextStyle, line: &str) {
        if !self.quiet && !line.is_empty() {
            let _ = self.out.flush();
            let _ = writeln!(self.err, "{}", paint(self.styled_err, tone, line));
        }
    }

    /// Prints an error and a hint on standard error.
    pub(crate) fn error(&mut self, message: &str, hint: Option<&str>) {
        let _ = self.out.flush();
        let label = paint(self.styled_err, TextStyle::Bad, "error");
        let _ = writeln!(self.err, "{label}: {}", clean(message));
        if let Some(hint) = hint {
            let label = paint(self.styled_err, TextStyle::Good, "hint");
            let _ = writeln!(self.err, "{label}: {}", clean(hint));
        }
    }

    /// Returns standard error, and whether it is coloured.
    pub(crate) fn err(&mut self) -> (&mut impl Write, bool) {
        let _ = self.out.flush();
        (&mut self.err, self.styled_err)
    }

    /// Flushes standard output.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn paint(styled: bool, tone: TextStyle, text: &str) -> String {
    let text = clean(text);
    let style = tone.style();
    if styled { format!("{style}{text}{style:#}") } else { text.into_owned() }
}

/// Escapes untrusted text for a terminal: line breaks, hidden characters and escape sequences become visible.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    hidden::escape_for_display(text)
}

/// Escapes a path for a terminal.
pub(crate) fn clean_path(path: &Path) -> String {
    clean(&path.to_string_lossy()).into_owned()
}

/// Escapes text and truncates it to `width` columns, with an ellipsis.
pub(crate) fn truncate(text: &str, width: usize) -> String {
    columns::truncate(&clean(text), width)
}

/// Joins the first `max` names. The number of the others follows after `and`, as in `a, b, and 2 more`.
pub(crate) fn first_few(names: impl ExactSizeIterator<Item = String>, max: usize, and: &str) -> String {
    let hidden = names.len().saturating_sub(max);
    let shown = names.take(max).collect::<Vec<_>>().join(", ");
    if hidden > 0 { format!("{shown}{and} {hidden} more") } else { shown }
}

/// Formats seconds since 1970 as date and time in UTC.
pub(crate) fn format_time(seconds: u64) -> String {
    prowess_package::format_iso_time(seconds).replace('T', " ")
}

/// Formats a number of bytes.
pub(crate) fn format_size(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KiB", bytes.div_ceil(1_024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// Prints diagnostics on standard error, each with its source line.
pub(crate) fn print_diagnostics(output: &mut Output, diagnostics: &[FileDiagnostic]) {
    let quiet = output.quiet();
    let (err, styled) = output.err();
    let colour = if styled { ColorMode::Styled } else { ColorMode::Plain };
    for FileDiagnostic { path, diagnostic } in
        diagnostics.iter().filter(|located| !quiet || located.diagnostic.is_error())
    {
        let _ = report::write_human(err, path, std::slice::from_ref(diagnostic), &read_source, colour);
    }
}

/// Reads the beginning of a file, to show the source lines of diagnostics.
pub(crate) fn read_source(path: &Path) -> Option<Vec<u8>> {
    prowess::read_bounded(path, 1024 * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_in_utc() {
        assert_eq!(format_time(0), "1970-01-01 00:00:00Z");
        assert_eq!(format_time(951_827_696), "2000-02-29 12:34:56Z");
        assert_eq!(format_time(1_798_761_599), "2026-12-31 23:59:59Z");
    }

    #[test]
    fn the_first_names_are_joined_and_the_others_counted() {
        let names = |count: u32| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().into_iter();
        assert_eq!(first_few(names(0), 2, ", and"), "");
        assert_eq!(first_few(names(2), 2, ", and"), "0, 1");
        assert_eq!(first_few(names(5), 2, ", and"), "0, 1, and 3 more");
        assert_eq!(first_few(names(3), 2, " and"), "0, 1 and 1 more");
    }
}
