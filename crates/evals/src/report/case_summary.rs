//! The results of single cases and messages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::summary::{mean, triggered};
use crate::run_record::{RunRecord, Variant};
use crate::statistics::Proportion;

/// How a skill changes a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CaseChange {
    /// The pass rate is higher with the skill.
    Improved,
    /// The pass rate is the same.
    Unchanged,
    /// The pass rate is lower with the skill.
    Worsened,
}

/// The results of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CaseSummary {
    /// The id.
    pub id: String,
    /// The name, if it has one.
    pub name: Option<String>,
    /// What the user asks for.
    pub prompt: String,
    /// The mean pass rate of each variant.
    pub pass_rates: BTreeMap<Variant, f64>,
    /// How the skill changes the case, compared with no skill or else with its old version.
    pub change: Option<CaseChange>,
    /// How often the instructions reached the model, with the skill.
    pub triggered: Option<Proportion>,
    /// Whether they should have, if the case says so.
    pub should_trigger: Option<bool>,
    /// The expectations that failed with the skill, with the evidence of one run.
    pub failed: Vec<(String, String)>,
    /// Runs without a result, with the skill.
    pub errors: Vec<String>,
    /// Whether most runs with the skill fulfil all expectations; `None` without results.
    pub passed: Option<bool>,
}

/// The results of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TriggerSummary {
    /// The message.
    pub query: String,
    /// Whether it should load the skill.
    pub should_trigger: bool,
    /// How often it did; `None` without results.
    pub triggered: Option<Proportion>,
    /// How often it did in the old version.
    pub old_triggered: Option<Proportion>,
    /// The runs without a result.
    pub errors: Vec<String>,
    /// Whether the skill was loaded in at least half of the runs, if it should be, or in fewer, if not; `None` without
    /// results.
    pub passed: Option<bool>,
}

impl CaseSummary {
    pub(super) fn new(
        id: &str,
        name: Option<String>,
        prompt: String,
        should_trigger: Option<bool>,
        records: &[&RunRecord],
    ) -> Self {
        let mut pass_rates = BTreeMap::new();
        for variant in [Variant::WithSkill, Variant::WithoutSkill, Variant::OldSkill] {
            let scores =
                records.iter().filter(|record| record.variant == variant).filter_map(|record| record.score());
            if let Some(mean) = mean(scores) {
                pass_rates.insert(variant, mean);
            }
        }
        let other = pass_rates.get(&Variant::WithoutSkill).or_else(|| pass_rates.get(&Variant::OldSkill));
        let change = match (pass_rates.get(&Variant::WithSkill), other) {
            (Some(with), Some(without)) if with - without > 1e-9 => Some(CaseChange::Improved),
            (Some(with), Some(without)) if without - with > 1e-9 => Some(CaseChange::Worsened),
            (Some(_), Some(_)) => Some(CaseChange::Unchanged),
            _ => None,
        };
        let with: Vec<&RunRecord> =
            records.iter().copied().filter(|record| record.variant == Variant::WithSkill).collect();
        let mut failed: BTreeMap<String, String> = BTreeMap::new();
        for grading in with.iter().filter_map(|record| record.grading.as_ref()) {
            for expectation in grading.expectations.iter().filter(|expectation| !expectation.passed) {
                failed.entry(expectation.text.clone()).or_insert_with(|| expectation.evidence.clone());
            }
        }
        let scores: Vec<f64> = with.iter().filter_map(|record| record.score()).collect();
        let complete = scores.iter().filter(|score| **score >= 1.0).count();
        let triggered = triggered(&with);
        let trigger_is_right = match (should_trigger, triggered) {
            (Some(should), Some(proportion)) => (proportion.rate >= 0.5) == should,
            _ => true,
        };
        Self {
            id: id.to_owned(),
            name,
            prompt,
            change,
            triggered,
            should_trigger,
            failed: failed.into_iter().collect(),
            errors: with.iter().filter_map(|record| record.error()).collect(),
            passed: (!scores.is_empty()).then(|| complete * 2 > scores.len() && trigger_is_right),
            pass_rates,
        }
    }
}

impl TriggerSummary {
    pub(super) fn new(query: &str, should_trigger: bool, records: &[&RunRecord]) -> Self {
        let of = |variant: Variant| -> Vec<&RunRecord> {
            records.iter().copied().filter(|record| record.variant == variant).collect()
        };
        let (with, old) = (of(Variant::WithSkill), of(Variant::OldSkill));
        let proportion = triggered(&with);
        let inconclusive = with.iter().filter(|record| record.triggered().is_none());
        Self {
            query: query.to_owned(),
            should_trigger,
            triggered: proportion,
            old_triggered: triggered(&old),
            errors: inconclusive.filter_map(|record| record.error()).collect(),
            passed: proportion.map(|proportion| (proportion.rate >= 0.5) == should_trigger),
        }
    }
}
