//! The error of installing, updating and removing skills: an error code, a message and a hint.

use std::io;
use std::path::{Path, PathBuf};

use prowess::lock::ReadLockError;
use prowess::{ErrorCode, TreeHashError};
use prowess_format::{Diagnostic, hidden};

use crate::io_error;
use crate::task::Cancelled;
use prowess_archive::InnerPathError;
use prowess_archive::SourceReadError;

/// The reason why an operation failed. Nothing was changed, unless a variant documents otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// A path in the source is not portable.
    #[error("cannot install {}: {reason}", hidden::escape_for_display(path))]
    InvalidPath {
        /// The path.
        path: String,
        /// The reason.
        reason: InnerPathError,
    },
    /// A symlink, a submodule or a device.
    #[error("{} is {kind}; a skill may only contain regular files", hidden::escape_for_display(path))]
    NotAFile {
        /// The path.
        path: String,
        /// The kind of the entry.
        kind: &'static str,
    },
    /// Two paths are the same on some file systems.
    #[error("{} and {} are the same file on case-insensitive file systems", hidden::escape_for_display(.0), hidden::escape_for_display(.1))]
    CaseCollision(String, String),
    /// A path occurs more than once.
    #[error("duplicate path {}", hidden::escape_for_display(.0))]
    DuplicatePath(String),
    /// A path is a file, and a directory of other files.
    #[error("{} is both a file and a directory", hidden::escape_for_display(.0))]
    FileDirConflict(String),
    /// A limit is exceeded.
    #[error("{subject} exceeds the limit of {limit}")]
    Limit {
        /// What exceeds the limit.
        subject: String,
        /// The limit.
        limit: u64,
    },
    /// The source contains no skill.
    #[error("no SKILL.md in {0}")]
    NoSkills(String),
    /// The source does not contain the skill.
    #[error("skill {} not found in {source_text}", hidden::escape_for_display(name))]
    SkillNotInSource {
        /// The name.
        name: String,
        /// The source.
        source_text: String,
        /// The skills in the source.
        available: Vec<String>,
    },
    /// The source contains several skills, and none was selected.
    #[error("{source_text} contains {} skills", available.len())]
    MultipleSkills {
        /// The source.
        source_text: String,
        /// The names of the skills.
        available: Vec<String>,
    },
    /// The source contains several plugins, and neither plugins nor skills were selected.
    #[error("{source_text} contains {} plugins with {} skills", plugins.len(), skills.len())]
    MultiplePlugins {
        /// The source.
        source_text: String,
        /// The names of the plugins.
        plugins: Vec<String>,
        /// The names of the skills.
        skills: Vec<String>,
    },
    /// The source does not contain the plugin.
    #[error("plugin {} not found in {source_text}", hidden::escape_for_display(name))]
    PluginNotInSource {
        /// The name.
        name: String,
        /// The source.
        source_text: String,
        /// The plugins in the source.
        available: Vec<String>,
    },
    /// The plugin has no skills.
    #[error("plugin {} has no skills", hidden::escape_for_display(name))]
    PluginWithoutSkills {
        /// The name.
        name: String,
        /// What it contains instead.
        parts: Vec<String>,
    },
    /// The marketplace names a source of the plugin that cannot be used.
    #[error(
        "cannot install plugin {}: {}",
        hidden::escape_for_display(name),
        hidden::escape_for_display(reason)
    )]
    PluginSource {
        /// The name.
        name: String,
        /// The reason.
        reason: String,
        /// The solution.
        hint: String,
    },
    /// The manifest is not valid in this preset.
    #[error("{} is invalid: {}", hidden::escape_for_display(path), first_error(diagnostics))]
    InvalidManifest {
        /// The file in the source.
        path: String,
        /// The diagnostics, in the order of the file.
        diagnostics: Vec<Diagnostic>,
        /// The contents of the file.
        text: Vec<u8>,
    },
    /// The name cannot be the name of a directory.
    #[error("invalid directory name “{}”: {reason}", hidden::escape_for_display(name))]
    InvalidName {
        /// The name.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The target is not in the project.
    #[error("cannot write to {}: {reason}", path.display())]
    OutsideProject {
        /// The directory.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// The target exists.
    #[error("{} already exists", .0.display())]
    AlreadyExists(PathBuf),
    /// The target changed after the change was planned.
    #[error("{} was changed by another process", .0.display())]
    ChangedMeanwhile(PathBuf),
    /// The installed files differ from the lock file.
    #[error("{name} was modified after it was installed: {difference}")]
    Modified {
        /// The skill.
        name: String,
        /// The files that differ.
        difference: String,
    },
    /// The source no longer provides the locked files.
    #[error("{name} no longer matches the lock file: {reason}")]
    SourceChanged {
        /// The skill.
        name: String,
        /// The difference.
        reason: String,
    },
    /// The audit has critical findings.
    #[error("{name} was rejected by the audit: {findings}")]
    AuditRejected {
        /// The skill.
        name: String,
        /// The critical findings.
        findings: String,
    },
    /// The audit has findings of high severity, and the user did not confirm.
    #[error("the audit found high-severity issues in {name}: {findings}")]
    AuditUnconfirmed {
        /// The skill.
        name: String,
        /// The findings.
        findings: String,
    },
    /// The skill was renamed at its source after it was installed.
    #[error("{name} was renamed to {new_name} at its source")]
    RenamedAtSource {
        /// The installed name.
        name: String,
        /// The new name.
        new_name: String,
        /// The command that installs it under its new name.
        install: String,
    },
    /// Some of several skills cannot be installed, so none was installed.
    #[error("cannot install {} of {total} skills: {}", failed.len(), describe_failures(failed))]
    SomeFailed {
        /// The names of the skills and the errors.
        failed: Vec<(String, PackageError)>,
        /// The number of skills.
        total: usize,
    },
    /// The skill cannot be removed or changed.
    #[error("cannot {operation} {name}: {reason}")]
    ReadOnly {
        /// The skill.
        name: String,
        /// The operation, such as "remove".
        operation: &'static str,
        /// The reason.
        reason: String,
    },
    /// The skill does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The user must choose.
    #[error("{message}")]
    ChoiceRequired {
        /// The decision.
        message: String,
        /// How to decide.
        hint: String,
    },
    /// The arguments are invalid.
    #[error("{message}")]
    InvalidArgument {
        /// The problem.
        message: String,
        /// The solution.
        hint: String,
    },
    /// The source cannot be fetched.
    #[error("{message}")]
    FetchFailed {
        /// The error code.
        code: ErrorCode,
        /// The message.
        message: String,
        /// A hint for the user.
        hint: Option<String>,
    },
    /// The lock file cannot be read. It is not overwritten.
    #[error(transparent)]
    Lock(#[from] ReadLockError),
    /// The operation was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// An I/O error.
    #[error("cannot {operation} {}: {}", path.display(), io_error::describe_io_error(source))]
    Io {
        /// The operation, such as "read".
        operation: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Returns the name and the error of each skill that cannot be installed.
fn describe_failures(failed: &[(String, PackageError)]) -> String {
    let reason = |(name, error): &(String, PackageError)| {
        format!("{}: {}", hidden::escape_for_display(name), error.message_without_name(name))
    };
    failed.iter().map(reason).collect::<Vec<_>>().join("; ")
}

pub(crate) fn first_error(diagnostics: &[Diagnostic]) -> &str {
    diagnostics
        .iter()
        .find(|diagnostic| diagnostic.is_error())
        .map_or("it is not valid", |error| &error.message)
}

impl PackageError {
    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { operation, path, source }
    }

    /// Returns the message without the skill's name at its start, for lists that begin with the name.
    pub fn message_without_name(&self, name: &str) -> String {
        let message = self.to_string();
        match message.strip_prefix(&format!("{name} ")) {
            Some(rest) => format!("it {rest}"),
            None => message,
        }
    }

    /// Returns `true` if the error concerns one skill, so that others from the same source can still be installed.
    pub fn concerns_one_skill(&self) -> bool {
        match self {
            Self::InvalidPath { .. }
            | Self::NotAFile { .. }
            | Self::CaseCollision(..)
            | Self::DuplicatePath(_)
            | Self::FileDirConflict(_)
            | Self::Limit { .. }
            | Self::InvalidManifest { .. }
            | Self::InvalidName { .. }
            | Self::AuditRejected { .. }
            | Self::AuditUnconfirmed { .. } => true,
            Self::NoSkills(_)
            | Self::SkillNotInSource { .. }
            | Self::MultipleSkills { .. }
            | Self::MultiplePlugins { .. }
            | Self::PluginNotInSource { .. }
            | Self::PluginWithoutSkills { .. }
            | Self::PluginSource { .. }
            | Self::OutsideProject { .. }
            | Self::AlreadyExists(_)
            | Self::ChangedMeanwhile(_)
            | Self::Modified { .. }
            | Self::SourceChanged { .. }
            | Self::RenamedAtSource { .. }
            | Self::SomeFailed { .. }
            | Self::ReadOnly { .. }
            | Self::NotFound(_)
            | Self::ChoiceRequired { .. }
            | Self::InvalidArgument { .. }
            | Self::FetchFailed { .. }
            | Self::Lock(_)
            | Self::Cancelled(_)
            | Self::Io { .. } => false,
        }
    }

    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidPath { .. }
            | Self::NotAFile { .. }
            | Self::InvalidName { .. }
            | Self::OutsideProject { .. } => ErrorCode::AccessDenied,
            Self::CaseCollision(..)
            | Self::DuplicatePath(_)
            | Self::FileDirConflict(_)
            | Self::AlreadyExists(_)
            | Self::ChangedMeanwhile(_)
            | Self::ChoiceRequired { .. } => ErrorCode::Conflict,
            Self::Modified { .. } | Self::SourceChanged { .. } | Self::RenamedAtSource { .. } => {
                ErrorCode::Conflict
            }
            Self::SomeFailed { failed, .. } => {
                failed.first().map_or(ErrorCode::InternalError, |(_, error)| error.code())
            }
            Self::Limit { .. } => ErrorCode::TooLarge,
            Self::NoSkills(_) | Self::SkillNotInSource { .. } | Self::NotFound(_) => ErrorCode::NotFound,
            Self::PluginNotInSource { .. } | Self::PluginWithoutSkills { .. } => ErrorCode::NotFound,
            Self::PluginSource { .. } => ErrorCode::AccessDenied,
            Self::MultipleSkills { .. } | Self::MultiplePlugins { .. } | Self::InvalidArgument { .. } => {
                ErrorCode::InvalidParam
            }
            Self::InvalidManifest { .. } => ErrorCode::InternalError,
            Self::AuditRejected { .. } | Self::AuditUnconfirmed { .. } => ErrorCode::Untrusted,
            Self::ReadOnly { .. } => ErrorCode::AccessDenied,
            Self::FetchFailed { code, .. } => *code,
            Self::Lock(_) => ErrorCode::InvalidParam,
            Self::Cancelled(_) => ErrorCode::ExecutionError,
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => ErrorCode::NotFound,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    ErrorCode::PermissionDenied
                }
                _ => ErrorCode::ExecutionError,
            },
        }
    }

    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<String> {
        let list = |names: &[String]| {
            let shown = names
                .iter()
                .take(12)
                .map(|name| hidden::escape_for_display(name))
                .collect::<Vec<_>>()
                .join(", ");
            if names.len() > 12 { format!("{shown}, … ({} in total)", names.len()) } else { shown }
        };
        Some(match self {
            Self::NoSkills(_) => "a skill is a directory with a SKILL.md; pass the path of that directory".to_owned(),
            Self::SkillNotInSource { name, available, .. } => {
                let similar = prowess_format::suggest::nearest(name, available.iter().map(String::as_str));
                let suggestion = similar.map(|similar| format!("did you mean {}? ", hidden::escape_for_display(similar)));
                format!("{}available skills: {}", suggestion.unwrap_or_default(), list(available))
            }
            Self::MultipleSkills { available, .. } => {
            format!("select one with --skill NAME, or install all with --all; available: {}", list(available))
            }
            Self::MultiplePlugins { plugins, skills, .. } => format!(
                "install a plugin with --plugin NAME, one skill with --skill NAME, or all skills with --all; \
                 plugins: {}; skills: {}",
                list(plugins),
                list(skills)
            ),
            Self::PluginNotInSource { available, .. } if available.is_empty() => {
                "it has no plugins; omit --plugin to install its skills".to_owned()
            }
            Self::PluginNotInSource { available, .. } => format!("available plugins: {}", list(available)),
            Self::PluginWithoutSkills { parts, .. } if parts.is_empty() => "it is empty".to_owned(),
            Self::PluginWithoutSkills { parts, .. } => {
                format!("only skills are installed; the plugin has {}", list(parts))
            }
            Self::PluginSource { hint, .. } => hint.clone(),
            Self::InvalidName { .. } => "choose another name with --name".to_owned(),
            Self::OutsideProject { .. } => "remove the symlink, or install for the current user with --user".to_owned(),
            Self::AlreadyExists(_) => {
                "pass --yes with --on-conflict overwrite, skip or rename, or choose another name with --name".to_owned()
            }
            Self::ChangedMeanwhile(_) => "run the command again".to_owned(),
            Self::Modified { name, .. } => {
                format!("run `prowess verify {name}` to see the changes; --yes --on-conflict overwrite replaces them")
            }
            Self::SourceChanged { name, .. } => {
                format!("run `prowess update {name}` to install the current version, or `prowess remove {name}`")
            }
            Self::AuditRejected { .. } => {
                "review the findings; for a local directory, run `prowess audit PATH`. --accept-risk installs the skill anyway, \
                 and ~/.prowess/audit.toml accepts a rule with a reason"
                    .to_owned()
            }
            Self::AuditUnconfirmed { .. } => {
                "review the findings; to install anyway, run the same command with --yes".to_owned()
            }
            Self::RenamedAtSource { name, install, .. } => {
                format!("to switch to the new name: {install} && prowess remove {name}")
            }
            Self::SomeFailed { .. } => "to install the others, run the same command with --skip-invalid".to_owned(),
            Self::ChoiceRequired { hint, .. } | Self::InvalidArgument { hint, .. } => hint.clone(),
            Self::FetchFailed { hint, .. } => return hint.clone(),
            Self::Cancelled(_) => "nothing was changed".to_owned(),
            Self::Lock(error) if error.reason == prowess::lock::NEWER_VERSION => "install a newer version of Prowess".to_owned(),
            Self::Lock(_) => "fix the lock file, or restore it from version control".to_owned(),
            Self::Io { source, .. } => return io_error::io_error_hint(source),
            _ => return None,
        })
    }
}

impl From<SourceReadError> for PackageError {
    fn from(failure: SourceReadError) -> Self {
        Self::FetchFailed { code: failure.code, message: failure.message.to_string(), hint: None }
    }
}

impl From<TreeHashError> for PackageError {
    fn from(error: TreeHashError) -> Self {
        Self::FetchFailed { code: ErrorCode::ExecutionError, message: error.to_string(), hint: None }
    }
}

/// Converts errors that have their own code and hint.
macro_rules! fetch_errors {
    ($($error:ty),+) => {
        $(impl From<$error> for PackageError {
            fn from(error: $error) -> Self {
                Self::FetchFailed { code: error.code(), message: error.to_string(), hint: error.hint() }
            }
        })+
    };
}

fetch_errors!(
    prowess_archive::ArchiveError,
    crate::fetch::git::GitError,
    crate::pack::PackError,
    crate::source::ParseSourceError,
    crate::fetch::well_known::WellKnownError
);

impl From<crate::fetch::well_known::FetchUrlError> for PackageError {
    fn from(failure: crate::fetch::well_known::FetchUrlError) -> Self {
        Self::FetchFailed { code: failure.code, message: failure.message, hint: failure.hint }
    }
}

impl From<prowess_config::edit::file::EditFileError> for PackageError {
    fn from(error: prowess_config::edit::file::EditFileError) -> Self {
        Self::FetchFailed { code: ErrorCode::ExecutionError, message: error.to_string(), hint: None }
    }
}
