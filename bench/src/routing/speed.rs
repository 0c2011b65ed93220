//! How fast the index is built, opened and asked, and how large it is.

use std::path::Path;

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::recombined::Recombined;
use prowess_bench::catalog::times::{Times, timed, timed_here};
use prowess_bench::catalog::{memory, say};
use prowess_routing::LexicalIndex;

/// How often each message is asked; the first time does not count.
const ROUNDS: usize = 3;

pub(crate) fn run(data: &Data, sizes: &[String]) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("bench-routing-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let result = sizes.iter().try_for_each(|size| {
        let skills = Recombined::new(data, size)?;
        one(data, &skills, &folder.join("index")).map_err(|error| error.to_string())
    });
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn one(data: &Data, skills: &Recombined<'_>, path: &Path) -> std::io::Result<()> {
    let size = skills.size;
    let (abouts, bodies) = skills.bytes();
    memory::forget_peak();
    let before = memory::peak();
    let (length, took) =
        timed(|| LexicalIndex::save(path, &skills.numbers(), |number| skills.texts(*number)));
    let (length, after) = (length?, memory::peak());
    let (index, opening) = timed_here(|| LexicalIndex::open(path));
    let index = index?;
    let allowed = abouts as f64 + 0.4 * bodies as f64;
    say(&format!(
        "\n{size} skills, {:.1} MB of names and descriptions, {:.1} MB of bodies",
        abouts as f64 / 1e6,
        bodies as f64 / 1e6
    ));
    let (clock, processor) =
        (size as f64 / took.waited.as_secs_f64(), size as f64 / took.worked.as_secs_f64());
    say(&format!(
        "built: {clock:.0} skills a second by the clock, {processor:.0} in a second of one processor; texts {}",
        skills.made_when()
    ));
    if let (Some(before), Some(after)) = (before, after) {
        say(&format!("memory for building: {:.0} MB", after.saturating_sub(before) as f64 / 1e6));
    }
    say(&format!("size: {:.1} MB, {:.2} of what is allowed", length as f64 / 1e6, length as f64 / allowed));
    say(&format!("opened: {:.2} ms", opening.waited.as_secs_f64() * 1e3));
    let mut times = Times::default();
    for round in 0..ROUNDS {
        for message in &data.messages {
            let (found, took) = timed_here(|| index.rank(&message.query, 10));
            if round > 0 {
                times.add(took);
            }
            std::hint::black_box(found);
        }
    }
    say(&format!("asked, on the processor: {}", times.worked()));
    say(&format!("asked, by the clock: {}", times.waited()));
    Ok(())
}
