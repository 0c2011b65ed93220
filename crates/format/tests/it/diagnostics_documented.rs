//! `docs/diagnostics.md` matches the code: every code has a section, and every example produces its code.
//!
//! After changing a message, run `UPDATE_DOCS=1 cargo test -p prowess-format --test it diagnostics_documented`
//! to update the file, and review the difference like that of a snapshot.

use std::path::PathBuf;

use prowess_format::{Code, ParseOutcome, Rules, Severity, parse};

/// Returns `true` for codes that parsing bytes can produce. Others need a file system or a check; their
/// examples are prose.
fn is_parse_code(code: Code) -> bool {
    let elsewhere = [Code::Changing, Code::DescriptionWhen];
    (Code::EmptyFile..=Code::EmptyBody).contains(&code) && !elsewhere.contains(&code)
}

#[test]
fn every_code_has_a_section_in_order() {
    let documented: Vec<_> =
        read_page().lines().filter_map(|line| line.strip_prefix("### ")).map(String::from).collect();
    let expected: Vec<_> = Code::ALL
        .iter()
        .map(|code| format!("{}: {}", code.as_str(), code.summary().trim_end_matches('.')))
        .collect();
    assert_eq!(documented, expected);
}

#[test]
fn every_parse_code_has_an_example() {
    let page = read_page();
    let documented: Vec<_> = examples(&page).iter().map(|example| example.code.to_owned()).collect();
    let expected: Vec<_> =
        Code::ALL.iter().filter(|code| is_parse_code(**code)).map(|code| code.as_str()).collect();
    assert_eq!(documented, expected);
}

#[test]
fn every_example_produces_exactly_its_code() {
    let page = read_page();
    let mut updated = page.clone();
    for example in examples(&page) {
        let parsed = example.parse(&Rules::standard());
        let codes: Vec<_> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        assert_eq!(codes, [example.code], "{}", example.text);
        updated = updated.replace(example.section, &example.updated_section(&parsed));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path(), updated).unwrap();
    } else {
        for (documented, actual) in page.lines().zip(updated.lines()) {
            assert_eq!(documented, actual, "docs/diagnostics.md is out of date; see the top of this file");
        }
        assert_eq!(page.len(), updated.len());
    }
}

fn path() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../docs/diagnostics.md"].iter().collect()
}

fn read_page() -> String {
    std::fs::read_to_string(path()).unwrap()
}

/// A section with a fenced block `skill-md CODE`, optionally followed by `directory=NAME`.
struct Example<'p> {
    /// The text from the heading to the next one.
    section: &'p str,
    code: &'p str,
    dir_name: Option<&'p str>,
    /// The content of the block.
    text: &'p str,
}

fn examples(page: &str) -> Vec<Example<'_>> {
    let mut starts: Vec<_> = page.match_indices("\n### ").map(|(at, _)| at + 1).collect();
    starts.push(page.len());
    starts.windows(2).filter_map(|ends| Example::from_section(&page[ends[0]..ends[1]])).collect()
}

impl<'p> Example<'p> {
    fn from_section(section: &'p str) -> Option<Self> {
        let info = section.find("```skill-md ")?;
        // Four backticks enclose an example that has three.
        let fence = if section[..info].ends_with('`') { "\n````" } else { "\n```" };
        let (info, rest) = section[info..].split_once('\n')?;
        let text = rest.strip_prefix(&fence[1..]).map_or_else(|| rest.split(fence).next(), |_| Some(""))?;
        let mut words = info.split(' ').skip(1);
        let code = words.next()?;
        Some(Self {
            section,
            code,
            dir_name: words.next().and_then(|word| word.strip_prefix("directory=")),
            text,
        })
    }

    fn parse(&self, rules: &Rules) -> ParseOutcome {
        parse(&decode(self.text), self.dir_name, rules)
    }

    /// Returns the section with the current severity and output.
    fn updated_section(&self, parsed: &ParseOutcome) -> String {
        let diagnostic = &parsed.diagnostics[0];
        let strict = self.parse(&Rules::strict()).diagnostics;
        let strict = strict.iter().find(|other| other.code == diagnostic.code).map(|other| other.severity);
        let severity = match (diagnostic.severity, strict) {
            (Severity::Error, _) => "Error.",
            (severity, Some(strict)) if severity == strict => "Warning.",
            (_, Some(_)) => "Warning; with `--strict` an error.",
            (_, None) => "Warning; not with `--strict`.",
        };
        let position =
            diagnostic.location.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
        let help = diagnostic.help.as_deref().unwrap_or_default().replace('\n', "\n          ");
        let printed = format!("{diagnostic}\n --> SKILL.md{position}\n  = help: {help}\n");

        let (before, rest) =
            self.section.split_once("```text\n").expect("an example is followed by its output");
        let (_, after) = rest.split_once("```\n").expect("the block is closed");
        let mut lines = before.splitn(4, '\n');
        let heading = lines.next().unwrap_or_default();
        let rest = lines.nth(2).unwrap_or_default();
        format!("{heading}\n\n{severity}\n{rest}```text\n{printed}```\n{after}")
    }
}

/// Decodes an example: `\x00` is that byte, `\u{200b}` that character, `⟨x × 1025⟩` that many `x`.
fn decode(text: &str) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = if let Some(hex) = rest.strip_prefix("\\x") {
            decoded.push(u8::from_str_radix(&hex[..2], 16).unwrap());
            4
        } else if let Some((hex, _)) = rest.strip_prefix("\\u{").and_then(|hex| hex.split_once('}')) {
            let c = char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap();
            decoded.extend(c.to_string().bytes());
            "\\u{}".len() + hex.len()
        } else if let Some((inside, _)) = rest.strip_prefix('⟨').and_then(|inside| inside.split_once('⟩'))
        {
            let (text, times) = inside.split_once(" × ").unwrap();
            decoded.extend(text.repeat(times.replace(',', "").parse().unwrap()).bytes());
            "⟨⟩".len() + inside.len()
        } else {
            decoded.extend(c.to_string().bytes());
            c.len_utf8()
        };
        rest = &rest[taken..];
    }
    decoded
}
