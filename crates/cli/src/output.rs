//! Standard output and standard error, and what may be written to them.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Stderr, Stdout, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use prowess::Located;
use prowess_format::hidden;
use serde::Serialize;

use crate::args::{Color, Global};
use crate::columns;
pub(crate) use crate::report::counted;
use crate::report::{self, Colour, json};

/// How a word is set off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Strong,
    Good,
    Bad,
    Caution,
    Faint,
}

impl Tone {
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

/// Where a command writes.
pub(crate) struct Output {
    out: BufWriter<Stdout>,
    err: Stderr,
    json: bool,
    quiet: bool,
    verbose: bool,
    styled: bool,
    styled_err: bool,
    terminal: Option<usize>,
}

impl Output {
    /// As the flags, the environment and the terminal say.
    pub(crate) fn new(global: &Global) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let wanted = |terminal: bool| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        let terminal = out.is_terminal().then(|| match prowess_fs::terminal_columns(&out) {
            0 => 80,
            columns => columns.clamp(40, 200),
        });
        Self {
            styled: wanted(out.is_terminal()) && !global.json,
            styled_err: wanted(err.is_terminal()),
            out: BufWriter::with_capacity(64 * 1024, out),
            err,
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
            terminal,
        }
    }

    /// Whether a program reads the answer.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// How many columns there are. Who reads from a pipe gets some more.
    pub(crate) fn width(&self) -> usize {
        self.terminal.unwrap_or(100)
    }

    /// The lines of a clean text that begins at a column: as many as it takes on a terminal, else one, which is
    /// easier to search.
    pub(crate) fn wrapped(&self, text: &str, column: usize) -> Vec<String> {
        match self.terminal {
            Some(width) => columns::wrap(text, width.saturating_sub(column).max(20)),
            None => vec![text.to_owned()],
        }
    }

    /// Whether a person looks at standard output.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    /// Whether standard output takes colour.
    pub(crate) fn styled(&self) -> bool {
        self.styled
    }

    /// Whether only errors should be said.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether more should be said.
    pub(crate) fn verbose(&self) -> bool {
        self.verbose
    }

    /// Standard output.
    pub(crate) fn out(&mut self) -> &mut impl Write {
        &mut self.out
    }

    /// One line of the answer. Whatever comes from skills goes through [`clean`] first.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        self.out.write_all(line.as_ref().as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// A whole text as it is, for programs and pipes. On a terminal, what is hidden in it is shown, and its last line
    /// ends.
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

    /// A machine-readable answer.
    pub(crate) fn answer(&mut self, answer: &impl Serialize) -> io::Result<()> {
        json::write_value(&mut self.out, answer)
    }

    /// A word set off from its surroundings, cleaned.
    pub(crate) fn tone(&self, tone: Tone, text: &str) -> String {
        paint(self.styled, tone, text)
    }

    /// A remark for people.
    pub(crate) fn remark(&mut self, text: impl AsRef<str>) {
        if !self.quiet {
            // A remark that nobody can read is not worth failing for; so for all of standard error.
            let _ = self.out.flush();
            let _ = writeln!(self.err, "{}", text.as_ref());
        }
    }

    /// A remark of one clean line, set off.
    pub(crate) fn remark_in(&mut self, tone: Tone, line: &str) {
        if !self.quiet && !line.is_empty() {
            let _ = self.out.flush();
            let _ = writeln!(self.err, "{}", paint(self.styled_err, tone, line));
        }
    }

    /// An error with what to do next.
    pub(crate) fn error(&mut self, message: &str, hint: Option<&str>) {
        let _ = self.out.flush();
        let label = paint(self.styled_err, Tone::Bad, "error");
        let _ = writeln!(self.err, "{label}: {}", clean(message));
        if let Some(hint) = hint {
            let label = paint(self.styled_err, Tone::Good, "hint");
            let _ = writeln!(self.err, "{label}: {}", clean(hint));
        }
    }

    /// Standard error, for those who print more than a line.
    pub(crate) fn err(&mut self) -> (&mut impl Write, bool) {
        let _ = self.out.flush();
        (&mut self.err, self.styled_err)
    }

    /// Writes out what is left.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn paint(styled: bool, tone: Tone, text: &str) -> String {
    let text = clean(text);
    let style = tone.style();
    if styled { format!("{style}{text}{style:#}") } else { text.into_owned() }
}

/// Text from a skill as it may reach a terminal: one line, nothing hidden, no escape sequences.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    hidden::shown(text)
}

/// A path as it may reach a terminal.
pub(crate) fn clean_path(path: &Path) -> String {
    clean(&path.to_string_lossy()).into_owned()
}

/// Text from a skill, cleaned and cut to so many columns, with a sign that it was.
pub(crate) fn cut(text: &str, width: usize) -> String {
    columns::cut(&clean(text), width)
}

/// Prints diagnostics on standard error, each with the line it is about.
pub(crate) fn print_located(output: &mut Output, diagnostics: &[Located]) {
    let quiet = output.quiet();
    let (err, styled) = output.err();
    let colour = if styled { Colour::Styled } else { Colour::Plain };
    for Located { path, diagnostic } in
        diagnostics.iter().filter(|located| !quiet || located.diagnostic.is_error())
    {
        // Standard error is for people; if it is gone, so are they.
        let _ = report::human(err, path, std::slice::from_ref(diagnostic), &source_of, colour);
    }
}

/// The beginning of a file, for showing the lines a diagnostic is about.
pub(crate) fn source_of(path: &Path) -> Option<Vec<u8>> {
    prowess::read_bounded(path, 1024 * 1024)
}
