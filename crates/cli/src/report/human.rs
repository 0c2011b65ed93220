//! Diagnostics as human-readable text: code, message, location, marked source line and help.

use std::io::{self, Write};
use std::path::Path;

use annotate_snippets::renderer::DEFAULT_LINE_NUM_STYLE;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Padding, Patch, Renderer, Snippet, Title};
use prowess_format::{Diagnostic, Severity};

use super::excerpt::{Excerpt, FixExcerpt};
use super::{CheckSummary, FileReport, SourceReader, pluralize, read_report_source, text, uri};

/// Wider than any rendered line. Lines are truncated before, around the marked part.
const NO_TRUNCATION: usize = 10_000;

/// Whether the output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColorMode {
    Plain,
    /// Text with ANSI styles.
    Styled,
}

/// Writes the diagnostics of a file, with its path relative to `base` if possible.
///
/// The source line and the fix are omitted if the file has changed since it was checked.
pub(crate) fn write(
    out: &mut dyn Write,
    report: &FileReport<'_>,
    sources: &SourceReader<'_>,
    base: &Path,
    colour: ColorMode,
) -> io::Result<()> {
    let path = text::escape_message(&uri::relative_path(report.path, base));
    let source = read_report_source(report, sources);
    for diagnostic in report.diagnostics {
        let excerpt = source
            .as_deref()
            .zip(diagnostic.location)
            .and_then(|(source, location)| Excerpt::new(source, location));
        let rendered = match excerpt {
            Some(excerpt) => render_with_line(&path, diagnostic, &excerpt, source.as_deref(), colour),
            None => render_without_line(&path, diagnostic, colour),
        };
        writeln!(out, "{rendered}\n")?;
    }
    report
        .other_files
        .iter()
        .try_for_each(|file| write(out, &report.for_other_file(file), sources, base, colour))
}

/// Writes the totals of a check on one line.
pub(crate) fn write_summary(out: &mut dyn Write, summary: &CheckSummary) -> io::Result<()> {
    let CheckSummary { checked, valid, errors, warnings, plugin_files, .. } = *summary;
    let (skills, errors, warnings) =
        (pluralize(checked, "skill"), pluralize(errors, "error"), pluralize(warnings, "warning"));
    let plugin_files = match plugin_files {
        0 => String::new(),
        count => format!(" and {}", pluralize(count, "plugin file")),
    };
    writeln!(out, "{skills}{plugin_files} checked, {valid} valid: {errors}, {warnings}")
}

fn render_with_line(
    path: &str,
    diagnostic: &Diagnostic,
    excerpt: &Excerpt,
    source: Option<&[u8]>,
    colour: ColorMode,
) -> String {
    let label = excerpt.ends_on.map(|line| format!("continues to line {line}"));
    let marker = AnnotationKind::Primary.span(excerpt.marked.clone()).label(label);
    let snippet = Snippet::source(excerpt.text.as_str()).line_start(excerpt.line).annotation(marker);
    let mut groups = vec![Group::with_title(title(diagnostic)).element(snippet)];

    let fix = diagnostic.fix.as_deref();
    let help = diagnostic.help.as_deref();
    if let Some(change) = fix.zip(source).and_then(|(fix, source)| FixExcerpt::new(source, fix)) {
        // Do not repeat the fix if the help text quotes it.
        let quotes = |help: &&str| fix.is_some_and(|fix| !fix.text.is_empty() && help.contains(&fix.text));
        let help = help.filter(|help| !quotes(help)).unwrap_or("change it to");
        let patch = Snippet::source(change.text).line_start(change.line);
        let patch = patch.patch(Patch::new(change.old, change.new));
        groups.push(Level::HELP.secondary_title(text::escape_help(help)).element(patch));
    } else if let Some(help) = help
        && let Some(group) = groups.pop()
    {
        groups.push(group.element(Level::HELP.message(text::escape_help(help))));
    }
    let rendered = renderer(colour).render(&groups);
    insert_origin(&rendered, &location(path, diagnostic), colour)
}

fn render_without_line(path: &str, diagnostic: &Diagnostic, colour: ColorMode) -> String {
    let group = Group::with_title(title(diagnostic)).element(Origin::path(location(path, diagnostic)));
    let group = match &diagnostic.help {
        Some(help) => group.element(Padding).element(Level::HELP.message(text::escape_help(help))),
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
    level.primary_title(text::escape_message(&diagnostic.message)).id(diagnostic.code.as_str())
}

fn location(path: &str, diagnostic: &Diagnostic) -> String {
    match diagnostic.location {
        Some(position) => format!("{path}:{}:{}", position.line, position.column),
        None => path.to_owned(),
    }
}

fn renderer(colour: ColorMode) -> Renderer {
    let renderer = match colour {
        ColorMode::Plain => Renderer::plain(),
        ColorMode::Styled => Renderer::styled(),
    };
    renderer.term_width(NO_TRUNCATION)
}

/// Inserts the location below the title. The renderer would compute the column from the escaped and truncated line.
fn insert_origin(rendered: &str, location: &str, colour: ColorMode) -> String {
    let Some((title, rest)) = rendered.split_once('\n') else {
        return format!("{rendered}\n --> {location}");
    };
    // The line below the title is the bare gutter, one column beyond the line numbers.
    let gutter = rest.len() - rest.trim_start_matches(' ').len();
    let indent = " ".repeat(gutter.saturating_sub(1));
    match colour {
        ColorMode::Plain => format!("{title}\n{indent}--> {location}\n{rest}"),
        ColorMode::Styled => {
            let style = DEFAULT_LINE_NUM_STYLE;
            format!("{title}\n{indent}{style}--> {style:#}{location}\n{rest}")
        }
    }
}
