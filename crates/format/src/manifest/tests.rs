use crate::{RuleLevel, Rules, Value, parse};

fn render(source: &str, rules: &Rules) -> String {
    let parsed = parse(source.as_bytes(), Some("pdf"), rules);
    let mut out = match &parsed.document {
        Some(document) => format!("{} | {}\n", document.manifest.name(), document.manifest.description()),
        None => "does not load\n".to_owned(),
    };
    for diagnostic in &parsed.diagnostics {
        let at = diagnostic.location.map_or_else(String::new, |at| format!("{}:{} ", at.line, at.column));
        out += &format!("{at}{diagnostic}\n");
        out += &diagnostic.help.as_deref().map_or_else(String::new, |help| format!("    {help}\n"));
    }
    out
}

fn standard(fields: &str) -> String {
    render(&format!("---\n{fields}\n---\nBody.\n"), &Rules::standard())
}

#[test]
fn fields_of_real_skills() {
    let cases = [
        "name: pdf\ndescription: Reads PDF files.",
        "name: pdf\ndescription: Reads: PDF files.",
        "name: pdf\ndescription: Reads.\nargument-hint: [file] [mode]",
        "name: PDF Tools\ndescription: Reads.",
        "name: plugin:pdf\ndescription: Reads.",
        "name: ../pdf\ndescription: Reads.",
        "name: pdf\ndescription:\n  - Reads\n  - Writes",
        "name: pdf\ndescription: 42",
        "name: 7\ndescription: Reads.",
        "name: pdf\ndescription: {a: b}",
        "name: [pdf]\ndescription: Reads.",
        "name: pdf\ndescription: ''",
        "name:\ndescription:",
        "description: Reads.",
        "name: pdf",
        "just text",
        "- name: pdf",
        "",
        "name: pdf\nname: pdf\ndescription: Reads.",
        "name: pdf\ndescripton: Reads.\nallowed_tools: Read\ncolour: red",
        "name: pdf\ndescription: a\u{200b}b",
        "name: p\u{202e}df\ndescription: Reads.",
        "name: pdf\ndescription: |\n  One\n  two: three\n",
        "name: pdf\ndescription: x\nmetadata: text\ncompatibility: ''\nversion: one\ndefault_enabled: maybe",
        "name: pdf\ndescription: x\ntoolsets: [../x:Y, 'a/b:C']\ntriggers: {keywords: hello, verbs: [say], other: 1}",
        "name: pdf\n\tdescription: tabs",
        "name: pdf\ndescription: \"unclosed",
    ];
    let all: Vec<_> = cases.iter().map(|case| format!("{case}\n=> {}", standard(case))).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn openings_and_endings_of_real_files() {
    let cases = [
        "",
        "x",
        "# Only text\n",
        "\u{feff}---\nname: pdf\ndescription: Reads.\n---\nBody",
        "---\r\nname: pdf\r\ndescription: Reads.\r\n---\r\nBody\r\n",
        "\n\n---\nname: pdf\ndescription: Reads.\n---\nBody",
        "Intro\n---\nname: pdf\ndescription: Reads.\n---\nBody",
        "```yaml\n---\nname: pdf\ndescription: Reads.\n---\n```\nBody",
        "---\nname: pdf\ndescription: Reads.\n",
        "---\nname: pdf\ndescription: Reads.\n---\n",
        "---\nname: pdf\ndescription: Re\0ads.\n---\nBody",
        "---\nname: pdf\ndescription: Reads.\n---\nBo\0dy \u{E0041}",
        "\0\0\0\0",
    ];
    let all: Vec<_> =
        cases.iter().map(|case| format!("{case:?}\n=> {}", render(case, &Rules::standard()))).collect();
    insta::assert_snapshot!(all.join("\n"));
    let bytes = b"---\nname: pdf\ndescription: caf\xe9\n---\nBody";
    assert_eq!(parse(bytes, None, &Rules::standard()).diagnostics[0].code.as_str(), "SK007");
    let bytes = b"---\nname: pdf\ndescription: x\n---\ncaf\xe9";
    assert!(parse(bytes, None, &Rules::standard()).document.is_some());
}

#[test]
fn all_fields_are_understood() {
    let source = r#"---
name: pdf
description: "Reads PDF. Use when: asked."
license: MIT
compatibility: Needs poppler
metadata:
  author: Ada
  version: "1.2"
  tags: [forms, "text"]
  requires: pdftotext qpdf
  count: 3
allowed-tools: Read, Bash(git:*, ls *) Write
version: 1.0.0
toolsets:
  - "toolsets/index:MyToolset"
scripts: [a.py, {path: b.py}]
triggers:
  keywords: ["hello", "greet"]
  verbs: ["say"]
  patterns: ["greet\\s+\\w+"]
default_enabled: false
brief_description: Short.
disable-model-invocation: true
user-invocable: false
argument-hint: [file]
zeta: {b: 1, a: [x, ~]}
alpha: yes
---
Body.
"#;
    let parsed = parse(source.as_bytes(), Some("pdf"), &Rules::standard());
    let codes: Vec<_> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert_eq!(codes, ["SK051", "SK051"]);
    let manifest = &parsed.document.as_ref().unwrap().manifest;
    insta::assert_debug_snapshot!(manifest);
    assert_eq!(manifest.requires().collect::<Vec<_>>(), ["pdftotext", "qpdf"]);
    assert_eq!(manifest.tags().collect::<Vec<_>>(), ["forms", "text"]);
    assert_eq!(manifest.unknown_fields().map(|(key, _)| key).collect::<Vec<_>>(), ["zeta", "alpha"]);
    assert_eq!(manifest.unknown_fields().nth(1).map(|(_, value)| value), Some(&Value::Text("yes".into())));
    assert_eq!(parsed.document.unwrap().body(source.as_bytes()), b"Body.\n");
}

#[test]
fn keys_of_any_client_are_known() {
    let keys = |fields: &str| standard(&format!("name: pdf\ndescription: Reads.\n{fields}"));
    let known: String = crate::dialects::KEYS
        .iter()
        .filter(|entry| !["name", "description", "compatibility"].contains(&entry.key))
        .map(|entry| format!("{}:\n", entry.key))
        .collect();
    assert_eq!(keys(known.trim_end()), "pdf | Reads.\n");
    let cases = [
        "model: opus\ncontext: fork\nagent: Explore\nhooks: {Stop: []}\neffort: high",
        "requires: {mcp: [rube]}\ncategory: office\nplatforms: [macos]",
        "allowedTools: [read_file]\npriority: 3",
        "whenToUse: asked\nuser_invocable: false\ndesciption-short: x\ncolour: red",
    ];
    let all: Vec<_> = cases.iter().map(|case| format!("{case}\n=> {}", keys(case))).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn strict_rules_turn_specification_violations_into_errors() {
    let strict = |fields: &str| render(&format!("---\n{fields}\n---\nBody.\n"), &Rules::strict());
    let cases = [
        "name: pdf\ndescription: Reads PDF files.",
        "name: pdf\ndescription: Reads: PDF files.",
        "name: Pdf\ndescription: Reads.",
        "name: xls\ndescription: Reads.",
        "name: pdf\ndescription: Reads.\nmodel: opus\nversion: 1.0.0",
        "name: pdf\ndescription: Reads.\nmetadata: [a]",
        "name: pdf\ndescription: Reads.\nmetadata: {author: {name: Ada}, tags: [a, b], count: 3}",
        "name: pdf\ndescription: Reads.\nallowed-tools: Read, Write",
        "name: pdf\ndescription: Reads.\nallowed-tools: [Read, Write]",
        "name: pdf\ndescription: Reads.\nallowed-tools: Read Bash(git add, git commit)",
        "name: pdf\ndescription: Reads.\ncompatibility: ''",
        "name: pdf\ndescription: 42",
        &format!("name: pdf\ndescription: {}", "x".repeat(1025)),
        &format!("name: {}\ndescription: x", "p".repeat(65)),
    ];
    let all: Vec<_> = cases.iter().map(|case| format!("{case:.80}\n=> {}", strict(case))).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn diagnostics_of_a_long_file_are_capped() {
    let lines: String = (0..6_000).map(|n| format!("k{n}: v\n")).collect();
    let source = format!("---\nname: pdf\ndescription: x\n{lines}---\nB");
    let parsed = parse(source.as_bytes(), None, &Rules::standard());
    assert!(parsed.document.is_some());
    assert_eq!(parsed.diagnostics.len(), 50);
    assert!(parsed.diagnostics[49].message.contains("more problems"), "{}", parsed.diagnostics[49]);
    let rules = Rules { unknown_keys: RuleLevel::Ignore, ..Rules::standard() };
    assert_eq!(parse(source.as_bytes(), None, &rules).diagnostics, []);
}

mod properties {
    use super::*;
    use crate::fence::Extent;
    use crate::{HeadOutcome, parse_head};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parsing_never_panics_and_locations_are_valid(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let parsed = parse(&bytes, Some("x"), &Rules::standard());
            for diagnostic in parsed.diagnostics {
                if let Some(location) = diagnostic.location {
                    prop_assert!(location.line >= 1 && location.column >= 1 && location.span.start as usize <= bytes.len());
                }
            }
        }

        #[test]
        fn yaml_like_text_never_panics(text in "---\n([a-z:\\-\\[\\]{}&*!|>'\"%@` #\t\n]{0,60}\n){0,5}---\n.{0,20}") {
            let whole = parse(text.as_bytes(), Some("x"), &Rules::standard());
            if let HeadOutcome::Done(head) = parse_head(text.as_bytes(), Extent::Prefix, Some("x"), &Rules::standard()) {
                prop_assert_eq!(head.document.map(|d| d.manifest), whole.document.map(|d| d.manifest));
            }
        }

        #[test]
        fn quoted_descriptions_round_trip(description in "[ -~äöü字]{1,80}") {
            prop_assume!(!description.trim().is_empty());
            let quoted = description.replace('\\', "\\\\").replace('"', "\\\"");
            let source = format!("---\nname: a\ndescription: \"{quoted}\"\n---\n");
            let document = parse(source.as_bytes(), None, &Rules::standard()).document.unwrap();
            prop_assert_eq!(document.manifest.description(), description.trim());
        }
    }
}
