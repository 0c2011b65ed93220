//! The summary of a session for one skill.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::case_summary::{CaseSummary, TriggerSummary};
use super::comparison::Comparison;
use crate::run_record::{RunRecord, RunSubject, Variant};
use crate::skill_under_test::SkillUnderTest;
use crate::statistics::{Distribution, Proportion};

/// How a report was made.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReportInfo {
    /// The agent.
    pub agent: String,
    /// The model of the agent.
    pub model: String,
    /// The model of the judge.
    pub judge: Option<String>,
    /// When it was made, in the form 2026-01-31T12:00:00Z.
    pub timestamp: String,
    /// How often each case and message was run.
    pub runs: u32,
    /// What the skill was compared with, besides no skill.
    pub against: Option<String>,
    /// Why the session ended early.
    pub stopped: Option<String>,
}

/// The results of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SkillReport {
    /// The version of the form.
    pub schema: u32,
    /// The name of the skill.
    pub skill: String,
    /// Its directory.
    pub path: String,
    /// How the report was made.
    pub info: ReportInfo,
    /// The numbers of each variant.
    pub variants: BTreeMap<Variant, VariantSummary>,
    /// The skill compared with no skill and with its old version.
    pub comparisons: Vec<Comparison>,
    /// Each case.
    pub cases: Vec<CaseSummary>,
    /// Each message, for the skill.
    pub triggers: Vec<TriggerSummary>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// The numbers of one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VariantSummary {
    /// The number of runs with a result.
    pub runs: u64,
    /// The number of runs without a result.
    pub errors: u64,
    /// The runs in which all expectations hold.
    pub passed: Option<Proportion>,
    /// The share of expectations that hold, by run.
    pub pass_rate: Distribution,
    /// Input and output tokens, by run.
    pub tokens: Distribution,
    /// Seconds, by run.
    pub time_seconds: Distribution,
    /// Tool calls, by run.
    pub tool_calls: Distribution,
    /// Dollars, by run, as far as prices are known.
    pub dollars: Distribution,
    /// The runs in which the instructions reached the model.
    pub triggered: Option<Proportion>,
}

impl SkillReport {
    /// Summarizes the results of a skill.
    pub fn new(
        skill: &SkillUnderTest,
        records: &[RunRecord],
        info: ReportInfo,
        mut notes: Vec<String>,
    ) -> Self {
        let of_variant = |variant: Variant| -> Vec<&RunRecord> {
            let is_case = |record: &&RunRecord| {
                record.variant == variant && matches!(record.subject, RunSubject::Case { .. })
            };
            records.iter().filter(is_case).collect()
        };
        let mut variants = BTreeMap::new();
        for variant in [Variant::WithSkill, Variant::WithoutSkill, Variant::OldSkill] {
            let records = of_variant(variant);
            if !records.is_empty() {
                variants.insert(variant, VariantSummary::new(&records));
            }
        }
        let cases: Vec<CaseSummary> = skill
            .suite
            .cases
            .iter()
            .filter_map(|case| {
                let records: Vec<&RunRecord> = records
                    .iter()
                    .filter(|record| matches!(&record.subject, RunSubject::Case { id } if *id == case.id))
                    .collect();
                (!records.is_empty()).then(|| {
                    let prompt = case.prompt.clone();
                    CaseSummary::new(&case.id, case.name.clone(), prompt, case.should_trigger, &records)
                })
            })
            .collect();
        let comparisons = [Variant::WithoutSkill, Variant::OldSkill]
            .into_iter()
            .filter_map(|other| Comparison::new(other, &cases, records))
            .collect();
        let triggers: Vec<TriggerSummary> = skill
            .suite
            .triggers
            .iter()
            .enumerate()
            .filter_map(|(index, trigger)| {
                let subject = RunSubject::Trigger { index };
                let records: Vec<&RunRecord> =
                    records.iter().filter(|record| record.subject == subject).collect();
                (!records.is_empty())
                    .then(|| TriggerSummary::new(&trigger.query, trigger.should_trigger, &records))
            })
            .collect();
        notes.extend(suspicions(skill, &variants, &triggers, records));
        Self {
            schema: 1,
            skill: skill.name.clone(),
            path: skill.path.clone(),
            info,
            variants,
            comparisons,
            cases,
            triggers,
            notes,
        }
    }

    /// Returns `true` if every case and message passed, and the session is complete.
    pub fn passed(&self) -> bool {
        self.info.stopped.is_none()
            && self.cases.iter().all(|case| case.passed != Some(false) && case.errors.is_empty())
            && self.triggers.iter().all(|trigger| trigger.passed == Some(true))
    }
}

/// Returns notes about results that probably say nothing about the skill.
fn suspicions(
    skill: &SkillUnderTest,
    variants: &BTreeMap<Variant, VariantSummary>,
    triggers: &[TriggerSummary],
    records: &[RunRecord],
) -> Vec<String> {
    let mut notes = Vec::new();
    let never_triggered = |proportion: Option<Proportion>| proportion.is_some_and(|p| p.passed == 0);
    if variants.get(&Variant::WithSkill).is_some_and(|with| never_triggered(with.triggered)) {
        notes.push(format!(
            "{} was never loaded, so the cases say nothing about its instructions; improve its description first",
            skill.name
        ));
    }
    let positive = triggers.iter().filter(|trigger| trigger.should_trigger);
    let rates: Vec<Option<Proportion>> = positive.map(|trigger| trigger.triggered).collect();
    if rates.len() >= 3 && rates.iter().all(|rate| never_triggered(*rate)) {
        notes.push("no message loaded the skill; check that the agent can load skills at all".to_owned());
    }
    if variants
        .get(&Variant::WithoutSkill)
        .and_then(|without| without.triggered)
        .is_some_and(|p| p.passed > 0)
    {
        notes.push(
            "the instructions reached the model without the skill: it is available to the agent elsewhere"
                .to_owned(),
        );
    }
    let markers = skill.version.markers("", &[]);
    if markers.is_empty() {
        notes.push(
            "the instructions are too short to be recognized, so it is not known whether they were loaded"
                .to_owned(),
        );
    }
    let unknown: u64 = records.iter().map(|record| record.totals.unknown_usage).sum();
    if unknown > 0 {
        notes.push(format!("the provider did not report the usage of {unknown} requests"));
    }
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for record in records.iter().filter_map(|record| record.grading.as_ref()) {
        for missing in &record.not_graded {
            *reasons.entry(&missing.reason).or_default() += 1;
        }
    }
    notes.extend(reasons.into_iter().map(|(reason, count)| match count {
        1 => format!("1 expectation was not graded: {reason}"),
        count => format!("{count} expectations were not graded: {reason}"),
    }));
    notes
}

impl VariantSummary {
    fn new(records: &[&RunRecord]) -> Self {
        let graded: Vec<f64> = records.iter().filter_map(|record| record.score()).collect();
        let is_result = |record: &&&RunRecord| record.error().is_none();
        let results: Vec<&&RunRecord> = records.iter().filter(is_result).collect();
        let values = |value: &dyn Fn(&RunRecord) -> f64| -> Distribution {
            Distribution::of(&results.iter().map(|record| value(record)).collect::<Vec<f64>>())
        };
        let passed = graded.iter().filter(|score| **score >= 1.0).count() as u64;
        let tool_calls = |record: &RunRecord| {
            record.grading.as_ref().map_or(0, |grading| grading.execution_metrics.total_tool_calls) as f64
        };
        Self {
            runs: results.len() as u64,
            errors: (records.len() - results.len()) as u64,
            passed: Proportion::new(passed, graded.len() as u64),
            pass_rate: Distribution::of(&graded),
            tokens: values(&|record| tokens(record)),
            time_seconds: values(&|record| record.duration_ms as f64 / 1_000.0),
            tool_calls: values(&tool_calls),
            dollars: values(&|record| record.totals.picodollars as f64 / 1e12),
            triggered: triggered(records),
        }
    }
}

pub(super) fn tokens(record: &RunRecord) -> f64 {
    (record.totals.usage.input + record.totals.usage.output) as f64
}

/// Returns in how many runs the instructions reached the model, among those in which that is known.
pub(super) fn triggered(records: &[&RunRecord]) -> Option<Proportion> {
    let known: Vec<bool> = records.iter().filter_map(|record| record.triggered()).collect();
    Proportion::new(known.iter().filter(|triggered| **triggered).count() as u64, known.len() as u64)
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}
