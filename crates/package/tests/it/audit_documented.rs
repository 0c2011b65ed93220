//! Checks that `docs/audit.md` lists every rule with its text and example.

use std::fmt::Write;
use std::path::Path;

use prowess_package::audit::{Family, RULES_VERSION, Rule, rules};

fn heading(family: Family) -> &'static str {
    match family {
        Family::Dropper => "Instructions that download and run code",
        Family::Code => "Dangerous script code",
        Family::Obfuscation => "Obfuscated code",
        Family::Secret => "Leaked keys and tokens",
        Family::Hidden => "Hidden characters",
        Family::Grant => "Requested permissions",
        Family::Content => "Misleading files",
        Family::Prose => "Prompt injection",
    }
}

fn section(rule: &Rule) -> String {
    let needs_escape = |c: char| (c.is_control() && c != '\n') || prowess_format::hidden::is_hidden(c);
    let shown = rule.example.text.chars().fold(String::new(), |mut text, c| {
        if needs_escape(c) {
            text.extend(c.escape_unicode());
        } else {
            text.push(c);
        }
        text
    });
    let (first, rest) = rule.title.split_at(rule.title.chars().next().map_or(0, char::len_utf8));
    let mut section = format!("#### {}: {}{rest}\n\n", rule.id, first.to_uppercase());
    writeln!(
        section,
        "{}. It matters because {}. What to do: {}.\n",
        capitalize(rule.severity.as_str()),
        rule.reason,
        rule.help
    )
    .unwrap();
    match shown.trim_end() {
        "" => writeln!(section, "Example: `{}`\n", rule.example.path).unwrap(),
        text => writeln!(section, "Example, `{}`:\n\n````text\n{text}\n````\n", rule.example.path).unwrap(),
    }
    section
}

fn capitalize(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

#[test]
fn every_rule_is_listed() {
    let mut list = format!("The rules of {RULES_VERSION}.\n\n");
    for family in Family::ALL {
        writeln!(list, "### {}\n", heading(family)).unwrap();
        list.extend(rules().filter(|rule| rule.family == family).map(section));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit.md");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("audit-rules.md");
    if !page.ends_with(list.trim_end()) && !page.ends_with(&format!("{}\n", list.trim_end())) {
        std::fs::write(&output, list).unwrap();
        panic!("docs/audit.md must end with the contents of {}", output.display());
    }
}
