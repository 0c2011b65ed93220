//! Reading typed fields from the frontmatter tree, checked against [`Rules`](crate::Rules).

mod command;
mod edits;
mod fields;
mod known_field;
mod read;
mod sink;
mod standard;

pub use known_field::{FieldForm, KnownField, METADATA_ENTRIES, TRIGGER_LISTS};

pub(crate) use command::{CommandHead, command_name, read_command};
pub(crate) use known_field::{CLIENT_METADATA, PATH_MAX, PATHS_MAX, PATTERN_MAX};
pub(crate) use read::read_manifest;
pub(crate) use sink::DiagnosticSink;

use std::borrow::Cow;

use crate::name::SkillName;
use crate::yaml::Value;

/// The six keys of the specification.
pub const STANDARD_KEYS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// Environment variables that the sandbox sets itself.
const SANDBOX_VARIABLES: [&str; 4] = ["PATH", "LANG", "HOME", "TMPDIR"];

/// The keys of trigger-based skills.
pub const TRIGGER_KEYS: [&str; 6] =
    ["version", "toolsets", "scripts", "triggers", "default_enabled", "brief_description"];

/// The fields of a skill. Kept small, because a registry holds one for each skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    name: SkillName,
    description: Box<str>,
    /// `None` for most skills, which have only a name and a description.
    optional: Option<Box<OptionalFields>>,
}

/// The fields that most skills do not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct OptionalFields {
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
    arguments: Vec<Box<str>>,
    when_to_use: Option<Box<str>>,
    paths: Vec<Box<str>>,
    fork: bool,
    model: Option<Box<str>>,
    openclaw: OpenClawRequires,
    unknown: Vec<(Box<str>, Value)>,
}

/// The commands that `metadata.openclaw.requires` lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenClawRequires {
    /// `bins`: all of them are required.
    pub bins: Vec<Box<str>>,
    /// `anyBins`: one of them is required.
    pub any_bins: Vec<Box<str>>,
}

/// What activates a skill automatically.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Triggers {
    /// Words and phrases.
    pub keywords: Vec<Box<str>>,
    /// Action words.
    pub verbs: Vec<Box<str>>,
    /// Regular expressions.
    pub patterns: Vec<Box<str>>,
}

impl Triggers {
    /// Returns `true` if there is nothing to match.
    pub fn is_empty(&self) -> bool {
        self.keywords.is_empty() && self.verbs.is_empty() && self.patterns.is_empty()
    }
}

impl Manifest {
    /// Returns the name.
    pub fn name(&self) -> &SkillName {
        &self.name
    }

    /// Returns the manifest with another name, as set by `install --name`.
    #[must_use]
    pub fn with_name(mut self, name: SkillName) -> Self {
        self.name = name;
        self
    }

    /// Returns the description, which states what the skill does and when to use it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns `brief_description`, or the first sentence of the description.
    ///
    /// ```
    /// use prowess_format::{parse, Rules};
    ///
    /// let source = b"---\nname: a\ndescription: Version 1.2 is out. Use when asked.\n---\nx";
    /// let document = parse(source, None, &Rules::standard()).document.unwrap();
    /// assert_eq!(document.manifest.brief_description(), "Version 1.2 is out.");
    /// ```
    pub fn brief_description(&self) -> &str {
        self.optional_fields()
            .and_then(|optional| optional.brief_description.as_deref())
            .unwrap_or(first_sentence(&self.description))
    }

    /// Returns `license`.
    pub fn license(&self) -> Option<&str> {
        self.optional_fields()?.license.as_deref()
    }

    /// Returns `compatibility`.
    pub fn compatibility(&self) -> Option<&str> {
        self.optional_fields()?.compatibility.as_deref()
    }

    /// Returns all entries of `metadata`, in order.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        self.optional_fields()
            .into_iter()
            .flat_map(|optional| optional.metadata.iter())
            .map(|(key, value)| (key.as_ref(), value.as_ref()))
    }

    /// Returns one entry of `metadata`, such as `author` or `version`.
    pub fn metadata_value(&self, key: &str) -> Option<&str> {
        self.metadata().find(|(entry_key, _)| *entry_key == key).map(|(_, value)| value)
    }

    /// Returns the environment variables listed in `metadata.env`, in order and without duplicates. Variables
    /// that the sandbox sets itself are left out.
    pub fn required_env(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self
            .metadata_value("env")
            .unwrap_or_default()
            .split_whitespace()
            .filter(|name| is_requestable_env(name))
        {
            if !names.iter().any(|listed| listed == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Returns the words of `metadata.tags`.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        split_words(self.metadata_value("tags"))
    }

    /// Returns the commands of `metadata.openclaw.requires`, or of its older names; `None` if there are none.
    ///
    /// ```
    /// use prowess_format::{parse, Rules};
    ///
    /// let source = br#"---
    /// name: gh
    /// description: GitHub.
    /// metadata: {"openclaw": {"emoji": "x", "requires": {"bins": ["gh"]}}}
    /// ---
    /// x"#;
    /// let document = parse(source, None, &Rules::standard()).document.unwrap();
    /// assert_eq!(*document.manifest.openclaw_requires().unwrap().bins, ["gh".into()]);
    /// ```
    pub fn openclaw_requires(&self) -> Option<&OpenClawRequires> {
        let requires = &self.optional_fields()?.openclaw;
        (*requires != OpenClawRequires::default()).then_some(requires)
    }

    /// Returns the words of `metadata.requires`, which are commands only under some presets. In other places they are
    /// names of skills or MCP servers.
    pub fn requires(&self) -> impl Iterator<Item = &str> {
        split_words(self.metadata_value("requires"))
    }

    /// Returns the commands of `metadata.prowess-requires`.
    pub fn prowess_requires(&self) -> impl Iterator<Item = &str> {
        split_words(self.metadata_value("prowess-requires"))
    }

    /// Returns `allowed-tools`, or `None` if the field is absent.
    pub fn allowed_tools(&self) -> Option<&[Box<str>]> {
        self.optional_fields()?.allowed_tools.as_deref()
    }

    /// Returns `version`, or `metadata.version`.
    pub fn version(&self) -> Option<&str> {
        self.optional_fields()?.version.as_deref().or_else(|| self.metadata_value("version"))
    }

    /// Returns `toolsets`, each `path:Export` or the path of a program.
    pub fn toolsets(&self) -> &[Box<str>] {
        self.optional_fields().map_or(&[], |optional| &optional.toolsets)
    }

    /// Returns `scripts`, as written.
    pub fn scripts(&self) -> &[Value] {
        self.optional_fields().map_or(&[], |optional| &optional.scripts)
    }

    /// Returns `triggers`.
    pub fn triggers(&self) -> Option<&Triggers> {
        self.optional_fields()?.triggers.as_ref()
    }

    /// Returns `default_enabled`: whether a bundled skill is enabled by default.
    pub fn default_enabled(&self) -> bool {
        self.optional_fields().and_then(|optional| optional.default_enabled).unwrap_or(true)
    }

    /// Returns `disable-model-invocation`: whether the skill is available to users, but hidden from the model.
    pub fn disable_model_invocation(&self) -> bool {
        self.optional_fields().is_some_and(|optional| optional.disable_model_invocation)
    }

    /// Returns the manifest of a skill that another file hides from the model.
    #[must_use]
    pub fn with_model_invocation_disabled(mut self) -> Self {
        self.optional.get_or_insert_default().disable_model_invocation = true;
        self
    }

    /// Returns `user-invocable`: whether the skill is listed for users.
    pub fn user_invocable(&self) -> bool {
        self.optional_fields().and_then(|optional| optional.user_invocable).unwrap_or(true)
    }

    /// Returns `argument-hint`, or the names of `arguments` in the same form: `[file] [mode]`.
    pub fn argument_hint(&self) -> Option<&str> {
        self.optional_fields()?.argument_hint.as_deref()
    }

    /// Returns `arguments`: the names of the arguments, for `$name` in the body.
    pub fn arguments(&self) -> &[Box<str>] {
        self.optional_fields().map_or(&[], |optional| &optional.arguments)
    }

    /// Returns `when_to_use`.
    pub fn when_to_use(&self) -> Option<&str> {
        self.optional_fields()?.when_to_use.as_deref()
    }

    /// Returns the description for a model: with `when_to_use`, if there is any.
    ///
    /// ```
    /// use prowess_format::{parse, Rules};
    ///
    /// let source = b"---\nname: a\ndescription: Reads.\nwhen_to_use: With forms.\n---\nx";
    /// let document = parse(source, None, &Rules::standard()).document.unwrap();
    /// assert_eq!(document.manifest.full_description(), "Reads. - With forms.");
    /// ```
    pub fn full_description(&self) -> Cow<'_, str> {
        match self.when_to_use() {
            Some(when) => format!("{} - {when}", self.description).into(),
            None => Cow::Borrowed(self.description()),
        }
    }

    /// Returns `paths`: globs of the files that the skill is about. Empty if it is about any file.
    pub fn paths(&self) -> &[Box<str>] {
        self.optional_fields().map_or(&[], |optional| &optional.paths)
    }

    /// Returns `true` for `context: fork`: the skill runs in a separate context when the user calls it.
    pub fn is_forked(&self) -> bool {
        self.optional_fields().is_some_and(|optional| optional.fork)
    }

    /// Returns `model`: the model to use while the skill is active. `inherit` is the same as none.
    pub fn model(&self) -> Option<&str> {
        self.optional_fields()?.model.as_deref()
    }

    /// Returns the fields whose keys the rules do not know, in order.
    pub fn unknown_fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.optional_fields()
            .into_iter()
            .flat_map(|optional| optional.unknown.iter())
            .map(|(key, value)| (key.as_ref(), value))
    }

    fn optional_fields(&self) -> Option<&OptionalFields> {
        self.optional.as_deref()
    }
}

fn is_requestable_env(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !SANDBOX_VARIABLES.contains(&name)
}

fn split_words(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.unwrap_or_default().split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty())
}

/// Returns the text up to the first full stop, question or exclamation mark followed by a space or the end.
fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let mut characters = text.char_indices().peekable();
    while let Some((offset, c)) = characters.next() {
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => characters.peek().is_none_or(|(_, next)| next.is_whitespace()),
            '\n' => return text[..offset].trim_end(),
            _ => false,
        };
        if ends {
            return &text[..offset + c.len_utf8()];
        }
    }
    text
}

#[cfg(test)]
mod tests;
