//! What every printer prints over a handful of files, and what none of them ever prints.

use std::path::Path;

use proptest::prelude::*;
use prowess_format::{Code, Diagnostic, Place, Rules, Severity, Span, hidden, parse};
use serde_json::Value;

use super::{Colour, FileReport, Summary, github, human, json, sarif};

const PATH: &str = "skills/pdf/SKILL.md";

/// A file with most of what goes wrong: forgotten quotes, hidden characters, wide ones, an unknown key.
const BAD: &str = "\u{feff}---\r\nname: PDF\r\ndescription: 漢字を処理: 👩\u{200d}🔧 Use when\u{202e} asked\r\n\
                   descripton: x\r\n---\r\nBody \u{e0041}\u{e0042} text.\r\n";

macro_rules! snapshot {
    ($name:literal, $text:expr) => {
        // Without the name of the crate in its name, a snapshot stays where it is when the crate is renamed.
        let filters = [(r#""ruleIndex":\d+"#, r#""ruleIndex":…"#)];
        insta::with_settings!({ prepend_module_to_snapshot => false, filters => filters }, {
            insta::assert_snapshot!($name, $text);
        });
    };
}

fn report<'a>(path: &'a str, diagnostics: &'a [Diagnostic]) -> FileReport<'a> {
    let valid = !diagnostics.iter().any(Diagnostic::is_error);
    FileReport { path: Path::new(path), name: valid.then_some("pdf"), valid, diagnostics, beside: &[] }
}

fn for_people(source: &[u8], diagnostics: &[Diagnostic], colour: Colour) -> String {
    let mut out = Vec::new();
    human(&mut out, Path::new(PATH), diagnostics, &|_| Some(source.to_vec()), colour).unwrap();
    String::from_utf8(out).unwrap()
}

/// What people see of a file once it was checked.
fn checked(source: &[u8]) -> String {
    let parsed = parse(source, Some("pdf"), &Rules::standard());
    for_people(source, &parsed.diagnostics, Colour::Plain)
}

fn sarif(source: &[u8], reports: &[FileReport<'_>]) -> String {
    let mut out = Vec::new();
    sarif::write(&mut out, reports, &|_| Some(source.to_vec()), Path::new("/w")).unwrap();
    String::from_utf8(out).unwrap()
}

fn github(report: &FileReport<'_>, base: &Path) -> String {
    let mut out = Vec::new();
    github::write(&mut out, report, base).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn people_see_the_line_and_the_correction() {
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
    snapshot!("human", cases.map(checked).join("=====\n"));
}

#[test]
fn long_lines_are_cut_around_the_marker() {
    let (ascii, wide) = ("word ".repeat(1000), "漢字 ".repeat(3000));
    let source = format!("---\nname: pdf\ndescription: {ascii}: {ascii}\n---\n{wide}\u{202e}{wide}\n");
    snapshot!("human_long", checked(source.as_bytes()));
}

#[test]
fn a_changed_file_is_not_shown() {
    let source = "---\nname: ä\n";
    let at = |line, column, start, end| Place { line, column, span: Span { start, end } };
    let places = [
        at(2, 7, 10, 11),       // in the middle of a character
        at(2, 7, 10, 12),       // right
        at(3, 7, 10, 12),       // on another line
        at(2, 7, 10, 900),      // beyond the end
        at(2, 7, 12, 10),       // the wrong way round
        at(9, 9, 4_000, 4_001), // far away
        at(0, 0, u32::MAX, 0),  // nonsense
        at(3, 1, 13, 13),       // the very end
    ];
    let said = |place| {
        let diagnostic = Diagnostic::warning(Code::NameForm, "the name is odd").at(place);
        diagnostic.help("rename it").fix(place.span, "b")
    };
    let said = places.map(said);
    snapshot!("human_changed", for_people(source.as_bytes(), &said, Colour::Plain));
    let mut unreadable = Vec::new();
    let report = report("/w/skills/pdf/SKILL.md", &said);
    human::write(&mut unreadable, &report, &|_| None, Path::new("/w"), Colour::Plain).unwrap();
    let unreadable = String::from_utf8(unreadable).unwrap();
    assert!(unreadable.contains("--> skills/pdf/SKILL.md:2:7") && !unreadable.contains("name: "));
}

#[test]
fn styles_are_the_only_escapes() {
    let parsed = parse(BAD.as_bytes(), Some("pdf"), &Rules::standard());
    let styled = for_people(BAD.as_bytes(), &parsed.diagnostics, Colour::Styled);
    assert_eq!(without_styles(&styled), for_people(BAD.as_bytes(), &parsed.diagnostics, Colour::Plain));
    snapshot!("human_styled", styled.replace('\x1b', "^"));
}

#[test]
fn the_summary_is_one_line() {
    let said = [Diagnostic::error(Code::EmptyFile, "e"), Diagnostic::warning(Code::NameForm, "w")];
    let note = [Diagnostic::new(Code::Shadowed, Severity::Info, "n")];
    let summary = Summary::of(&[report("a", &said), report("b", &note), report("c", &said[1..])]);
    assert_eq!(summary, Summary { checked: 3, valid: 2, errors: 1, warnings: 2 });
    let mut out = Vec::new();
    human::write_summary(&mut out, &summary).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "3 skills checked, 2 valid: 1 error, 2 warnings\n");
}

#[test]
fn json_is_what_the_contract_says() {
    let parsed = parse(BAD.as_bytes(), Some("pdf"), &Rules::standard());
    let whole_file = [Diagnostic::error(Code::MissingFile, "evil \u{9b}31m\u{202e}\u{e0041}\u{7f}\x1b[0m")];
    let reports = [report(PATH, &parsed.diagnostics), report("skills/empty", &whole_file)];
    let mut out = Vec::new();
    json::write(&mut out, &reports, &Summary::of(&reports), &[]).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(hidden::first(&text), None);
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

    // The rules were looked at; the results are easier to read one below the other, and codes will be added.
    snapshot!("sarif", serde_json::to_string_pretty(&run["results"]).unwrap());
}

#[test]
fn sarif_leaves_out_what_a_changed_file_no_longer_tells() {
    let parsed = parse(BAD.as_bytes(), Some("pdf"), &Rules::standard());
    let log: Value = serde_json::from_str(&sarif(b"x", &[report(PATH, &parsed.diagnostics)])).unwrap();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        assert_eq!(result.get("fixes"), None);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["startLine"].is_u64() && region.get("endLine").is_none());
    }
}

#[test]
fn github_gets_commands_that_cannot_be_forged() {
    let forged = Diagnostic::warning(Code::UnknownKey, "100% \x1b[31m:: a,b\r\n::error::forged");
    let at = Place { line: 3, column: 7, span: Span::new(0, 0) };
    let said = [
        forged.at(at).help("first\nsecond"),
        Diagnostic::new(Code::Shadowed, Severity::Info, "another one is used"),
    ];
    let forged_path = report("/w/a,b: c%\n::error::/SKILL.md", &said);
    let text =
        github(&forged_path, Path::new("/w")) + &github(&report("/x/SKILL.md", &said[1..]), Path::new("/w"));
    snapshot!("github", text);
}

/// The text without the style sequences (`ESC [ … m`) that the renderer writes.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| {
        let (style, rest) = part.split_once('m').unwrap();
        assert!(style.chars().all(|c| c.is_ascii_digit() || c == ';'), "{style:?} is not a style");
        out + rest
    })
}

fn nothing_raw(text: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(hidden::first(text), None);
    prop_assert!(!text.contains(['\t', '\r']), "{text:?}");
    Ok(())
}

/// Bytes with much of what makes trouble: escapes, breaks, wide and hidden characters, bytes that are no text.
fn troublesome() -> impl Strategy<Value = Vec<u8>> {
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

/// A diagnostic somewhere in (or beyond) the source, mostly at a place that agrees with it.
fn anywhere(source: &[u8]) -> impl Strategy<Value = Diagnostic> + use<> {
    let source = source.to_vec();
    let most = u32::try_from(source.len() + 4).unwrap();
    let span = (0..most, 0..most).prop_map(|(start, end)| Span { start, end });
    let short = (0..most, 0..6_u32).prop_map(|(start, length)| Span { start, end: start + length });
    let spans = prop_oneof![span, short];
    (spans.clone(), spans, any::<String>(), troublesome(), 0..10_u32).prop_map(
        move |(at, fix, text, new, off)| {
            let mut place = Place::of(&source, at);
            place.line += u32::from(off == 0);
            let diagnostic = Diagnostic::warning(Code::FieldForm, text.clone()).at(place).help(text);
            if off % 2 == 0 { diagnostic } else { diagnostic.fix(fix, String::from_utf8_lossy(&new)) }
        },
    )
}

proptest! {
    #[test]
    fn nothing_raw_and_no_panic_whatever_the_file(
        (source, said) in troublesome().prop_flat_map(|source| (Just(source.clone()), anywhere(&source))),
        path in any::<String>(),
    ) {
        let said = [said];
        let report = FileReport { path: Path::new(&path), ..report(PATH, &said) };
        for colour in [Colour::Plain, Colour::Styled] {
            let mut out = Vec::new();
            human::write(&mut out, &report, &|_| Some(source.clone()), Path::new("/"), colour).unwrap();
            nothing_raw(&without_styles(&String::from_utf8(out).unwrap()))?;
        }
        let commands = github(&report, Path::new("/"));
        nothing_raw(&commands)?;
        prop_assert_eq!(commands.lines().count(), 1);
        let mut out = Vec::new();
        sarif::write(&mut out, &[report], &|_| Some(source.clone()), Path::new("")).unwrap();
        json::write(&mut out, &[report], &Summary::of(&[report]), &[]).unwrap();
        nothing_raw(&String::from_utf8(out).unwrap())?;
    }

    #[test]
    fn the_same_for_what_is_really_said(source in troublesome()) {
        let parsed = parse(&source, Some("pdf"), &Rules::standard());
        nothing_raw(&for_people(&source, &parsed.diagnostics, Colour::Plain))?;
    }
}
