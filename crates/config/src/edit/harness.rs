//! Edits the list of plugins: the skills that `skills.plugins` in `~/.agent/config.yaml` names (preset `harness`).

use prowess_format::Value;
use prowess_format::yaml::{Node, NodeKind};

use super::text::{Splice, line_of, quote, split_bom};
use super::yaml::{self, YamlList, apply_first_valid, entry, parse, unsafe_change};
use super::yaml_block::{NewListItem, insert_into_map};
use super::{EditError, semantics};

const PLUGINS: [&str; 2] = ["skills", "plugins"];

/// A plugin in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarnessPlugin {
    /// The URL of its source.
    pub url: String,
    /// The branch, tag or commit.
    pub reference: Option<String>,
    /// Its name, if it has an explicit one.
    pub name: Option<String>,
    /// Whether it is enabled.
    pub enabled: bool,
    /// When it was installed, in ISO 8601.
    pub installed_at: Option<String>,
}

impl HarnessPlugin {
    /// Returns the explicit name, or the last part of the URL.
    ///
    /// ```
    /// use prowess_config::edit::harness::HarnessPlugin;
    ///
    /// let url = "https://example.com/ada/my-skill.git".to_owned();
    /// let plugin = HarnessPlugin { url, reference: None, name: None, enabled: true, installed_at: None };
    /// assert_eq!(plugin.effective_name(), "my-skill");
    /// ```
    pub fn effective_name(&self) -> &str {
        let explicit = self.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        explicit.unwrap_or_else(|| {
            let url = self.url.trim().trim_end_matches('/');
            let url = url.strip_suffix(".git").unwrap_or(url);
            url.rsplit(['/', ':']).next().unwrap_or(url)
        })
    }

    fn item(&self) -> NewListItem {
        let text = |key: &'static str, value: &Option<String>| value.clone().map(|value| (key, value));
        let mut lines = vec![("url", self.url.clone())];
        lines.extend(text("ref", &self.reference));
        lines.extend(text("name", &self.name));
        let mut entries: Vec<(&str, String, Value)> = lines
            .into_iter()
            .map(|(key, value)| (key, quote(&value), Value::Text(value.as_str().into())))
            .collect();
        entries.push(("enabled", self.enabled.to_string(), Value::Bool(self.enabled)));
        entries.extend(
            text("installedAt", &self.installed_at)
                .map(|(key, value)| (key, quote(&value), Value::Text(value.as_str().into()))),
        );
        let lines: Vec<_> = entries.iter().map(|(key, value, _)| format!("{key}: {value}")).collect();
        NewListItem {
            flow: format!("{{{}}}", lines.join(", ")),
            lines,
            value: Value::Map(entries.into_iter().map(|(key, _, value)| (key.into(), value)).collect()),
        }
    }
}

/// Returns all plugins of the file with their lines. Skips invalid items, which loading the configuration
/// reports.
pub fn plugins(text: &str) -> Result<Vec<(HarnessPlugin, u32)>, EditError> {
    let (_, text) = split_bom(text);
    let root = parse(text)?;
    let Some(list) = YamlList::find(text, root.as_ref(), PLUGINS)? else { return Ok(Vec::new()) };
    Ok(list.items.iter().filter_map(|item| parse_plugin(text, item)).collect())
}

/// Returns the text with an additional plugin. Fails if a plugin of the same name exists.
pub fn add_plugin(text: &str, plugin: &HarnessPlugin) -> Result<String, EditError> {
    let existing = plugins(text)?
        .into_iter()
        .find(|(existing_plugin, _)| existing_plugin.effective_name() == plugin.effective_name());
    if let Some((existing_plugin, line)) = existing {
        return Err(EditError::PluginExists { name: existing_plugin.effective_name().to_owned(), line });
    }
    let (bom, text) = split_bom(text);
    Ok(bom.to_owned() + &yaml::push(text, PLUGINS, &plugin.item())?)
}

/// Returns the text without a plugin.
pub fn remove_plugin(text: &str, name: &str) -> Result<String, EditError> {
    let (bom, text) = split_bom(text);
    let index = position(text, name)?;
    Ok(bom.to_owned() + &yaml::remove_at(text, PLUGINS, index)?)
}

/// Returns the text with a plugin enabled or disabled.
pub fn set_plugin_enabled(text: &str, name: &str, enabled: bool) -> Result<String, EditError> {
    let (bom, text) = split_bom(text);
    let index = position(text, name)?;
    let root = parse(text)?;
    let missing = || EditError::NoPlugin { name: name.to_owned() };
    let list = YamlList::find(text, root.as_ref(), PLUGINS)?.ok_or_else(missing)?;
    let item = list.items.get(index).ok_or_else(missing)?;
    if text.as_bytes().get(item.span.start as usize) == Some(&b'*') {
        return Err(unsafe_change(text, item.span, "this plugin is a YAML alias; replace it with its value"));
    }
    let before = root.as_ref().map_or(Value::Null, Node::value);
    let expected = semantics::with_item_change(before, &PLUGINS, index, |plugin| {
        Some(semantics::with_change(plugin, &["enabled"], |_| Value::Bool(enabled)))
    });
    let candidates = match entry(text, item, "enabled")? {
        Some((_, value)) if value.value() == Value::Bool(enabled) => return Ok(bom.to_owned() + text),
        Some((key, value)) => {
            let NodeKind::Scalar(..) = &value.kind else {
                return Err(unsafe_change(text, key.span, "enabled must be true or false"));
            };
            let with = enabled.to_string();
            match value.span.range() {
                range if range.is_empty() => {
                    let colon = text.get(key.span.end as usize..).and_then(|rest| rest.find(':'));
                    let colon = key.span.end as usize + colon.map_or(0, |colon| colon + 1);
                    vec![vec![Splice::insert(colon, format!(" {with}"))]]
                }
                range => vec![vec![Splice { from: range.start, to: range.end, with }]],
            }
        }
        None if enabled => return Ok(bom.to_owned() + text),
        None => insert_into_map(text, item, "enabled: false"),
    };
    Ok(bom.to_owned() + &apply_first_valid(text, candidates, &expected, item.span)?)
}

/// Returns the index of a plugin in the list.
fn position(text: &str, name: &str) -> Result<usize, EditError> {
    let root = parse(text)?;
    let missing = || EditError::NoPlugin { name: name.to_owned() };
    let list = YamlList::find(text, root.as_ref(), PLUGINS)?.ok_or_else(missing)?;
    let has_name =
        |item: &Node<'_>| parse_plugin(text, item).is_some_and(|(plugin, _)| plugin.effective_name() == name);
    list.items.iter().position(has_name).ok_or_else(missing)
}

fn parse_plugin(text: &str, item: &Node<'_>) -> Option<(HarnessPlugin, u32)> {
    let Value::Map(entries) = item.value() else { return None };
    let get =
        |key: &str| entries.iter().find(|(entry_key, _)| entry_key.as_ref() == key).map(|(_, value)| value);
    let word = |key: &str| match get(key)? {
        // Branches such as 1.0 are often not quoted.
        Value::Text(text) | Value::Number(text) => Some(text.to_string()),
        _ => None,
    };
    let plugin = HarnessPlugin {
        url: word("url")?,
        reference: word("ref"),
        name: word("name"),
        enabled: get("enabled") != Some(&Value::Bool(false)),
        installed_at: word("installedAt"),
    };
    Some((plugin, line_of(text, item.span.start as usize)))
}
