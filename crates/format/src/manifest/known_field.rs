//! The fields that Prowess reads, and the form of their values. The parser, the JSON Schema and editors use this
//! table.

/// The maximum length of `compatibility`, in characters.
pub(super) const COMPATIBILITY_MAX: usize = 500;

/// The maximum number of argument names, and of characters in each.
pub(super) const ARGUMENTS_MAX: usize = 64;
pub(super) const ARGUMENT_NAME_MAX: usize = 64;

/// The maximum number of globs in `paths`, and of bytes in each.
pub(crate) const PATHS_MAX: usize = 64;
pub(crate) const PATH_MAX: usize = 256;

/// The maximum length of a trigger pattern, in characters.
pub(crate) const PATTERN_MAX: usize = 1_000;

/// The entries of `metadata` that clients define as mappings: OpenClaw, its older names, and Hermes.
pub(crate) const CLIENT_METADATA: [&str; 4] = ["openclaw", "clawdbot", "moltbot", "hermes"];

/// The lists of `triggers`.
pub const TRIGGER_LISTS: [(&str, &str); 3] = [
    ("keywords", "words and phrases that activate the skill"),
    ("verbs", "action words that activate the skill"),
    ("patterns", "regular expressions that activate the skill"),
];

/// Entries of `metadata` with a meaning to Prowess or to many skills. All other entries are allowed, too.
pub const METADATA_ENTRIES: [(&str, &str); 7] = [
    ("author", "the author"),
    ("version", "the version, such as \"1.0.0\""),
    ("tags", "words for searching"),
    ("env", "environment variables that the scripts need"),
    ("requires", "other skills, MCP servers or commands"),
    ("prowess-requires", "commands that must be installed"),
    ("openclaw", "settings for OpenClaw"),
];

crate::named_enum! {
    /// A frontmatter field that Prowess reads. [`KEYS`](crate::dialects::KEYS) also lists the keys of other clients.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum KnownField {
        /// The name.
        Name = "name",
        /// What the skill does and when to use it.
        Description = "description",
        /// The license.
        License = "license",
        /// The required environment.
        Compatibility = "compatibility",
        /// Other properties.
        Metadata = "metadata",
        /// Tools that need no confirmation.
        AllowedTools = "allowed-tools",
        /// The version.
        Version = "version",
        /// Tools of the skill.
        Toolsets = "toolsets",
        /// Scripts of the skill.
        Scripts = "scripts",
        /// Words and patterns that activate the skill.
        Triggers = "triggers",
        /// Whether a bundled skill is enabled at first.
        DefaultEnabled = "default_enabled",
        /// A description in one sentence.
        BriefDescription = "brief_description",
        /// Whether the skill is hidden from the model.
        DisableModelInvocation = "disable-model-invocation",
        /// Whether the skill is listed for users.
        UserInvocable = "user-invocable",
        /// The arguments, for completion.
        ArgumentHint = "argument-hint",
        /// The names of the arguments.
        Arguments = "arguments",
        /// When to use the skill.
        WhenToUse = "when_to_use",
        /// Globs of files that the skill is about.
        Paths = "paths",
        /// Whether the skill runs in an agent of its own.
        Context = "context",
        /// The model while the skill is active.
        Model = "model",
    }
}

/// The form of the value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldForm {
    /// The name of the skill.
    Name,
    /// The description of the skill.
    Description,
    /// Text in one line.
    Text,
    /// Text that may not be empty or longer than this number of characters.
    BoundedText(usize),
    /// Text of which one value has a meaning.
    Keyword(&'static str),
    /// Text, or a list that stands for text in brackets.
    Hint,
    /// A version such as 1.2.3.
    Version,
    /// `true` or `false`, or one of the words that YAML 1.1 treats as such.
    Boolean,
    /// A mapping of text to text.
    TextMap,
    /// Names of tools: separated by spaces, or a list.
    Tools,
    /// Paths of modules or programs in the skill.
    Toolsets,
    /// Words: separated by spaces, or a list.
    Words,
    /// Globs: separated by commas, or a list.
    Globs,
    /// Lists of words and patterns.
    Triggers,
    /// Anything.
    Any,
}

impl KnownField {
    /// Returns the field with this key.
    ///
    /// ```
    /// use prowess_format::manifest::{FieldForm, KnownField};
    ///
    /// let field = KnownField::find("user-invocable").unwrap();
    /// assert_eq!(field.form(), FieldForm::Boolean);
    /// assert_eq!(KnownField::find("colour"), None);
    /// ```
    pub fn find(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.as_str() == key)
    }

    /// Returns the form of its value.
    pub fn form(self) -> FieldForm {
        match self {
            Self::Name => FieldForm::Name,
            Self::Description => FieldForm::Description,
            Self::License | Self::BriefDescription | Self::WhenToUse => FieldForm::Text,
            Self::Compatibility => FieldForm::BoundedText(COMPATIBILITY_MAX),
            Self::Metadata => FieldForm::TextMap,
            Self::AllowedTools => FieldForm::Tools,
            Self::Version => FieldForm::Version,
            Self::Toolsets => FieldForm::Toolsets,
            Self::Scripts => FieldForm::Any,
            Self::Triggers => FieldForm::Triggers,
            Self::DefaultEnabled | Self::DisableModelInvocation | Self::UserInvocable => FieldForm::Boolean,
            Self::ArgumentHint => FieldForm::Hint,
            Self::Arguments => FieldForm::Words,
            Self::Paths => FieldForm::Globs,
            Self::Context => FieldForm::Keyword("fork"),
            Self::Model => FieldForm::Keyword("inherit"),
        }
    }
}

impl FieldForm {
    /// Describes the form for people.
    pub fn describe(self) -> String {
        match self {
            Self::Name => "lower-case letters, digits and single hyphens, at most 64 characters".to_owned(),
            Self::Description => "text, at most 1024 characters".to_owned(),
            Self::Text => "text".to_owned(),
            Self::BoundedText(max) => format!("text, at most {max} characters"),
            Self::Keyword(word) => format!("`{word}`, or other text"),
            Self::Hint => "text, such as `[file]`".to_owned(),
            Self::Version => "a version such as 1.2.3".to_owned(),
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::TextMap => "a mapping of text to text".to_owned(),
            Self::Tools => "names of tools, separated by spaces".to_owned(),
            Self::Toolsets => "a list of paths in the skill, such as `tools/index:MyTools`".to_owned(),
            Self::Words => "names, separated by spaces, or a list".to_owned(),
            Self::Globs => format!("at most {PATHS_MAX} globs, separated by commas, or a list"),
            Self::Triggers => "the lists `keywords`, `verbs` and `patterns`".to_owned(),
            Self::Any => "any value".to_owned(),
        }
    }

    /// Returns the values to offer, if there are only a few.
    pub fn values(self) -> &'static [&'static str] {
        match self {
            Self::Boolean => &["true", "false"],
            Self::Keyword("fork") => &["fork"],
            Self::Keyword(_) => &["inherit"],
            Self::Name
            | Self::Description
            | Self::Text
            | Self::BoundedText(_)
            | Self::Hint
            | Self::Version
            | Self::TextMap
            | Self::Tools
            | Self::Toolsets
            | Self::Words
            | Self::Globs
            | Self::Triggers
            | Self::Any => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialects::{KEYS, find_key};

    #[test]
    fn every_field_is_in_the_table_of_keys() {
        for field in KnownField::ALL {
            let key = find_key(field.as_str()).unwrap();
            assert!(key.used_by_prowess || key.in_specification, "{field}");
        }
        let used = KEYS.iter().filter(|key| key.used_by_prowess);
        let unread: Vec<_> = used.filter(|key| KnownField::find(key.key).is_none()).collect();
        assert!(unread.is_empty(), "{unread:?}");
    }
}
