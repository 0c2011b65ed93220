//! `skills.plugins` of document 002's `~/.agent/config.yaml`.

use prowess_format::Value;
use prowess_format::yaml::{Kind, Node};

use super::block::{Item, into_map};
use super::text::{Splice, line_of, quoted, without_mark};
use super::yaml::{self, List, entry, first_right, parse, refused};
use super::{EditError, meaning};

const PLUGINS: [&str; 2] = ["skills", "plugins"];

/// A plugin, as the file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// Where it came from.
    pub url: String,
    /// The branch, tag or commit.
    pub reference: Option<String>,
    /// The name it was given.
    pub name: Option<String>,
    /// Whether it is on.
    pub enabled: bool,
    /// When it was installed, as ISO 8601 has it.
    pub installed_at: Option<String>,
}

impl Plugin {
    /// The name it was given, else the last part of its URL.
    ///
    /// ```
    /// use prowess_config::edit::harness::Plugin;
    ///
    /// let url = "https://example.com/ada/my-skill.git".to_owned();
    /// let plugin = Plugin { url, reference: None, name: None, enabled: true, installed_at: None };
    /// assert_eq!(plugin.called(), "my-skill");
    /// ```
    pub fn called(&self) -> &str {
        let given = self.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        given.unwrap_or_else(|| {
            let url = self.url.trim().trim_end_matches('/');
            let url = url.strip_suffix(".git").unwrap_or(url);
            url.rsplit(['/', ':']).next().unwrap_or(url)
        })
    }

    fn item(&self) -> Item {
        let text = |key: &'static str, value: &Option<String>| value.clone().map(|value| (key, value));
        let mut lines = vec![("url", self.url.clone())];
        lines.extend(text("ref", &self.reference));
        lines.extend(text("name", &self.name));
        let mut entries: Vec<(&str, String, Value)> = lines
            .into_iter()
            .map(|(key, value)| (key, quoted(&value), Value::Text(value.as_str().into())))
            .collect();
        entries.push(("enabled", self.enabled.to_string(), Value::Bool(self.enabled)));
        entries.extend(
            text("installedAt", &self.installed_at)
                .map(|(key, value)| (key, quoted(&value), Value::Text(value.as_str().into()))),
        );
        let lines: Vec<_> = entries.iter().map(|(key, value, _)| format!("{key}: {value}")).collect();
        Item {
            flow: format!("{{{}}}", lines.join(", ")),
            lines,
            value: Value::Map(entries.into_iter().map(|(key, _, value)| (key.into(), value)).collect()),
        }
    }
}

/// All plugins of the file, each with its line. What is no plugin is left out: reading the configuration says so.
pub fn plugins(text: &str) -> Result<Vec<(Plugin, u32)>, EditError> {
    let (_, text) = without_mark(text);
    let root = parse(text)?;
    let Some(list) = List::find(text, root.as_ref(), PLUGINS)? else { return Ok(Vec::new()) };
    Ok(list.items.iter().filter_map(|item| plugin(text, item)).collect())
}

/// The text with one plugin more. A plugin of the same name is not replaced.
pub fn add_plugin(text: &str, plugin: &Plugin) -> Result<String, EditError> {
    let there = plugins(text)?.into_iter().find(|(other, _)| other.called() == plugin.called());
    if let Some((other, line)) = there {
        return Err(EditError::PluginThere { name: other.called().to_owned(), line });
    }
    let (mark, text) = without_mark(text);
    Ok(mark.to_owned() + &yaml::push(text, PLUGINS, &plugin.item())?)
}

/// The text without a plugin.
pub fn remove_plugin(text: &str, name: &str) -> Result<String, EditError> {
    let (mark, text) = without_mark(text);
    let which = at(text, name)?;
    Ok(mark.to_owned() + &yaml::take(text, PLUGINS, which)?)
}

/// The text with a plugin switched on or off.
pub fn set_plugin_enabled(text: &str, name: &str, enabled: bool) -> Result<String, EditError> {
    let (mark, text) = without_mark(text);
    let which = at(text, name)?;
    let root = parse(text)?;
    let missing = || EditError::NoPlugin { name: name.to_owned() };
    let list = List::find(text, root.as_ref(), PLUGINS)?.ok_or_else(missing)?;
    let item = list.items.get(which).ok_or_else(missing)?;
    if text.as_bytes().get(item.span.start as usize) == Some(&b'*') {
        return Err(refused(text, item.span, "this plugin is an alias; write it out"));
    }
    let before = root.as_ref().map_or(Value::Null, Node::value);
    let wanted = meaning::item_changed(before, &PLUGINS, which, |plugin| {
        Some(meaning::changed(plugin, &["enabled"], |_| Value::Bool(enabled)))
    });
    let ways = match entry(text, item, "enabled")? {
        Some((_, value)) if value.value() == Value::Bool(enabled) => return Ok(mark.to_owned() + text),
        Some((key, value)) => {
            let Kind::Scalar(..) = &value.kind else {
                return Err(refused(text, key.span, "enabled takes true or false"));
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
        None if enabled => return Ok(mark.to_owned() + text),
        None => into_map(text, item, "enabled: false"),
    };
    Ok(mark.to_owned() + &first_right(text, ways, &wanted, item.span)?)
}

/// The place of a plugin among all items of the list.
fn at(text: &str, name: &str) -> Result<usize, EditError> {
    let root = parse(text)?;
    let missing = || EditError::NoPlugin { name: name.to_owned() };
    let list = List::find(text, root.as_ref(), PLUGINS)?.ok_or_else(missing)?;
    let named = |item: &Node<'_>| plugin(text, item).is_some_and(|(plugin, _)| plugin.called() == name);
    list.items.iter().position(named).ok_or_else(missing)
}

fn plugin(text: &str, item: &Node<'_>) -> Option<(Plugin, u32)> {
    let Value::Map(entries) = item.value() else { return None };
    let get = |key: &str| entries.iter().find(|(found, _)| found.as_ref() == key).map(|(_, value)| value);
    let word = |key: &str| match get(key)? {
        // A branch called 1.0 is easily left without quotes.
        Value::Text(text) | Value::Number(text) => Some(text.to_string()),
        _ => None,
    };
    let plugin = Plugin {
        url: word("url")?,
        reference: word("ref"),
        name: word("name"),
        enabled: get("enabled") != Some(&Value::Bool(false)),
        installed_at: word("installedAt"),
    };
    Some((plugin, line_of(text, item.span.start as usize)))
}
