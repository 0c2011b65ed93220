//! Switching skills and whole sources on and off, in the user's configuration or the project's.
//!
//! What must always hold: after a change the configuration is read anew, and what is told is what came of it: a change
//! that had no effect says which file, and which line of it, is in the way. A project can narrow only: what the user
//! switched off it cannot switch on.

mod files;
mod skill;
mod source;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use prowess::supply::Supply;
use prowess::{ErrorCode, Progress, Registry, Snapshot};
use prowess_config::{Configuration, Inputs, Layer};

use prowess_config::edit::file::FileError;

/// What to switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A skill, by its name or its folder's.
    Skill(String),
    /// All skills of a directory, as it was typed.
    Source(String),
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// Offered.
    On,
    /// Not offered.
    Off,
}

impl To {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::On => "enabled",
            Self::Off => "disabled",
        }
    }
}

/// Whose configuration is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The user's.
    User,
    /// The project's.
    Project,
}

/// A line of a configuration file that switches something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The file.
    pub path: PathBuf,
    /// Which of the files it is.
    pub layer: Layer,
    /// The line, counted from 1.
    pub line: u32,
}

impl fmt::Display for Mention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switched {
    /// The skill's name, or the source as the configuration has it.
    pub name: String,
    /// The files that were changed; none where it was so already.
    pub changed: Vec<PathBuf>,
    /// The status of the skill now; `None` for sources, and for a skill that is only named in the configuration.
    pub status: Option<&'static str>,
    /// Why the skill is not offered, where it is not.
    pub reason: Option<String>,
    /// What keeps it from being as it was asked for.
    pub in_the_way: Option<InTheWay>,
}

impl Switched {
    /// For programs: what was wanted, and what came of it.
    pub fn json(&self, to: To) -> serde_json::Value {
        serde_json::json!({
            "schema": 1,
            "name": self.name,
            "wanted": to.as_str(),
            "status": self.status,
            "reason": self.reason,
            "changed": self.changed,
            "in_the_way": self.in_the_way.as_ref().map(|way| &way.why),
        })
    }
}

/// What keeps something from being on or off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InTheWay {
    /// In words, with the file and the line where there is one.
    pub why: String,
    /// The line that says so.
    pub mention: Option<Mention>,
    /// The source that is off as a whole, as the configuration has it.
    pub source: Option<String>,
}

impl InTheWay {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), mention: None, source: None }
    }

    fn at(why: &str, mention: Mention) -> Self {
        let why = format!("{why} ({} file {mention})", mention.layer.as_str());
        Self { why, mention: Some(mention), source: None }
    }
}

/// Why nothing was switched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchError {
    /// There is no such skill.
    #[error("there is no skill named {name}")]
    NoSkill {
        /// What was asked for.
        name: String,
        /// The nearest name.
        near: Option<String>,
    },
    /// No such directory is scanned.
    #[error("there is no source {source_path}")]
    NoSource {
        /// What was asked for.
        source_path: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// There is no home to keep it in.
    #[error("there is no home directory to keep the configuration in; set HOME or use --home")]
    NoHome,
    /// There is no file that could say so.
    #[error("{why}")]
    NoFile {
        /// Why not.
        why: &'static str,
    },
    /// The user switched it off, and a project can only narrow.
    #[error("a project cannot enable what {mention} disables")]
    NotTheProjects {
        /// The line that disables it.
        mention: Mention,
    },
    /// The file could not be changed.
    #[error(transparent)]
    File(#[from] FileError),
}

impl SwitchError {
    /// For programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoSkill { .. } | Self::NoSource { .. } => ErrorCode::NotFound,
            Self::NoHome | Self::NoFile { .. } => ErrorCode::InvalidParam,
            Self::NotTheProjects { .. } => ErrorCode::AccessDenied,
            Self::File(FileError::Io { .. }) => ErrorCode::PermissionDenied,
            Self::File(_) => ErrorCode::Conflict,
        }
    }
}

/// Switches something on or off. `roots` are those of `--root`; where there are none, the configuration's are scanned.
pub fn switch(
    inputs: &Inputs,
    roots: &[PathBuf],
    target: &Target,
    to: To,
    whose: Whose,
) -> Result<Switched, SwitchError> {
    switch_with(inputs, roots, &[], target, to, whose)
}

/// The same, with skills of servers among those that can be switched.
pub fn switch_with(
    inputs: &Inputs,
    roots: &[PathBuf],
    supplies: &[Arc<dyn Supply>],
    target: &Target,
    to: To,
    whose: Whose,
) -> Result<Switched, SwitchError> {
    let world = World { inputs, roots, supplies };
    match target {
        Target::Skill(name) => skill::switch(&world, name, to, whose),
        Target::Source(path) => source::switch(&world, path, to, whose),
    }
}

/// What disables a skill, without changing anything; `None` where nothing does.
pub fn disabled_by(inputs: &Inputs, roots: &[PathBuf], name: &str) -> Option<InTheWay> {
    skill::disabled_by(&World { inputs, roots, supplies: &[] }, name)
}

/// What everything is read from, as often as it takes.
struct World<'w> {
    inputs: &'w Inputs,
    roots: &'w [PathBuf],
    supplies: &'w [Arc<dyn Supply>],
}

impl World<'_> {
    /// The configuration as it is now, and the skills under it.
    fn read(&self) -> (Configuration, Arc<Snapshot>) {
        let mut configuration = prowess_config::load(self.inputs);
        if !self.roots.is_empty() {
            configuration = configuration.with_roots(self.roots.iter().cloned());
        }
        let surroundings = self.inputs.surroundings.clone();
        let (policy, supplies) = (configuration.policy.clone(), self.supplies.to_vec());
        let registry = Registry::open_with(policy, surroundings, supplies, &Progress::default());
        let snapshot = registry.snapshot();
        (configuration, snapshot)
    }
}
