//! What a manifest is held to. The documents differ; each difference is a value here.

/// What breaking a rule means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing is said.
    Ignore,
    /// The skill loads and carries a warning.
    Warn,
    /// The skill does not load.
    Reject,
}

/// Which names are well formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// Any text: the folder's name is the identity, the name a title.
    Title,
    /// Letters and digits of ASCII in either case, and hyphens.
    Alphanumeric,
    /// `^[a-z0-9]+(-[a-z0-9]+)*$`.
    Ascii,
    /// The specification's: lower-case letters and digits of any script in NFKC, single inner hyphens.
    Unicode,
}

/// Which keys a preset knows. The others are kept, and judged by [`Rules::unknown_keys`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownKeys {
    /// `name` and `description`.
    Basic,
    /// The specification's six.
    Standard,
    /// The six and those of trigger-based skills.
    Triggers,
    /// All that Prowess understands.
    All,
}

/// Whether anything may stand before the frontmatter (blank lines, text, a code fence around it).
pub type Preamble = Level;

/// Whether values that people forget to quote are quoted for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Invalid YAML is invalid.
    Off,
    /// Tried, with a warning that shows the corrected line.
    On,
}

/// The rules a manifest is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Which names are well formed.
    pub name: NameRule,
    /// What a name that is not well formed means. Names that could be taken for paths never load.
    pub name_form: Level,
    /// The longest name, in characters.
    pub name_max: Option<u32>,
    /// What a name that is not the folder's means.
    pub name_folder: Level,
    /// The longest description, in characters.
    pub description_max: Option<u32>,
    /// What a longer description means.
    pub description_long: Level,
    /// What breaking the form of `compatibility` and `metadata` means.
    pub field_form: Level,
    /// Which keys are known.
    pub known_keys: KnownKeys,
    /// What an unknown key means.
    pub unknown_keys: Level,
    /// What a key written twice means; the last one counts.
    pub duplicate_keys: Level,
    /// What text before the frontmatter means.
    pub preamble: Preamble,
    /// What a file named `skill.md` means.
    pub lowercase_file: Level,
    /// Whether forgotten quotes are added.
    pub repair: Repair,
}

impl Rules {
    /// The default: load what can be loaded, and say what is wrong with it.
    pub fn standard() -> Self {
        Self {
            name: NameRule::Unicode,
            name_form: Level::Warn,
            name_max: Some(64),
            name_folder: Level::Warn,
            description_max: Some(1024),
            description_long: Level::Warn,
            field_form: Level::Warn,
            known_keys: KnownKeys::All,
            unknown_keys: Level::Warn,
            duplicate_keys: Level::Warn,
            preamble: Level::Warn,
            lowercase_file: Level::Warn,
            repair: Repair::On,
        }
    }

    /// The Agent Skills specification to the letter, as `check --strict` applies it.
    pub fn strict() -> Self {
        Self {
            name: NameRule::Unicode,
            name_form: Level::Reject,
            name_max: Some(64),
            name_folder: Level::Reject,
            description_max: Some(1024),
            description_long: Level::Reject,
            field_form: Level::Reject,
            known_keys: KnownKeys::Standard,
            unknown_keys: Level::Reject,
            duplicate_keys: Level::Reject,
            preamble: Level::Reject,
            lowercase_file: Level::Warn,
            repair: Repair::Off,
        }
    }
}
