//! Diagnostics as SARIF 2.1.0, for code scanning services and editors.

use std::io::{self, Write};
use std::path::Path;

use prowess::check::PassedOverSkill;
use prowess_format::{Code, Diagnostic, Fix, Location, Severity, Span};
use serde_json::{Value, json};

use super::excerpt::current_range;
use super::help_uri::code_uri;
use super::problem::passed_over_text;
use super::{FileReport, SourceReader, json, read_report_source, text, uri};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Returns a log with a single run, and a notification for each skill that was not read.
pub(crate) fn log(rules: &[Value], results: &[Value], passed_over: &[PassedOverSkill], base: &Path) -> Value {
    let driver = json!({"name": "prowess", "version": env!("CARGO_PKG_VERSION"), "rules": rules});
    let mut run = json!({"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results});
    if !passed_over.is_empty() {
        let notification = |skill: &PassedOverSkill| {
            let uri = uri::uri_reference(&skill.path, base);
            json!({
                "level": "note",
                "message": {"text": passed_over_text(skill)},
                "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}}}],
            })
        };
        let notifications: Vec<_> = passed_over.iter().map(notification).collect();
        run["invocations"] =
            json!([{"executionSuccessful": true, "toolExecutionNotifications": notifications}]);
    }
    json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
}

/// Returns a result for a file or a region of it.
pub(crate) fn result(
    rule: (&str, Option<usize>),
    level: &str,
    text: &str,
    uri: &str,
    region: Option<Value>,
) -> Value {
    let mut location = json!({"artifactLocation": {"uri": uri}});
    if let Some(region) = region {
        location["region"] = region;
    }
    // Viewers render [text](target) as a link, which untrusted text must not create.
    let text = text.replace("](", "] (");
    json!({
        "ruleId": rule.0,
        "ruleIndex": rule.1,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
    })
}

/// Writes all reports as a single run, with paths relative to `base` if possible.
pub(crate) fn write(
    out: &mut dyn Write,
    reports: &[FileReport<'_>],
    passed_over: &[PassedOverSkill],
    sources: &SourceReader<'_>,
    base: &Path,
) -> io::Result<()> {
    let rule = |code: &Code| {
        json!({
            "id": code.as_str(),
            "helpUri": code_uri(*code),
            "shortDescription": {"text": code.summary()},
            "defaultConfiguration": {"level": default_level(*code)},
        })
    };
    let rules: Vec<_> = Code::ALL.iter().map(rule).collect();
    let results: Vec<_> = reports.iter().flat_map(|report| results(report, sources, base)).collect();
    json::write_value(out, &log(&rules, &results, passed_over, base))
}

/// Returns the usual level of a code in preset `standard`. Each result has its actual level.
fn default_level(code: Code) -> &'static str {
    use Code::*;
    match code {
        MissingFile | NotAFile | Unreadable | TooLarge | EmptyFile | NotUtf8 | NulByte | Changing
        | NoFrontmatter | UnclosedFrontmatter | LongFrontmatter | InvalidYaml | YamlLimit | NotAMapping
        | MissingName | NameType | NamePath | HiddenText | MissingDescription | DescriptionType
        | ConfigUnreadable | ConfigSyntax | TrustState => "error",
        _ => "warning",
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn results(report: &FileReport<'_>, sources: &SourceReader<'_>, base: &Path) -> Vec<Value> {
    let source = read_report_source(report, sources);
    let uri = uri::uri_reference(report.path, base);
    let own =
        report.diagnostics.iter().map(|diagnostic| diagnostic_result(diagnostic, source.as_deref(), &uri));
    let others =
        report.other_files.iter().flat_map(|file| results(&report.for_other_file(file), sources, base));
    own.chain(others).collect()
}

fn diagnostic_result(diagnostic: &Diagnostic, source: Option<&[u8]>, uri: &str) -> Value {
    // The end of a span and the fix are only valid if the source has not changed.
    let source = source
        .zip(diagnostic.location)
        .and_then(|(source, location)| current_range(source, location).map(|_| source));
    let rule = (diagnostic.code.as_str(), Code::ALL.iter().position(|code| *code == diagnostic.code));
    let region = diagnostic.location.map(|location| region(location, source));
    let text = text::message_and_help(diagnostic);
    let mut result = result(rule, level(diagnostic.severity), &text, uri, region);
    let fix = source.zip(diagnostic.fix.as_deref());
    if let Some(change) = fix.and_then(|(source, fix)| change(source, fix, uri)) {
        result["fixes"] = json!([{"artifactChanges": [change]}]);
    }
    result
}

/// Returns a region; its end is exclusive.
fn region(location: Location, source: Option<&[u8]>) -> Value {
    let mut region = json!({"startLine": location.line.max(1), "startColumn": location.column.max(1)});
    if let Some(source) = source {
        let end = Location::from_span(source, Span { start: location.span.end, end: location.span.end });
        region["endLine"] = end.line.into();
        region["endColumn"] = end.column.into();
    }
    region
}

fn change(source: &[u8], fix: &Fix, uri: &str) -> Option<Value> {
    source.get(fix.span.range())?;
    let mut deleted = region(Location::from_span(source, fix.span), Some(source));
    // A byte-order mark has no line and column, only a byte offset.
    let has_no_columns =
        deleted["startLine"] == deleted["endLine"] && deleted["startColumn"] == deleted["endColumn"];
    if has_no_columns && fix.span.start < fix.span.end {
        deleted = json!({});
    }
    deleted["byteOffset"] = fix.span.start.into();
    deleted["byteLength"] = (fix.span.end - fix.span.start).into();
    let mut replacement = json!({"deletedRegion": deleted});
    if !fix.text.is_empty() {
        replacement["insertedContent"] = json!({"text": fix.text});
    }
    Some(json!({"artifactLocation": {"uri": uri}, "replacements": [replacement]}))
}
