//! `prowess eval`: evaluates routing with labelled queries.

use std::path::Path;

use prowess::usage::SkillUsage;
use prowess_routing::RouteOptions;
use prowess_routing::eval::{
    EvalReport, EvalScore, LabelledMessage, RoutedMessage, compare, evaluate_routed,
};
use serde_json::{Value, json};

use super::{CommandResult, SUCCESS, print_notices, toolbox};
use crate::args::{EvalArgs, GlobalArgs};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, clean, clean_path};
use crate::progress;

/// The maximum size of a file of queries.
const FILE_MAX: u64 = 256 * 1024 * 1024;

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &EvalArgs,
    output: &mut Output,
) -> CommandResult {
    let (queries, k) = (read_queries(&args.file, args.skill.as_deref())?, args.k as usize);
    let (report, rankings) = evaluate(context, global, &queries, k, output);
    let comparison = match &args.compare {
        None => None,
        Some(config) => {
            let global = GlobalArgs { config: Some(config.clone()), ..global.clone() };
            let context = CommandContext::load(&global, output)?;
            Some(evaluate(&context, &global, &queries, k, output))
        }
    };
    let gains =
        comparison.as_ref().map(|(_, other_rankings)| compare(&queries, other_rankings, &rankings, k));
    if output.json() {
        let mut value = serde_json::to_value(&report)?;
        if let Value::Object(fields) = &mut value {
            fields.insert("schema".to_owned(), 1.into());
            if let (Some((comparison, _)), Some(gains)) = (&comparison, gains) {
                let [hits, recall, mrr] =
                    gains.map(|(mean, interval)| json!({"mean": mean, "interval": interval}));
                let gain = json!({"hit_at_1": hits, "recall_at_k": recall, "mrr": mrr});
                fields.insert("compared".to_owned(), json!({"all": comparison.all, "gain": gain}));
            }
        }
        output.write_json(&value)?;
        return Ok(SUCCESS);
    }
    let recall = format!("recall@{k}");
    output.line(format!(
        "{:20} {:>8} {:>8} {recall:>9} {:>8} {:>10} {:>8} {:>10}",
        "", "queries", "hit@1", "MRR", "negatives", "wrong@1", "activated"
    ))?;
    print_score("all", &report.all, output)?;
    for (name, scores) in &report.subsets {
        print_score(name, scores, output)?;
    }
    let span = |[low, high]: [f64; 2]| format!("{low:.3} to {high:.3}");
    let intervals = report.all.intervals;
    output.line(format!(
        "95 % interval: hit@1 {}, {recall} {}, MRR {}",
        span(intervals.hit_at_1),
        span(intervals.recall_at_k),
        span(intervals.mrr)
    ))?;
    if let (Some((comparison, _)), Some([hits, recalls, reciprocal_ranks])) = (&comparison, gains) {
        print_score("compared", &comparison.all, output)?;
        let gain = |(mean, interval): (f64, [f64; 2])| format!("{mean:+.3} ({})", span(interval));
        let (hits, recalls, reciprocal_ranks) = (gain(hits), gain(recalls), gain(reciprocal_ranks));
        output.line(format!("gain: hit@1 {hits}, {recall} {recalls}, MRR {reciprocal_ranks}"))?;
    }
    Ok(SUCCESS)
}

/// Returns the scores of a configuration and the ranking of each query.
fn evaluate(
    context: &CommandContext,
    global: &GlobalArgs,
    queries: &[LabelledMessage],
    k: usize,
    output: &mut Output,
) -> (EvalReport, Vec<Vec<String>>) {
    let toolbox = toolbox(context, global);
    let snapshot = toolbox.snapshot();
    let router = toolbox.router(&snapshot);
    // Recent usage must not influence the scores.
    let usage = SkillUsage::default();
    let options = RouteOptions {
        max_skills: k,
        k: k.max(10),
        usage: &usage,
        now: 0,
        mention: context.policy().mention,
    };
    // Compute embeddings first, so that they apply to all queries.
    progress::with_scan_progress(global, "embedding", |_| router.prepare());
    let answers: Vec<(Vec<String>, bool)> = progress::with_scan_progress(global, "scoring", |_| {
        let names = |query: &LabelledMessage| {
            let routing = router.route(&query.query, &options);
            let is_confident = routing.is_confident();
            (routing.matches.into_iter().map(|found| found.name).collect(), is_confident)
        };
        queries.iter().map(names).collect()
    });
    print_notices(&toolbox, output);
    let labelled_answers = queries.iter().zip(&answers);
    let report = evaluate_routed(
        labelled_answers.map(|(message, (ranking, is_confident))| RoutedMessage {
            message,
            ranking,
            is_confident: *is_confident,
        }),
        k,
    );
    (report, answers.into_iter().map(|(names, _)| names).collect())
}

fn print_score(name: &str, score: &EvalScore, output: &mut Output) -> std::io::Result<()> {
    let EvalScore { count, hit_at_1, recall_at_k, mrr, negatives, wrong_at_1, false_activations, .. } = score;
    let name = clean(name);
    output.line(format!(
        "{name:20} {count:>8} {hit_at_1:>8.3} {recall_at_k:>9.3} {mrr:>8.3} {negatives:>10} {wrong_at_1:>8.3} \
         {false_activations:>10.3}"
    ))
}

fn read_queries(file: &Path, skill: Option<&str>) -> Result<Vec<LabelledMessage>, Failure> {
    let path = std::path::absolute(file)?;
    let bytes = prowess::read_bounded(&path, FILE_MAX).ok_or_else(|| {
        Failure::missing_path(format!("cannot read {}", clean_path(file)))
            .hint("pass a JSON Lines file with the keys query and skills")
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let labelled = match text.trim_start().starts_with('[') {
        true => LabelledMessage::parse_triggers(&text, skill),
        false => LabelledMessage::parse_lines(&text),
    };
    labelled.map_err(|error| {
        Failure::usage(format!("{} is not a file of labelled queries: {error}", clean_path(file)))
            .hint("write one query per line: {\"query\": \"…\", \"skills\": [\"…\"]}")
    })
}
