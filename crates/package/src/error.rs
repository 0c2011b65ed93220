//! Why a skill could not be got, kept or removed: a code for programs, a sentence for people, and what to do next.

use std::io;
use std::path::{Path, PathBuf};

use prowess::lock::LockError;
use prowess::{ErrorCode, TreeError};
use prowess_format::{Diagnostic, hidden};

use crate::refusal;
use crate::work::Cancelled;
use prowess_archive::PathError;
use prowess_archive::TreeFailure;

/// Why it failed. Nothing has changed then, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// A name in the source that cannot be a path here.
    #[error("{} cannot be installed: {why}", hidden::shown(path))]
    Path {
        /// The name.
        path: String,
        /// Why not.
        why: PathError,
    },
    /// A link, a submodule, a device.
    #[error("{} is {what}; a skill is made of regular files only", hidden::shown(path))]
    NotAFile {
        /// The name.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// Two names that some file systems take for one.
    #[error("{} and {} are one file on systems that ignore case", hidden::shown(.0), hidden::shown(.1))]
    Collision(String, String),
    /// More than is taken.
    #[error("{what} goes beyond the limit of {limit}")]
    Limit {
        /// What there is too much of.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// There is nothing to install.
    #[error("there is no SKILL.md in {0}")]
    NoSkill(String),
    /// None of this name.
    #[error("there is no skill {} in {source_text}", hidden::shown(name))]
    NoSuchSkill {
        /// The name.
        name: String,
        /// Where it was looked for.
        source_text: String,
        /// What there is.
        there: Vec<String>,
    },
    /// More than one, and nobody to ask.
    #[error("{source_text} holds {} skills", there.len())]
    Many {
        /// Where.
        source_text: String,
        /// Their names.
        there: Vec<String>,
    },
    /// A manifest that does not load in this preset.
    #[error("{} does not load: {}", hidden::shown(path), first_error(diagnostics))]
    Invalid {
        /// The file, as the source has it.
        path: String,
        /// What is wrong with it, in the order of the file.
        diagnostics: Vec<Diagnostic>,
        /// The file.
        text: Vec<u8>,
    },
    /// A name that no folder can have.
    #[error("“{}” cannot be the name of a folder: {why}", hidden::shown(name))]
    Name {
        /// The name.
        name: String,
        /// Why not.
        why: String,
    },
    /// Not in the project.
    #[error("{} is not written to: {why}", path.display())]
    Outside {
        /// The folder.
        path: PathBuf,
        /// Where it leads.
        why: &'static str,
    },
    /// Something is where it should go.
    #[error("{} is already there", .0.display())]
    Taken(PathBuf),
    /// What is installed is not what was installed.
    #[error("{name} was modified since it was installed: {difference}")]
    Modified {
        /// The skill.
        name: String,
        /// The files.
        difference: String,
    },
    /// The source no longer gives what the lock says.
    #[error("{name} is no longer what the lock says: {why}")]
    Drift {
        /// The skill.
        name: String,
        /// What differs.
        why: String,
    },
    /// The audit refuses.
    #[error("the audit refuses {name}: {findings}")]
    Refused {
        /// The skill.
        name: String,
        /// The critical findings.
        findings: String,
    },
    /// The audit found something of high severity, and the user did not confirm.
    #[error("the audit has findings of high severity in {name}: {findings}")]
    Unconfirmed {
        /// The skill.
        name: String,
        /// The findings.
        findings: String,
    },
    /// The source calls the skill by another name than when it was installed.
    #[error("{name} is called {now} at its source now")]
    RenamedAtSource {
        /// The name here.
        name: String,
        /// The name at the source.
        now: String,
        /// The command that installs it under its new name.
        install: String,
    },
    /// Some of several skills cannot be installed, so none was.
    #[error("{} of {total} skills cannot be installed: {}", failed.len(), each_failure(failed))]
    Several {
        /// The name of each such skill, and why.
        failed: Vec<(String, PackageError)>,
        /// How many skills there are.
        total: usize,
    },
    /// Not something to be removed or changed.
    #[error("{name} cannot be {what}: {why}")]
    ReadOnly {
        /// The skill.
        name: String,
        /// What was asked for.
        what: &'static str,
        /// Why not.
        why: String,
    },
    /// There is nothing of that name.
    #[error("{0}")]
    NotFound(String),
    /// A choice that nobody made.
    #[error("{message}")]
    Choose {
        /// What has to be decided.
        message: String,
        /// How.
        hint: String,
    },
    /// The call makes no sense.
    #[error("{message}")]
    Call {
        /// What is wrong with it.
        message: String,
        /// What to do.
        hint: String,
    },
    /// Getting it failed, in the words of whoever tried.
    #[error("{message}")]
    Acquire {
        /// For programs.
        code: ErrorCode,
        /// For people.
        message: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// The lock cannot be read; it is not overwritten.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Nobody wants it any more.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The file system refuses.
    #[error("{} cannot be {doing}: {}", path.display(), refusal::words(source))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Each skill that cannot be installed, and why.
fn each_failure(failed: &[(String, PackageError)]) -> String {
    let reason =
        |(name, error): &(String, PackageError)| format!("{}: {}", hidden::shown(name), error.without(name));
    failed.iter().map(reason).collect::<Vec<_>>().join("; ")
}

pub(crate) fn first_error(diagnostics: &[Diagnostic]) -> &str {
    diagnostics.iter().find(|said| said.is_error()).map_or("it is not valid", |said| &said.message)
}

impl PackageError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// The message for a reader who has just read the skill's name.
    pub fn without(&self, name: &str) -> String {
        let message = self.to_string();
        match message.strip_prefix(&format!("{name} ")) {
            Some(rest) => format!("it {rest}"),
            None => message,
        }
    }

    /// Whether this is about one skill, so that others of the same source can still be installed.
    pub fn is_about_one_skill(&self) -> bool {
        match self {
            Self::Path { .. }
            | Self::NotAFile { .. }
            | Self::Collision(..)
            | Self::Limit { .. }
            | Self::Invalid { .. }
            | Self::Name { .. }
            | Self::Refused { .. }
            | Self::Unconfirmed { .. } => true,
            Self::NoSkill(_)
            | Self::NoSuchSkill { .. }
            | Self::Many { .. }
            | Self::Outside { .. }
            | Self::Taken(_)
            | Self::Modified { .. }
            | Self::Drift { .. }
            | Self::RenamedAtSource { .. }
            | Self::Several { .. }
            | Self::ReadOnly { .. }
            | Self::NotFound(_)
            | Self::Choose { .. }
            | Self::Call { .. }
            | Self::Acquire { .. }
            | Self::Lock(_)
            | Self::Cancelled(_)
            | Self::Io { .. } => false,
        }
    }

    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Path { .. } | Self::NotAFile { .. } | Self::Name { .. } | Self::Outside { .. } => {
                ErrorCode::AccessDenied
            }
            Self::Collision(..) | Self::Taken(_) | Self::Choose { .. } => ErrorCode::Conflict,
            Self::Modified { .. } | Self::Drift { .. } | Self::RenamedAtSource { .. } => ErrorCode::Conflict,
            Self::Several { failed, .. } => {
                failed.first().map_or(ErrorCode::InternalError, |(_, error)| error.code())
            }
            Self::Limit { .. } => ErrorCode::TooLarge,
            Self::NoSkill(_) | Self::NoSuchSkill { .. } | Self::NotFound(_) => ErrorCode::NotFound,
            Self::Many { .. } | Self::Call { .. } => ErrorCode::InvalidParam,
            Self::Invalid { .. } => ErrorCode::InternalError,
            Self::Refused { .. } | Self::Unconfirmed { .. } => ErrorCode::Untrusted,
            Self::ReadOnly { .. } => ErrorCode::AccessDenied,
            Self::Acquire { code, .. } => *code,
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

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        let few = |names: &[String]| {
            let shown = names.iter().take(12).map(|name| hidden::shown(name)).collect::<Vec<_>>().join(", ");
            if names.len() > 12 { format!("{shown}, … ({} in all)", names.len()) } else { shown }
        };
        Some(match self {
            Self::NoSkill(_) => "a skill is a folder with a SKILL.md; name the folder that holds one".to_owned(),
            Self::NoSuchSkill { there, .. } => format!("there are {}", few(there)),
            Self::Many { there, .. } => {
                format!("choose with --skill NAME, or take them with --all; there are {}", few(there))
            }
            Self::Name { .. } => "give it another with --name".to_owned(),
            Self::Outside { .. } => "remove the link, or install for the user: --user".to_owned(),
            Self::Taken(_) => {
                "choose: --yes --on-conflict overwrite, skip or rename; or another name with --name".to_owned()
            }
            Self::Modified { name, .. } => {
                format!("prowess verify {name} shows it; --yes --on-conflict overwrite replaces it")
            }
            Self::Drift { name, .. } => {
                format!("prowess update {name} takes what the source gives now; prowess remove {name} removes it")
            }
            Self::Refused { .. } => {
                "read those lines; prowess audit PATH says more where the source is a folder here. --accept-risk \
                 installs it all the same, and ~/.prowess/audit.toml accepts a rule with a reason"
                    .to_owned()
            }
            Self::Unconfirmed { .. } => {
                "read those lines; to install it anyway, run the same command with --yes".to_owned()
            }
            Self::RenamedAtSource { name, install, .. } => {
                format!("to follow it: {install} && prowess remove {name}")
            }
            Self::Several { .. } => "to install the others, run the same command with --skip-invalid".to_owned(),
            Self::Choose { hint, .. } | Self::Call { hint, .. } => hint.clone(),
            Self::Acquire { hint, .. } => return hint.clone(),
            Self::Cancelled(_) => "nothing was changed".to_owned(),
            Self::Lock(error) if error.why == prowess::lock::NEWER => "use a newer Prowess".to_owned(),
            Self::Lock(_) => "mend that file, or take it back from version control".to_owned(),
            Self::Io { source, .. } => return refusal::hint(source),
            _ => return None,
        })
    }
}

impl From<TreeFailure> for PackageError {
    fn from(failure: TreeFailure) -> Self {
        Self::Acquire { code: failure.code, message: failure.message.to_string(), hint: None }
    }
}

impl From<TreeError> for PackageError {
    fn from(error: TreeError) -> Self {
        Self::Acquire { code: ErrorCode::ExecutionError, message: error.to_string(), hint: None }
    }
}

/// Each way of getting skills says for itself what went wrong and what to do.
macro_rules! acquire {
    ($($error:ty),+) => {
        $(impl From<$error> for PackageError {
            fn from(error: $error) -> Self {
                Self::Acquire { code: error.code(), message: error.to_string(), hint: error.hint() }
            }
        })+
    };
}

acquire!(
    prowess_archive::ArchiveError,
    crate::fetch::git::GitError,
    crate::pack::PackError,
    crate::source::SourceError,
    crate::fetch::well_known::WellKnownError
);

impl From<crate::fetch::well_known::FetchFailure> for PackageError {
    fn from(failure: crate::fetch::well_known::FetchFailure) -> Self {
        Self::Acquire { code: failure.code, message: failure.message, hint: failure.hint }
    }
}

impl From<prowess_config::edit::file::FileError> for PackageError {
    fn from(error: prowess_config::edit::file::FileError) -> Self {
        Self::Acquire { code: ErrorCode::ExecutionError, message: error.to_string(), hint: None }
    }
}
