//! Removes paths from responses. Only administrators see absolute paths; others see `…` and the end of a path.

use std::path::Path;

use prowess::{HostEnv, Snapshot};
use serde_json::Value;

/// The fields that may contain paths. Content of skills is never changed.
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

/// Removes absolute paths from responses.
pub(crate) struct PathRedactor {
    /// Skill directories; paths inside are shown relative to them.
    roots: Vec<String>,
    /// The project directory and the home directory.
    top_dirs: Vec<String>,
}

impl PathRedactor {
    pub(crate) fn new(snapshot: &Snapshot, host: &HostEnv) -> Self {
        let text = |path: &Path| path.to_string_lossy().trim_end_matches('/').to_owned();
        let mut roots: Vec<String> =
            snapshot.roots().flat_map(|root| [text(root.path()), text(root.canonical())]).collect();
        let top_dirs = [Some(&host.project), host.home.as_ref()].into_iter().flatten();
        let mut top_dirs: Vec<String> = top_dirs
            .flat_map(|path| [text(path), path.canonicalize().map(|path| text(&path)).unwrap_or_default()])
            .collect();
        for list in [&mut roots, &mut top_dirs] {
            list.retain(|path| path.len() > 1 && path.starts_with('/'));
            list.sort_by_key(|path| std::cmp::Reverse(path.len()));
            list.dedup();
        }
        Self { roots, top_dirs }
    }

    /// Redacts a response.
    pub(super) fn redact(&self, value: &mut Value) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries.iter_mut() {
                    if FIELDS.contains(&key.as_str()) {
                        self.redact_field(value, key == "source");
                    } else {
                        self.redact(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Redacts settings, where any value may be a path.
    pub(crate) fn redact_settings(&self, value: &mut Value) {
        match value {
            Value::Object(entries) => entries.values_mut().for_each(|value| self.redact_settings(value)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_settings(item)),
            Value::String(text) => *text = self.redact_text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn redact_field(&self, value: &mut Value, is_source: bool) {
        match value {
            Value::String(text) if is_source => *text = self.redact_root(text),
            Value::String(text) => *text = self.redact_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_field(item, is_source)),
            other => self.redact(other),
        }
    }

    /// Redacts the path of a skill directory.
    fn redact_root(&self, path: &str) -> String {
        let inner = self.top_dirs.iter().find_map(|dir| path.strip_prefix(dir.as_str())?.strip_prefix('/'));
        match inner {
            Some(inner) => format!("…/{inner}"),
            None => self.redact_text(path),
        }
    }

    /// Redacts the paths in a text.
    pub(super) fn redact_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for dir in self.roots.iter().chain(&self.top_dirs) {
            text = replace_dir(&text, dir);
        }
        shorten_absolute_paths(&text)
    }
}

/// Replaces a directory by `…` wherever a path in the text starts with it.
fn replace_dir(text: &str, dir: &str) -> String {
    let mut remaining = text;
    let mut out = String::with_capacity(text.len());
    while let Some(index) = remaining.find(dir) {
        let after = &remaining[index + dir.len()..];
        out.push_str(&remaining[..index]);
        let is_component =
            after.chars().next().is_none_or(|c| c == '/' || !(c.is_alphanumeric() || "._-".contains(c)));
        out.push_str(if is_component { "…" } else { dir });
        remaining = after;
    }
    out + remaining
}

/// Reduces all other absolute paths to their last component.
fn shorten_absolute_paths(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut previous = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let begins = c == '/' && (previous.is_whitespace() || "\"'“‘(=,".contains(previous));
        previous = c;
        if !begins {
            out.push(c);
            continue;
        }
        let end = text[start..]
            .find(|c: char| c.is_whitespace() || "\"'”’),;".contains(c))
            .map_or(text.len(), |end| start + end);
        let path = &text[start..end];
        // `/name` is a skill command, not a path.
        match path.trim_end_matches('/').rsplit_once('/') {
            Some((parent, last)) if !parent.is_empty() => out.push_str(&format!("…/{last}")),
            _ => out.push_str(path),
        }
        while chars.peek().is_some_and(|(next, _)| *next < end) {
            chars.next();
        }
        previous = ' ';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_fields_with_paths_are_redacted() {
        let redactor = PathRedactor {
            roots: vec!["/home/u/.agents/skills".to_owned()],
            top_dirs: vec!["/work/app".to_owned(), "/home/u".to_owned()],
        };
        let mut value = json!({
            "description": "Reads /etc/hosts.",
            "source": "/home/u/.agents/skills",
            "location": "/home/u/.agents/skills/pdf/SKILL.md",
            "reason": "shadowed by /work/app/.agents/skills/pdf/SKILL.md",
            "inner": [{"message": "see /opt/x/y (or \"/srv/z/w\"), then /name", "path": "/home/user2/x/y"}],
            "help": "to trust it: prowess trust /home/u",
        });
        redactor.redact(&mut value);
        assert_eq!(
            value,
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
