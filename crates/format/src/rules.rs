//! The rules a manifest is checked against. The presets differ in these values.

/// The consequence of breaking a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleLevel {
    /// Nothing is reported.
    Ignore,
    /// The skill loads with a warning.
    Warn,
    /// The skill does not load.
    Reject,
}

/// Which names are well formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// Any text: the directory name identifies the skill, and the name is a title.
    Title,
    /// ASCII letters in either case, ASCII digits, and hyphens.
    Alphanumeric,
    /// `^[a-z0-9]+(-[a-z0-9]+)*$`.
    Ascii,
    /// The rule of the specification: lower-case letters and digits of any script in NFKC, single inner hyphens.
    Unicode,
}

/// Which keys a preset knows. Other keys are kept and reported according to [`Rules::unknown_keys`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownKeys {
    /// `name` and `description`.
    Basic,
    /// The six keys of the specification.
    Standard,
    /// The six keys of the specification and those of trigger-based skills.
    Triggers,
    /// All keys that Prowess understands.
    All,
}

/// The level of the rule that nothing precedes the frontmatter (blank lines, text, a code fence around it).
pub type PreambleLevel = RuleLevel;

/// Whether values that lack required quotes are repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Invalid YAML is an error.
    Off,
    /// Values are quoted, with a warning that shows the corrected line.
    On,
}

/// The rules a manifest is checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Which names are well formed.
    pub name: NameRule,
    /// The level for names that are not well formed. Names that could be mistaken for paths never load.
    pub name_form: RuleLevel,
    /// The maximum length of the name, in characters.
    pub name_max: Option<u32>,
    /// The level for a missing name. A skill that loads without one is named after its directory.
    pub name_missing: RuleLevel,
    /// The level for names that do not match the directory name.
    pub name_folder: RuleLevel,
    /// The maximum length of the description, in characters.
    pub description_max: Option<u32>,
    /// The level for longer descriptions.
    pub description_long: RuleLevel,
    /// The level for invalid values of optional fields such as `compatibility` and `metadata`.
    pub field_form: RuleLevel,
    /// The level for numbers, booleans and empty values in `metadata`, whose values are text in the specification.
    pub metadata_values: RuleLevel,
    /// Which keys are known.
    pub known_keys: KnownKeys,
    /// The level for unknown keys.
    pub unknown_keys: RuleLevel,
    /// The level for duplicate keys; the last value is used.
    pub duplicate_keys: RuleLevel,
    /// The level for content before the frontmatter.
    pub preamble: PreambleLevel,
    /// The level for files named `skill.md`.
    pub lowercase_file: RuleLevel,
    /// Whether missing quotes are added.
    pub repair: Repair,
}

impl Rules {
    /// Returns the default rules: load every skill that can be loaded, and report its problems.
    pub fn standard() -> Self {
        Self {
            name: NameRule::Unicode,
            name_form: RuleLevel::Warn,
            name_max: Some(64),
            name_missing: RuleLevel::Warn,
            name_folder: RuleLevel::Warn,
            description_max: Some(1024),
            description_long: RuleLevel::Warn,
            field_form: RuleLevel::Warn,
            metadata_values: RuleLevel::Ignore,
            known_keys: KnownKeys::All,
            unknown_keys: RuleLevel::Warn,
            duplicate_keys: RuleLevel::Warn,
            preamble: RuleLevel::Warn,
            lowercase_file: RuleLevel::Warn,
            repair: Repair::On,
        }
    }

    /// Returns the rules of the Agent Skills specification, as `check --strict` applies them.
    pub fn strict() -> Self {
        Self {
            name: NameRule::Unicode,
            name_form: RuleLevel::Reject,
            name_max: Some(64),
            name_missing: RuleLevel::Reject,
            name_folder: RuleLevel::Reject,
            description_max: Some(1024),
            description_long: RuleLevel::Reject,
            field_form: RuleLevel::Reject,
            metadata_values: RuleLevel::Reject,
            known_keys: KnownKeys::Standard,
            unknown_keys: RuleLevel::Reject,
            duplicate_keys: RuleLevel::Reject,
            preamble: RuleLevel::Reject,
            lowercase_file: RuleLevel::Warn,
            repair: Repair::Off,
        }
    }
}
