//! Diagnostics as SARIF 2.1.0, which code scanning services and editors read.

use std::io::{self, Write};
use std::path::Path;

use prowess_format::{Code, Diagnostic, Fix, Place, Severity, Span};
use serde_json::{Value, json};

use super::excerpt::still_there;
use super::{FileReport, Sources, json, source_of, text, uri};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A log of one run.
pub(crate) fn log(rules: &[Value], results: &[Value]) -> Value {
    let driver = json!({"name": "prowess", "version": env!("CARGO_PKG_VERSION"), "rules": rules});
    let run = json!({"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results});
    json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
}

/// One result of a run, about a file or a region of it.
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
    // Viewers make links of [text](target); a skill may not put one here.
    let text = text.replace("](", "] (");
    json!({
        "ruleId": rule.0,
        "ruleIndex": rule.1,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
    })
}

/// Prints all reports as one run, with paths relative to `base` where they lie below it.
pub(crate) fn write(
    out: &mut dyn Write,
    reports: &[FileReport<'_>],
    sources: &Sources<'_>,
    base: &Path,
) -> io::Result<()> {
    let rule = |code: &Code| {
        json!({
            "id": code.as_str(),
            "shortDescription": {"text": code.summary()},
            "defaultConfiguration": {"level": usual_level(*code)},
        })
    };
    let rules: Vec<_> = Code::ALL.iter().map(rule).collect();
    let results: Vec<_> = reports.iter().flat_map(|report| results(report, sources, base)).collect();
    json::write_value(out, &log(&rules, &results))
}

/// How bad a kind of diagnostic mostly is in preset `standard`; each result says how bad it really is.
fn usual_level(code: Code) -> &'static str {
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

fn results(report: &FileReport<'_>, sources: &Sources<'_>, base: &Path) -> Vec<Value> {
    let source = source_of(report, sources);
    let uri = uri::reference(report.path, base);
    let own = report.diagnostics.iter().map(|said| of_diagnostic(said, source.as_deref(), &uri));
    let others = report.beside.iter().flat_map(|other| results(&report.of_other(other), sources, base));
    own.chain(others).collect()
}

fn of_diagnostic(diagnostic: &Diagnostic, source: Option<&[u8]>, uri: &str) -> Value {
    // Only a source that still agrees with the diagnostic tells where a span ends, and may be told to change.
    let source = source.zip(diagnostic.at).and_then(|(source, at)| still_there(source, at).map(|_| source));
    let rule = (diagnostic.code.as_str(), Code::ALL.iter().position(|code| *code == diagnostic.code));
    let region = diagnostic.at.map(|at| region(at, source));
    let text = text::message_and_help(diagnostic);
    let mut result = result(rule, level(diagnostic.severity), &text, uri, region);
    let fix = source.zip(diagnostic.fix.as_deref());
    if let Some(change) = fix.and_then(|(source, fix)| change(source, fix, uri)) {
        result["fixes"] = json!([{"artifactChanges": [change]}]);
    }
    result
}

/// A range of text; the end is exclusive.
fn region(at: Place, source: Option<&[u8]>) -> Value {
    let mut region = json!({"startLine": at.line.max(1), "startColumn": at.column.max(1)});
    if let Some(source) = source {
        let end = Place::of(source, Span { start: at.span.end, end: at.span.end });
        region["endLine"] = end.line.into();
        region["endColumn"] = end.column.into();
    }
    region
}

fn change(source: &[u8], fix: &Fix, uri: &str) -> Option<Value> {
    source.get(fix.span.range())?;
    let mut deleted = region(Place::of(source, fix.span), Some(source));
    // A byte-order mark has no place in the text, only in the bytes.
    let is_unseen =
        deleted["startLine"] == deleted["endLine"] && deleted["startColumn"] == deleted["endColumn"];
    if is_unseen && fix.span.start < fix.span.end {
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
