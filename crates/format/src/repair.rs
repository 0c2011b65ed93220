//! Repairing frontmatter by quoting values.
//!
//! The two most common mistakes are an unquoted colon in the description and an unquoted `[…]` in
//! `argument-hint`. A repair encloses one value in double quotes and escapes quotes and backslashes in it. An
//! opening quote that is never closed is dropped. Each repair is reported with the corrected line.

use crate::position::Span;
use crate::yaml::{Node, NodeKind, YamlBudget, YamlError, parse};

/// The maximum number of values quoted in one frontmatter.
const REPAIRS_MAX: usize = 8;

/// A value that was quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotedValue {
    /// The unquoted value in the original text.
    pub span: Span,
    /// The new text, quotes included.
    pub text: String,
    /// The key of the value.
    pub key: String,
}

/// YAML that became valid by quoting values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedYaml {
    /// The text with the quotes.
    pub text: String,
    /// The quoted values, in the order of the text.
    pub quoted: Vec<QuotedValue>,
}

impl RepairedYaml {
    /// Maps an offset in the repaired text to the original text. The result is exact outside quoted values, and
    /// the start of the value inside them.
    pub fn original_offset(&self, offset: usize) -> usize {
        let mut moved = 0;
        for quoted in &self.quoted {
            let start = quoted.span.start as usize + moved;
            if offset < start {
                break;
            }
            if offset < start + quoted.text.len() {
                return quoted.span.start as usize;
            }
            moved += quoted.text.len() - (quoted.span.end - quoted.span.start) as usize;
        }
        offset.saturating_sub(moved)
    }
}

/// Tries to make invalid YAML valid by quoting values. Returns `None` if that does not help.
///
/// ```
/// use prowess_format::repair::repair_yaml;
///
/// let repaired = repair_yaml("name: a\ndescription: Use when: asked\n").unwrap();
/// assert_eq!(repaired.text, "name: a\ndescription: \"Use when: asked\"\n");
/// ```
pub fn repair_yaml(yaml: &str) -> Option<RepairedYaml> {
    let entries = find_entries(yaml);
    let mut repaired = RepairedYaml { text: yaml.to_owned(), quoted: Vec::new() };
    for _ in 0..=REPAIRS_MAX {
        let error_offset = match parse(&repaired.text, YamlBudget::DEFAULT) {
            Ok(Some(Node { kind: NodeKind::Map(_), .. })) => return Some(repaired),
            Ok(_) | Err(YamlError::Limit { .. }) => return None,
            Err(YamlError::Syntax { offset, .. }) => offset,
        };
        let original_offset = repaired.original_offset(error_offset);
        let entry = entries
            .iter()
            .filter(|entry| !repaired.quoted.iter().any(|quoted| quoted.span == entry.value))
            .filter(|entry| needs_quotes(&yaml[entry.value.range()]))
            // The parser reports some errors only on a later line.
            .rfind(|entry| (entry.value.start as usize) <= original_offset)?;
        let value = &yaml[entry.value.range()];
        let quoted = QuotedValue { span: entry.value, text: quote(value), key: entry.key.to_owned() };
        repaired.quoted.push(quoted);
        repaired.quoted.sort_by_key(|quoted| quoted.span.start);
        repaired.text = apply_quotes(yaml, &repaired.quoted);
    }
    None
}

fn apply_quotes(yaml: &str, quoted: &[QuotedValue]) -> String {
    let mut text = String::with_capacity(yaml.len() + 16 * quoted.len());
    let mut copied_until = 0;
    for quoted in quoted {
        text.push_str(&yaml[copied_until..quoted.span.start as usize]);
        text.push_str(&quoted.text);
        copied_until = quoted.span.end as usize;
    }
    text + &yaml[copied_until..]
}

/// Encloses a value in double quotes. Line breaks stay, because a quoted scalar may span lines.
fn quote(value: &str) -> String {
    // Drop an opening quote that is never closed.
    let value = match value.strip_prefix(['"', '\'']) {
        Some(rest) if !rest.contains(['"', '\'']) => rest,
        _ => value,
    };
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns `true` if missing quotes could be the reason why the value is invalid.
fn needs_quotes(value: &str) -> bool {
    let first = value.chars().next();
    value.contains(": ")
        || value.contains(":\n")
        || value.ends_with(':')
        || first.is_some_and(|c| "[]{},&*!|>'\"%@`-?#".contains(c))
}

/// A `key: value` line with the more deeply indented lines that continue it.
struct YamlEntry<'y> {
    key: &'y str,
    value: Span,
}

fn find_entries(yaml: &str) -> Vec<YamlEntry<'_>> {
    let mut entries: Vec<YamlEntry<'_>> = Vec::new();
    let mut open_indent = None;
    let mut offset = 0;
    for line in yaml.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let text = line.trim_end();
        let indent = text.len() - text.trim_start().len();
        if text.trim().is_empty() {
            continue;
        }
        let continues = open_indent.is_some_and(|open| indent > open);
        if continues && let Some(entry) = entries.last_mut() {
            entry.value.end = Span::new(start, start + text.len()).end;
            continue;
        }
        open_indent = None;
        let Some((key, rest)) = text.trim_start().split_once(':') else { continue };
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
        let value = rest.trim_start();
        if !is_key || value.is_empty() || rest.len() == value.len() {
            continue;
        }
        entries
            .push(YamlEntry { key, value: Span::new(start + text.len() - value.len(), start + text.len()) });
        open_indent = Some(indent);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn repaired(yaml: &str) -> String {
        repair_yaml(yaml).map_or_else(|| "not repaired".to_owned(), |repaired| repaired.text)
    }

    #[test]
    fn common_mistakes_are_repaired() {
        for (broken, expected) in [
            ("description: a: b: c", "description: \"a: b: c\""),
            ("argument-hint: [file] [mode]\nname: x", "argument-hint: \"[file] [mode]\"\nname: x"),
            ("description: \"Said\" he: no", "description: \"\\\"Said\\\" he: no\""),
            ("description: \"never closed", "description: \"never closed\""),
            ("description: @user and `code`", "description: \"@user and `code`\""),
            ("description: **bold** text", "description: \"**bold** text\""),
            (
                "description: one: two\n  three: four\nname: x",
                "description: \"one: two\n  three: four\"\nname: x",
            ),
            ("a: b: c\nd: e: f\n", "a: \"b: c\"\nd: \"e: f\"\n"),
            ("metadata:\n  note: a: b\n", "metadata:\n  note: \"a: b\"\n"),
            ("description: path C:\\temp: x\n", "description: \"path C:\\\\temp: x\"\n"),
        ] {
            assert_eq!(repaired(broken), expected, "{broken}");
        }
    }

    #[test]
    fn other_mistakes_are_not_repaired() {
        for broken in
            ["{", "a: b\n c d: e: [\n\t- x", "just text\nmore: text: here\n  - no", &"[".repeat(4_000)]
        {
            assert_eq!(repaired(broken), "not repaired", "{broken:.20}");
        }
    }

    #[test]
    fn offsets_map_back_to_the_original() {
        let yaml = "a: b: c\nd: e\n";
        let repaired = repair_yaml(yaml).unwrap();
        let at = repaired.text.find("d: e").unwrap();
        assert_eq!(repaired.original_offset(at), yaml.find("d: e").unwrap());
    }

    proptest! {
        #[test]
        fn a_repair_is_valid_yaml_and_only_adds_quotes(yaml in "([a-d]: [a-z:\\[\\]\"'@ #-]{0,12}\n){1,6}") {
            if let Some(repaired) = repair_yaml(&yaml) {
                prop_assert!(parse(&repaired.text, YamlBudget::DEFAULT).is_ok());
                let bare = |text: &str| text.replace(['\\', '"', '\''], "");
                prop_assert_eq!(bare(&repaired.text), bare(&yaml));
            }
        }
    }
}
