//! The summary of a session for one skill.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::run_record::{RunRecord, RunSubject, Variant};
use crate::skill_under_test::SkillUnderTest;
use crate::statistics::{Distribution, PairedDifference, Proportion};

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

/// The skill compared with another variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// The other variant.
    pub with: Variant,
    /// The difference of the pass rates, by case.
    pub pass_rate: PairedDifference,
    /// The difference of tokens, by case.
    pub tokens: PairedDifference,
    /// The difference of seconds, by case.
    pub time_seconds: PairedDifference,
    /// The cases that the skill improves, leaves and worsens.
    pub improved: Vec<String>,
    /// Cases without a difference.
    pub unchanged: Vec<String>,
    /// Cases that are worse with the skill.
    pub worsened: Vec<String>,
}

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

fn tokens(record: &RunRecord) -> f64 {
    (record.totals.usage.input + record.totals.usage.output) as f64
}

/// Returns in how many runs the instructions reached the model, among those in which that is known.
fn triggered(records: &[&RunRecord]) -> Option<Proportion> {
    let known: Vec<bool> = records.iter().filter_map(|record| record.triggered()).collect();
    Proportion::new(known.iter().filter(|triggered| **triggered).count() as u64, known.len() as u64)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

impl Comparison {
    fn new(other: Variant, cases: &[CaseSummary], records: &[RunRecord]) -> Option<Self> {
        let by_case = |value: &dyn Fn(&RunRecord) -> Option<f64>| -> Vec<(String, f64)> {
            let of = |variant: Variant, id: &str| {
                let matching = records.iter().filter(move |record| {
                    record.variant == variant
                        && record.error().is_none()
                        && matches!(&record.subject, RunSubject::Case { id: case } if case == id)
                });
                mean(matching.filter_map(value))
            };
            let difference = |case: &CaseSummary| {
                Some((case.id.clone(), of(Variant::WithSkill, &case.id)? - of(other, &case.id)?))
            };
            cases.iter().filter_map(difference).collect()
        };
        let values = |pairs: &[(String, f64)]| pairs.iter().map(|(_, value)| *value).collect::<Vec<f64>>();
        let scores = by_case(&RunRecord::score);
        let ids = |is_wanted: &dyn Fn(f64) -> bool| -> Vec<String> {
            scores.iter().filter(|(_, value)| is_wanted(*value)).map(|(id, _)| id.clone()).collect()
        };
        Some(Self {
            with: other,
            pass_rate: PairedDifference::new(&values(&scores))?,
            tokens: PairedDifference::new(&values(&by_case(&|record| Some(tokens(record)))))?,
            time_seconds: PairedDifference::new(&values(&by_case(&|record| {
                Some(record.duration_ms as f64 / 1_000.0)
            })))?,
            improved: ids(&|value| value > 1e-9),
            unchanged: ids(&|value| value.abs() <= 1e-9),
            worsened: ids(&|value| value < -1e-9),
        })
    }
}

impl CaseSummary {
    fn new(
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
    fn new(query: &str, should_trigger: bool, records: &[&RunRecord]) -> Self {
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
