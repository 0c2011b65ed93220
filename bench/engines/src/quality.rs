//! The quality of the rankings.

use std::path::Path;

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::print_line;
use prowess_bench::catalog::score::{measure, row, sizes};

use crate::engine::{EngineError, Skills, all, create_empty_dir};

pub(crate) fn run(data: &Data, base: &Path) -> Result<(), String> {
    score(data, base).map_err(|error| error.to_string())
}

fn score(data: &Data, base: &Path) -> Result<(), EngineError> {
    let dir = base.join("index");
    for skills in sizes(data) {
        print_line(&format!("\n{} skills: hit@1, recall@5 with 95 % intervals, MRR", skills.len()));
        for engine in all() {
            create_empty_dir(&dir)?;
            let texts = |number: usize| skills[number].clone();
            engine.build(&dir, &Skills { size: skills.len(), texts: &texts })?;
            let index = engine.open(&dir)?;
            let mut answers = Vec::new();
            for message in &data.messages {
                let found = index.search(&message.query, 10)?;
                answers.push(found.into_iter().map(|number| skills[number].name.clone()).collect::<Vec<_>>());
            }
            let mut answers = answers.into_iter();
            let report = measure(&data.messages, |_| (answers.next().unwrap_or_default(), true));
            print_line(&row(engine.name(), &report.all));
        }
    }
    Ok(())
}
