//! A report as Markdown.

use std::fmt::Write;

use super::summary::SkillReport;
use super::{CaseChange, Comparison};
use crate::run_record::Variant;
use crate::statistics::{PairedDifference, Proportion};

/// Renders a report as Markdown, for pull requests.
pub fn render_markdown(report: &SkillReport) -> String {
    let mut text = format!("## {}\n\n", escape(&report.skill));
    let judge = report
        .info
        .judge
        .as_deref()
        .map_or_else(String::new, |judge| format!(", judged by {}", escape(judge)));
    let runs = if report.info.runs == 1 { "1 run".to_owned() } else { format!("{} runs", report.info.runs) };
    let _ = writeln!(
        text,
        "{} with {}{judge}; {runs} of each.\n",
        escape(&report.info.agent),
        escape(&report.info.model)
    );
    if let Some(stopped) = &report.info.stopped {
        let _ = writeln!(text, "> **Incomplete:** {}\n", escape(stopped));
    }
    for comparison in &report.comparisons {
        let _ = writeln!(text, "{}\n", describe_comparison(comparison));
    }
    if !report.variants.is_empty() {
        text.push_str("| | passed | expectations | tokens | seconds | tool calls | loaded |\n|---|--:|--:|--:|--:|--:|--:|\n");
        for (variant, numbers) in &report.variants {
            let _ = writeln!(
                text,
                "| {} | {} | {:.0} % | {:.0} | {:.1} | {:.1} | {} |",
                describe_variant(*variant),
                describe_proportion(numbers.passed),
                numbers.pass_rate.mean * 100.0,
                numbers.tokens.mean,
                numbers.time_seconds.mean,
                numbers.tool_calls.mean,
                describe_proportion(numbers.triggered),
            );
        }
        text.push('\n');
    }
    if !report.cases.is_empty() {
        text.push_str("| case | with the skill | without | change |\n|---|--:|--:|---|\n");
        for case in &report.cases {
            let rate = |variant| match case.pass_rates.get(&variant) {
                Some(rate) => format!("{:.0} %", rate * 100.0),
                None => "–".to_owned(),
            };
            let change = case.change.map_or("–", describe_change);
            let other = if case.pass_rates.contains_key(&Variant::WithoutSkill) {
                Variant::WithoutSkill
            } else {
                Variant::OldSkill
            };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {change} |",
                escape(&case.id),
                rate(Variant::WithSkill),
                rate(other)
            );
        }
        text.push('\n');
        for case in &report.cases {
            for (expectation, evidence) in &case.failed {
                let _ = writeln!(
                    text,
                    "- {}: not fulfilled: {} ({})",
                    escape(&case.id),
                    escape(expectation),
                    escape(evidence)
                );
            }
            for error in &case.errors {
                let _ = writeln!(text, "- {}: no result: {}", escape(&case.id), escape(error));
            }
        }
    }
    if !report.triggers.is_empty() {
        let passed = report.triggers.iter().filter(|trigger| trigger.passed == Some(true)).count();
        let _ = writeln!(text, "\n{passed} of {} messages are handled as expected.\n", report.triggers.len());
        text.push_str("| message | should load | loaded | |\n|---|---|--:|---|\n");
        for trigger in &report.triggers {
            let verdict = match trigger.passed {
                Some(true) => "ok",
                Some(false) => "**wrong**",
                None => "no result",
            };
            let should = if trigger.should_trigger { "yes" } else { "no" };
            let _ = writeln!(
                text,
                "| {} | {should} | {} | {verdict} |",
                escape(&trigger.query),
                describe_proportion(trigger.triggered)
            );
        }
    }
    if !report.notes.is_empty() {
        text.push('\n');
        for note in &report.notes {
            let _ = writeln!(text, "- {}", escape(note));
        }
    }
    text
}

/// Describes a comparison in one sentence.
pub fn describe_comparison(comparison: &Comparison) -> String {
    let PairedDifference { cases, mean, interval, p_value } = comparison.pass_rate;
    let points = |value: f64| format!("{:+.0}", value * 100.0);
    let interval = match interval {
        Some([low, high]) => format!("95 % interval {} to {}", points(low.max(-1.0)), points(high.min(1.0))),
        None if cases < 2 => "no interval for one case".to_owned(),
        None => "no interval, because all cases changed alike".to_owned(),
    };
    let other = match comparison.with {
        Variant::WithSkill | Variant::WithoutSkill => "no skill",
        Variant::OldSkill => "the old version",
    };
    let cases = if cases == 1 { "1 case".to_owned() } else { format!("{cases} cases") };
    format!(
        "The skill changes the pass rate by {} points over {cases} compared with {other} ({interval}, p = {p_value:.3}): \
         {} improved, {} unchanged, {} worsened.",
        points(mean),
        comparison.improved.len(),
        comparison.unchanged.len(),
        comparison.worsened.len(),
    )
}

fn describe_variant(variant: Variant) -> &'static str {
    match variant {
        Variant::WithSkill => "with the skill",
        Variant::WithoutSkill => "without",
        Variant::OldSkill => "old version",
    }
}

fn describe_change(change: CaseChange) -> &'static str {
    match change {
        CaseChange::Improved => "improved",
        CaseChange::Unchanged => "unchanged",
        CaseChange::Worsened => "**worsened**",
    }
}

fn describe_proportion(proportion: Option<Proportion>) -> String {
    proportion
        .map_or_else(|| "–".to_owned(), |proportion| format!("{}/{}", proportion.passed, proportion.total))
}

/// Escapes a text for a cell of a table.
fn escape(text: &str) -> String {
    let text = prowess::format::hidden::escape_for_display(text);
    let mut escaped = String::new();
    for c in text.chars().take(300) {
        if matches!(c, '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\') {
            escaped.push('\\');
        }
        escaped.push(if c == '\n' { ' ' } else { c });
    }
    escaped
}
