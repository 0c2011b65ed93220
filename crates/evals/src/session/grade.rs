//! Grades the result of a case: checks first, then the judge.

use std::collections::BTreeMap;
use std::time::Instant;

use prowess_sandbox::Cancel;
use tokio_util::sync::CancellationToken;

use super::{SessionStop, TestSession, elapsed_ms};
use crate::agent::{AgentEnd, AgentOutcome};
use crate::gateway::{InstructionMarkers, RunOptions, RunTotals, StopReason};
use crate::grading::{
    CheckContext, ExecutionMetrics, GradedExpectation, Grading, NotGraded, ScriptChecks, run_check,
};
use crate::plan::PlannedRun;
use crate::run_record::RunRecord;
use crate::suite::{EvalCase, Expectation};

impl TestSession {
    /// Lets the agent do the task of a case, and grades the result. Also returns `false` if the judge failed.
    pub(super) async fn run_case(
        &self,
        run: &PlannedRun,
        case: &EvalCase,
        cancel: &CancellationToken,
    ) -> Result<(RunRecord, bool), SessionStop> {
        let mut record = self.run_agent(run, case, cancel).await?;
        let metrics = ExecutionMetrics::new(&record.outcome, record.totals.requests);
        // After an error, nothing can be said about the skill.
        if matches!(record.outcome.end, AgentEnd::Failed(_)) {
            let reason = record.error().unwrap_or_default();
            let not_graded = case
                .expectations
                .iter()
                .map(|expectation| NotGraded { text: expectation.text().to_owned(), reason: reason.clone() });
            record.grading = Some(Grading::new(Vec::new(), not_graded.collect(), metrics));
            return Ok((record, true));
        }
        let mut is_complete = true;
        let started = Instant::now();
        let mut graded: Vec<Option<GradedExpectation>> = vec![None; case.expectations.len()];
        let mut not_graded: Vec<NotGraded> = Vec::new();
        self.run_checks(case, &record.outcome, &mut graded, &mut not_graded, cancel);
        let judged: Vec<(usize, &str)> = case
            .expectations
            .iter()
            .enumerate()
            .filter_map(|(index, expectation)| match expectation {
                Expectation::Judged(text) => Some((index, text.as_str())),
                Expectation::Check(_) => None,
            })
            .collect();
        if !judged.is_empty() {
            let texts: Vec<&str> = judged.iter().map(|(_, text)| *text).collect();
            let result = self.ask_judge(run, case, &record.outcome, &texts, cancel).await?;
            match result {
                Ok((grades, totals)) => {
                    record.judge_totals = totals;
                    for ((index, _), grade) in judged.iter().zip(grades) {
                        graded[*index] = Some(grade);
                    }
                }
                Err(reason) => {
                    is_complete = self.judge.is_none();
                    let not_judged =
                        |text: &&str| NotGraded { text: (*text).to_owned(), reason: reason.clone() };
                    not_graded.extend(texts.iter().map(not_judged));
                }
            }
        }
        record.grading_ms = elapsed_ms(started);
        record.grading = Some(Grading::new(graded.into_iter().flatten().collect(), not_graded, metrics));
        Ok((record, is_complete))
    }

    fn run_checks(
        &self,
        case: &EvalCase,
        outcome: &AgentOutcome,
        graded: &mut [Option<GradedExpectation>],
        not_graded: &mut Vec<NotGraded>,
        cancel: &CancellationToken,
    ) {
        let mut files: BTreeMap<String, Vec<u8>> = case.files.iter().cloned().collect();
        files.extend(outcome.files.iter().map(|file| (file.path.clone(), file.bytes.clone())));
        let snapshot = self.registry.snapshot();
        let skill = snapshot.get(&self.skill.name);
        let stop = Cancel::default();
        let scripts = skill.filter(|_| self.options.allow_scripts).map(|skill| ScriptChecks {
            registry: &self.registry,
            skill,
            helper: &self.helper,
            cancel: &stop,
        });
        let context = CheckContext { outcome, files: &files, scripts };
        tokio::task::block_in_place(|| {
            for (slot, expectation) in graded.iter_mut().zip(&case.expectations) {
                let Expectation::Check(check) = expectation else { continue };
                if cancel.is_cancelled() {
                    stop.cancel();
                }
                match run_check(&check.kind, &context) {
                    Ok((passed, evidence)) => {
                        *slot = Some(GradedExpectation { text: check.text.clone(), passed, evidence });
                    }
                    Err(reason) => not_graded.push(NotGraded { text: check.text.clone(), reason }),
                }
            }
        });
    }

    /// Asks the judge. The inner error is the reason why there are no grades.
    async fn ask_judge(
        &self,
        run: &PlannedRun,
        case: &EvalCase,
        outcome: &AgentOutcome,
        texts: &[&str],
        cancel: &CancellationToken,
    ) -> Result<Result<(Vec<GradedExpectation>, RunTotals), String>, SessionStop> {
        let Some(judge) = &self.judge else {
            return Ok(Err("no judge is configured; set test.judge-model or pass --judge".to_owned()));
        };
        let options = RunOptions {
            name: format!("{}--judge", run.name),
            markers: InstructionMarkers::default(),
            stop_when_triggered: false,
            // A provider may be busy.
            max_requests: 8,
            matching: self.matching,
        };
        let handle = self.open_run(options, &judge.model)?;
        let graded = tokio::select! {
            graded = judge.grade(handle.address(), &case.prompt, outcome, texts) => graded,
            () = cancel.cancelled() => return Err(SessionStop::Cancelled),
        };
        handle.wait_for_responses().await;
        match handle.stop_reason() {
            Some(StopReason::Cap(error)) => return Err(SessionStop::Cap(error)),
            Some(StopReason::Replay(error)) => return Err(SessionStop::Replay(error)),
            Some(StopReason::Triggered | StopReason::Requests(_)) | None => {}
        }
        handle.finish_recording().map_err(SessionStop::Replay)?;
        Ok(graded.map(|grades| (grades, handle.totals())).map_err(|error| error.to_string()))
    }
}
