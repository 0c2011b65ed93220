//! Asks the user whether a script may run, and remembers lasting answers.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prowess::Skill;
use prowess_sandbox::{
    AccessSummary, Consent, ConsentAnswer, RunError, RunOptions, grant_entry, is_allowed, may_ask,
    pinned_grant_entry,
};

use crate::envelope::ToolError;

/// Asks the user whether a script may run. It blocks until there is an answer.
pub type ConsentCallback = dyn Fn(&AccessSummary) -> ConsentAnswer + Send + Sync;

/// Saves a lasting answer in the user's configuration, for a skill as it is named in lists of the configuration.
pub type DecisionCallback = dyn Fn(ConsentAnswer, &str) -> Result<(), String> + Send + Sync;

/// Lasting answers of the user. Clones share them.
#[derive(Clone, Default)]
pub struct ConsentDecisions {
    /// Skills with the tree hash of their files.
    allowed: Arc<Mutex<BTreeSet<String>>>,
    denied: Arc<Mutex<BTreeSet<String>>>,
    save: Option<Arc<DecisionCallback>>,
}

impl fmt::Debug for ConsentDecisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsentDecisions").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

fn contains(set: &Mutex<BTreeSet<String>>, entry: &str) -> bool {
    set.lock().unwrap_or_else(PoisonError::into_inner).contains(entry)
}

impl ConsentDecisions {
    /// Saves lasting answers with this callback. Without one, they last as long as the process.
    pub fn saved_by(save: Arc<DecisionCallback>) -> Self {
        Self { save: Some(save), ..Self::default() }
    }

    /// Returns the consent to run something of a skill without asking: the configuration or a lasting answer allows it.
    pub(crate) fn known_consent(&self, skill: &Skill, options: &RunOptions<'_>) -> Option<Consent> {
        if is_allowed(skill, options.policy(), options.host()) {
            return Some(Consent::Configured);
        }
        if !may_ask(skill, options.policy(), options.host()) {
            return None;
        }
        let tree = prowess::resources::read_skill_files(skill).ok()?.tree;
        let is_allowed = !contains(&self.denied, &grant_entry(skill))
            && contains(&self.allowed, &pinned_grant_entry(skill, &tree));
        is_allowed.then_some(Consent::GivenAt(tree))
    }

    /// Returns the consent to run a script, and asks the user if necessary and possible. Also returns a warning if a lasting
    /// answer could not be saved.
    pub fn consent(
        &self,
        skill: &Skill,
        script: &str,
        options: &RunOptions<'_>,
        ask: Option<&ConsentCallback>,
    ) -> Result<(Consent, Option<String>), ToolError> {
        let (policy, env) = (options.policy(), options.host());
        if !may_ask(skill, policy, env) {
            return Ok((Consent::Configured, None));
        }
        let Ok(files) = prowess::resources::read_skill_files(skill) else {
            return Ok((Consent::Configured, None));
        };
        // A script that does not exist is an error, not a question.
        files.file(script).map_err(|error| ToolError::new(error.code(), error.to_string()))?;
        let (entry, pinned) = (grant_entry(skill), pinned_grant_entry(skill, &files.tree));
        let denied = || {
            let error = RunError::Denied { skill: skill.name().into_owned() };
            Err(ToolError::new(error.code(), error.to_string()))
        };
        if contains(&self.denied, &entry) {
            return denied();
        }
        let given = Consent::GivenAt(files.tree.clone());
        if contains(&self.allowed, &pinned) {
            return Ok((given, None));
        }
        let Some(ask) = ask else { return Ok((Consent::Configured, None)) };
        let answer = ask(&AccessSummary::new(skill, &files, script, options));
        let save = |answer, entry: &str| {
            let saved = self.save.as_ref().map(|save| save(answer, entry));
            saved.and_then(Result::err).map(|error| format!("the answer could not be saved: {error}"))
        };
        let insert = |set: &Mutex<BTreeSet<String>>, entry: &str| {
            set.lock().unwrap_or_else(PoisonError::into_inner).insert(entry.to_owned());
        };
        match answer {
            ConsentAnswer::Once => Ok((given, None)),
            ConsentAnswer::NotNow => Ok((Consent::Configured, None)),
            ConsentAnswer::Always => {
                insert(&self.allowed, &pinned);
                Ok((given, save(answer, &pinned)))
            }
            ConsentAnswer::Never => {
                insert(&self.denied, &entry);
                let unsaved = save(answer, &entry);
                denied().map_err(|mut error| {
                    error.message.extend(unsaved.map(|unsaved| format!("; {unsaved}")));
                    error
                })
            }
        }
    }
}
