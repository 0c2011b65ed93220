//! Explains what is under the cursor.

use gen_lsp_types::{Contents, Hover, Position};
use prowess_format::dialects::{self, Client};
use prowess_format::manifest::{FieldForm, KnownField};
use prowess_format::schema::describe_key;

use crate::client::{ClientSupport, escape_markdown};
use crate::document::SkillView;
use crate::frontmatter::{TextParts, YamlPlace, place_at};
use crate::mentions::mention_at;
use crate::references::reference_at;
use crate::skill_files::{PathState, path_state};
use crate::tool_names::describe_tool;
use crate::workspace::WorkspaceIndex;

/// Returns what is known about the text at a position.
pub(crate) fn hover(
    view: &SkillView<'_>,
    position: Position,
    index: &WorkspaceIndex,
    client: &ClientSupport,
) -> Option<Hover> {
    let offset = view.offset(position);
    let parts = TextParts::find(view.text);
    let in_yaml = parts.yaml.clone().filter(|_| parts.is_in_yaml(offset));
    let (bytes, text) = hover_reference(view, offset)
        .or_else(|| hover_field(view, &in_yaml?, offset))
        .or_else(|| hover_mention(view, &parts, offset, index))?;
    let contents = Contents::MarkupContent(client.hover_text(text));
    Some(Hover { contents, range: Some(view.range(bytes)) })
}

type HoverText = (std::ops::Range<usize>, String);

fn hover_reference(view: &SkillView<'_>, offset: usize) -> Option<HoverText> {
    let reference = reference_at(view, offset)?;
    let written = escape_markdown(view.text.get(reference.bytes.clone()).unwrap_or_default());
    let Some(inner) = &reference.inner else {
        let text = format!("{written}\n\nOutside of the skill, so that no agent finds it there.");
        return Some((reference.bytes, text));
    };
    let state = match path_state(view.dir?, inner) {
        PathState::File(size) => format!("A file of the skill, {}.", describe_size(size)),
        PathState::Dir => "A directory of the skill.".to_owned(),
        PathState::Missing => "This file does not exist.".to_owned(),
        PathState::Other => "A symlink or special file, which is not read.".to_owned(),
    };
    Some((reference.bytes, format!("{written}\n\n{state}")))
}

fn describe_size(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

fn hover_field(view: &SkillView<'_>, yaml: &std::ops::Range<usize>, offset: usize) -> Option<HoverText> {
    match place_at(view.text, yaml, offset)? {
        YamlPlace::Key { key, range, parent: None } => Some((range, describe_field(key)?)),
        YamlPlace::Key { .. } => None,
        YamlPlace::Value { key: "allowed-tools", word, range, .. } => {
            let tool = word.split('(').next().unwrap_or_default();
            Some((range, format!("`{tool}`: {}", describe_tool(tool)?)))
        }
        YamlPlace::Value { key, word: _, range, parent: None } => {
            Some((range, describe_value(view, yaml, key)?))
        }
        YamlPlace::Value { .. } => None,
    }
}

/// Describes a key: its purpose, the form of its value, and the agents that read it.
pub(crate) fn describe_field(key: &str) -> Option<String> {
    let entry = dialects::find_key(key)?;
    let mut text = format!("**{key}**\n\n{}", describe_key(entry));
    if let Some(field) = KnownField::find(key) {
        text += &format!("\n\nValue: {}.", field.form().describe());
    }
    let ignored: Vec<Client> =
        Client::ALL.into_iter().filter(|client| !entry.clients.contains(client)).collect();
    if !entry.clients.is_empty() && !ignored.is_empty() && ignored.len() < Client::ALL.len() {
        text += &format!("\n\nIgnored by {}.", dialects::client_list(&ignored));
    }
    Some(text)
}

/// Describes the length of a text in relation to its limit.
fn describe_value(view: &SkillView<'_>, yaml: &std::ops::Range<usize>, key: &str) -> Option<String> {
    let form = KnownField::find(key)?.form();
    let max = match form {
        FieldForm::Name => 64,
        FieldForm::Description => 1024,
        FieldForm::BoundedText(max) => max,
        _ => return None,
    };
    let node =
        prowess_format::yaml::parse(view.text.get(yaml.clone())?, prowess_format::yaml::YamlBudget::DEFAULT);
    let prowess_format::Value::Map(entries) = node.ok()??.value() else { return None };
    let (_, value) = entries.iter().rev().find(|(name, _)| &**name == key)?;
    let prowess_format::Value::Text(text) = value else { return None };
    Some(format!("**{key}**: {} of at most {max} characters", text.trim().chars().count()))
}

fn hover_mention(
    view: &SkillView<'_>,
    parts: &TextParts,
    offset: usize,
    index: &WorkspaceIndex,
) -> Option<HoverText> {
    let (bytes, name) = mention_at(view.text, parts.body, offset)?;
    let path = index.find(name)?;
    let description = index.describe(path).unwrap_or_default();
    let text = format!(
        "**{}**\n\n{}\n\n{}",
        escape_markdown(name),
        escape_markdown(&description),
        escape_markdown(&path.to_string_lossy())
    );
    Some((bytes, text))
}
