//! What is at a position of the frontmatter. Works line by line, because the YAML is often invalid while it is typed.

use std::ops::Range;

use prowess_format::fence::{Extent, FenceSearch, find_fences};

/// Where the parts of a text are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextParts {
    /// The YAML. If it is not closed yet, it extends to the end of the text.
    pub(crate) yaml: Option<Range<usize>>,
    /// The offset of the body.
    pub(crate) body: usize,
}

impl TextParts {
    /// Finds the parts of a text.
    pub(crate) fn find(text: &str) -> Self {
        match find_fences(text.as_bytes(), Extent::Whole) {
            FenceSearch::Found(fences) => Self { yaml: Some(fences.yaml), body: fences.body },
            FenceSearch::Unclosed { open } => {
                let start = text.get(open.end..).and_then(|rest| rest.find('\n')).map(|at| open.end + at + 1);
                Self { yaml: start.map(|start| start..text.len()), body: text.len() }
            }
            FenceSearch::Missing | FenceSearch::TooLong { .. } | FenceSearch::NeedMore => {
                Self { yaml: None, body: 0 }
            }
        }
    }

    /// Returns `true` if an offset is inside of the frontmatter. Its end counts, because text is typed there.
    pub(crate) fn is_in_yaml(&self, offset: usize) -> bool {
        self.yaml.as_ref().is_some_and(|yaml| yaml.start <= offset && offset <= yaml.end)
    }
}

/// What is at a position of the frontmatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum YamlPlace<'t> {
    /// A key, or a line that may become one.
    Key {
        /// The key so far, which may be empty.
        key: &'t str,
        /// Its bytes.
        range: Range<usize>,
        /// The top-level key that it is nested in.
        parent: Option<&'t str>,
    },
    /// A value, or an item of a list.
    Value {
        /// The key that the value belongs to.
        key: &'t str,
        /// The top-level key that the key is nested in.
        parent: Option<&'t str>,
        /// The word at the position, which may be empty.
        word: &'t str,
        /// Its bytes.
        range: Range<usize>,
    },
}

/// A `key: value` line.
struct KeyLine<'t> {
    key: &'t str,
    key_start: usize,
    indent: usize,
    /// The offset after the colon; `None` if there is no colon yet.
    value: Option<usize>,
}

/// Returns what is at an offset of the text, which must be inside of `yaml`.
pub(crate) fn place_at<'t>(text: &'t str, yaml: &Range<usize>, offset: usize) -> Option<YamlPlace<'t>> {
    let block = text.get(yaml.clone())?;
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1).max(yaml.start);
    let end = text.get(offset..)?.find(['\n', '\r']).map_or(text.len(), |at| offset + at);
    let line = text.get(start..end)?;
    let content = line.trim_start();
    if content.starts_with('#') {
        return None;
    }
    let before = block.get(..start - yaml.start)?;
    let (current, is_item) = match content.strip_prefix("- ").or_else(|| (content == "-").then_some("")) {
        Some(_) => (None, true),
        None => (key_line(line, start), false),
    };
    if let Some(current) = current {
        let parent = (current.indent > 0).then(|| parent_key(before, current.indent)).flatten();
        let is_value = current.value.is_some_and(|value| offset >= value);
        if !is_value {
            let range = current.key_start..current.key_start + current.key.len();
            return Some(YamlPlace::Key { key: current.key, range, parent });
        }
        let (word, range) = word_at(text, offset, current.value.unwrap_or(start)..end);
        return Some(YamlPlace::Value { key: current.key, parent, word, range });
    }
    // An item of a list, or a further line of a value.
    let indent = line.len() - content.len();
    let owner = parent_line(before, if is_item { indent + 1 } else { indent.max(1) })?;
    let parent = (owner.indent > 0).then(|| parent_key(before, owner.indent)).flatten();
    let (word, range) = word_at(text, offset, start..end);
    Some(YamlPlace::Value { key: owner.key, parent, word, range })
}

/// Parses a line as a key. A line without a colon is a key that is being typed, if it has the form of one.
fn key_line(line: &str, start: usize) -> Option<KeyLine<'_>> {
    let content = line.trim_start();
    let indent = line.len() - content.len();
    let (key, value) = match content.split_once(':') {
        Some((key, rest)) if rest.is_empty() || rest.starts_with(' ') => {
            (key.trim_end(), Some(start + indent + content.len() - rest.len()))
        }
        _ => (content.trim_end(), None),
    };
    let is_key = key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    is_key.then_some(KeyLine { key, key_start: start + indent, indent, value })
}

/// Returns the nearest line above with a key that is indented less.
fn parent_line(before: &str, indent: usize) -> Option<KeyLine<'_>> {
    let keys = before.lines().rev().filter_map(|line| key_line(line, 0));
    keys.filter(|line| line.value.is_some() && !line.key.is_empty()).find(|line| line.indent < indent)
}

fn parent_key(before: &str, indent: usize) -> Option<&str> {
    parent_line(before, indent).map(|line| line.key)
}

/// Returns the word around an offset, within a range of the text. Words are separated by white space, commas and brackets
/// of lists.
fn word_at(text: &str, offset: usize, within: Range<usize>) -> (&str, Range<usize>) {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '"' | '\'');
    let offset = offset.clamp(within.start, within.end);
    let before = text.get(within.start..offset).unwrap_or_default();
    let after = text.get(offset..within.end).unwrap_or_default();
    let start = before.rfind(is_end).map_or(within.start, |at| {
        within.start + at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    });
    let end = offset + after.find(is_end).unwrap_or(after.len());
    (text.get(start..end).unwrap_or_default(), start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Describes the place at `|`, which is removed.
    fn place(marked: &str) -> String {
        let offset = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let parts = TextParts::find(&text);
        let Some(yaml) = parts.yaml.clone().filter(|_| parts.is_in_yaml(offset)) else {
            return "body".to_owned();
        };
        match place_at(&text, &yaml, offset) {
            None => "nothing".to_owned(),
            Some(YamlPlace::Key { key, range, parent }) => {
                assert_eq!(&text[range], key);
                format!("key {key:?} in {parent:?}")
            }
            Some(YamlPlace::Value { key, parent, word, range }) => {
                assert_eq!(&text[range], word);
                format!("value {word:?} of {key:?} in {parent:?}")
            }
        }
    }

    #[test]
    fn keys_and_values_are_found_in_any_state_of_the_text() {
        for (text, expected) in [
            ("---\n|\n---\n", "key \"\" in None"),
            ("---\nna|", "key \"na\" in None"),
            ("---\nna|me: pdf\n---\n", "key \"name\" in None"),
            ("---\nname: p|df\n---\n", "value \"pdf\" of \"name\" in None"),
            ("---\nname:|\n---\n", "value \"\" of \"name\" in None"),
            ("---\nname: |\n---\n", "value \"\" of \"name\" in None"),
            ("---\nmetadata:\n  au|\n---\n", "key \"au\" in Some(\"metadata\")"),
            (
                "---\ntriggers:\n  keywords:\n    - pd|f\n---\n",
                "value \"pdf\" of \"keywords\" in Some(\"triggers\")",
            ),
            (
                "---\ntriggers:\n  keywords: [a, b|]\n---\n",
                "value \"b\" of \"keywords\" in Some(\"triggers\")",
            ),
            (
                "---\nallowed-tools: Read Bas|h(git:*) x\n---\n",
                "value \"Bash(git:*)\" of \"allowed-tools\" in None",
            ),
            ("---\nallowed-tools:\n  - |\n---\n", "value \"\" of \"allowed-tools\" in None"),
            ("---\nallowed-tools:\n- Re|\n---\n", "value \"Re\" of \"allowed-tools\" in None"),
            ("---\ndescription: >\n  Reads, wh|en asked\n---\n", "value \"when\" of \"description\" in None"),
            ("---\n# na|me\n---\n", "nothing"),
            ("---\nname: a\n---\nbo|dy", "body"),
            ("te|xt", "body"),
            ("---\r\nname: a|\r\n---\r\n", "value \"a\" of \"name\" in None"),
        ] {
            assert_eq!(place(text), expected, "{text}");
        }
    }
}
