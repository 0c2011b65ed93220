//! Links to the documentation of codes and rules.

use prowess_format::Code;
use prowess_package::audit::Rule;

/// The published documentation.
const DOCS: &str = "https://github.com/prowess-skills/prowess/blob/main/docs";

/// Returns the address of the section about a code.
pub(crate) fn code_uri(code: Code) -> String {
    let heading = format!("{}: {}", code.as_str(), code.summary().trim_end_matches('.'));
    format!("{DOCS}/diagnostics.md#{}", anchor(&heading))
}

/// Returns the address of the section about an audit rule.
pub(crate) fn rule_uri(rule: &Rule) -> String {
    format!("{DOCS}/audit.md#{}", anchor(&format!("{}: {}", rule.id, rule.title)))
}

/// Returns the anchor of a heading: in lower case, without punctuation, with hyphens for spaces.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchors(page: &str) -> Vec<String> {
        let headings = page.lines().filter(|line| line.starts_with('#'));
        headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
    }

    #[test]
    fn every_code_and_rule_has_a_section() {
        let diagnostics = anchors(include_str!("../../../../docs/diagnostics.md"));
        let audit = anchors(include_str!("../../../../docs/audit.md"));
        let codes = Code::ALL.iter().map(|code| (code_uri(*code), &diagnostics));
        let rules = prowess_package::audit::rules().map(|rule| (rule_uri(rule), &audit));
        for (uri, anchors) in codes.chain(rules) {
            let (_, anchor) = uri.split_once('#').unwrap();
            let count = anchors.iter().filter(|found| *found == anchor).count();
            assert_eq!(count, 1, "{uri}");
        }
    }

    #[test]
    fn anchors_have_no_punctuation() {
        assert_eq!(anchor("SK001: The directory has no `SKILL.md`"), "sk001-the-directory-has-no-skillmd");
    }
}
