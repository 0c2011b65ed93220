//! `benchmark.json`, in the form that other tools read.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::summary::{SkillReport, VariantSummary};
use crate::grading::GradedExpectation;
use crate::run_record::{RunRecord, RunSubject, Variant};
use crate::skill_under_test::SkillUnderTest;

/// The content of `benchmark.json`. Viewers of other tools read all fields but `report`, which has the details.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Benchmark {
    metadata: Value,
    runs: Vec<BenchmarkRun>,
    run_summary: BTreeMap<String, Value>,
    notes: Vec<String>,
    /// The details.
    report: SkillReport,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct BenchmarkRun {
    eval_id: Value,
    eval_name: String,
    configuration: &'static str,
    run_number: u32,
    result: Value,
    expectations: Vec<GradedExpectation>,
    notes: Vec<String>,
}

/// Returns an id as a number if it is one, as most tools write it.
pub(super) fn id_value(id: &str) -> Value {
    id.parse::<u64>().map_or_else(|_| json!(id), |number| json!(number))
}

impl Benchmark {
    /// Creates the content from a report and its runs.
    pub fn new(skill: &SkillUnderTest, report: &SkillReport, records: &[RunRecord]) -> Self {
        let ids: Vec<Value> = report.cases.iter().map(|case| id_value(&case.id)).collect();
        let name = |id: &str| {
            let case = skill.suite.cases.iter().find(|case| case.id == id);
            case.and_then(|case| case.name.clone()).unwrap_or_else(|| id.to_owned())
        };
        let runs = records.iter().filter_map(|record| {
            let RunSubject::Case { id } = &record.subject else { return None };
            let grading = record.grading.clone().unwrap_or_default();
            let metrics = &grading.execution_metrics;
            Some(BenchmarkRun {
                eval_id: id_value(id),
                eval_name: name(id),
                configuration: record.variant.as_str(),
                run_number: record.repetition,
                result: json!({
                    "pass_rate": round(grading.summary.pass_rate),
                    "passed": grading.summary.passed,
                    "failed": grading.summary.failed,
                    "total": grading.summary.total,
                    "time_seconds": round(record.duration_ms as f64 / 1_000.0),
                    "tokens": record.totals.usage.input + record.totals.usage.output,
                    "tool_calls": metrics.total_tool_calls,
                    "errors": metrics.errors_encountered + u64::from(record.error().is_some()),
                    "triggered": record.triggered(),
                }),
                notes: record.error().into_iter().collect(),
                expectations: grading.expectations,
            })
        });
        Self {
            metadata: json!({
                "skill_name": report.skill,
                "skill_path": report.path,
                "executor_model": report.info.model,
                "analyzer_model": report.info.judge,
                "timestamp": report.info.timestamp,
                "evals_run": ids,
                "runs_per_configuration": report.info.runs,
            }),
            runs: runs.collect(),
            run_summary: run_summary(report),
            notes: report.notes.clone(),
            report: report.clone(),
        }
    }
}

fn run_summary(report: &SkillReport) -> BTreeMap<String, Value> {
    let describe = |variant: &VariantSummary| {
        let distribution = |d: crate::statistics::Distribution| json!({"mean": round(d.mean), "stddev": round(d.stddev), "min": round(d.min), "max": round(d.max)});
        json!({
            "pass_rate": distribution(variant.pass_rate),
            "time_seconds": distribution(variant.time_seconds),
            "tokens": distribution(variant.tokens),
        })
    };
    let mut summary: BTreeMap<String, Value> = report
        .variants
        .iter()
        .map(|(variant, numbers)| (variant.as_str().to_owned(), describe(numbers)))
        .collect();
    let with = report.variants.get(&Variant::WithSkill);
    let other =
        report.variants.get(&Variant::WithoutSkill).or_else(|| report.variants.get(&Variant::OldSkill));
    if let (Some(with), Some(other)) = (with, other) {
        let delta = json!({
            "pass_rate": format!("{:+.2}", with.pass_rate.mean - other.pass_rate.mean),
            "time_seconds": format!("{:+.1}", with.time_seconds.mean - other.time_seconds.mean),
            "tokens": format!("{:+.0}", with.tokens.mean - other.tokens.mean),
        });
        summary.insert("delta".to_owned(), delta);
    }
    summary
}

fn round(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
