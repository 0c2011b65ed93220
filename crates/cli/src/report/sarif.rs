//! Diagnostics as SARIF 2.1.0, which code scanning services and editors read.

use std::io::{self, Write};
use std::path::Path;

use prowess_format::{Code, Diagnostic, Fix, Place, Severity, Span};
use serde::Serialize;

use super::excerpt::still_there;
use super::{FileReport, Sources, json, source_of, text, uri};

/// Which form of SARIF it is.
pub(crate) const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Prints all reports as one run, with paths relative to `base` where they lie below it.
pub(crate) fn write(
    out: &mut dyn Write,
    reports: &[FileReport<'_>],
    sources: &Sources<'_>,
    base: &Path,
) -> io::Result<()> {
    let driver = Driver { name: "prowess", version: env!("CARGO_PKG_VERSION"), rules: rules() };
    let results = reports.iter().flat_map(|report| results(report, sources, base)).collect();
    let run = Run { tool: Tool { driver }, column_kind: "unicodeCodePoints", results };
    json::write_value(out, &Log { schema: SCHEMA, version: "2.1.0", runs: [run] })
}

fn rules() -> Vec<Rule> {
    let rule = |code: &Code| Rule {
        id: code.as_str(),
        short_description: Message { text: code.summary().to_owned() },
        default_configuration: Configuration { level: usual_level(*code) },
    };
    Code::ALL.iter().map(rule).collect()
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

fn results(report: &FileReport<'_>, sources: &Sources<'_>, base: &Path) -> Vec<ResultJson> {
    let source = source_of(report, sources);
    let uri = uri::reference(report.path, base);
    let own = report.diagnostics.iter().map(|said| result(said, source.as_deref(), &uri));
    let others = report.beside.iter().flat_map(|other| results(&report.of_other(other), sources, base));
    own.chain(others).collect()
}

fn result(diagnostic: &Diagnostic, source: Option<&[u8]>, uri: &str) -> ResultJson {
    // Only a source that still agrees with the diagnostic tells where a span ends, and may be told to change.
    let source = source.zip(diagnostic.at).and_then(|(source, at)| still_there(source, at).map(|_| source));
    let region = diagnostic.at.map(|at| Region::of(at, source));
    let artifact_location = ArtifactLocation { uri: uri.to_owned() };
    let physical_location = PhysicalLocation { artifact_location, region };
    let fix = source.zip(diagnostic.fix.as_deref());
    ResultJson {
        rule_id: diagnostic.code.as_str(),
        rule_index: Code::ALL.iter().position(|code| *code == diagnostic.code),
        level: level(diagnostic.severity),
        // Viewers make links of [text](target); a skill may not put one here.
        message: Message { text: text::message_and_help(diagnostic).replace("](", "] (") },
        locations: [Location { physical_location }],
        fixes: fix.and_then(|(source, fix)| FixJson::new(source, fix, uri)).into_iter().collect(),
    }
}

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<ResultJson>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultJson {
    rule_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Message,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<FixJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

/// A range of text, of bytes, or both; the end is exclusive.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Region {
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_offset: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_length: Option<u32>,
}

impl Region {
    fn of(at: Place, source: Option<&[u8]>) -> Self {
        let end = source.map(|source| Place::of(source, Span { start: at.span.end, end: at.span.end }));
        Self {
            start_line: Some(at.line.max(1)),
            start_column: Some(at.column.max(1)),
            end_line: end.map(|end| end.line),
            end_column: end.map(|end| end.column),
            ..Self::default()
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FixJson {
    artifact_changes: [ArtifactChange; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: ArtifactLocation,
    replacements: [Replacement; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    #[serde(skip_serializing_if = "Option::is_none")]
    inserted_content: Option<Message>,
}

impl FixJson {
    fn new(source: &[u8], fix: &Fix, uri: &str) -> Option<Self> {
        source.get(fix.span.range())?;
        let start = Place::of(source, fix.span);
        let mut region = Region::of(start, Some(source));
        // A byte-order mark has no place in the text, only in the bytes.
        let unseen = (region.start_line, region.start_column) == (region.end_line, region.end_column);
        if unseen && fix.span.start < fix.span.end {
            region = Region::default();
        }
        region.byte_offset = Some(fix.span.start);
        region.byte_length = Some(fix.span.end - fix.span.start);
        let inserted_content = (!fix.text.is_empty()).then(|| Message { text: fix.text.clone() });
        let replacements = [Replacement { deleted_region: region, inserted_content }];
        let artifact_location = ArtifactLocation { uri: uri.to_owned() };
        Some(Self { artifact_changes: [ArtifactChange { artifact_location, replacements }] })
    }
}
