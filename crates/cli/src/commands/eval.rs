//! `prowess eval`: score routing on labelled queries.

use std::path::Path;

use prowess::usage::Usage;
use prowess_routing::Options;
use prowess_routing::eval::{Answered, Labelled, Report, Score, assess, compare};
use serde_json::{Value, json};

use super::{Outcome, YES, notices, toolbox};
use crate::args::{Eval, Global};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, clean, clean_path};
use crate::progress;

/// The largest file of queries.
const FILE_MAX: u64 = 256 * 1024 * 1024;

pub(super) fn run(context: &Context, global: &Global, call: &Eval, output: &mut Output) -> Outcome {
    let (queries, k) = (read(&call.file, call.skill.as_deref())?, call.k as usize);
    let (report, rankings) = answer(context, global, &queries, k, output);
    let other = match &call.compare {
        None => None,
        Some(config) => {
            let global = Global { config: Some(config.clone()), ..global.clone() };
            let context = Context::load(&global, output)?;
            Some(answer(&context, &global, &queries, k, output))
        }
    };
    let gains = other.as_ref().map(|(_, others)| compare(&queries, others, &rankings, k));
    if output.json() {
        let mut answer = serde_json::to_value(&report)?;
        if let Value::Object(fields) = &mut answer {
            fields.insert("schema".to_owned(), 1.into());
            if let (Some((other, _)), Some(gains)) = (&other, gains) {
                let [hits, recall, mrr] =
                    gains.map(|(mean, interval)| json!({"mean": mean, "interval": interval}));
                let gain = json!({"hit_at_1": hits, "recall_at_k": recall, "mrr": mrr});
                fields.insert("compared".to_owned(), json!({"all": other.all, "gain": gain}));
            }
        }
        output.answer(&answer)?;
        return Ok(YES);
    }
    let recall = format!("recall@{k}");
    output.line(format!(
        "{:20} {:>8} {:>8} {recall:>9} {:>8} {:>10} {:>8} {:>10}",
        "", "queries", "hit@1", "MRR", "negatives", "wrong@1", "activated"
    ))?;
    print("all", &report.all, output)?;
    for (name, scores) in &report.subsets {
        print(name, scores, output)?;
    }
    let span = |[low, high]: [f64; 2]| format!("{low:.3} to {high:.3}");
    let sure = report.all.intervals;
    output.line(format!(
        "95 % interval: hit@1 {}, {recall} {}, MRR {}",
        span(sure.hit_at_1),
        span(sure.recall_at_k),
        span(sure.mrr)
    ))?;
    if let (Some((other, _)), Some([hits, recalls, places])) = (&other, gains) {
        print("compared", &other.all, output)?;
        let gain = |(mean, interval): (f64, [f64; 2])| format!("{mean:+.3} ({})", span(interval));
        let (hits, recalls, places) = (gain(hits), gain(recalls), gain(places));
        output.line(format!("gain: hit@1 {hits}, {recall} {recalls}, MRR {places}"))?;
    }
    Ok(YES)
}

/// The figures of a configuration, and the names it gives for each query.
fn answer(
    context: &Context,
    global: &Global,
    queries: &[Labelled],
    k: usize,
    output: &mut Output,
) -> (Report, Vec<Vec<String>>) {
    let toolbox = toolbox(context, global);
    let snapshot = toolbox.snapshot();
    let router = toolbox.router(&snapshot);
    // What the user did lately must not change a measurement.
    let usage = Usage::default();
    let options =
        Options { max_skills: k, k: k.max(10), usage: &usage, now: 0, mention: context.policy().mention };
    // Where meaning has a say, it has it from the first message on.
    progress::during(global, "embedding", |_| router.prepare());
    let answers: Vec<(Vec<String>, bool)> = progress::during(global, "scoring", |_| {
        let names = |query: &Labelled| {
            let routing = router.route(&query.query, &options);
            let fits = routing.fits();
            (routing.matches.into_iter().map(|found| found.name).collect(), fits)
        };
        queries.iter().map(names).collect()
    });
    notices(&toolbox, output);
    let answered = queries.iter().zip(&answers);
    let report =
        assess(answered.map(|(message, (ranking, fits))| Answered { message, ranking, fits: *fits }), k);
    (report, answers.into_iter().map(|(names, _)| names).collect())
}

fn print(name: &str, score: &Score, output: &mut Output) -> std::io::Result<()> {
    let Score { count, hit_at_1, recall_at_k, mrr, negatives, wrong_at_1, false_activations, .. } = score;
    let name = clean(name);
    output.line(format!(
        "{name:20} {count:>8} {hit_at_1:>8.3} {recall_at_k:>9.3} {mrr:>8.3} {negatives:>10} {wrong_at_1:>8.3} \
         {false_activations:>10.3}"
    ))
}

fn read(file: &Path, skill: Option<&str>) -> Result<Vec<Labelled>, Failure> {
    let path = std::path::absolute(file)?;
    let bytes = prowess::read_bounded(&path, FILE_MAX).ok_or_else(|| {
        Failure::missing_path(format!("{} cannot be read", clean_path(file)))
            .hint("name a file of JSON lines, each with query and skills")
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let labelled = match text.trim_start().starts_with('[') {
        true => Labelled::read_triggers(&text, skill),
        false => Labelled::read_lines(&text),
    };
    labelled.map_err(|error| {
        Failure::call(format!("{} is not a file of labelled queries: {error}", clean_path(file)))
            .hint("write one query a line: {\"query\": \"…\", \"skills\": [\"…\"]}")
    })
}
