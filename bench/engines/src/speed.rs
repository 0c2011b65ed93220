//! How fast each engine builds, opens and answers, and how large its index is; the others also beside ours.

use std::path::Path;

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::recombined::Recombined;
use prowess_bench::catalog::say;
use prowess_bench::catalog::times::{Spread, Times, Took, timed, timed_here};
use prowess_routing::Texts;

use crate::engine::{Engine, Failed, Opened, Skills, all, bytes_in, emptied};

/// How many skills are asked for.
const K: usize = 10;

/// How often each message is asked; the first time does not count.
const ROUNDS: usize = 3;

/// What was measured of an engine.
struct Measured {
    name: &'static str,
    index: Box<dyn Opened>,
    built: Took,
    bytes: u64,
    opened: Took,
    times: Times,
}

pub(crate) fn run(data: &Data, sizes: &[String], every: usize, place: &Path) -> Result<(), String> {
    for size in sizes {
        let skills = Recombined::new(data, size)?;
        one(data, &skills, every.max(1), place).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn one(data: &Data, skills: &Recombined<'_>, every: usize, place: &Path) -> Result<(), Failed> {
    let texts = |number: usize| skills.texts(number);
    let mut measured = Vec::new();
    for (number, engine) in all().iter().enumerate() {
        measured.push(built(&**engine, &place.join(number.to_string()), skills.size, &texts)?);
    }
    let messages: Vec<&str> = data.messages.iter().step_by(every).map(|message| &*message.query).collect();
    // In turns, so that the machine's moods hit all of them.
    for round in 0..ROUNDS {
        for engine in &mut measured {
            for message in &messages {
                let (found, took) = timed_here(|| engine.index.ask(message, K));
                std::hint::black_box(found?);
                if round > 0 {
                    engine.times.add(took);
                }
            }
        }
    }
    let (abouts, bodies) = skills.bytes();
    say(&format!(
        "\n{} skills, {:.1} MB of names and descriptions, {:.1} MB of bodies, {}; {} messages, the best {K}",
        skills.size,
        abouts as f64 / 1e6,
        bodies as f64 / 1e6,
        skills.made_when(),
        messages.len(),
    ));
    table(skills.size, &measured);
    Ok(())
}

fn built(
    engine: &dyn Engine,
    folder: &Path,
    size: usize,
    texts: &(dyn Fn(usize) -> Texts + Sync),
) -> Result<Measured, Failed> {
    emptied(folder)?;
    let (done, built) = timed(|| engine.build(folder, &Skills { size, texts }));
    done?;
    let (index, opened) = timed_here(|| engine.open(folder));
    let (index, bytes) = (index?, bytes_in(folder)?);
    Ok(Measured { name: engine.name(), index, built, bytes, opened, times: Times::default() })
}

fn table(size: usize, measured: &[Measured]) {
    say("| engine | skills a second: by the clock, of one processor | size | opened |");
    say("|---|---|---|---|");
    for Measured { name, built, bytes, opened, .. } in measured {
        let (clock, processor) =
            (size as f64 / built.waited.as_secs_f64(), size as f64 / built.worked.as_secs_f64());
        let (megabytes, opened) = (*bytes as f64 / 1e6, opened.waited.as_secs_f64() * 1e3);
        say(&format!("| {name} | {clock:.0}, {processor:.0} | {megabytes:.1} MB | {opened:.2} ms |"));
    }
    for (what, spread) in
        [("on the processor", Times::worked as fn(&Times) -> Spread), ("by the clock", Times::waited)]
    {
        say(&format!("\n| one message, {what} | median | p95 | p99 | beside ours |"));
        say("|---|---|---|---|---|");
        let ours = measured.first().map(|ours| spread(&ours.times));
        for Measured { name, times, .. } in measured {
            let Spread { median, p95, p99, .. } = spread(times);
            let beside = ours.map_or_else(String::new, |ours| {
                format!("{:.2} ×, {:.2} ×, {:.2} ×", median / ours.median, p95 / ours.p95, p99 / ours.p99)
            });
            say(&format!("| {name} | {median:.2} ms | {p95:.2} ms | {p99:.2} ms | {beside} |"));
        }
    }
}
