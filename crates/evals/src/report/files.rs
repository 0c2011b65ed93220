//! The files of a report, in the layout that other tools read.
//!
//! `iteration-N/benchmark.json`, and for each run `iteration-N/eval-ID/VARIANT/run-K` with `grading.json`, `timing.json`,
//! `transcript.md` and `outputs`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use prowess_archive::InnerPath;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::benchmark::{Benchmark, id_value};
use super::comparison::Comparison;
use super::markdown::render_markdown;
use super::summary::{ReportInfo, SkillReport, VariantSummary};
use crate::grading::render_transcript;
use crate::run_record::{RunRecord, RunSubject, Variant};
use crate::skill_under_test::SkillUnderTest;
use crate::staging::StagingDir;

/// The maximum size of a report, in bytes.
const REPORT_MAX: u64 = 64 * 1024 * 1024;

/// A report on disk.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StoredReport {
    /// The skill.
    pub skill: String,
    /// The number of the iteration.
    pub iteration: u32,
    /// When it was made, in the form 2026-01-31T12:00:00Z.
    pub timestamp: String,
    /// The mean pass rate with the skill; `None` if there are no results of cases.
    pub pass_rate: Option<f64>,
    /// The difference from the mean pass rate without the skill, or else with its old version.
    pub change: Option<f64>,
    /// The p-value of this difference.
    pub p_value: Option<f64>,
    /// Whether the session was completed.
    pub complete: bool,
}

/// A report that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the report to {}: {file}{source}", .dir.display())]
pub struct WriteReportError {
    /// The directory of the reports.
    pub dir: PathBuf,
    /// The file in the report, followed by a colon, if the error is about one.
    file: String,
    /// The cause.
    pub source: io::Error,
}

/// Checks that reports can be written to a directory, before anything is paid for.
pub fn check_report_dir(dir: &Path) -> io::Result<()> {
    StagingDir::create(dir).map(drop)
}

/// Writes a report to the next `iteration-N` in a directory. Returns its path. The report appears complete or not at all.
pub fn write_report(
    dir: &Path,
    skill: &SkillUnderTest,
    report: &SkillReport,
    records: &[RunRecord],
) -> Result<PathBuf, WriteReportError> {
    let failed = |file: String, source| WriteReportError { dir: dir.to_owned(), file, source };
    let staging = StagingDir::create(dir).map_err(|error| failed(String::new(), error))?;
    let files = ReportFiles(staging.path());
    write_files(&files, skill, report, records)
        .map_err(|(file, error)| failed(format!("{file}: "), error))?;
    let commit = || loop {
        let number = iterations(dir)?.last().map_or(1, |last| last + 1);
        let target = dir.join(format!("iteration-{number}"));
        match std::fs::rename(staging.path(), &target) {
            Ok(()) => return Ok(target),
            // Another process took the number.
            Err(_) if target.exists() => {}
            Err(error) => return Err(error),
        }
    };
    commit().map_err(|error| failed(String::new(), error))
}

/// The directory in which the files of a report are written. Errors name the file.
struct ReportFiles<'a>(&'a Path);

impl ReportFiles<'_> {
    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> Result<(), (String, io::Error)> {
        let target = self.0.join(path);
        let parent = target.parent().unwrap_or(self.0);
        prowess_fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&target, bytes))
            .map_err(|error| (path.to_owned(), error))
    }

    fn write_json(&self, path: &str, value: &impl Serialize) -> Result<(), (String, io::Error)> {
        let mut text =
            serde_json::to_string_pretty(value).map_err(|error| (path.to_owned(), error.into()))?;
        text.push('\n');
        self.write(path, text)
    }
}

fn write_files(
    files: &ReportFiles<'_>,
    skill: &SkillUnderTest,
    report: &SkillReport,
    records: &[RunRecord],
) -> Result<(), (String, io::Error)> {
    files.write_json("benchmark.json", &Benchmark::new(skill, report, records))?;
    files.write("benchmark.md", render_markdown(report))?;
    if !report.triggers.is_empty() {
        files.write_json("triggers.json", &trigger_results(skill, report))?;
    }
    for record in records {
        let RunSubject::Case { id } = &record.subject else { continue };
        let Some(case) = skill.suite.cases.iter().find(|case| case.id == *id) else { continue };
        let run_dir = format!("eval-{id}/{}/run-{}", record.variant.as_str(), record.repetition);
        let assertions: Vec<&str> = case.expectations.iter().map(|expectation| expectation.text()).collect();
        let name = case.name.as_deref().unwrap_or(id);
        let metadata = json!({"eval_id": id_value(id), "eval_name": name, "prompt": case.prompt, "assertions": assertions});
        files.write_json(&format!("eval-{id}/eval_metadata.json"), &metadata)?;
        files.write_json(&format!("{run_dir}/eval_metadata.json"), &metadata)?;
        let grading = record.grading.clone().unwrap_or_default();
        files.write_json(&format!("{run_dir}/outputs/metrics.json"), &grading.execution_metrics)?;
        files.write_json(&format!("{run_dir}/grading.json"), &grading)?;
        files.write_json(&format!("{run_dir}/timing.json"), &timing(record))?;
        let transcript = format!(
            "## Eval Prompt\n\n{}\n\n## Transcript\n\n{}",
            case.prompt,
            render_transcript(&record.outcome.transcript)
        );
        files.write(&format!("{run_dir}/transcript.md"), transcript)?;
        for file in &record.outcome.files {
            // Names that are not valid everywhere are left out. The directory is new, and only regular files are written
            // to it, so no link can be followed.
            let Ok(path) = InnerPath::parse(file.path.as_bytes()) else { continue };
            files.write(&format!("{run_dir}/outputs/{}", path.as_str()), &file.bytes)?;
        }
    }
    Ok(())
}

fn timing(record: &RunRecord) -> Value {
    let seconds = |ms: u64| ms as f64 / 1_000.0;
    json!({
        "total_tokens": record.totals.usage.input + record.totals.usage.output,
        "duration_ms": record.duration_ms,
        "total_duration_seconds": seconds(record.duration_ms + record.grading_ms),
        "executor_duration_seconds": seconds(record.duration_ms),
        "grader_duration_seconds": seconds(record.grading_ms),
    })
}

/// Returns the results of messages in the common form.
fn trigger_results(skill: &SkillUnderTest, report: &SkillReport) -> Value {
    let results: Vec<Value> = report
        .triggers
        .iter()
        .map(|trigger| {
            let proportion = trigger.triggered;
            json!({
                "query": trigger.query,
                "should_trigger": trigger.should_trigger,
                "trigger_rate": proportion.map(|proportion| proportion.rate),
                "triggers": proportion.map_or(0, |proportion| proportion.passed),
                "runs": proportion.map_or(0, |proportion| proportion.total),
                "pass": trigger.passed,
            })
        })
        .collect();
    let passed = report.triggers.iter().filter(|trigger| trigger.passed == Some(true)).count();
    let total = report.triggers.len();
    json!({
        "skill_name": report.skill,
        "description": skill.version.description,
        "results": results,
        "summary": {"total": total, "passed": passed, "failed": total - passed},
    })
}

/// Returns the numbers of the iterations in a directory, sorted.
fn iterations(dir: &Path) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.strip_prefix("iteration-")?.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Lists the newest reports below a directory that has one directory for each skill, newest first. Reads at most `limit` of
/// them, chosen by the times of their directories.
pub fn list_reports(all_reports: &Path, limit: usize) -> Vec<StoredReport> {
    let mut candidates: Vec<(SystemTime, String, u32)> = Vec::new();
    for entry in std::fs::read_dir(all_reports).into_iter().flatten().flatten() {
        let Ok(skill) = entry.file_name().into_string() else { continue };
        for iteration in iterations(&entry.path()).unwrap_or_default() {
            let dir = entry.path().join(format!("iteration-{iteration}"));
            let modified = dir.metadata().and_then(|metadata| metadata.modified());
            candidates.push((modified.unwrap_or(SystemTime::UNIX_EPOCH), skill.clone(), iteration));
        }
    }
    candidates.sort_by(|a, b| (b.0, b.2, &a.1).cmp(&(a.0, a.2, &b.1)));
    candidates.truncate(limit);
    let read = |(_, skill, iteration): (SystemTime, String, u32)| {
        let summary: BenchmarkSummary = parse_report(all_reports, &skill, iteration)?;
        Some(summary.into_stored(skill, iteration))
    };
    let mut reports: Vec<StoredReport> = candidates.into_iter().filter_map(read).collect();
    reports.sort_by(|a, b| (&b.timestamp, b.iteration, &a.skill).cmp(&(&a.timestamp, a.iteration, &b.skill)));
    reports
}

/// Returns the report of an iteration; `None` if there is none, if it is damaged, or if the name of the skill is not a file name.
pub fn read_report(all_reports: &Path, skill: &str, iteration: u32) -> Option<SkillReport> {
    #[derive(Deserialize)]
    struct BenchmarkDetails {
        report: SkillReport,
    }
    parse_report::<BenchmarkDetails>(all_reports, skill, iteration).map(|details| details.report)
}

/// Parses a `benchmark.json`.
fn parse_report<T: DeserializeOwned>(all_reports: &Path, skill: &str, iteration: u32) -> Option<T> {
    if InnerPath::parse(skill.as_bytes()).is_err() || skill.contains('/') {
        return None;
    }
    let path = all_reports.join(skill).join(format!("iteration-{iteration}")).join("benchmark.json");
    serde_json::from_slice(&prowess::read_bounded(&path, REPORT_MAX)?).ok()
}

/// The parts of `benchmark.json` that the list of reports shows.
#[derive(Deserialize)]
struct BenchmarkSummary {
    report: ReportHead,
}

#[derive(Deserialize)]
struct ReportHead {
    info: ReportInfo,
    #[serde(default)]
    comparisons: Vec<Comparison>,
    #[serde(default)]
    variants: BTreeMap<Variant, VariantSummary>,
}

impl BenchmarkSummary {
    fn into_stored(self, skill: String, iteration: u32) -> StoredReport {
        let ReportHead { info, comparisons, variants } = self.report;
        StoredReport {
            skill,
            iteration,
            timestamp: info.timestamp,
            pass_rate: variants.get(&Variant::WithSkill).map(|numbers| numbers.pass_rate.mean),
            change: comparisons.first().map(|comparison| comparison.pass_rate.mean),
            p_value: comparisons.first().map(|comparison| comparison.pass_rate.p_value),
            complete: info.stopped.is_none(),
        }
    }
}
