//! Enables and disables skills and sources in the user's or the project's configuration.
//!
//! Invariants: after a change, the configuration is loaded again, and the result describes its actual effect. If a
//! change had no effect, the result contains the file and line that prevent it. A project can only restrict: it
//! cannot enable what the user disabled.

mod files;
mod skill;
mod source;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use prowess::remote::RemoteSource;
use prowess::{ErrorCode, Registry, ScanProgress, Snapshot};
use prowess_config::{ConfigInputs, ConfigLayer, Configuration};

use prowess_config::edit::file::EditFileError;

/// The skill or source to enable or disable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchTarget {
    /// A skill, by its name or the name of its directory.
    Skill(String),
    /// All skills of a directory.
    Source(String),
}

prowess_format::named_enum! {
    /// Enabled or disabled.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DesiredState {
        /// The skill is available.
        Enabled = "enabled",
        /// The skill is not available.
        Disabled = "disabled",
    }
}

/// The configuration to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope {
    /// The user's.
    User,
    /// The project's.
    Project,
}

/// The location of an entry that enables or disables a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigLocation {
    /// The file.
    pub path: PathBuf,
    /// The layer of the file.
    pub layer: ConfigLayer,
    /// The line, counted from 1.
    pub line: u32,
}

impl fmt::Display for ConfigLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchOutcome {
    /// The name of the skill, or the source as written in the configuration.
    pub name: String,
    /// The changed files; empty if no change was necessary.
    pub changed_files: Vec<PathBuf>,
    /// The new status of the skill; `None` for sources, and for skills that only occur in the configuration.
    pub status: Option<&'static str>,
    /// The reason why the skill is not available.
    pub reason: Option<String>,
    /// What prevents the desired state.
    pub obstacle: Option<SwitchObstacle>,
}

impl SwitchOutcome {
    /// Returns the JSON output.
    pub fn to_json(&self, to: DesiredState) -> serde_json::Value {
        serde_json::json!({
            "schema": 1,
            "name": self.name,
            "wanted": to.as_str(),
            "status": self.status,
            "reason": self.reason,
            "changed": self.changed_files,
            "in_the_way": self.obstacle.as_ref().map(|obstacle| &obstacle.reason),
        })
    }
}

/// What prevents a skill or source from being enabled or disabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchObstacle {
    /// The description, with the file and line if there are any.
    pub reason: String,
    /// The entry in the configuration.
    pub location: Option<ConfigLocation>,
    /// The disabled source, as written in the configuration.
    pub source: Option<String>,
}

impl SwitchObstacle {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), location: None, source: None }
    }

    fn at_location(reason: &str, location: ConfigLocation) -> Self {
        let reason = format!("{reason} ({} file {location})", location.layer.as_str());
        Self { reason, location: Some(location), source: None }
    }
}

/// The reason why nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchError {
    /// The skill does not exist.
    #[error("skill {name} not found")]
    SkillNotFound {
        /// The requested name.
        name: String,
        /// The most similar name.
        suggestion: Option<String>,
    },
    /// The directory is not searched for skills.
    #[error("no source {source_path}")]
    SourceNotFound {
        /// The requested path.
        source_path: String,
        /// The known sources.
        known: Vec<String>,
    },
    /// There is no home directory.
    #[error("no home directory for the configuration; set HOME or pass --home DIR")]
    NoHome,
    /// No configuration file can be changed.
    #[error("{reason}")]
    NoConfigFile {
        /// The reason.
        reason: &'static str,
    },
    /// The user disabled it, and a project can only restrict.
    #[error("a project cannot enable what {location} disables")]
    ProjectCannotEnable {
        /// The entry that disables it.
        location: ConfigLocation,
    },
    /// The file could not be changed.
    #[error(transparent)]
    File(#[from] EditFileError),
}

impl SwitchError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::SkillNotFound { .. } | Self::SourceNotFound { .. } => ErrorCode::NotFound,
            Self::NoHome | Self::NoConfigFile { .. } => ErrorCode::InvalidParam,
            Self::ProjectCannotEnable { .. } => ErrorCode::AccessDenied,
            Self::File(EditFileError::Io { .. }) => ErrorCode::PermissionDenied,
            Self::File(_) => ErrorCode::Conflict,
        }
    }
}

/// Enables or disables a skill or source. `roots` are those of `--root`; if empty, the configured roots are used.
pub fn switch(
    inputs: &ConfigInputs,
    roots: &[PathBuf],
    target: &SwitchTarget,
    to: DesiredState,
    scope: ConfigScope,
) -> Result<SwitchOutcome, SwitchError> {
    switch_with_remote(inputs, roots, &[], target, to, scope)
}

/// Enables or disables a skill or source, including skills of remote sources; see [`switch`].
pub fn switch_with_remote(
    inputs: &ConfigInputs,
    roots: &[PathBuf],
    sources: &[Arc<dyn RemoteSource>],
    target: &SwitchTarget,
    to: DesiredState,
    scope: ConfigScope,
) -> Result<SwitchOutcome, SwitchError> {
    let env = SwitchEnv { inputs, roots, sources };
    match target {
        SwitchTarget::Skill(name) => skill::switch_skill(&env, name, to, scope),
        SwitchTarget::Source(path) => source::switch_source(&env, path, to, scope),
    }
}

/// Returns what disables a skill; `None` if nothing does. Changes nothing.
pub fn find_disabling_entry(inputs: &ConfigInputs, roots: &[PathBuf], name: &str) -> Option<SwitchObstacle> {
    skill::find_disabling_entry(&SwitchEnv { inputs, roots, sources: &[] }, name)
}

/// The inputs from which the configuration and skills are loaded.
struct SwitchEnv<'w> {
    inputs: &'w ConfigInputs,
    roots: &'w [PathBuf],
    sources: &'w [Arc<dyn RemoteSource>],
}

impl SwitchEnv<'_> {
    /// Loads the current configuration and its skills.
    fn load(&self) -> (Configuration, Arc<Snapshot>) {
        let mut configuration = prowess_config::load(self.inputs);
        if !self.roots.is_empty() {
            configuration = configuration.with_roots(self.roots.iter().cloned());
        }
        let host = self.inputs.host.clone();
        let (policy, sources) = (configuration.policy.clone(), self.sources.to_vec());
        let registry = Registry::open_with_sources(policy, host, sources, &ScanProgress::default());
        let snapshot = registry.snapshot();
        (configuration, snapshot)
    }
}
