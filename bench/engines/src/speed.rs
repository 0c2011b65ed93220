//! The speed of building, opening and querying each index, its size, and the ratio to Prowess.

use std::path::Path;

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::print_line;
use prowess_bench::catalog::recombined::RecombinedSkills;
use prowess_bench::catalog::times::{Measurement, Percentiles, Times, measure_process, measure_thread};
use prowess_routing::SkillTexts;

use crate::engine::{Engine, EngineError, SearchIndex, Skills, all, bytes_in, create_empty_dir};

/// The number of results.
const K: usize = 10;

/// The number of queries per message. The first is not measured.
const ROUNDS: usize = 3;

/// The measurements of an engine.
struct EngineResult {
    name: &'static str,
    index: Box<dyn SearchIndex>,
    built: Measurement,
    bytes: u64,
    opened: Measurement,
    times: Times,
}

pub(crate) fn run(data: &Data, sizes: &[String], step: usize, base: &Path) -> Result<(), String> {
    for size in sizes {
        let skills = RecombinedSkills::new(data, size)?;
        measure_size(data, &skills, step.max(1), base).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn measure_size(
    data: &Data,
    skills: &RecombinedSkills<'_>,
    step: usize,
    base: &Path,
) -> Result<(), EngineError> {
    let texts = |number: usize| skills.texts(number);
    let mut measured = Vec::new();
    for (number, engine) in all().iter().enumerate() {
        measured.push(build_and_open(&**engine, &base.join(number.to_string()), skills.size, &texts)?);
    }
    let messages: Vec<&str> = data.messages.iter().step_by(step).map(|message| &*message.query).collect();
    // Alternate, so that other load affects all engines equally.
    for round in 0..ROUNDS {
        for engine in &mut measured {
            for message in &messages {
                let (results, measurement) = measure_thread(|| engine.index.search(message, K));
                std::hint::black_box(results?);
                if round > 0 {
                    engine.times.add(measurement);
                }
            }
        }
    }
    let (abouts, bodies) = skills.bytes();
    print_line(&format!(
        "\n{} skills, {:.1} MB of names and descriptions, {:.1} MB of bodies, {}; {} messages, the best {K}",
        skills.size,
        abouts as f64 / 1e6,
        bodies as f64 / 1e6,
        skills.text_creation(),
        messages.len(),
    ));
    print_tables(skills.size, &measured);
    Ok(())
}

fn build_and_open(
    engine: &dyn Engine,
    dir: &Path,
    size: usize,
    texts: &(dyn Fn(usize) -> SkillTexts + Sync),
) -> Result<EngineResult, EngineError> {
    create_empty_dir(dir)?;
    let (result, built) = measure_process(|| engine.build(dir, &Skills { size, texts }));
    result?;
    let (index, opened) = measure_thread(|| engine.open(dir));
    let (index, bytes) = (index?, bytes_in(dir)?);
    Ok(EngineResult { name: engine.name(), index, built, bytes, opened, times: Times::default() })
}

fn print_tables(size: usize, measured: &[EngineResult]) {
    print_line("| engine | skills per second: wall-clock, processor | size | opening |");
    print_line("|---|---|---|---|");
    for EngineResult { name, built, bytes, opened, .. } in measured {
        let (clock, processor) =
            (size as f64 / built.wall.as_secs_f64(), size as f64 / built.processor.as_secs_f64());
        let (megabytes, opened) = (*bytes as f64 / 1e6, opened.wall.as_secs_f64() * 1e3);
        print_line(&format!("| {name} | {clock:.0}, {processor:.0} | {megabytes:.1} MB | {opened:.2} ms |"));
    }
    for (clock, percentiles) in
        [("processor time", Times::processor as fn(&Times) -> Percentiles), ("wall-clock time", Times::wall)]
    {
        print_line(&format!("\n| one message, {clock} | median | p95 | p99 | to Prowess |"));
        print_line("|---|---|---|---|---|");
        let ours = measured.first().map(|ours| percentiles(&ours.times));
        for EngineResult { name, times, .. } in measured {
            let Percentiles { median, p95, p99, .. } = percentiles(times);
            let ratios = ours.map_or_else(String::new, |ours| {
                format!("{:.2} ×, {:.2} ×, {:.2} ×", median / ours.median, p95 / ours.p95, p99 / ours.p99)
            });
            print_line(&format!("| {name} | {median:.2} ms | {p95:.2} ms | {p99:.2} ms | {ratios} |"));
        }
    }
}
