//! Reports for people.

use prowess_evals::budget::Budget;
use prowess_evals::plan::Estimate;
use prowess_evals::report::{CaseChange, SkillReport, VariantSummary, describe_comparison};
use prowess_evals::statistics::Proportion;
use prowess_evals::{RoutingResult, SessionEvent, Variant};

use super::setup::TestSetup;
use crate::columns;
use crate::output::{Output, TextStyle, clean, first_few, pluralize, truncate};

/// The maximum width of a message.
const MESSAGE_WIDTH: usize = 70;

/// Prints the report of a skill.
pub(super) fn report(report: &SkillReport, output: &mut Output) -> std::io::Result<()> {
    let title = output.styled_text(TextStyle::Strong, &clean(&report.skill));
    let judge = report
        .info
        .judge
        .as_deref()
        .map_or_else(String::new, |judge| format!(", judged by {}", clean(judge)));
    output.line(format!(
        "{title}: {} with {}{judge}",
        clean(&report.info.agent),
        clean(&report.info.model)
    ))?;
    if let Some(stopped) = &report.info.stopped {
        let text = format!("incomplete: {}", clean(stopped));
        let line = output.styled_text(TextStyle::Caution, &text);
        output.line(line)?;
    }
    if !report.variants.is_empty() {
        output.line(format!(
            "{:16} {:>8} {:>13} {:>8} {:>8} {:>10} {:>8}",
            "", "passed", "expectations", "tokens", "seconds", "tool calls", "loaded"
        ))?;
        for (variant, numbers) in &report.variants {
            output.line(variant_line(*variant, numbers))?;
        }
    }
    for comparison in &report.comparisons {
        for line in output.wrap_prose(&describe_comparison(comparison), 0) {
            output.line(line)?;
        }
    }
    cases(report, output)?;
    triggers(report, output)?;
    for note in &report.notes {
        output.line(format!("note: {}", clean(note)))?;
    }
    Ok(())
}

fn variant_line(variant: Variant, numbers: &VariantSummary) -> String {
    let name = match variant {
        Variant::WithSkill => "with the skill",
        Variant::WithoutSkill => "without",
        Variant::OldSkill => "old version",
    };
    let errors = match numbers.errors {
        0 => String::new(),
        1 => "  (1 run without a result)".to_owned(),
        errors => format!("  ({errors} runs without a result)"),
    };
    let rate =
        numbers.passed.map_or_else(|| "–".to_owned(), |_| format!("{:.0} %", numbers.pass_rate.mean * 100.0));
    format!(
        "{name:16} {:>8} {rate:>13} {:>8.0} {:>8.1} {:>10.1} {:>8}{errors}",
        proportion(numbers.passed),
        numbers.tokens.mean,
        numbers.time_seconds.mean,
        numbers.tool_calls.mean,
        proportion(numbers.triggered),
    )
}

fn proportion(proportion: Option<Proportion>) -> String {
    proportion
        .map_or_else(|| "–".to_owned(), |proportion| format!("{}/{}", proportion.passed, proportion.total))
}

fn cases(report: &SkillReport, output: &mut Output) -> std::io::Result<()> {
    for case in &report.cases {
        let rate = |variant| match case.pass_rates.get(&variant) {
            Some(rate) => format!("{:.0} %", rate * 100.0),
            None => "–".to_owned(),
        };
        let change = match case.change {
            Some(CaseChange::Improved) => "improved",
            Some(CaseChange::Unchanged) => "unchanged",
            Some(CaseChange::Worsened) => "worsened",
            None => "",
        };
        let other = match case.pass_rates.contains_key(&Variant::WithoutSkill) {
            true => Variant::WithoutSkill,
            false => Variant::OldSkill,
        };
        let verdict = match case.passed {
            Some(true) => output.styled_text(TextStyle::Good, "ok    "),
            Some(false) => output.styled_text(TextStyle::Bad, "failed"),
            None => "–     ".to_owned(),
        };
        let id = columns::pad(&columns::truncate(&clean(&case.id), 24), 24);
        let line = format!("  {verdict} {id} {:>6} {:>6}  {change}", rate(Variant::WithSkill), rate(other));
        output.line(line.trim_end())?;
        for (expectation, evidence) in &case.failed {
            let text = format!("not fulfilled: {} ({})", clean(expectation), clean(evidence));
            for line in output.wrap_prose(&text, 9) {
                output.line(format!("         {line}"))?;
            }
        }
        for error in &case.errors {
            output.line(format!("         no result: {}", clean(error)))?;
        }
    }
    Ok(())
}

fn triggers(report: &SkillReport, output: &mut Output) -> std::io::Result<()> {
    if report.triggers.is_empty() {
        return Ok(());
    }
    let passed = report.triggers.iter().filter(|trigger| trigger.passed == Some(true)).count();
    output.line(format!("messages: {passed} of {} as expected", report.triggers.len()))?;
    for trigger in &report.triggers {
        let verdict = match trigger.passed {
            Some(true) => output.styled_text(TextStyle::Good, "ok    "),
            Some(false) => output.styled_text(TextStyle::Bad, "wrong "),
            None => "–     ".to_owned(),
        };
        let should = if trigger.should_trigger { "should load" } else { "should not " };
        let query = truncate(&clean(&trigger.query), MESSAGE_WIDTH);
        output.line(format!("  {verdict} {should} {:>5}  {query}", proportion(trigger.triggered)))?;
        if trigger.passed.is_none() {
            let first = trigger.errors.first().map_or("no result", String::as_str);
            output.line(format!("         no result: {}", clean(first)))?;
        }
    }
    Ok(())
}

/// Prints how routing handles the messages of a skill.
pub(super) fn routing(
    name: &str,
    result: &RoutingResult,
    always: bool,
    output: &mut Output,
) -> std::io::Result<()> {
    let RoutingResult { wanted, lost, stolen, words } = result;
    if lost.is_empty() && stolen.is_empty() && !always {
        return Ok(());
    }
    let won = wanted - lost.len();
    let name = clean(name);
    output.line(format!(
        "routing without a model: {name} ranks first for {won} of {wanted} messages that should load it"
    ))?;
    for request in lost {
        let query = truncate(&clean(&request.query), MESSAGE_WIDTH);
        let winner = match &request.winner {
            Some(winner) => format!("loses to {}", clean(winner)),
            None => "no skill matches".to_owned(),
        };
        output.line(format!("  {winner}: {query}"))?;
    }
    for query in stolen {
        output.line(format!("  should not match: {}", truncate(&clean(query), MESSAGE_WIDTH)))?;
    }
    if !words.is_empty() {
        let words = first_few(words.iter().map(|word| clean(word).into_owned()), 8, ", and");
        output.line(format!("  words to add to the description: {words}"))?;
    }
    Ok(())
}

/// Prints what would be run.
pub(super) fn dry_run(
    rows: &[(String, Estimate)],
    total: &Estimate,
    cost: Option<f64>,
    setup: &TestSetup,
    output: &mut Output,
) -> std::io::Result<()> {
    for (name, estimate) in rows {
        let stored = match estimate.cached {
            0 => String::new(),
            cached => format!(", {cached} of them stored"),
        };
        let (runs, name) =
            (pluralize(usize::try_from(estimate.runs).unwrap_or(usize::MAX), "run"), clean(name));
        output.line(format!(
            "{name}: {runs}{stored}; about {} requests, at most {}",
            estimate.expected_requests, estimate.max_requests
        ))?;
    }
    let cost = match cost {
        Some(cost) => format!(", ${cost:.2}"),
        None => ", cost unknown (set test.prices)".to_owned(),
    };
    output.line(format!(
        "expected: {} requests, {} tokens{cost}",
        total.expected_requests, total.expected_tokens
    ))?;
    let max_cost = setup.caps.cost.map_or_else(String::new, |cost| format!(", ${cost:.2}"));
    output.line(format!(
        "limits: {} requests, {} tokens{max_cost}, {} s; never exceeded",
        setup.caps.requests,
        setup.caps.tokens,
        setup.caps.time.as_secs()
    ))
}

/// Prints what was spent.
pub(super) fn spending(setup: &TestSetup, budget: &Budget, output: &mut Output) {
    let spent = budget.spending();
    let cost = match setup.prices.get(&setup.options.model) {
        Some(_) => format!(", ${:.4}", spent.dollars()),
        None => String::new(),
    };
    output.note(format!("spent: {} requests, {} tokens{cost}", spent.requests, spent.tokens));
}

/// Prints an event with `--verbose`.
pub(super) fn event(event: &SessionEvent) {
    use std::io::Write;
    let line = match event {
        SessionEvent::Started(name) => format!("started {name}"),
        SessionEvent::Finished { name, score, error, cached } => {
            let result = match (score, error) {
                (_, Some(error)) => format!("no result: {error}"),
                (Some(score), None) => format!("{:.0} %", score * 100.0),
                (None, None) => "done".to_owned(),
            };
            format!("finished {name}: {result}{}", if *cached { " (stored)" } else { "" })
        }
    };
    // A closed standard error must not end the test.
    let _ = writeln!(std::io::stderr(), "{}", clean(&line));
}
