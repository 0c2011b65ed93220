//! How fast the index is built, opened and asked, and how large it is.

use std::time::{Duration, Instant};

use prowess::route::{Lexical, Texts};
use rustix::time::{ClockId, clock_gettime};

use crate::data::Data;
use crate::say;

/// A skill made of pieces of others: their names, sentences and lines.
fn recombined(data: &Data, number: usize, body_max: usize) -> Texts {
    let all = &data.skills;
    if number < all.len() && body_max == usize::MAX {
        return all[number].clone();
    }
    let mut seed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut pick = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        &all[(seed % all.len() as u64) as usize]
    };
    let (one, other, third) = (pick(), pick(), pick());
    let half = |text: &str, end: bool| {
        let middle = text.floor_char_boundary(text.len() / 2);
        if end { text[middle..].to_owned() } else { text[..middle].to_owned() }
    };
    let part = |name: &str| name.split('-').next().unwrap_or(name).to_owned();
    let mut body = half(&one.body, false) + &half(&other.body, true);
    body.truncate(body.floor_char_boundary(body_max));
    Texts {
        name: format!("{}-{}", part(&one.name), half(&third.name, true).trim_matches('-')),
        about: half(&one.about, false) + &half(&other.about, true),
        body,
    }
}

/// What was worked so far: other work on the machine does not count.
fn worked(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub(crate) fn run(data: &Data, sizes: &[String]) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("bench-routing-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let result = sizes.iter().try_for_each(|size| {
        let (size, body_max) = match size.split_once(':') {
            Some((size, max)) => (size, max.parse().map_err(|_| "SIZE:BODY_MAX")?),
            None => (&**size, usize::MAX),
        };
        let size: usize = size.parse().map_err(|_| "SIZE is a number")?;
        one(data, size, body_max, &folder.join("index")).map_err(|error| error.to_string())
    });
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn one(data: &Data, size: usize, body_max: usize, path: &std::path::Path) -> std::io::Result<()> {
    let numbers: Vec<usize> = (0..size).collect();
    let texts: Vec<Texts> = numbers.iter().map(|number| recombined(data, *number, body_max)).collect();
    let abouts: usize = texts.iter().map(|texts| texts.name.len() + texts.about.len()).sum();
    let bodies: usize = texts.iter().map(|texts| texts.body.len()).sum();
    let (start, work) = (Instant::now(), worked(ClockId::ProcessCPUTime));
    let length = Lexical::save(path, &texts, Texts::clone)?;
    let (built, work) = (start.elapsed(), worked(ClockId::ProcessCPUTime) - work);
    drop(texts);
    let start = Instant::now();
    let index = Lexical::open(path)?;
    let opened = start.elapsed();
    let allowed = abouts as f64 + 0.4 * bodies as f64;
    say(&format!(
        "\n{size} skills, {:.1} MB of names and descriptions, {:.1} MB of bodies",
        abouts as f64 / 1e6,
        bodies as f64 / 1e6
    ));
    let (clock, processor) = (size as f64 / built.as_secs_f64(), size as f64 / work.as_secs_f64());
    say(&format!(
        "built: {clock:.0} skills a second by the clock, {processor:.0} in a second of one processor"
    ));
    say(&format!("size: {:.1} MB, {:.2} of what is allowed", length as f64 / 1e6, length as f64 / allowed));
    say(&format!("opened: {:.2} ms", opened.as_secs_f64() * 1e3));
    let (mut times, mut waited): (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    for round in 0..3 {
        for message in &data.messages {
            let (start, wall) = (worked(ClockId::ThreadCPUTime), Instant::now());
            let found = index.rank(&message.query, 10);
            if round > 0 {
                times.push(worked(ClockId::ThreadCPUTime) - start);
                waited.push(wall.elapsed());
            }
            std::hint::black_box(found);
        }
    }
    for (what, times) in [("on the processor", &mut times), ("by the clock", &mut waited)] {
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
        let figures = format!(
            "median {:.2} ms, p95 {:.2} ms, p99 {:.2} ms, most {:.2} ms",
            at(0.5),
            at(0.95),
            at(0.99),
            at(1.0)
        );
        say(&format!("asked, {what}: {figures}"));
    }
    Ok(())
}
