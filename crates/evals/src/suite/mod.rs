//! The evaluations that a skill carries, in the formats that authors and other tools write.
//!
//! Cases are in `evals/evals.json`; lists of messages that should or should not load the skill are in any other JSON file
//! in `evals`. [`EvalSuite::load`] recognizes each file by its content. What cannot be used is reported, not ignored.

mod cases;
mod expectation;
mod triggers;

use std::collections::BTreeMap;

use prowess::format::hidden::escape_for_display;
use serde::Serialize;
use serde_json::Value;

pub(crate) use expectation::compile as compile_pattern;
pub use expectation::{Check, CheckKind, Expectation, TextSource};

/// The directory of evaluations in a skill.
pub const EVALS_DIR: &str = "evals";

/// The maximum size of a file of evaluations, in bytes.
const FILE_MAX: usize = 8 * 1024 * 1024;

/// The maximum number of cases and messages.
const CASES_MAX: usize = 2_000;

/// The evaluations of a skill.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvalSuite {
    /// The tasks.
    pub cases: Vec<EvalCase>,
    /// The messages that should or should not load the skill.
    pub triggers: Vec<TriggerCase>,
    /// What was found and cannot be used.
    pub notes: Vec<String>,
}

/// A task with expectations.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalCase {
    /// The id, unique in the skill and valid as a file name.
    pub id: String,
    /// The name, if it has one.
    pub name: Option<String>,
    /// What the user asks for.
    pub prompt: String,
    /// The files of the workspace: path and content.
    pub files: Vec<(String, Vec<u8>)>,
    /// What must hold afterwards.
    pub expectations: Vec<Expectation>,
    /// Whether the skill should be loaded, if the case says so.
    pub should_trigger: Option<bool>,
}

/// A message that should or should not load the skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TriggerCase {
    /// The message.
    pub query: String,
    /// Whether it should load the skill.
    pub should_trigger: bool,
}

/// Why the evaluations of a skill cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadSuiteError {
    /// A file is not JSON.
    #[error("{path} is not valid JSON: {reason}")]
    NotJson {
        /// The path in the skill.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A file is too large.
    #[error("{path} is larger than {} MiB", FILE_MAX / 1024 / 1024)]
    TooLarge {
        /// The path in the skill.
        path: String,
    },
    /// A case or a message is invalid.
    #[error("{path}: {case}: {reason}")]
    Invalid {
        /// The path in the skill.
        path: String,
        /// The case, by its position from 1 or its id.
        case: String,
        /// The reason.
        reason: String,
    },
    /// There are too many cases.
    #[error("there are more than {CASES_MAX} cases and messages")]
    TooMany,
}

/// Returns `true` for a file of evaluations, which agents must not see.
pub fn is_eval_file(path: &str) -> bool {
    path.starts_with("evals/") || path.starts_with("evaluations/")
}

impl EvalSuite {
    /// Reads the evaluations from the files of a skill: paths in the skill and contents.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use prowess_evals::suite::EvalSuite;
    ///
    /// let json = br#"{"evals": [{"id": 1, "prompt": "Sum it", "expectations": ["The sum is 3"]}]}"#;
    /// let suite = EvalSuite::load(&BTreeMap::from([("evals/evals.json".to_owned(), json.to_vec())])).unwrap();
    /// assert_eq!((&*suite.cases[0].id, &*suite.cases[0].prompt), ("1", "Sum it"));
    /// ```
    pub fn load(files: &BTreeMap<String, Vec<u8>>) -> Result<Self, LoadSuiteError> {
        let mut suite = Self::default();
        for (path, bytes) in files {
            let inner = path.strip_prefix("evals/").or_else(|| path.strip_prefix("evaluations/"));
            let is_data = inner.is_some_and(|inner| !inner.contains('/') && inner.ends_with(".json"));
            if !is_data {
                continue;
            }
            if bytes.len() > FILE_MAX {
                return Err(LoadSuiteError::TooLarge { path: path.clone() });
            }
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            let value: Value = serde_json::from_slice(bytes)
                .map_err(|error| LoadSuiteError::NotJson { path: path.clone(), reason: error.to_string() })?;
            suite.add(path, &value, files)?;
            if suite.cases.len() + suite.triggers.len() > CASES_MAX {
                return Err(LoadSuiteError::TooMany);
            }
        }
        suite.make_ids_unique();
        Ok(suite)
    }

    /// Returns `true` if there is nothing to evaluate.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty() && self.triggers.is_empty()
    }

    fn add(
        &mut self,
        path: &str,
        value: &Value,
        files: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), LoadSuiteError> {
        let mut known = false;
        if let Some(messages) = triggers::parse(path, value)? {
            self.triggers.extend(messages);
            known = true;
        }
        let list =
            ["evals", "evaluations", "output_evals"].iter().find_map(|key| value.get(*key)?.as_array());
        // A list of objects with prompts is a list of cases.
        let list = list
            .or_else(|| value.as_array().filter(|list| list.iter().any(|case| case.get("prompt").is_some())));
        for (index, case) in list.into_iter().flatten().enumerate() {
            known = true;
            let case = cases::parse(path, index, case, files, &mut self.notes)?;
            match case.should_trigger {
                // Without expectations, only loading the skill can be examined.
                Some(should_trigger) if case.expectations.is_empty() => {
                    self.triggers.push(TriggerCase { query: case.prompt, should_trigger });
                }
                _ => self.cases.push(case),
            }
        }
        if !known {
            self.notes.push(format!(
                "{} contains neither cases nor messages; it is not used",
                escape_for_display(path)
            ));
        }
        Ok(())
    }

    fn make_ids_unique(&mut self) {
        let mut seen = std::collections::HashSet::new();
        for case in &mut self.cases {
            let base = case.id.clone();
            let mut number = 2;
            while !seen.insert(case.id.to_lowercase()) {
                case.id = format!("{base}-{number}");
                number += 1;
            }
        }
    }
}

fn invalid(path: &str, case: impl Into<String>, reason: impl Into<String>) -> LoadSuiteError {
    LoadSuiteError::Invalid { path: path.to_owned(), case: case.into(), reason: reason.into() }
}

#[cfg(test)]
mod tests;
