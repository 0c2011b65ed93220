//! `bench-routing`: how good and how fast routing is, beside what exists; see `bench/README.md`.

mod baselines;
mod beyond;
mod fit;
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
bench-routing WHAT FOLDER [SIZE[:BODY]…]
bench-routing semantic FOLDER MODEL [SIZE…]
bench-routing prompt FOLDER [PROWESS]

  quality     hit@1, recall@5, MRR beside the baselines, at 1,000 skills and on the whole catalog
  ablation    the same with each ingredient of the second look left out
  beyond      the same without typing errors, beginnings of words, phrases
  typos       messages that name their skill, with a typing error in the name
  fit         weights chosen on part of the messages and judged on the rest
  calibrate   what the confidence is fitted on
  misses      messages whose skill is not among the first five of 1,000
  semantic    words alone, vectors alone and both: MODEL is file:PATH, openai:URL#NAME or ollama:URL#NAME,
              then SIZE…
  speed       building, opening and asking, at each SIZE; bodies are cut at BODY bytes
  prompt      the catalog for a message over 100,000 skills on disk, step by step, and by the program PROWESS

FOLDER has catalog*.jsonl or catalog*.jsonl.zst, queries.jsonl and negatives.jsonl.
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
    let [what, folder, rest @ ..] = &args[..] else { return Err(USAGE.to_owned()) };
    let data = Data::read(Path::new(folder))?;
    match &**what {
        "quality" => quality::run(&data),
        "ablation" => weights::ablation(&data),
        "beyond" => beyond::ablation(&data),
        "typos" => beyond::typos(&data),
        "fit" => weights::fit(&data),
        "calibrate" => quality::calibrate(&data),
        "misses" => quality::misses(&data),
        "speed" => speed::run(&data, rest)?,
        "prompt" => prompt::run(&data, rest.first())?,
        "semantic" => semantic::run(&data, rest)?,
        _ => return Err(USAGE.to_owned()),
    }
    Ok(())
}
