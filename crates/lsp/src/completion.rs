//! Completion of keys and values in the frontmatter, and of files and skills in the body.

use std::ops::Range;

use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, CompletionList, Documentation, Position,
};
use prowess_format::dialects::{DialectKey, KEYS};
use prowess_format::manifest::{FieldForm, KnownField, METADATA_ENTRIES, TRIGGER_LISTS};

use crate::client::ClientSupport;
use crate::document::SkillView;
use crate::frontmatter::{TextParts, YamlPlace, place_at};
use crate::hover::describe_field;
use crate::mentions::typed_mention;
use crate::skill_files::list_files;
use crate::tool_names::TOOLS;
use crate::workspace::WorkspaceIndex;

/// The maximum number of names that are offered.
const NAMES_MAX: usize = 50;

/// Returns what can be inserted at a position.
pub(crate) fn completions(
    view: &SkillView<'_>,
    position: Position,
    index: &WorkspaceIndex,
    client: &ClientSupport,
) -> CompletionList {
    let offset = view.offset(position);
    let parts = TextParts::find(view.text);
    let completer = Completer { view, index, client };
    let place = parts.yaml.as_ref().filter(|_| parts.is_in_yaml(offset));
    let items = match place.map(|yaml| (yaml, place_at(view.text, yaml, offset))) {
        Some((yaml, Some(YamlPlace::Key { key, range, parent }))) => completer.keys(yaml, key, range, parent),
        Some((_, Some(YamlPlace::Value { key, parent, range, .. }))) => {
            completer.values(key, parent, range.start..offset.max(range.start), range)
        }
        Some((_, None)) => Vec::new(),
        None if offset >= parts.body => completer.body(offset),
        None => Vec::new(),
    };
    // Names are cut to a maximum, so that the client must ask again after more typing.
    let is_incomplete = items.len() >= NAMES_MAX;
    CompletionList { is_incomplete, item_defaults: None, apply_kind: None, items }
}

struct Completer<'a> {
    view: &'a SkillView<'a>,
    index: &'a WorkspaceIndex,
    client: &'a ClientSupport,
}

impl Completer<'_> {
    fn keys(
        &self,
        yaml: &Range<usize>,
        typed: &str,
        range: Range<usize>,
        parent: Option<&str>,
    ) -> Vec<CompletionItem> {
        let nested: &[(&str, &str)] = match parent {
            None => return self.top_level_keys(yaml, typed, range),
            Some("triggers") => &TRIGGER_LISTS,
            Some("metadata") => &METADATA_ENTRIES,
            Some(_) => &[],
        };
        nested
            .iter()
            .map(|(key, purpose)| self.key_item(key, range.clone(), (*purpose).to_owned(), "0"))
            .collect()
    }

    fn top_level_keys(&self, yaml: &Range<usize>, typed: &str, range: Range<usize>) -> Vec<CompletionItem> {
        let block = self.view.text.get(yaml.clone()).unwrap_or_default();
        let is_present = |key: &str| {
            let has_key = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
            key != typed && block.lines().any(has_key)
        };
        let rank = |entry: &DialectKey| match (entry.in_specification, entry.used_by_prowess) {
            (true, _) => "0",
            (false, true) => "1",
            (false, false) => "2",
        };
        KEYS.iter()
            .filter(|entry| !is_present(entry.key))
            .map(|entry| {
                let documentation = describe_field(entry.key).unwrap_or_default();
                self.key_item(entry.key, range.clone(), documentation, rank(entry))
            })
            .collect()
    }

    fn key_item(&self, key: &str, range: Range<usize>, documentation: String, rank: &str) -> CompletionItem {
        let has_colon = self.view.text.get(range.end..).is_some_and(|rest| rest.starts_with(':'));
        let inserted = if has_colon { key.to_owned() } else { format!("{key}: ") };
        let item = self.item(key, CompletionItemKind::Property, range, inserted, Some(documentation));
        CompletionItem { sort_text: Some(format!("{rank}{key}")), ..item }
    }

    /// Returns the values of a key. `typed` is the part of the word before the cursor.
    fn values(
        &self,
        key: &str,
        parent: Option<&str>,
        typed: Range<usize>,
        range: Range<usize>,
    ) -> Vec<CompletionItem> {
        let typed = self.view.text.get(typed).unwrap_or_default();
        match (parent, key) {
            (Some("metadata"), "requires") => return self.skill_names(typed, range),
            (Some(_), _) => return Vec::new(),
            (None, _) => {}
        }
        let Some(form) = KnownField::find(key).map(KnownField::form) else { return Vec::new() };
        let value = |text: &str, kind, documentation| {
            self.item(text, kind, range.clone(), text.to_owned(), documentation)
        };
        match form {
            FieldForm::Boolean | FieldForm::Keyword(_) => {
                form.values().iter().map(|text| value(text, CompletionItemKind::EnumMember, None)).collect()
            }
            FieldForm::Tools => {
                let tool = |(name, purpose): &(&str, &str)| {
                    value(name, CompletionItemKind::Function, Some((*purpose).to_owned()))
                };
                TOOLS.iter().map(tool).collect()
            }
            FieldForm::Name => {
                let dir_name = self.view.dir.and_then(|dir| dir.file_name()).and_then(|name| name.to_str());
                let documentation =
                    || Some("The name of the directory, which the name must match.".to_owned());
                dir_name
                    .map(|name| value(name, CompletionItemKind::Value, documentation()))
                    .into_iter()
                    .collect()
            }
            FieldForm::Description if typed.is_empty() => {
                let documentation = "State what the skill does, and when to use it.".to_owned();
                vec![value("What it does. Use when …", CompletionItemKind::Text, Some(documentation))]
            }
            FieldForm::Version => vec![value("1.0.0", CompletionItemKind::Value, None)],
            FieldForm::Toolsets | FieldForm::Any => self.files(typed, range),
            FieldForm::Description
            | FieldForm::Text
            | FieldForm::BoundedText(_)
            | FieldForm::Hint
            | FieldForm::TextMap
            | FieldForm::Words
            | FieldForm::Globs
            | FieldForm::Triggers => Vec::new(),
        }
    }

    fn body(&self, offset: usize) -> Vec<CompletionItem> {
        let line = self.view.line_before(offset);
        if let Some(name) = typed_mention(line) {
            return self.skill_names(name, offset - name.len()..offset);
        }
        match typed_path(line) {
            Some(path) => self.files(path, offset - path.len()..offset),
            None => Vec::new(),
        }
    }

    fn skill_names(&self, typed: &str, range: Range<usize>) -> Vec<CompletionItem> {
        let names = self.index.with_prefix(typed, NAMES_MAX);
        names
            .map(|name| {
                let shown = prowess_format::hidden::escape_for_display(name);
                self.item(&shown, CompletionItemKind::Module, range.clone(), name.to_owned(), None)
            })
            .collect()
    }

    fn files(&self, typed: &str, range: Range<usize>) -> Vec<CompletionItem> {
        let Some(dir) = self.view.dir else { return Vec::new() };
        let prefix = typed.strip_prefix("./").unwrap_or(typed);
        let range = range.start + typed.len() - prefix.len()..range.end;
        list_files(dir)
            .into_iter()
            .filter(|path| path.starts_with(prefix) && !path.eq_ignore_ascii_case("SKILL.md"))
            .filter(|path| prowess_format::hidden::find_hidden(path).is_none())
            .take(NAMES_MAX)
            .map(|path| self.item(&path, CompletionItemKind::File, range.clone(), path.clone(), None))
            .collect()
    }

    fn item(
        &self,
        label: &str,
        kind: CompletionItemKind,
        range: Range<usize>,
        inserted: String,
        documentation: Option<String>,
    ) -> CompletionItem {
        CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            filter_text: Some(inserted.trim_end_matches([':', ' ']).to_owned()),
            text_edit: Some(CompletionItemTextEdit::TextEdit(self.view.edit(range, inserted))),
            documentation: documentation
                .map(|text| Documentation::MarkupContent(self.client.documentation(text))),
            ..CompletionItem::default()
        }
    }
}

/// Returns the path that is being typed at the end of a line: the target of a link, a code span, or a bare path in one of
/// the usual directories.
fn typed_path(line: &str) -> Option<&str> {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let path = line.rsplit(|c: char| !is_path(c)).next().unwrap_or_default();
    let before = line.strip_suffix(path)?;
    let in_code = before.ends_with('`') && before.matches('`').count() % 2 == 1;
    let is_bare = ["scripts/", "references/", "assets/", "./"].iter().any(|dir| path.starts_with(dir));
    (before.ends_with("](") || in_code || is_bare).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_completed_in_links_code_and_known_directories() {
        assert_eq!(typed_path("See [the guide](ref"), Some("ref"));
        assert_eq!(typed_path("Run `"), Some(""));
        assert_eq!(typed_path("Run scripts/x"), Some("scripts/x"));
        assert_eq!(typed_path("Run `a` b"), None);
        assert_eq!(typed_path("word"), None);
    }
}
