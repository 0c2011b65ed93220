//! `bench-routing`: measures the quality and speed of routing, compared with baselines; see `bench/README.md`.

mod baselines;
mod beyond;
mod calibrate;
mod families;
mod fit;
mod logistic;
mod prompt;
mod quality;
mod semantic;
mod small_talk;
mod speed;
mod weights;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use prowess_bench::catalog::data::Data;

const USAGE: &str = "\
bench-routing WHAT DIR [SIZE[:BODY]…]
bench-routing semantic DIR MODEL [SIZE…]
bench-routing calibrate DIR [OTHER…]
bench-routing prompt DIR [PROWESS]

  quality     hit@1, recall@5 and MRR, compared with the baselines, for 1,000 skills and the whole catalog
  ablation    quality without each of the features of reranking
  beyond      quality without typo tolerance, prefixes or phrases
  typos       quality for messages with a typo in the name of their skill
  fit         weights fitted to part of the messages and evaluated on the rest
  calibrate   weights of the confidence, and which share of messages is said to fit, also in OTHER directories,
              whose messages of the subset held-out are not used for fitting
  misses      messages whose skill is not among the first five of 1,000
  semantic    words only, vectors only and both, for each SIZE; MODEL is openai:URL#NAME or ollama:URL#NAME
  speed       building, opening and querying the index, for each SIZE; bodies are truncated to BODY bytes
  prompt      the steps of creating the catalog for a message with 100,000 skills on disk, also with the
              program PROWESS

DIR contains catalog*.jsonl or catalog*.jsonl.zst, queries.jsonl and negatives.jsonl.
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "{message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [benchmark, dir, rest @ ..] = &args[..] else { return Err(USAGE.to_owned()) };
    let data = Data::read(Path::new(dir))?;
    match &**benchmark {
        "quality" => quality::run(&data),
        "ablation" => weights::ablation(&data),
        "beyond" => beyond::ablation(&data),
        "typos" => beyond::typos(&data),
        "fit" => weights::fit(&data),
        "calibrate" => {
            let read = |dir: &String| Ok((dir_name(dir), Data::read(Path::new(dir))?));
            calibrate::run(&data, &rest.iter().map(read).collect::<Result<Vec<_>, String>>()?);
        }
        "misses" => quality::misses(&data),
        "speed" => speed::run(&data, rest)?,
        "prompt" => prompt::run(&data, rest.first())?,
        "semantic" => semantic::run(&data, rest)?,
        _ => return Err(USAGE.to_owned()),
    }
    Ok(())
}

fn dir_name(dir: &str) -> String {
    Path::new(dir).file_name().map_or_else(|| dir.to_owned(), |name| name.to_string_lossy().into_owned())
}
