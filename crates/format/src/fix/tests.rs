//! Fixes change what they fix and nothing else.

use proptest::prelude::*;

use super::*;
use crate::{Rules, parse};

const DIRECTORY: Option<&str> = Some("pdf");

fn fix(source: &str, rules: &Rules) -> String {
    let fixed = apply_fixes(source.as_bytes(), DIRECTORY, rules, |_| true);
    String::from_utf8(fixed.bytes).unwrap()
}

/// Shows the frontmatter before and after its fixes under both sets of rules.
fn compare(frontmatter: &str) -> String {
    let source = format!("---\n{frontmatter}\n---\nDo it.\n");
    let [standard, strict] = [Rules::standard(), Rules::strict()].map(|rules| {
        let fixed = apply_fixes(source.as_bytes(), DIRECTORY, &rules, |_| true);
        let text = String::from_utf8(fixed.bytes).unwrap();
        let codes: Vec<_> = fixed.fixed.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        let text = text.strip_prefix("---\n").unwrap().strip_suffix("\n---\nDo it.\n").unwrap();
        if codes.is_empty() { "unchanged".to_owned() } else { format!("{text}\n({})", codes.join(", ")) }
    });
    match standard == strict {
        true => format!("{frontmatter}\n=> {standard}\n\n"),
        false => format!("{frontmatter}\n=> {standard}\n=> strict: {strict}\n\n"),
    }
}

#[test]
fn fixes_of_frontmatter() {
    let shown: String = [
        "name: pdf\ndescription: Fill forms: fast",
        "name: pdf # the name\ndescription: Fill: forms\nlicense: A: B",
        "name: PDF\ndescription: 42 # a number",
        "name: Reader of files\ndescription: Reads.",
        "name: other\ndescription: Reads.",
        "# A comment\ndescription: Reads.",
        "{description: Reads.}",
        "name: pdf\ndescription: Reads.\nallowed_tools: Read",
        "name: pdf\ndescription: Reads.\nallowed_tools: Read\nallowed-tools: Write",
        "name: pdf\ndescription: Reads.\nallowed-tools: Read, Bash(git:*),Write",
        "name: pdf\ndescription: Reads.\nallowed-tools: [Read, \"Bash(git:*)\"] # all",
        "name: pdf\ndescription: Reads.\nallowed-tools:\n  - Read\n  - Bash(git add:*) # last\nlicense: MIT",
        "name: pdf\ndescription: Reads.\nallowed-tools:\n  - Read # first\n  - Write",
        "name: pdf\ndescription: Reads.\nallowed-tools: [Read files]",
        "name: pdf\ndescription: Reads.\nmetadata:\n  version: 1.0 # keep\n  stable: true\n  author:\n  tags: [a]",
        "name: pdf\ndescription: Reads.\nlicense: 2 # kept",
        "name: pdf\ndescription: Reads.\nmetadata: {version: 1.0, author: Ada}",
        "name: &n PDF\ndescription: *n",
        "name: pdf\ndescripton: Reads.",
    ]
    .map(compare)
    .concat();
    insta::assert_snapshot!(shown);
}

#[test]
fn fixes_of_the_beginning() {
    let rules = Rules::strict();
    for (source, expected) in [
        ("\u{feff}\n\n---\nname: pdf\ndescription: x\n---\nB", "---\nname: pdf\ndescription: x\n---\nB"),
        (
            "```yaml\n---\nname: pdf\ndescription: x\n---\n```\nB\n",
            "---\nname: pdf\ndescription: x\n---\nB\n",
        ),
        ("\n```\nname: pdf\ndescription: x\n```\nB\n", "---\nname: pdf\ndescription: x\n---\nB\n"),
        // The fence also encloses the body.
        (
            "```\n---\nname: pdf\ndescription: x\n---\nB\n```\n",
            "```\n---\nname: pdf\ndescription: x\n---\nB\n```\n",
        ),
        ("Text\n---\nname: pdf\ndescription: x\n---\nB\n", "Text\n---\nname: pdf\ndescription: x\n---\nB\n"),
    ] {
        assert_eq!(fix(source, &rules), expected, "{source:?}");
    }
}

#[test]
fn line_breaks_are_kept() {
    let fixed = fix("---\r\ndescription: a: b\r\n---\r\nB\r\n", &Rules::strict());
    assert_eq!(fixed, "---\r\nname: pdf\r\ndescription: \"a: b\"\r\n---\r\nB\r\n");
}

#[test]
fn only_selected_diagnostics_are_fixed() {
    let source = b"\xEF\xBB\xBF---\nname: pdf\ndescription: a: b\n---\nB\n";
    let fixed = apply_fixes(source, DIRECTORY, &Rules::standard(), |diagnostic| {
        diagnostic.code != Code::ByteOrderMark
    });
    assert_eq!(fixed.bytes, b"\xEF\xBB\xBF---\nname: pdf\ndescription: \"a: b\"\n---\nB\n");
    assert_eq!(fixed.fixed.len(), 1);
}

#[test]
fn many_problems_are_fixed_at_once() {
    let values: String = (0..3_000).map(|number| format!("  k{number}: {number}\n")).collect();
    let source = format!("---\nname: pdf\ndescription: x\nmetadata:\n{values}---\nB\n");
    let fixed = apply_fixes(source.as_bytes(), DIRECTORY, &Rules::strict(), |_| true);
    assert_eq!(fixed.fixed.len(), 3_000);
    assert_eq!(parse(&fixed.bytes, DIRECTORY, &Rules::strict()).diagnostics, []);
}

fn frontmatter() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "[a-zA-Z0-9:#, \\[\\]{}\"'&*!|>@-]{0,16}",
        Just("1.0".to_owned()),
        Just("true".to_owned()),
        Just("[Read, Write]".to_owned()),
        Just("\n  - Read\n  - Write # c".to_owned()),
        Just("\n  version: 2\n  tags: [a, b]".to_owned()),
        Just("|\n  a block\n  of text".to_owned()),
    ];
    let key = prop_oneof![
        Just("name"),
        Just("description"),
        Just("license"),
        Just("compatibility"),
        Just("metadata"),
        Just("allowed-tools"),
        Just("allowed_tools"),
        Just("# comment"),
        Just("unknown")
    ];
    let line = (key, value).prop_map(|(key, value)| format!("{key}: {value}\n"));
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn fixes_remove_problems_and_leave_the_rest(
        before in prop_oneof![Just(""), Just("\u{feff}"), Just("\n\n"), Just("```\n")],
        yaml in frontmatter(),
        body in "[a-z`# -]{0,10}(\n[a-z`-]{0,5}){0,3}",
    ) {
        let source = format!("{before}---\n{yaml}---\n{body}");
        for rules in [Rules::standard(), Rules::strict()] {
            let fixed = apply_fixes(source.as_bytes(), DIRECTORY, &rules, |_| true);
            let again = apply_fixes(&fixed.bytes, DIRECTORY, &rules, |_| true);
            prop_assert_eq!(&again.bytes, &fixed.bytes);
            prop_assert_eq!(again.fixed, vec![]);
            prop_assert_eq!(fixed.fixed.is_empty(), fixed.bytes == source.as_bytes());
            prop_assert_eq!(super::body(&fixed.bytes), super::body(source.as_bytes()));
            let rules = Rules { repair: Repair::On, ..rules };
            let count = |source: &[u8]| parse(source, DIRECTORY, &rules).diagnostics.len();
            let (before, after) = (count(source.as_bytes()), count(&fixed.bytes));
            prop_assert!(after <= before - usize::from(!fixed.fixed.is_empty()), "{before} to {after}");
            let comments = |text: &str| text.matches("# comment").count();
            prop_assert_eq!(comments(&String::from_utf8_lossy(&fixed.bytes)), comments(&source));
        }
    }
}
