//! Grades the result of a run.

mod checks;
mod judge;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent::{AgentOutcome, TranscriptEntry};

pub use checks::{CheckContext, ScriptChecks, run_check};
pub use judge::{JUDGE_PROMPT, Judge, JudgeError};

/// The grading of a run, as `grading.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Grading {
    /// The result of each expectation that was graded.
    pub expectations: Vec<GradedExpectation>,
    /// The numbers.
    pub summary: GradingSummary,
    /// What the agent did.
    pub execution_metrics: ExecutionMetrics,
    /// The expectations that were not graded, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_graded: Vec<NotGraded>,
}

/// The result of one expectation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradedExpectation {
    /// The expectation.
    pub text: String,
    /// Whether it holds.
    pub passed: bool,
    /// What shows it.
    pub evidence: String,
}

/// An expectation that was not graded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotGraded {
    /// The expectation.
    pub text: String,
    /// The reason.
    pub reason: String,
}

/// The numbers of a grading.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct GradingSummary {
    /// The number of expectations that hold.
    pub passed: u64,
    /// The number of expectations that do not hold.
    pub failed: u64,
    /// The number of graded expectations.
    pub total: u64,
    /// The share of graded expectations that hold; 0 if none were graded.
    pub pass_rate: f64,
}

/// What an agent did, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ExecutionMetrics {
    /// The number of calls of each tool.
    pub tool_calls: BTreeMap<String, u64>,
    /// The number of all tool calls.
    pub total_tool_calls: u64,
    /// The number of requests to the model.
    pub total_steps: u64,
    /// The number of failed tool calls.
    pub errors_encountered: u64,
    /// The files that were created or changed.
    pub files_created: Vec<String>,
    /// The number of characters of the reply and all text files.
    pub output_chars: u64,
    /// The number of characters of the transcript.
    pub transcript_chars: u64,
}

impl ExecutionMetrics {
    /// Counts what an agent did.
    pub fn new(outcome: &AgentOutcome, requests: u64) -> Self {
        let mut metrics = Self { total_steps: requests, ..Self::default() };
        let count = |text: &str| text.chars().count() as u64;
        metrics.output_chars = count(&outcome.reply);
        for entry in &outcome.transcript {
            match entry {
                TranscriptEntry::Text { text } => metrics.transcript_chars += count(text),
                TranscriptEntry::ToolCall { name, arguments, result, failed } => {
                    *metrics.tool_calls.entry(name.clone()).or_default() += 1;
                    metrics.total_tool_calls += 1;
                    metrics.errors_encountered += u64::from(*failed);
                    metrics.transcript_chars += count(arguments) + count(result);
                }
            }
        }
        for file in &outcome.files {
            metrics.files_created.push(file.path.clone());
            metrics.output_chars += std::str::from_utf8(&file.bytes).map(count).unwrap_or_default();
        }
        metrics
    }
}

impl Grading {
    /// Creates a grading from its results.
    pub fn new(
        expectations: Vec<GradedExpectation>,
        not_graded: Vec<NotGraded>,
        execution_metrics: ExecutionMetrics,
    ) -> Self {
        let (total, passed) =
            (expectations.len() as u64, expectations.iter().filter(|e| e.passed).count() as u64);
        let pass_rate = if total == 0 { 0.0 } else { passed as f64 / total as f64 };
        let summary = GradingSummary { passed, failed: total - passed, total, pass_rate };
        Self { expectations, summary, execution_metrics, not_graded }
    }
}

/// Renders a transcript as text.
pub fn render_transcript(entries: &[TranscriptEntry]) -> String {
    let mut text = String::new();
    for entry in entries {
        match entry {
            TranscriptEntry::Text { text: part } => text.push_str(&format!("[agent]\n{}\n\n", part.trim())),
            TranscriptEntry::ToolCall { name, arguments, result, failed } => {
                let outcome = if *failed { "error" } else { "result" };
                text.push_str(&format!("[tool {name}] {arguments}\n[{outcome}] {result}\n\n"));
            }
        }
    }
    text
}
