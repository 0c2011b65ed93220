//! Warnings that are given once.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::resource::Truncation;

/// The most files that are remembered; what is beyond is not warned about.
const MAX: usize = 10_000;

/// Which skills and files somebody was warned about. Whoever keeps it decides how long "once" is: a server
/// keeps one for as long as it runs.
#[derive(Debug, Default)]
pub struct WarnedOnce(Mutex<HashSet<(Box<str>, Box<str>)>>);

impl WarnedOnce {
    /// Nobody was warned about anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether this is the first time for this file.
    pub fn first(&self, skill: &str, path: &str) -> bool {
        let mut warned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        warned.len() < MAX && warned.insert((skill.into(), path.into()))
    }

    /// The warning that a file was cut; `None` where nothing was, or where it has been said.
    ///
    /// ```
    /// use prowess::activate::WarnedOnce;
    /// use prowess::resource::Truncation;
    ///
    /// let warned = WarnedOnce::new();
    /// let cut = Some(Truncation { shown: 10, total: 25 });
    /// let said = warned.truncation("pdf", "SKILL.md", cut);
    /// assert_eq!(said.as_deref(), Some("SKILL.md of pdf is too long: 10 of 25 bytes are shown"));
    /// assert_eq!(warned.truncation("pdf", "SKILL.md", cut), None);
    /// ```
    pub fn truncation(&self, skill: &str, path: &str, cut: Option<Truncation>) -> Option<String> {
        let Truncation { shown, total } = cut?;
        self.first(skill, path)
            .then(|| format!("{path} of {skill} is too long: {shown} of {total} bytes are shown"))
    }
}
