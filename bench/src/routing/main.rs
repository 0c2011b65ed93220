//! `bench-routing`: how good and how fast routing is, beside what exists; see `bench/README.md`.

mod baselines;
mod data;
mod fit;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use prowess::route::eval::{Labelled, Score, evaluate};
use prowess::route::{INGREDIENTS, Lexical, Texts, Weights};

use baselines::{Baseline, Baselines};
use data::Data;

const USAGE: &str = "bench-routing quality|ablation|fit FOLDER";

const REGULAR: f32 = 0.01;

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
    let [what, folder] = &args[..] else { return Err(USAGE.to_owned()) };
    let data = Data::read(Path::new(folder))?;
    match &**what {
        "quality" => quality(&data),
        "ablation" => ablation(&data),
        "fit" => weights(&data),
        "misses" => misses(&data),
        "calibrate" => calibrate(&data),
        _ => return Err(USAGE.to_owned()),
    }
    Ok(())
}

fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

fn row(name: &str, score: &Score) -> String {
    format!("{name:44} {:.3}  {:.3}  {:.3}", score.hit_at_1, score.recall_at_k, score.mrr)
}

fn measure(messages: &[Labelled], rank: impl Fn(&Labelled) -> Vec<String>) -> Score {
    let rankings: Vec<Vec<String>> = messages.iter().map(rank).collect();
    evaluate(messages.iter().zip(rankings.iter().map(Vec::as_slice)), 5).all
}

fn sizes(data: &Data) -> [Vec<Texts>; 2] {
    [data.sample(1_000), data.sample(usize::MAX)]
}

fn quality(data: &Data) {
    for skills in sizes(data) {
        say(&format!("\n{} skills: hit@1, recall@5, MRR", skills.len()));
        let baselines = Baselines::new(&skills);
        for baseline in Baseline::ALL {
            let score = measure(&data.messages, |message| baselines.rank(baseline, &message.query, 10));
            say(&row(baseline.name(), &score));
        }
        let index = Lexical::new(&skills, Texts::clone);
        let name = |message: &Labelled| {
            index.rank(&message.query, 10).iter().map(|found| skills[found.skill].name.clone()).collect()
        };
        say(&row("Prowess", &measure(&data.messages, name)));
        let negatives = evaluate(
            data.negatives
                .iter()
                .zip(data.negatives.iter().map(name).collect::<Vec<Vec<String>>>().iter().map(Vec::as_slice)),
            5,
        );
        say(&format!("negatives whose first is wrong: {:.3}", negatives.all.wrong_at_1));
    }
}

fn weights(data: &Data) {
    let [small, all] = sizes(data);
    let indexes = [&small, &all].map(|skills| Lexical::new(skills, Texts::clone));
    let cases = [(&small, &indexes[0]), (&all, &indexes[1])]
        .map(|(skills, index)| fit::cases(skills, index, &data.messages));
    let names = Weights::default().named().map(|(name, _)| name);
    let judge = |what: &str, used: [bool; INGREDIENTS], regular: f32| {
        let mut line = format!("{what:28}");
        for (skills, judged) in [(&small, &cases[0]), (&all, &cases[1])] {
            let rankings = fit::held_out(skills, judged, &cases, used, regular);
            let score = evaluate(data.messages.iter().zip(rankings.iter().map(Vec::as_slice)), 5).all;
            line.push_str(&format!(" | {:.3} {:.3} {:.3}", score.hit_at_1, score.recall_at_k, score.mrr));
        }
        say(&line);
    };
    for regular in [0.003, 0.01, 0.03] {
        judge(&format!("all, regular {regular}"), [true; INGREDIENTS], regular);
    }
    for (at, name) in names.iter().enumerate() {
        let mut used = [true; INGREDIENTS];
        used[at] = false;
        judge(&format!("without {name}"), used, REGULAR);
    }
    let every: Vec<&fit::Case> = cases.iter().flatten().collect();
    let chosen = fit::choose(&every, [true; INGREDIENTS], REGULAR);
    say(&format!("{:?}", names.iter().zip(chosen).collect::<Vec<_>>()));
}

fn ablation(data: &Data) {
    let [small, all] = sizes(data);
    for skills in [small, all] {
        say(&format!("\n{} skills: hit@1, recall@5, MRR", skills.len()));
        let index = Lexical::new(&skills, Texts::clone);
        let cases = fit::cases(&skills, &index, &data.messages);
        let judge = |what: &str, weights: &Weights| {
            let rankings: Vec<Vec<String>> =
                cases.iter().map(|case| fit::rank(&skills, case, weights)).collect();
            let score = evaluate(data.messages.iter().zip(rankings.iter().map(Vec::as_slice)), 5).all;
            say(&row(what, &score));
        };
        let weights = Weights::default();
        judge("everything", &weights);
        for (at, (name, _)) in weights.named().iter().enumerate() {
            let mut without = weights.named().map(|(_, weight)| weight);
            without[at] = 0.0;
            judge(&format!("without {name}"), &Weights::of(without));
        }
    }
}

fn misses(data: &Data) {
    let skills = data.sample(1_000);
    let index = Lexical::new(&skills, Texts::clone);
    for message in &data.messages {
        let ranked = index.rank(&message.query, 64);
        let place = ranked.iter().position(|found| message.skills.contains(&skills[found.skill].name));
        if place.is_none_or(|place| place >= 5) {
            let query: String = message.query.chars().take(150).collect();
            say(&format!("{place:?} {:?}: {}", message.skills, query.replace('\n', " ")));
            for found in ranked.iter().take(3) {
                say(&format!("      {} {:.2} {:?}", skills[found.skill].name, found.score, found.reasons));
            }
        }
    }
}

/// Scores of the first skill, and whether it is right, for choosing when nothing fits.
fn calibrate(data: &Data) {
    for skills in sizes(data) {
        let index = Lexical::new(&skills, Texts::clone);
        for message in &data.messages {
            if let Some(first) = index.rank(&message.query, 2).first() {
                let right = message.skills.contains(&skills[first.skill].name);
                say(&format!("{} pos {} {:.3}", skills.len(), u8::from(right), first.score));
            }
        }
        for message in &data.negatives {
            if let Some(first) = index.rank(&message.query, 2).first() {
                let wrong = message.not_skills.contains(&skills[first.skill].name);
                say(&format!("{} neg {} {:.3}", skills.len(), u8::from(wrong), first.score));
            }
        }
    }
}
