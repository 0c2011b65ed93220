//! The value of each feature of reranking.

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::print_line;
use prowess_bench::catalog::score::{row, sizes};
use prowess_routing::eval::evaluate;
use prowess_routing::{FEATURES, FeatureWeights, LexicalIndex, SkillTexts};

use crate::fit::{Case, cases, cross_validate, fit_weights, rank};

const REGULARIZATION: f32 = 0.003;

/// Fits weights to four fifths of the messages and evaluates them on the rest, at both sizes.
pub(crate) fn fit(data: &Data) {
    let [small, all] = sizes(data);
    let cases = [&small, &all]
        .map(|skills| cases(skills, &LexicalIndex::new(skills, SkillTexts::clone), &data.messages));
    let names = FeatureWeights::default().entries().map(|(name, _)| name);
    let print_score = |label: &str, used: [bool; FEATURES], regularization: f32| {
        let mut line = format!("{label:28}");
        for (skills, evaluated) in [(&small, &cases[0]), (&all, &cases[1])] {
            let rankings = cross_validate(skills, evaluated, &cases, used, regularization);
            let score = evaluate(data.messages.iter().zip(rankings.iter().map(Vec::as_slice)), 5).all;
            line.push_str(&format!(" | {:.3} {:.3} {:.3}", score.hit_at_1, score.recall_at_k, score.mrr));
        }
        print_line(&line);
    };
    for regularization in [0.001, REGULARIZATION, 0.01] {
        print_score(&format!("all, regularization {regularization}"), [true; FEATURES], regularization);
    }
    for (index, name) in names.iter().enumerate() {
        let mut used = [true; FEATURES];
        used[index] = false;
        print_score(&format!("without {name}"), used, REGULARIZATION);
    }
    let all_cases: Vec<&Case> = cases.iter().flatten().collect();
    let fitted = fit_weights(&all_cases, [true; FEATURES], REGULARIZATION);
    print_line(&format!("{:?}", names.iter().zip(fitted).collect::<Vec<_>>()));
}

/// Evaluates the default weights without each of the features.
pub(crate) fn ablation(data: &Data) {
    for skills in sizes(data) {
        print_line(&format!("\n{} skills: hit@1, recall@5 with 95 % intervals, MRR", skills.len()));
        let cases = cases(&skills, &LexicalIndex::new(&skills, SkillTexts::clone), &data.messages);
        let print_score = |label: &str, weights: &FeatureWeights| {
            let rankings: Vec<Vec<String>> = cases.iter().map(|case| rank(&skills, case, weights)).collect();
            let score = evaluate(data.messages.iter().zip(rankings.iter().map(Vec::as_slice)), 5).all;
            print_line(&row(label, &score));
        };
        let weights = FeatureWeights::default();
        print_score("everything", &weights);
        let mut words = [0.0; FEATURES];
        words[0] = 1.0;
        print_score("words only, no reranking", &FeatureWeights::from_array(words));
        for (index, (name, _)) in weights.entries().iter().enumerate() {
            let mut without = weights.entries().map(|(_, weight)| weight);
            without[index] = 0.0;
            print_score(&format!("without {name}"), &FeatureWeights::from_array(without));
        }
    }
}
