//! The settings in which skill systems differ, as values of one [`Policy`].
//!
//! A preset is a named set of values; [`presets`] is the table. Each value can be changed in the configuration.
//! Safety measures (containment, hard limits, fail-closed sandboxes) are not part of the policy and cannot be
//! changed.

pub mod presets;
mod roots;
mod run;

use std::path::PathBuf;

use prowess_format::Rules;

pub use presets::Preset;
pub use roots::{ParseRootSpecError, RootLocation, RootSpec, Scope};
pub use run::{AllowedTools, EnvironmentSettings, RunLimits, RunPolicy, ScriptDirectory, ScriptPolicy};

/// How skills are discovered, validated, shown to a model and run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The preset it is based on.
    pub preset: Preset,
    /// Whether skills are enabled at all.
    pub enabled: bool,
    /// Where skills are searched.
    pub scan: ScanPolicy,
    /// The rules for manifests.
    pub manifest: Rules,
    /// Whether project skills need the user's trust.
    pub trust: ProjectTrust,
    /// Which skills are enabled.
    pub selection: SkillSelection,
    /// How much of a file is returned.
    pub limits: ReadLimits,
    /// The file extensions that the tool `ReadFile` accepts, each with its dot.
    pub read_extensions: Vec<String>,
    /// How skills are listed for a model.
    pub catalog: CatalogPolicy,
    /// What the model gets when a skill is activated.
    pub activation: ActivationMode,
    /// How users mention a skill by name.
    pub mention: MentionPolicy,
    /// When changes on disk are detected.
    pub refresh: RefreshPolicy,
    /// Whether and how scripts run.
    pub run: RunPolicy,
}

/// Where skills are searched, and which of several skills takes precedence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanPolicy {
    /// The roots, in order of precedence.
    pub roots: Vec<RootSpec>,
    /// Whether project roots are also searched in parent directories.
    pub ancestors: AncestorSearch,
    /// The maximum depth of skills below a root; its direct children have depth 1.
    pub depth: u32,
    /// The maximum number of directories that are visited.
    pub max_directories: u32,
    /// The maximum number of directory entries that are read.
    pub max_entries: u32,
    /// The maximum number of skills that are offered; `None` for no limit.
    pub max_skills: Option<u32>,
    /// Directories that symlinks may point to, besides the roots and trusted directories.
    pub links: Vec<PathBuf>,
    /// What identifies a skill.
    pub identity: SkillIdentity,
    /// Which of several skills of the same name in one root takes precedence.
    pub duplicates: DuplicatePolicy,
    /// Which required commands are checked.
    pub requires: RequiresPolicy,
}

/// Whether project roots are also searched in parent directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AncestorSearch {
    /// Only in the project directory.
    None,
    /// In each directory up to the one with `.git`, nearest first.
    GitRoot,
}

/// What identifies a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillIdentity {
    /// The name of its directory.
    Id,
    /// The name in its frontmatter.
    Name,
}

/// Which of several skills of the same name in one root takes precedence, by path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuplicatePolicy {
    /// The first.
    FirstWins,
    /// The last.
    LastWins,
}

/// Which required commands are checked. A skill is unavailable while one of them is missing. Both kinds include
/// `metadata.openclaw.requires`, whose `bins` and `anyBins` are commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiresPolicy {
    /// `metadata.requires` and `metadata.prowess-requires`.
    All,
    /// Only `metadata.prowess-requires`. The specification does not define the other keys of `metadata`, and
    /// `requires` is often a sentence.
    ProwessOnly,
    /// None.
    Ignored,
}

/// Whether project skills need the user's trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectTrust {
    /// They are listed for the user, but hidden from models until the user trusts the project.
    Required,
    /// They are used without trust.
    NotNeeded,
}

/// Which skills are enabled, and how the catalog treats single ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillSelection {
    /// Names or ids of disabled skills, and disabled roots (`source:PATH`).
    pub disabled: Vec<String>,
    /// Names or ids of skills that are enabled although they are disabled by default.
    pub enabled: Vec<String>,
    /// Disabled bundled skills.
    pub disabled_bundled: Vec<String>,
    /// If not empty, the only enabled bundled skills.
    pub enabled_bundled: Vec<String>,
    /// Skills whose catalog entries are shortened last if the catalog is too large.
    pub pinned: Vec<String>,
    /// Skills that are listed for the model without a description.
    pub name_only: Vec<String>,
    /// Skills that users can activate but the model does not see.
    pub manual: Vec<String>,
}

/// How much of a file is returned. Hard limits apply in addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// The limit for a `SKILL.md`, in bytes; the rest is truncated with a notice.
    pub skill_md_bytes: u64,
    /// The limit for any other file, in bytes.
    pub resource_bytes: u64,
}

/// How skills are listed for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogPolicy {
    /// The format.
    pub format: CatalogFormat,
    /// Whether entries include the path of the skill's file.
    pub location: LocationVisibility,
    /// The maximum number of characters; `None` for no limit.
    pub budget_chars: Option<u32>,
    /// The maximum number of tokens; `None` for no limit.
    pub budget_tokens: Option<u32>,
    /// The size of the model's context window in tokens, if known.
    pub window_tokens: Option<u32>,
    /// The maximum share of the context window, in percent.
    pub window_percent: u32,
}

impl CatalogPolicy {
    /// Returns the maximum number of tokens: a share of the context window if that is known, otherwise the
    /// fixed limit.
    ///
    /// ```
    /// use prowess::Policy;
    ///
    /// let mut catalog = Policy::default().catalog;
    /// assert_eq!(catalog.token_limit(), Some(8_000));
    /// catalog.window_tokens = Some(1_000_000);
    /// assert_eq!(catalog.token_limit(), Some(20_000));
    /// ```
    pub fn token_limit(&self) -> Option<u32> {
        let share = |window: u32| u64::from(window) * u64::from(self.window_percent) / 100;
        match self.window_tokens {
            Some(window) => Some(u32::try_from(share(window)).unwrap_or(u32::MAX)),
            None => self.budget_tokens,
        }
    }
}

/// The format of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatalogFormat {
    /// `<available_skills>`.
    Xml,
    /// `{"available_skills": […]}`.
    Json,
    /// Markdown bullets with id, name and description.
    Bullets,
    /// A list inside the description of the tool `Skill`.
    Tool,
    /// Nothing, a count, names or whole skills, depending on the query.
    Tiers,
}

/// Whether catalog entries include the path of the skill's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocationVisibility {
    /// The path is included.
    Shown,
    /// The path is not included.
    Hidden,
}

/// What the model gets when a skill is activated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivationMode {
    /// Body, directory and list of files, wrapped in `<skill_content>`.
    Wrapped,
    /// Nothing: the model reads the files with `ReadFile`.
    ReadFile,
    /// Base directory and body with arguments, through the tool `Skill`.
    SkillTool,
    /// The whole file.
    FullFile,
    /// The whole file, added to the conversation when a trigger matches.
    Pushed {
        /// The maximum number of skills at once.
        max: u32,
    },
    /// Frontmatter and body, through `skills.activate`.
    FrontmatterAndBody,
}

/// How users mention a skill by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MentionPolicy {
    /// `/name` at the start of a message.
    pub slash: MentionSyntax,
    /// `$name` anywhere.
    pub dollar: MentionSyntax,
}

/// Whether a form of mention is recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MentionSyntax {
    /// It activates the skill.
    Enabled,
    /// It is plain text.
    Disabled,
}

/// When changes on disk are detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshPolicy {
    /// On each call, by the fingerprint of each file; a watched registry waits for the watcher instead.
    Fingerprint,
    /// On each call. A modification time is part of the fingerprint, so this works like [`Self::Fingerprint`].
    DirectoryTime,
    /// When a skill is added, deleted or imported.
    OnChange,
    /// Only at startup.
    AtStart,
}

impl Policy {
    /// Returns the policy of a preset.
    ///
    /// ```
    /// use prowess::{Policy, Preset};
    ///
    /// assert_eq!(Policy::from_preset(Preset::Chat).scan.max_skills, Some(200));
    /// assert!(!Policy::from_preset(Preset::Chat).enabled);
    /// ```
    pub fn from_preset(preset: Preset) -> Self {
        presets::policy(preset)
    }

    /// Searches only these directories, in order of precedence. All of them are trusted.
    #[must_use]
    pub fn with_roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.scan.roots = roots.into_iter().map(RootSpec::explicit).collect();
        self.scan.ancestors = AncestorSearch::None;
        self.trust = ProjectTrust::NotNeeded;
        self
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::from_preset(Preset::Standard)
    }
}
