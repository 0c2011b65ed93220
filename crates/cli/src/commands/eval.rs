//! `prowess eval`: score routing on labelled queries.

use std::path::Path;

use prowess::route::Options;
use prowess::route::eval::{Labelled, Score, evaluate};
use prowess::usage::Usage;

use super::{Outcome, YES, toolbox};
use crate::args::Global;
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean, clean_path};
use crate::progress;

/// The largest file of queries.
const FILE_MAX: u64 = 256 * 1024 * 1024;

pub(super) fn run(context: &Context, global: &Global, file: &Path, k: usize, output: &mut Output) -> Outcome {
    let queries = read(file)?;
    let toolbox = toolbox(context, global);
    let snapshot = toolbox.snapshot();
    let router = toolbox.router(&snapshot);
    // What the user did lately must not change a measurement.
    let usage = Usage::default();
    let options =
        Options { max_skills: k, k: k.max(10), usage: &usage, now: 0, mention: context.policy().mention };
    let ranked: Vec<Vec<String>> = progress::during(global, "scoring", |_| {
        let names = |query: &Labelled| {
            let routing = router.route(&query.query, &options);
            routing.matches.into_iter().map(|found| found.name).collect()
        };
        queries.iter().map(names).collect()
    });
    let report = evaluate(queries.iter().zip(ranked.iter().map(Vec::as_slice)), k);
    if output.json() {
        let mut answer = serde_json::to_value(&report)?;
        if let serde_json::Value::Object(fields) = &mut answer {
            fields.insert("schema".to_owned(), 1.into());
        }
        output.answer(&answer)?;
        return Ok(YES);
    }
    let recall = format!("recall@{k}");
    output.line(format!(
        "{:20} {:>8} {:>8} {recall:>9} {:>8} {:>10} {:>8}",
        "", "queries", "hit@1", "MRR", "negatives", "wrong@1"
    ))?;
    print("all", &report.all, output)?;
    for (name, scores) in &report.subsets {
        print(name, scores, output)?;
    }
    Ok(YES)
}

fn print(name: &str, score: &Score, output: &mut Output) -> std::io::Result<()> {
    let Score { count, hit_at_1, recall_at_k, mrr, negatives, wrong_at_1 } = score;
    let name = clean(name);
    output.line(format!(
        "{name:20} {count:>8} {hit_at_1:>8.3} {recall_at_k:>9.3} {mrr:>8.3} {negatives:>10} {wrong_at_1:>8.3}"
    ))
}

fn read(file: &Path) -> Result<Vec<Labelled>, Failure> {
    let path = std::path::absolute(file)?;
    let bytes = prowess::read_bounded(&path, FILE_MAX).ok_or_else(|| {
        Failure::new(ErrorCode::NotFound, format!("{} cannot be read", clean_path(file)))
            .hint("name a file of JSON lines, each with query and skills")
    })?;
    Labelled::read_lines(&String::from_utf8_lossy(&bytes)).map_err(|error| {
        Failure::call(format!("{} is not a file of labelled queries: {error}", clean_path(file)))
            .hint("write one query a line: {\"query\": \"…\", \"skills\": [\"…\"]}")
    })
}
