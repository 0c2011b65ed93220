//! Warnings that are shown once.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::resources::Truncation;

/// The maximum number of files that are recorded; there are no warnings beyond it.
const FILES_MAX: usize = 10_000;

/// The files for which a warning was already shown. A new value shows all warnings again; a server keeps one value
/// for its lifetime.
#[derive(Debug, Default)]
pub struct ShownWarnings(Mutex<HashSet<(Box<str>, Box<str>)>>);

impl ShownWarnings {
    /// Creates a value for which no warning was shown.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a warning; returns `true` if it is the first one for this file.
    pub fn record_first(&self, skill: &str, path: &str) -> bool {
        let mut warned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        warned.len() < FILES_MAX && warned.insert((skill.into(), path.into()))
    }

    /// Returns the warning for a truncated file; `None` if it was not truncated or the warning was already
    /// shown.
    ///
    /// ```
    /// use prowess::activation::ShownWarnings;
    /// use prowess::resources::Truncation;
    ///
    /// let warnings = ShownWarnings::new();
    /// let truncation = Some(Truncation { shown: 10, total: 25 });
    /// let warning = warnings.truncation_warning("pdf", "SKILL.md", truncation);
    /// assert_eq!(warning.as_deref(), Some("SKILL.md of pdf is too long: 10 of 25 bytes are shown"));
    /// assert_eq!(warnings.truncation_warning("pdf", "SKILL.md", truncation), None);
    /// ```
    pub fn truncation_warning(
        &self,
        skill: &str,
        path: &str,
        truncation: Option<Truncation>,
    ) -> Option<String> {
        let Truncation { shown, total } = truncation?;
        self.record_first(skill, path)
            .then(|| format!("{path} of {skill} is too long: {shown} of {total} bytes are shown"))
    }
}
