//! What each ingredient of the second look is worth.

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::say;
use prowess_bench::catalog::score::{row, sizes};
use prowess_routing::eval::evaluate;
use prowess_routing::{FEATURES, FeatureWeights, LexicalIndex, SkillTexts};

use crate::fit::{Case, cases, choose, held_out, rank};

const REGULAR: f32 = 0.003;

/// Weights chosen on four fifths of the skills' messages, judged on the rest, at both sizes.
pub(crate) fn fit(data: &Data) {
    let [small, all] = sizes(data);
    let both = [&small, &all]
        .map(|skills| cases(skills, &LexicalIndex::new(skills, SkillTexts::clone), &data.messages));
    let names = FeatureWeights::default().entries().map(|(name, _)| name);
    let judge = |what: &str, used: [bool; FEATURES], regular: f32| {
        let mut line = format!("{what:28}");
        for (skills, judged) in [(&small, &both[0]), (&all, &both[1])] {
            let rankings = held_out(skills, judged, &both, used, regular);
            let score = evaluate(data.messages.iter().zip(rankings.iter().map(Vec::as_slice)), 5).all;
            line.push_str(&format!(" | {:.3} {:.3} {:.3}", score.hit_at_1, score.recall_at_k, score.mrr));
        }
        say(&line);
    };
    for regular in [0.001, REGULAR, 0.01] {
        judge(&format!("all, regular {regular}"), [true; FEATURES], regular);
    }
    for (at, name) in names.iter().enumerate() {
        let mut used = [true; FEATURES];
        used[at] = false;
        judge(&format!("without {name}"), used, REGULAR);
    }
    let every: Vec<&Case> = both.iter().flatten().collect();
    let chosen = choose(&every, [true; FEATURES], REGULAR);
    say(&format!("{:?}", names.iter().zip(chosen).collect::<Vec<_>>()));
}

/// The weights as they are, with each left out.
pub(crate) fn ablation(data: &Data) {
    for skills in sizes(data) {
        say(&format!("\n{} skills: hit@1, recall@5 with 95 % intervals, MRR", skills.len()));
        let cases = cases(&skills, &LexicalIndex::new(&skills, SkillTexts::clone), &data.messages);
        let judge = |what: &str, weights: &FeatureWeights| {
            let rankings: Vec<Vec<String>> = cases.iter().map(|case| rank(&skills, case, weights)).collect();
            let score = evaluate(data.messages.iter().zip(rankings.iter().map(Vec::as_slice)), 5).all;
            say(&row(what, &score));
        };
        let weights = FeatureWeights::default();
        judge("everything", &weights);
        let mut words = [0.0; FEATURES];
        words[0] = 1.0;
        judge("words alone, no second look", &FeatureWeights::from_array(words));
        for (at, (name, _)) in weights.entries().iter().enumerate() {
            let mut without = weights.entries().map(|(_, weight)| weight);
            without[at] = 0.0;
            judge(&format!("without {name}"), &FeatureWeights::from_array(without));
        }
    }
}
