//! How good the rankings are.

use std::path::Path;

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::say;
use prowess_bench::catalog::score::{measure, row, sizes};

use crate::engine::{Failed, Skills, all, emptied};

pub(crate) fn run(data: &Data, place: &Path) -> Result<(), String> {
    score(data, place).map_err(|error| error.to_string())
}

fn score(data: &Data, place: &Path) -> Result<(), Failed> {
    let folder = place.join("index");
    for skills in sizes(data) {
        say(&format!("\n{} skills: hit@1, recall@5 with 95 % intervals, MRR", skills.len()));
        for engine in all() {
            emptied(&folder)?;
            let texts = |number: usize| skills[number].clone();
            engine.build(&folder, &Skills { size: skills.len(), texts: &texts })?;
            let index = engine.open(&folder)?;
            let mut answers = Vec::new();
            for message in &data.messages {
                let found = index.ask(&message.query, 10)?;
                answers.push(found.into_iter().map(|number| skills[number].name.clone()).collect::<Vec<_>>());
            }
            let mut answers = answers.into_iter();
            let report = measure(&data.messages, |_| (answers.next().unwrap_or_default(), true));
            say(&row(engine.name(), &report.all));
        }
    }
    Ok(())
}
