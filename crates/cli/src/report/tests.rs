//! Snapshots of every format, and properties that hold for all of them.

use std::path::Path;

use proptest::prelude::*;
use prowess_format::{Code, Diagnostic, Location, Rules, Severity, Span, hidden, parse};
use serde_json::Value;

use super::json::CheckJson;
use super::problem::{ProblemLevel, SkillProblems};
use super::{CheckSummary, ColorMode, FileReport, github, human, json, junit, sarif, write_human};

const PATH: &str = "skills/pdf/SKILL.md";

/// A file with many problems: missing quotes, hidden and wide characters, an unknown key.
const BAD: &str = "\u{feff}---\r\nname: PDF\r\ndescription: 漢字を処理: 👩\u{200d}🔧 Use when\u{202e} asked\r\n\
                   descripton: x\r\n---\r\nBody \u{e0041}\u{e0042} text.\r\n";

macro_rules! snapshot {
    ($name:literal, $text:expr) => {
        // Without the module path, the snapshots keep their names when the crate is renamed.
        let filters = [(r#""ruleIndex":\d+"#, r#""ruleIndex":…"#)];
        insta::with_settings!({ prepend_module_to_snapshot => false, filters => filters }, {
            insta::assert_snapshot!($name, $text);
        });
    };
}

fn report<'a>(path: &'a str, diagnostics: &'a [Diagnostic]) -> FileReport<'a> {
    let valid = !diagnostics.iter().any(Diagnostic::is_error);
    FileReport { path: Path::new(path), name: valid.then_some("pdf"), valid, diagnostics, other_files: &[] }
}

fn render_human(source: &[u8], diagnostics: &[Diagnostic], colour: ColorMode) -> String {
    let mut out = Vec::new();
    write_human(&mut out, Path::new(PATH), diagnostics, &|_| Some(source.to_vec()), colour).unwrap();
    String::from_utf8(out).unwrap()
}

/// Checks a file and renders its diagnostics.
fn check_and_render(source: &[u8]) -> String {
    let parsed = parse(source, Some("pdf"), &Rules::standard());
    render_human(source, &parsed.diagnostics, ColorMode::Plain)
}

fn sarif(source: &[u8], reports: &[FileReport<'_>]) -> String {
    let mut out = Vec::new();
    sarif::write(&mut out, reports, &[], &|_| Some(source.to_vec()), Path::new("/w")).unwrap();
    String::from_utf8(out).unwrap()
}

fn github(report: &FileReport<'_>, base: &Path) -> String {
    let mut out = Vec::new();
    github::write(&mut out, report.problems(), &[], base).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn human_output_shows_the_line_and_the_fix() {
    let cases: [&[u8]; 9] = [
        BAD.as_bytes(),
        b"---\nname: pdf\ndescription: Fill forms: fast\n  and: well\n---\nBody.\n",
        b"---\nname: pdf\ndescription: x\ncolour: \x1b[31mred\n---\nBody.\n",
        b"---\nname: pdf\ndescription: x\n---\nBody \x1b]8;;http://evil\x07 and \x00.\n",
        "---\nname: pdf\ndescription: x\n---\n\tTabs\tand 表\u{200b} wide ones.\n".as_bytes(),
        b"---\nname: pdf\ndescription: caf\xe9\n---\n\x93Quoted\x94\n",
        b"---\nname: pdf\ndescription: |\n  text\nmetadata:\n  - a\n  - b\n---\nBody.\n",
        b"no frontmatter",
        b"",
    ];
    snapshot!("human", cases.map(check_and_render).join("=====\n"));
}

#[test]
fn long_lines_are_truncated_around_the_marker() {
    let (ascii, wide) = ("word ".repeat(1000), "漢字 ".repeat(3000));
    let source = format!("---\nname: pdf\ndescription: {ascii}: {ascii}\n---\n{wide}\u{202e}{wide}\n");
    snapshot!("human_long", check_and_render(source.as_bytes()));
}

#[test]
fn lines_of_a_changed_file_are_not_shown() {
    let source = "---\nname: ä\n";
    let location = |line, column, start, end| Location { line, column, span: Span { start, end } };
    let locations = [
        location(2, 7, 10, 11),       // in the middle of a character
        location(2, 7, 10, 12),       // correct
        location(3, 7, 10, 12),       // on another line
        location(2, 7, 10, 900),      // beyond the end
        location(2, 7, 12, 10),       // start after end
        location(9, 9, 4_000, 4_001), // far beyond the end
        location(0, 0, u32::MAX, 0),  // invalid
        location(3, 1, 13, 13),       // the very end
    ];
    let diagnostic_at = |location| {
        let diagnostic = Diagnostic::warning(Code::NameForm, "the name is odd").at(location);
        diagnostic.help("rename it").fix(location.span, "b")
    };
    let diagnostics = locations.map(diagnostic_at);
    snapshot!("human_changed", render_human(source.as_bytes(), &diagnostics, ColorMode::Plain));
    let mut unreadable = Vec::new();
    let report = report("/w/skills/pdf/SKILL.md", &diagnostics);
    human::write(&mut unreadable, &report, &|_| None, Path::new("/w"), ColorMode::Plain).unwrap();
    let unreadable = String::from_utf8(unreadable).unwrap();
    assert!(unreadable.contains("--> skills/pdf/SKILL.md:2:7") && !unreadable.contains("name: "));
}

#[test]
fn styles_are_the_only_escapes() {
    let parsed = parse(BAD.as_bytes(), Some("pdf"), &Rules::standard());
    let styled = render_human(BAD.as_bytes(), &parsed.diagnostics, ColorMode::Styled);
    assert_eq!(strip_styles(&styled), render_human(BAD.as_bytes(), &parsed.diagnostics, ColorMode::Plain));
    snapshot!("human_styled", styled.replace('\x1b', "^"));
}

#[test]
fn the_summary_is_one_line() {
    let diagnostics = [Diagnostic::error(Code::EmptyFile, "e"), Diagnostic::warning(Code::NameForm, "w")];
    let note = [Diagnostic::new(Code::Shadowed, Severity::Info, "n")];
    let summary = CheckSummary::from_reports(&[
        report("a", &diagnostics),
        report("b", &note),
        report("c", &diagnostics[1..]),
    ]);
    assert_eq!(
        summary,
        CheckSummary { checked: 3, valid: 2, errors: 1, warnings: 2, ..CheckSummary::default() }
    );
    let mut out = Vec::new();
    human::write_summary(&mut out, &summary).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "3 skills checked, 2 valid: 1 error, 2 warnings\n");
}

#[test]
fn json_matches_the_contract() {
    let parsed = parse(BAD.as_bytes(), Some("pdf"), &Rules::standard());
    let whole_file = [Diagnostic::error(Code::MissingFile, "evil \u{9b}31m\u{202e}\u{e0041}\u{7f}\x1b[0m")];
    let reports = [report(PATH, &parsed.diagnostics), report("skills/empty", &whole_file)];
    let mut out = Vec::new();
    let summary = CheckSummary::from_reports(&reports);
    json::write_value(&mut out, &CheckJson::new(&reports, &[], &summary)).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(hidden::find_hidden(&text), None);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["skills"][1]["diagnostics"][0]["message"], whole_file[0].message.as_str());
    snapshot!("json", text.replace("{\"", "\n{\""));
}

#[test]
fn sarif_has_what_the_standard_requires() {
    let parsed = parse(BAD.as_bytes(), Some("pdf"), &Rules::standard());
    let note = [Diagnostic::new(Code::Shadowed, Severity::Info, "another one is used")];
    let reports = [report("/w/skills/pdf ü/SKILL.md", &parsed.diagnostics), report("/else/where", &note)];
    let text = sarif(BAD.as_bytes(), &reports);
    let log: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&log["version"], log["runs"].as_array().unwrap().len()), (&"2.1.0".into(), 1));

    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!((&driver["name"], driver["version"].is_string()), (&"prowess".into(), true));
    let rules = driver["rules"].as_array().unwrap();
    let ids: Vec<_> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids, Code::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>());
    let summaries: Vec<_> =
        rules.iter().map(|rule| rule["shortDescription"]["text"].as_str().unwrap()).collect();
    assert_eq!(summaries, Code::ALL.iter().map(|code| code.summary()).collect::<Vec<_>>());
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(result["ruleId"], ids[index]);
        assert!(result["message"]["text"].is_string());
    }
    let levels = rules.iter().map(|rule| rule["defaultConfiguration"]["level"].as_str().unwrap());
    let levels: Vec<_> = levels.collect();
    assert!(levels[0] == "error" && levels[1..].iter().all(|level| ["error", "warning"].contains(level)));

    // The rules were compared above; the snapshot contains only the results, since codes will be added.
    snapshot!("sarif", serde_json::to_string_pretty(&run["results"]).unwrap());
}

#[test]
fn sarif_omits_fixes_and_ends_for_a_changed_file() {
    let parsed = parse(BAD.as_bytes(), Some("pdf"), &Rules::standard());
    let log: Value = serde_json::from_str(&sarif(b"x", &[report(PATH, &parsed.diagnostics)])).unwrap();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        assert_eq!(result.get("fixes"), None);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["startLine"].is_u64() && region.get("endLine").is_none());
    }
}

#[test]
fn github_commands_cannot_be_forged() {
    let forged = Diagnostic::warning(Code::UnknownKey, "100% \x1b[31m:: a,b\r\n::error::forged");
    let location = Location { line: 3, column: 7, span: Span::new(0, 0) };
    let diagnostics = [
        forged.at(location).help("first\nsecond"),
        Diagnostic::new(Code::Shadowed, Severity::Info, "another one is used"),
    ];
    let forged_path = report("/w/a,b: c%\n::error::/SKILL.md", &diagnostics);
    let text = github(&forged_path, Path::new("/w"))
        + &github(&report("/x/SKILL.md", &diagnostics[1..]), Path::new("/w"));
    snapshot!("github", text);
}

/// Removes the style sequences (`ESC [ … m`) of the renderer.
fn strip_styles(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| {
        let (style, rest) = part.split_once('m').unwrap();
        assert!(style.chars().all(|c| c.is_ascii_digit() || c == ';'), "{style:?} is not a style");
        out + rest
    })
}

fn assert_escaped(text: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(hidden::find_hidden(text), None);
    prop_assert!(!text.contains(['\t', '\r']), "{text:?}");
    Ok(())
}

/// Generates problematic bytes: escapes, line breaks, wide and hidden characters, invalid UTF-8.
fn hostile_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[ -~]{0,8}".prop_map(String::into_bytes),
        4 => prop::sample::select(vec!["\n", "\r\n", "\t", "\r", "漢", "👩\u{200d}🔧", "e\u{301}", "\u{feff}"])
            .prop_map(|text| text.as_bytes().to_vec()),
        2 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
        1 => prop::sample::select(vec![" ".repeat(40), "x".repeat(130), "\u{202e}".repeat(30), "字".repeat(90)])
            .prop_map(String::into_bytes),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Generates a diagnostic in or beyond the source, mostly with a matching location.
fn any_diagnostic(source: &[u8]) -> impl Strategy<Value = Diagnostic> + use<> {
    let source = source.to_vec();
    let length_max = u32::try_from(source.len() + 4).unwrap();
    let span = (0..length_max, 0..length_max).prop_map(|(start, end)| Span { start, end });
    let short = (0..length_max, 0..6_u32).prop_map(|(start, length)| Span { start, end: start + length });
    let spans = prop_oneof![span, short];
    (spans.clone(), spans, any::<String>(), hostile_bytes(), 0..10_u32).prop_map(
        move |(location, fix, text, new, off)| {
            let mut location = Location::from_span(&source, location);
            location.line += u32::from(off == 0);
            let diagnostic = Diagnostic::warning(Code::FieldForm, text.clone()).at(location).help(text);
            if off % 2 == 0 { diagnostic } else { diagnostic.fix(fix, String::from_utf8_lossy(&new)) }
        },
    )
}

proptest! {
    #[test]
    fn output_is_always_escaped(
        (source, diagnostic) in hostile_bytes().prop_flat_map(|source| (Just(source.clone()), any_diagnostic(&source))),
        path in any::<String>(),
    ) {
        let diagnostics = [diagnostic];
        let report = FileReport { path: Path::new(&path), ..report(PATH, &diagnostics) };
        for colour in [ColorMode::Plain, ColorMode::Styled] {
            let mut out = Vec::new();
            human::write(&mut out, &report, &|_| Some(source.clone()), Path::new("/"), colour).unwrap();
            assert_escaped(&strip_styles(&String::from_utf8(out).unwrap()))?;
        }
        let commands = github(&report, Path::new("/"));
        assert_escaped(&commands)?;
        prop_assert_eq!(commands.lines().count(), 1);
        let mut out = Vec::new();
        let fails_from = ProblemLevel::Warning;
        let cases = [SkillProblems { path: report.path, problems: report.problems(), fails_from }];
        junit::write(&mut out, "check", &cases, &[], Path::new("")).unwrap();
        sarif::write(&mut out, &[report], &[], &|_| Some(source.clone()), Path::new("")).unwrap();
        json::write_value(&mut out, &CheckJson::new(&[report], &[], &CheckSummary::from_reports(&[report]))).unwrap();
        assert_escaped(&String::from_utf8(out).unwrap())?;
    }

    #[test]
    fn output_of_parse_diagnostics_is_always_escaped(source in hostile_bytes()) {
        let parsed = parse(&source, Some("pdf"), &Rules::standard());
        assert_escaped(&render_human(&source, &parsed.diagnostics, ColorMode::Plain))?;
    }
}
