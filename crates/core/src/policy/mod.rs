//! Everything in which skills systems differ, as values of one [`Policy`].
//!
//! A preset is a named set of them; [`presets`] is the table. Each value can be set on its own in the configuration.
//! What keeps people safe (containment, hard caps, fail-closed sandboxes) is no policy and cannot be set.

pub mod presets;
mod roots;
mod run;

use std::path::PathBuf;

use prowess_format::Rules;

pub use presets::Preset;
pub use roots::{RootPlace, RootSpec, RootSpecError, Scope};
pub use run::{AllowedTools, Run, RunLimits, Scripts};

/// What is scanned, what is taken, and how it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The preset it began as.
    pub preset: Preset,
    /// Whether there are skills at all.
    pub enabled: bool,
    /// Where skills are looked for.
    pub scan: Scan,
    /// What a manifest is held to.
    pub manifest: Rules,
    /// Whether project skills need the user's trust.
    pub trust: ProjectTrust,
    /// Which skills are on.
    pub selection: Selection,
    /// How much of a file is handed out.
    pub limits: Limits,
    /// The endings of files that the tool `ReadFile` reads, each with its point.
    pub read_extensions: Vec<String>,
    /// How the model is told of skills.
    pub catalog: Catalog,
    /// What activation gives.
    pub activation: Activation,
    /// How people call a skill by name.
    pub mention: Mention,
    /// When changes on disk are noticed.
    pub refresh: Refresh,
    /// What skills may run.
    pub run: Run,
}

/// Where skills are looked for, and what makes two of them the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// The directories, the one that wins first.
    pub roots: Vec<RootSpec>,
    /// Whether project directories are looked for further up.
    pub ancestors: Ancestors,
    /// How deep skills may lie below a root; its immediate children are at depth 1.
    pub depth: u32,
    /// The most directories that are visited.
    pub max_directories: u32,
    /// The most directory entries that are read.
    pub max_entries: u32,
    /// The most skills that are offered; `None` for no bound.
    pub max_skills: Option<u32>,
    /// Where links may lead besides the roots and trusted folders.
    pub links: Vec<PathBuf>,
    /// What makes two skills the same.
    pub identity: Identity,
    /// Which of two in the same root wins.
    pub twice: Twice,
    /// Which commands that a skill requires are looked up.
    pub requires: Requires,
}

/// Whether project directories are looked for in the folders above the project, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ancestors {
    /// Only in the project itself.
    None,
    /// In each folder up to the one that holds `.git`; nearest first.
    GitRoot,
}

/// What makes two skills the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// The folder's name.
    Id,
    /// The frontmatter's name.
    Name,
}

/// Which of two in the same root wins, in the order of their paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twice {
    /// The first.
    First,
    /// The last.
    Last,
}

/// Which commands that a skill requires are looked up. A skill is unavailable while one of them is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requires {
    /// Those of `metadata.requires` and `metadata.prowess-requires`.
    Checked,
    /// Those of `metadata.prowess-requires`. The specification leaves the other keys of `metadata` to everyone, and
    /// `requires` is often a sentence.
    Own,
    /// None.
    Ignored,
}

/// Whether project skills need the user's trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectTrust {
    /// They are listed and not disclosed until the user says so.
    Required,
    /// They count at once.
    NotNeeded,
}

/// Which skills are on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Names or ids that are off, and sources (`source:PATH`).
    pub disabled: Vec<String>,
    /// Names or ids that are on although they are off by default.
    pub enabled: Vec<String>,
    /// Bundled skills that are off.
    pub disabled_bundled: Vec<String>,
    /// If not empty: the only bundled skills that are on.
    pub enabled_bundled: Vec<String>,
    /// Skills whose entry in the catalog is the last to be shortened.
    pub pinned: Vec<String>,
    /// Skills that the model is told by name only.
    pub name_only: Vec<String>,
    /// Skills that people can call and the model is not told of.
    pub manual: Vec<String>,
}

/// How much of a file is handed out. There are hard caps above these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of a `SKILL.md`, in bytes; more is cut and said.
    pub skill_md_bytes: u64,
    /// Of any other file, in bytes.
    pub resource_bytes: u64,
}

/// How the model is told of all skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Catalog {
    /// The form.
    pub format: CatalogFormat,
    /// Whether each entry says where its file is.
    pub location: Location,
    /// The most characters; `None` for no bound.
    pub budget_chars: Option<u32>,
    /// The most tokens; `None` for no bound.
    pub budget_tokens: Option<u32>,
    /// The model's context window, in tokens, where it is known.
    pub window_tokens: Option<u32>,
    /// The most of that window, in percent.
    pub window_percent: u32,
}

impl Catalog {
    /// The most tokens: the fixed bound, or the share of the window where that is known.
    ///
    /// ```
    /// use prowess::Policy;
    ///
    /// let mut catalog = Policy::default().catalog;
    /// assert_eq!(catalog.tokens(), Some(8_000));
    /// catalog.window_tokens = Some(1_000_000);
    /// assert_eq!(catalog.tokens(), Some(20_000));
    /// ```
    pub fn tokens(&self) -> Option<u32> {
        let share = |window: u32| u64::from(window) * u64::from(self.window_percent) / 100;
        match self.window_tokens {
            Some(window) => Some(u32::try_from(share(window)).unwrap_or(u32::MAX)),
            None => self.budget_tokens,
        }
    }
}

/// The form of the catalog.
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
    /// Nothing, a count, names, or whole skills, as the query asks for.
    Tiers,
}

/// Whether catalog entries say where their file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// They do.
    Shown,
    /// They do not.
    Hidden,
}

/// What activation gives the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// Body, directory and list of files, wrapped in `<skill_content>`.
    Wrapped,
    /// Nothing: the model reads files itself with `ReadFile`.
    ReadFile,
    /// Base directory and body with arguments, through the tool `Skill`.
    SkillTool,
    /// The whole file.
    FullFile,
    /// The whole file, pushed when a trigger matches; at most so many at once.
    Pushed {
        /// How many.
        max: u32,
    },
    /// Frontmatter and body, through `skills.activate`.
    FrontmatterAndBody,
}

/// How people call a skill by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention {
    /// `/name` at the start of a message.
    pub slash: Recognised,
    /// `$name` anywhere.
    pub dollar: Recognised,
}

/// Whether a form of mention counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognised {
    /// It does.
    Yes,
    /// It is text like any other.
    No,
}

/// When changes on disk are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// At each call, by what the file system says of each file; servers watch besides.
    Fingerprint,
    /// At each call, by the time of the directory alone.
    DirectoryTime,
    /// When a skill is added, deleted or imported.
    OnChange,
    /// At the start.
    AtStart,
}

impl Policy {
    /// The policy of a preset.
    ///
    /// ```
    /// use prowess::{Policy, Preset};
    ///
    /// assert_eq!(Policy::preset(Preset::Chat).scan.max_skills, Some(200));
    /// assert!(!Policy::preset(Preset::Chat).enabled);
    /// ```
    pub fn preset(preset: Preset) -> Self {
        presets::policy(preset)
    }

    /// Scans exactly these directories: in this order, first wins, all trusted, nothing else.
    #[must_use]
    pub fn with_roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.scan.roots = roots.into_iter().map(RootSpec::given).collect();
        self.scan.ancestors = Ancestors::None;
        self.trust = ProjectTrust::NotNeeded;
        self
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::preset(Preset::Standard)
    }
}
