//! The speed of building, opening and querying the index, and its size.

use std::path::Path;

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::recombined::RecombinedSkills;
use prowess_bench::catalog::times::{Times, measure_process, measure_thread};
use prowess_bench::catalog::{memory, print_line};
use prowess_routing::LexicalIndex;

/// The number of queries per message. The first is not measured.
const ROUNDS: usize = 3;

pub(crate) fn run(data: &Data, sizes: &[String]) -> Result<(), String> {
    let dir = std::env::temp_dir().join(format!("bench-routing-{}", std::process::id()));
    std::fs::create_dir_all(&dir).map_err(|error| error.to_string())?;
    let result = sizes.iter().try_for_each(|size| {
        let skills = RecombinedSkills::new(data, size)?;
        measure(data, &skills, &dir.join("index")).map_err(|error| error.to_string())
    });
    let _ = std::fs::remove_dir_all(&dir);
    result
}

fn measure(data: &Data, skills: &RecombinedSkills<'_>, path: &Path) -> std::io::Result<()> {
    let size = skills.size;
    let (abouts, bodies) = skills.bytes();
    memory::reset_peak();
    let before = memory::peak();
    let (length, measurement) =
        measure_process(|| LexicalIndex::save(path, &skills.numbers(), |number| skills.texts(*number)));
    let (length, after) = (length?, memory::peak());
    let (index, opening) = measure_thread(|| LexicalIndex::open(path));
    let index = index?;
    let allowed = abouts as f64 + 0.4 * bodies as f64;
    print_line(&format!(
        "\n{size} skills, {:.1} MB of names and descriptions, {:.1} MB of bodies",
        abouts as f64 / 1e6,
        bodies as f64 / 1e6
    ));
    let (clock, processor) =
        (size as f64 / measurement.wall.as_secs_f64(), size as f64 / measurement.processor.as_secs_f64());
    print_line(&format!(
        "built: {clock:.0} skills per second, {processor:.0} per second of processor time; texts {}",
        skills.text_creation()
    ));
    if let (Some(before), Some(after)) = (before, after) {
        print_line(&format!("memory for building: {:.0} MB", after.saturating_sub(before) as f64 / 1e6));
    }
    print_line(&format!(
        "size: {:.1} MB, {:.2} of the maximum",
        length as f64 / 1e6,
        length as f64 / allowed
    ));
    print_line(&format!("opened: {:.2} ms", opening.wall.as_secs_f64() * 1e3));
    let mut times = Times::default();
    for round in 0..ROUNDS {
        for message in &data.messages {
            let (found, measurement) = measure_thread(|| index.rank(&message.query, 10));
            if round > 0 {
                times.add(measurement);
            }
            std::hint::black_box(found);
        }
    }
    print_line(&format!("queries, processor time: {}", times.processor()));
    print_line(&format!("queries, wall-clock time: {}", times.wall()));
    Ok(())
}
