//! Where things lie on the machine is for administrators; others see `…` and the end of a path.

use std::path::Path;

use prowess::{Snapshot, Surroundings};
use serde_json::Value;

/// The fields in which paths stand. What skills say of themselves is never touched.
const FIELDS: [&str; 14] = [
    "location",
    "source",
    "path",
    "reason",
    "message",
    "help",
    "target",
    "lock",
    "winner",
    "others",
    "why",
    "changed",
    "in_the_way",
    "origin",
];

/// Takes paths out of answers.
pub(crate) struct Hide {
    /// Directories of skills: what lies in them is told from there on.
    roots: Vec<String>,
    /// The project and the home.
    tops: Vec<String>,
}

impl Hide {
    pub(crate) fn new(snapshot: &Snapshot, world: &Surroundings) -> Self {
        let text = |path: &Path| path.to_string_lossy().trim_end_matches('/').to_owned();
        let mut roots: Vec<String> =
            snapshot.roots().flat_map(|root| [text(root.path()), text(root.canonical())]).collect();
        let tops = [Some(&world.project), world.home.as_ref()].into_iter().flatten();
        let mut tops: Vec<String> = tops
            .flat_map(|path| [text(path), path.canonicalize().map(|path| text(&path)).unwrap_or_default()])
            .collect();
        for list in [&mut roots, &mut tops] {
            list.retain(|path| path.len() > 1 && path.starts_with('/'));
            list.sort_by_key(|path| std::cmp::Reverse(path.len()));
            list.dedup();
        }
        Self { roots, tops }
    }

    /// All of an answer.
    pub(super) fn value(&self, value: &mut Value) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries.iter_mut() {
                    if FIELDS.contains(&key.as_str()) {
                        self.texts(value, key == "source");
                    } else {
                        self.value(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Settings: any of their values may be a path.
    pub(crate) fn settings(&self, value: &mut Value) {
        match value {
            Value::Object(entries) => entries.values_mut().for_each(|value| self.settings(value)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.settings(item)),
            Value::String(text) => *text = self.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn texts(&self, value: &mut Value, is_source: bool) {
        match value {
            Value::String(text) if is_source => *text = self.source(text),
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.texts(item, is_source)),
            other => self.value(other),
        }
    }

    /// A directory of skills.
    fn source(&self, path: &str) -> String {
        let inner = self.tops.iter().find_map(|top| path.strip_prefix(top.as_str())?.strip_prefix('/'));
        match inner {
            Some(inner) => format!("…/{inner}"),
            None => self.text(path),
        }
    }

    /// A text in which paths may stand.
    pub(super) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for known in self.roots.iter().chain(&self.tops) {
            text = without(&text, known);
        }
        absolute_hidden(&text)
    }
}

/// The text with a directory left out wherever a path in it begins with it.
fn without(text: &str, known: &str) -> String {
    let mut rest = text;
    let mut out = String::with_capacity(text.len());
    while let Some(at) = rest.find(known) {
        let after = &rest[at + known.len()..];
        out.push_str(&rest[..at]);
        let ends =
            after.chars().next().is_none_or(|c| c == '/' || !(c.is_alphanumeric() || "._-".contains(c)));
        out.push_str(if ends { "…" } else { known });
        rest = after;
    }
    out + rest
}

/// Whatever else is a path from the top of the file system keeps its last step.
fn absolute_hidden(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let begins = c == '/' && (before.is_whitespace() || "\"'“‘(=,".contains(before));
        before = c;
        if !begins {
            out.push(c);
            continue;
        }
        let end = text[at..]
            .find(|c: char| c.is_whitespace() || "\"'”’),;".contains(c))
            .map_or(text.len(), |end| at + end);
        let path = &text[at..end];
        // A name that people type after a slash is no path.
        match path.trim_end_matches('/').rsplit_once('/') {
            Some((above, last)) if !above.is_empty() => out.push_str(&format!("…/{last}")),
            _ => out.push_str(path),
        }
        while chars.peek().is_some_and(|(next, _)| *next < end) {
            chars.next();
        }
        before = ' ';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_where_paths_stand() {
        let hide = Hide {
            roots: vec!["/home/u/.agents/skills".to_owned()],
            tops: vec!["/work/app".to_owned(), "/home/u".to_owned()],
        };
        let mut answer = json!({
            "description": "Reads /etc/hosts.",
            "source": "/home/u/.agents/skills",
            "location": "/home/u/.agents/skills/pdf/SKILL.md",
            "reason": "shadowed by /work/app/.agents/skills/pdf/SKILL.md",
            "inner": [{"message": "see /opt/x/y (or \"/srv/z/w\"), then /name", "path": "/home/user2/x/y"}],
            "help": "to trust it: prowess trust /home/u",
        });
        hide.value(&mut answer);
        assert_eq!(
            answer,
            json!({
                "description": "Reads /etc/hosts.",
                "source": "…/.agents/skills",
                "location": "…/pdf/SKILL.md",
                "reason": "shadowed by …/.agents/skills/pdf/SKILL.md",
                "inner": [{"message": "see …/y (or \"…/w\"), then /name", "path": "…/y"}],
                "help": "to trust it: prowess trust …",
            })
        );
    }
}
