//! Why the dependencies of a script cannot be determined.

use prowess::format::hidden::escape_for_display;

/// Why the dependencies of a script cannot be determined. Texts of the skill are escaped and bounded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DependencyError {
    /// A line of a requirements file is refused.
    #[error("{path}:{line}: cannot use \"{text}\": {reason}")]
    Line {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// The text.
        text: String,
        /// The reason.
        reason: String,
    },
    /// The metadata of a script or of the skill is invalid.
    #[error("{}:{line}: {}", escape(path), escape(reason))]
    Metadata {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// A `package.json` has dependencies, but no lock file with their digests.
    #[error("{} has dependencies, but no package-lock.json", escape(path))]
    NoLock {
        /// The file.
        path: String,
    },
    /// The imports cannot be searched within the limits.
    #[error("the scripts of the skill import too many modules to determine which packages they need")]
    TooManyImports,
    /// A lock file is invalid or contains something that does not come from the registry.
    #[error("{}: {}", escape(path), escape(reason))]
    Lock {
        /// The file.
        path: String,
        /// The reason.
        reason: String,
    },
}

/// The maximum number of characters of a text of the skill in a message.
const TEXT_MAX: usize = 200;

/// Returns text of a skill for a message: one line, escaped and bounded.
pub(crate) fn escape(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(TEXT_MAX).collect();
    let cut = if short.len() < line.len() { "…" } else { "" };
    format!("{}{cut}", escape_for_display(&short))
}

impl DependencyError {
    pub(super) fn line(path: &str, line: usize, text: &str, reason: &str) -> Self {
        Self::Line { path: escape(path), line, text: escape(text), reason: reason.to_owned() }
    }

    /// Sets the file of an error in a line.
    pub(super) fn in_file(self, file: &str) -> Self {
        match self {
            Self::Line { line, text, reason, .. } => Self::Line { path: escape(file), line, text, reason },
            other => other,
        }
    }

    /// Returns what to do about the error.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Line { .. } => Some("list packages by name, such as openpyxl>=3.1".to_owned()),
            Self::Metadata { .. } => None,
            Self::TooManyImports => Some("list the packages in requirements.txt of the skill".to_owned()),
            Self::NoLock { path } => {
                let dir =
                    path.rsplit_once('/').map(|(dir, _)| format!(" in {}", escape(dir))).unwrap_or_default();
                Some(format!(
                    "run `npm install --package-lock-only`{dir} and add package-lock.json to the skill"
                ))
            }
            Self::Lock { .. } => {
                Some("run `npm install --package-lock-only` again with npm 7 or later".to_owned())
            }
        }
    }
}
