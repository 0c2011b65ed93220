//! The quality of routing, compared with the baselines.

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::print_line;
use prowess_bench::catalog::score::{measure, row, sizes};
use prowess_routing::eval::LabelledMessage;
use prowess_routing::{CONFIDENCE_MIN, LexicalIndex, SkillTexts};

use crate::baselines::{Baseline, Baselines};
use crate::small_talk::SMALL_TALK;

pub(crate) fn run(data: &Data) {
    for skills in sizes(data) {
        print_line(&format!("\n{} skills: hit@1, recall@5 with 95 % intervals, MRR", skills.len()));
        let baselines = Baselines::new(&skills);
        for baseline in Baseline::ALL {
            let report =
                measure(&data.messages, |message| (baselines.rank(baseline, &message.query, 10), true));
            print_line(&row(baseline.name(), &report.all));
        }
        let index = LexicalIndex::new(&skills, SkillTexts::clone);
        let answer = |message: &LabelledMessage| {
            let found = index.rank(&message.query, 10);
            let is_confident = found.first().is_some_and(|first| first.confidence >= CONFIDENCE_MIN);
            (found.iter().map(|found| skills[found.skill].name.clone()).collect(), is_confident)
        };
        let report = measure(&data.messages, answer);
        print_line(&row("Prowess", &report.all));
        for (subset, score) in &report.subsets {
            print_line(&row(&format!("  {subset} ({})", score.count), score));
        }
        let confident = data.messages.iter().filter(|message| answer(message).1).count();
        let negatives = measure(&data.negatives, answer).all;
        let small_talk = SMALL_TALK.iter().filter(|message| {
            answer(&LabelledMessage { query: (**message).to_owned(), ..LabelledMessage::default() }).1
        });
        print_line(&format!(
            "messages with a confident match: {:.3}",
            confident as f64 / data.messages.len() as f64
        ));
        print_line(&format!(
            "negatives with a wrong first match: {:.3}, confident: {:.3}",
            negatives.wrong_at_1, negatives.false_activations
        ));
        print_line(&format!(
            "small talk with a confident match: {:.3}",
            small_talk.count() as f64 / SMALL_TALK.len() as f64
        ));
    }
}

pub(crate) fn misses(data: &Data) {
    let skills = data.sample(1_000);
    let index = LexicalIndex::new(&skills, SkillTexts::clone);
    for message in &data.messages {
        let ranked = index.rank(&message.query, 64);
        let rank = ranked.iter().position(|found| message.skills.contains(&skills[found.skill].name));
        if rank.is_none_or(|rank| rank >= 5) {
            let query: String = message.query.chars().take(150).collect();
            print_line(&format!("{rank:?} {:?}: {}", message.skills, query.replace('\n', " ")));
            for found in ranked.iter().take(3) {
                print_line(&format!(
                    "      {} {:.2} {:?}",
                    skills[found.skill].name, found.score, found.reasons
                ));
            }
        }
    }
}
