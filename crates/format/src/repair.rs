//! Quoting what people forget to quote.
//!
//! The commonest fault in real skills is a colon in an unquoted description, the next a bracketed `argument-hint`.
//! A repair puts one value between double quotes and changes nothing else; each is reported with the corrected line.

use crate::position::Span;
use crate::yaml::{Budget, Kind, Node, YamlError, parse};

/// The most values that are quoted in one frontmatter.
const REPAIRS_MAX: usize = 8;

/// One value that was put between quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted {
    /// The value as it stood, in the original text.
    pub span: Span,
    /// What stands there now, quotes included.
    pub text: String,
    /// The key it belongs to.
    pub key: String,
}

/// YAML that can be read now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The text with the quotes.
    pub text: String,
    /// What was quoted, in the order of the text.
    pub quoted: Vec<Quoted>,
}

impl Repaired {
    /// Where an offset of the repaired text stood in the original: exact outside quoted values, the start of the
    /// value inside them.
    pub fn original(&self, offset: usize) -> usize {
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

/// Tries to make invalid YAML readable by quoting values; `None` if that does not help.
///
/// ```
/// use prowess_format::repair::repair;
///
/// let repaired = repair("name: a\ndescription: Use when: asked\n").unwrap();
/// assert_eq!(repaired.text, "name: a\ndescription: \"Use when: asked\"\n");
/// ```
pub fn repair(yaml: &str) -> Option<Repaired> {
    let mut repaired = Repaired { text: yaml.to_owned(), quoted: Vec::new() };
    for _ in 0..=REPAIRS_MAX {
        let error = match parse(&repaired.text, Budget::DEFAULT) {
            Ok(Some(Node { kind: Kind::Map(_), .. })) => return Some(repaired),
            Ok(_) | Err(YamlError::Limit { .. }) => return None,
            Err(YamlError::Syntax { offset, .. }) => offset,
        };
        let original = repaired.original(error);
        let entry = entries(yaml)
            .filter(|entry| !repaired.quoted.iter().any(|quoted| quoted.span == entry.value))
            .filter(|entry| needs_quotes(&yaml[entry.value.range()]))
            // The parser notices some faults only on a later line.
            .rfind(|entry| (entry.value.start as usize) <= original)?;
        let value = &yaml[entry.value.range()];
        let quoted = Quoted { span: entry.value, text: quote(value), key: entry.key.to_owned() };
        repaired.quoted.push(quoted);
        repaired.quoted.sort_by_key(|quoted| quoted.span.start);
        repaired.text = apply(yaml, &repaired.quoted);
    }
    None
}

fn apply(yaml: &str, quoted: &[Quoted]) -> String {
    let mut text = String::with_capacity(yaml.len() + 16 * quoted.len());
    let mut at = 0;
    for quoted in quoted {
        text.push_str(&yaml[at..quoted.span.start as usize]);
        text.push_str(&quoted.text);
        at = quoted.span.end as usize;
    }
    text + &yaml[at..]
}

/// The value between double quotes. Line breaks stay: a quoted scalar may span lines.
fn quote(value: &str) -> String {
    // A quote that opens and never closes was meant to be one.
    let value = match value.strip_prefix(['"', '\'']) {
        Some(rest) if !rest.contains(['"', '\'']) => rest,
        _ => value,
    };
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether quoting could be what is missing.
fn needs_quotes(value: &str) -> bool {
    let first = value.chars().next();
    value.contains(": ")
        || value.contains(":\n")
        || value.ends_with(':')
        || first.is_some_and(|c| "[]{},&*!|>'\"%@`-?#".contains(c))
}

/// A `key: value` line with the more deeply indented lines that continue it.
struct Entry<'y> {
    key: &'y str,
    value: Span,
}

fn entries(yaml: &str) -> impl DoubleEndedIterator<Item = Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut open_indent = None;
    let mut at = 0;
    for line in yaml.split_inclusive('\n') {
        let start = at;
        at += line.len();
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
        entries.push(Entry { key, value: Span::new(start + text.len() - value.len(), start + text.len()) });
        open_indent = Some(indent);
    }
    entries.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn repaired(yaml: &str) -> String {
        repair(yaml).map_or_else(|| "not repaired".to_owned(), |repaired| repaired.text)
    }

    #[test]
    fn what_real_skills_forget() {
        for (broken, mended) in [
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
            assert_eq!(repaired(broken), mended, "{broken}");
        }
    }

    #[test]
    fn what_quotes_cannot_mend() {
        for broken in
            ["{", "a: b\n c d: e: [\n\t- x", "just text\nmore: text: here\n  - no", &"[".repeat(4_000)]
        {
            assert_eq!(repaired(broken), "not repaired", "{broken:.20}");
        }
    }

    #[test]
    fn offsets_lead_back() {
        let yaml = "a: b: c\nd: e\n";
        let repaired = repair(yaml).unwrap();
        let at = repaired.text.find("d: e").unwrap();
        assert_eq!(repaired.original(at), yaml.find("d: e").unwrap());
    }

    proptest! {
        #[test]
        fn a_repair_is_readable_and_only_adds_quotes(yaml in "([a-d]: [a-z:\\[\\]\"'@ #-]{0,12}\n){1,6}") {
            if let Some(repaired) = repair(&yaml) {
                prop_assert!(parse(&repaired.text, Budget::DEFAULT).is_ok());
                let bare = |text: &str| text.replace(['\\', '"', '\''], "");
                prop_assert_eq!(bare(&repaired.text), bare(&yaml));
            }
        }
    }
}
