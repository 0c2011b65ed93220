//! Diagnostics for people: the offending line with a marker, the code, the place, and what to do.

use std::io::{self, Write};
use std::path::Path;

use annotate_snippets::renderer::DEFAULT_LINE_NUM_STYLE;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Padding, Patch, Renderer, Snippet, Title};
use prowess_format::{Diagnostic, Severity};

use super::excerpt::{Change, Excerpt};
use super::{FileReport, Sources, Summary, counted, source_of, text, uri};

/// Wider than any line that is handed to the renderer: lines are cut before, where the marker is known.
const NEVER_CUT: usize = 10_000;

/// Whether the output has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Text only.
    Plain,
    /// With ANSI styles, for a terminal that wants them.
    Styled,
}

/// Prints all there is to say about one file, with its path relative to `base` where it lies below it.
///
/// Without a source that agrees with a diagnostic, the line and the correction are left out.
pub(crate) fn write(
    out: &mut dyn Write,
    report: &FileReport<'_>,
    sources: &Sources<'_>,
    base: &Path,
    colour: Colour,
) -> io::Result<()> {
    let path = text::sentence(&uri::slashed(report.path, base));
    let source = source_of(report, sources);
    for diagnostic in report.diagnostics {
        let excerpt = source.as_deref().zip(diagnostic.at).and_then(|(source, at)| Excerpt::new(source, at));
        let rendered = match excerpt {
            Some(excerpt) => with_line(&path, diagnostic, &excerpt, source.as_deref(), colour),
            None => without_line(&path, diagnostic, colour),
        };
        writeln!(out, "{rendered}\n")?;
    }
    report.beside.iter().try_for_each(|other| write(out, &report.of_other(other), sources, base, colour))
}

/// Prints the figures of a whole run on one line.
pub(crate) fn write_summary(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let Summary { checked, valid, errors, warnings } = *summary;
    let (skills, errors, warnings) =
        (counted(checked, "skill"), counted(errors, "error"), counted(warnings, "warning"));
    writeln!(out, "{skills} checked, {valid} valid: {errors}, {warnings}")
}

fn with_line(
    path: &str,
    diagnostic: &Diagnostic,
    excerpt: &Excerpt,
    source: Option<&[u8]>,
    colour: Colour,
) -> String {
    let label = excerpt.ends_on.map(|line| format!("goes on to line {line}"));
    let marker = AnnotationKind::Primary.span(excerpt.marked.clone()).label(label);
    let snippet = Snippet::source(excerpt.text.as_str()).line_start(excerpt.line).annotation(marker);
    let mut groups = vec![Group::with_title(title(diagnostic)).element(snippet)];

    let fix = diagnostic.fix.as_deref();
    let help = diagnostic.help.as_deref();
    if let Some(change) = fix.zip(source).and_then(|(fix, source)| Change::new(source, fix)) {
        // A help that quotes the correction would say it twice.
        let quotes = |help: &&str| fix.is_some_and(|fix| !fix.text.is_empty() && help.contains(&fix.text));
        let help = help.filter(|help| !quotes(help)).unwrap_or("write it like this");
        let patch = Snippet::source(change.text).line_start(change.line);
        let patch = patch.patch(Patch::new(change.old, change.new));
        groups.push(Level::HELP.secondary_title(text::help(help)).element(patch));
    } else if let Some(help) = help
        && let Some(group) = groups.pop()
    {
        groups.push(group.element(Level::HELP.message(text::help(help))));
    }
    let rendered = renderer(colour).render(&groups);
    insert_origin(&rendered, &place(path, diagnostic), colour)
}

fn without_line(path: &str, diagnostic: &Diagnostic, colour: Colour) -> String {
    let group = Group::with_title(title(diagnostic)).element(Origin::path(place(path, diagnostic)));
    let group = match &diagnostic.help {
        Some(help) => group.element(Padding).element(Level::HELP.message(text::help(help))),
        None => group,
    };
    renderer(colour).render(&[group])
}

fn title(diagnostic: &Diagnostic) -> Title<'static> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    level.primary_title(text::sentence(&diagnostic.message)).id(diagnostic.code.as_str())
}

fn place(path: &str, diagnostic: &Diagnostic) -> String {
    match diagnostic.at {
        Some(at) => format!("{path}:{}:{}", at.line, at.column),
        None => path.to_owned(),
    }
}

fn renderer(colour: Colour) -> Renderer {
    let renderer = match colour {
        Colour::Plain => Renderer::plain(),
        Colour::Styled => Renderer::styled(),
    };
    renderer.term_width(NEVER_CUT)
}

/// Puts the place below the title: the renderer would count its column in the line as it is escaped and cut.
fn insert_origin(rendered: &str, place: &str, colour: Colour) -> String {
    let Some((title, rest)) = rendered.split_once('\n') else {
        return format!("{rendered}\n --> {place}");
    };
    // The line below the title is the bare gutter, one column beyond the line numbers.
    let gutter = rest.len() - rest.trim_start_matches(' ').len();
    let indent = " ".repeat(gutter.saturating_sub(1));
    match colour {
        Colour::Plain => format!("{title}\n{indent}--> {place}\n{rest}"),
        Colour::Styled => {
            let style = DEFAULT_LINE_NUM_STYLE;
            format!("{title}\n{indent}{style}--> {style:#}{place}\n{rest}")
        }
    }
}
