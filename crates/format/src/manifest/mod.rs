//! The tree of the frontmatter to typed fields, judged by [`Rules`](crate::Rules).

mod fields;
mod read;
mod sink;

pub(crate) use read::read;
pub(crate) use sink::Sink;

use crate::name::SkillName;
use crate::yaml::Value;

/// The specification's six keys.
pub const STANDARD_KEYS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// Variables that the sandbox sets itself.
const OWN: [&str; 4] = ["PATH", "LANG", "HOME", "TMPDIR"];

/// The keys of trigger-based skills.
pub const TRIGGER_KEYS: [&str; 6] =
    ["version", "toolsets", "scripts", "triggers", "default_enabled", "brief_description"];

/// Keys that other agents brought into the world.
pub const COMMON_KEYS: [&str; 3] = ["disable-model-invocation", "user-invocable", "argument-hint"];

/// What a skill says of itself. Small: a registry holds one for each skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    name: SkillName,
    description: Box<str>,
    /// Most skills have nothing but the two.
    more: Option<Box<More>>,
}

/// Everything that most skills do not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct More {
    license: Option<Box<str>>,
    compatibility: Option<Box<str>>,
    metadata: Vec<(Box<str>, Box<str>)>,
    allowed_tools: Option<Vec<Box<str>>>,
    version: Option<Box<str>>,
    toolsets: Vec<Box<str>>,
    scripts: Vec<Value>,
    triggers: Option<Triggers>,
    default_enabled: Option<bool>,
    brief_description: Option<Box<str>>,
    disable_model_invocation: bool,
    user_invocable: Option<bool>,
    argument_hint: Option<Box<str>>,
    other: Vec<(Box<str>, Value)>,
}

/// What makes a skill answer by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Triggers {
    /// Words and phrases.
    pub keywords: Vec<Box<str>>,
    /// Words for actions.
    pub verbs: Vec<Box<str>>,
    /// Regular expressions.
    pub patterns: Vec<Box<str>>,
}

impl Triggers {
    /// Whether there is nothing to match.
    pub fn is_empty(&self) -> bool {
        self.keywords.is_empty() && self.verbs.is_empty() && self.patterns.is_empty()
    }
}

impl Manifest {
    /// The name.
    pub fn name(&self) -> &SkillName {
        &self.name
    }

    /// The same manifest under another name, as `install --name` gives it.
    #[must_use]
    pub fn renamed(mut self, name: SkillName) -> Self {
        self.name = name;
        self
    }

    /// What it does and when to use it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// `brief_description`, or the first sentence of the description.
    ///
    /// ```
    /// use prowess_format::{parse, Rules};
    ///
    /// let source = b"---\nname: a\ndescription: Version 1.2 is out. Use when asked.\n---\nx";
    /// let document = parse(source, None, &Rules::standard()).document.unwrap();
    /// assert_eq!(document.manifest.brief_description(), "Version 1.2 is out.");
    /// ```
    pub fn brief_description(&self) -> &str {
        self.more()
            .and_then(|more| more.brief_description.as_deref())
            .unwrap_or(first_sentence(&self.description))
    }

    /// `license`.
    pub fn license(&self) -> Option<&str> {
        self.more()?.license.as_deref()
    }

    /// `compatibility`.
    pub fn compatibility(&self) -> Option<&str> {
        self.more()?.compatibility.as_deref()
    }

    /// All of `metadata`, in order.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        self.more()
            .into_iter()
            .flat_map(|more| more.metadata.iter())
            .map(|(key, value)| (key.as_ref(), value.as_ref()))
    }

    /// One entry of `metadata`, such as `author` or `version`.
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.metadata().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// The environment variables that `metadata.env` names, in its order and each once. Those that the sandbox sets itself
    /// are left out.
    pub fn needed_variables(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.meta("env").unwrap_or_default().split_whitespace().filter(|name| is_variable(name)) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// The words of `metadata.tags`.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        words(self.meta("tags"))
    }

    /// The words of `metadata.requires`, which are commands only where a preset says so.
    pub fn requires(&self) -> impl Iterator<Item = &str> {
        words(self.meta("requires"))
    }

    /// The commands of `metadata.prowess-requires`.
    pub fn own_requires(&self) -> impl Iterator<Item = &str> {
        words(self.meta("prowess-requires"))
    }

    /// `allowed-tools`; `None` where the skill does not say.
    pub fn allowed_tools(&self) -> Option<&[Box<str>]> {
        self.more()?.allowed_tools.as_deref()
    }

    /// `version`, or `metadata.version`.
    pub fn version(&self) -> Option<&str> {
        self.more()?.version.as_deref().or_else(|| self.meta("version"))
    }

    /// `toolsets`, each `path:Export` or a program's path.
    pub fn toolsets(&self) -> &[Box<str>] {
        self.more().map_or(&[], |more| &more.toolsets)
    }

    /// `scripts`, as written.
    pub fn scripts(&self) -> &[Value] {
        self.more().map_or(&[], |more| &more.scripts)
    }

    /// `triggers`.
    pub fn triggers(&self) -> Option<&Triggers> {
        self.more()?.triggers.as_ref()
    }

    /// `default_enabled`: whether a bundled skill is on until somebody says otherwise.
    pub fn default_enabled(&self) -> bool {
        self.more().and_then(|more| more.default_enabled).unwrap_or(true)
    }

    /// `disable-model-invocation`: offered to people, hidden from the model.
    pub fn disable_model_invocation(&self) -> bool {
        self.more().is_some_and(|more| more.disable_model_invocation)
    }

    /// `user-invocable`: whether people's lists show it.
    pub fn user_invocable(&self) -> bool {
        self.more().and_then(|more| more.user_invocable).unwrap_or(true)
    }

    /// `argument-hint`.
    pub fn argument_hint(&self) -> Option<&str> {
        self.more()?.argument_hint.as_deref()
    }

    /// Keys that the rules do not know, in order.
    pub fn other(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.more().into_iter().flat_map(|more| more.other.iter()).map(|(key, value)| (key.as_ref(), value))
    }

    fn more(&self) -> Option<&More> {
        self.more.as_deref()
    }
}

fn is_variable(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !OWN.contains(&name)
}

fn words(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.unwrap_or_default().split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty())
}

/// Up to the first full stop, question or exclamation mark that a space or the end follows.
fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => characters.peek().is_none_or(|(_, next)| next.is_whitespace()),
            '\n' => return text[..at].trim_end(),
            _ => false,
        };
        if ends {
            return &text[..at + c.len_utf8()];
        }
    }
    text
}

#[cfg(test)]
mod tests;
