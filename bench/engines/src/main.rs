//! `bench-engines`: compares routing with search engines on the same skills and messages in one run; see `bench/README.md`.

mod engine;
mod fts5;
mod ours;
mod quality;
mod speed;
#[cfg(feature = "tantivy")]
mod tantivy;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use prowess_bench::catalog::data::Data;

const USAGE: &str = "\
bench-engines DIR [--every N] [SIZE[:BODY]…]

Evaluates each engine with 1,000 skills and the whole catalog, then builds, opens and queries each index for every SIZE; bodies
are truncated to BODY bytes. With --every, only every N-th message is timed.

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
    let [dir, rest @ ..] = &args[..] else { return Err(USAGE.to_owned()) };
    let (every, sizes) = match rest {
        [flag, number, sizes @ ..] if flag == "--every" => (number.parse().map_err(|_| USAGE)?, sizes),
        sizes => (1, sizes),
    };
    let data = Data::read(Path::new(dir))?;
    let base = std::env::temp_dir().join(format!("bench-engines-{}", std::process::id()));
    std::fs::create_dir_all(&base).map_err(|error| error.to_string())?;
    let result = quality::run(&data, &base).and_then(|()| speed::run(&data, sizes, every, &base));
    let _ = std::fs::remove_dir_all(&base);
    result
}
