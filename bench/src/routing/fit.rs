//! Choosing weights: a regularised choice on part of the messages, judged on the rest.
//!
//! Messages for one skill stay together, so that nothing is learned about the skills that are judged.

use prowess_bench::catalog::data::hash;
use prowess_routing::eval::LabelledMessage;
use prowess_routing::{FEATURES, FeatureWeights, LexicalIndex, SkillTexts};

const FOLDS: u64 = 5;
const STEPS: i32 = 150;
const RATE: f32 = 0.06;

/// One message: its candidates' ingredients, and which of them are right.
pub(crate) struct Case {
    pub(crate) candidates: Vec<(usize, [f32; FEATURES])>,
    pub(crate) right: Vec<bool>,
    fold: u64,
}

/// What the second look sees of each message.
pub(crate) fn cases(skills: &[SkillTexts], index: &LexicalIndex, messages: &[LabelledMessage]) -> Vec<Case> {
    let case = |message: &LabelledMessage| {
        let candidates = index.features(&message.query);
        let right =
            candidates.iter().map(|(skill, _)| message.skills.contains(&skills[*skill].name)).collect();
        let fold = message.skills.first().map_or(0, |name| hash(name) >> 33) % FOLDS;
        Case { candidates, right, fold }
    };
    messages.iter().map(case).collect()
}

/// Weights for some of the ingredients, chosen on some of the cases: the ones that make the right skills likely.
pub(crate) fn choose(cases: &[&Case], used: [bool; FEATURES], regular: f32) -> [f32; FEATURES] {
    let mut weights = [0.0f32; FEATURES];
    weights[0] = 1.0;
    let (mut mean, mut square) = ([0.0f32; FEATURES], [0.0f32; FEATURES]);
    let told: Vec<&&Case> = cases.iter().filter(|case| case.right.contains(&true)).collect();
    for step in 1..=STEPS {
        let mut slope = weights.map(|weight| weight * regular);
        for case in &told {
            let score = |ingredients: &[f32; FEATURES]| {
                ingredients.iter().zip(&weights).map(|(a, b)| a * b).sum::<f32>()
            };
            let scores: Vec<f32> =
                case.candidates.iter().map(|(_, ingredients)| score(ingredients)).collect();
            let most = scores.iter().copied().fold(f32::MIN, f32::max);
            let likely: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
            let all: f32 = likely.iter().sum();
            let right: f32 =
                likely.iter().zip(&case.right).filter(|(_, right)| **right).map(|(likely, _)| likely).sum();
            for (((_, ingredients), likely), is_right) in case.candidates.iter().zip(&likely).zip(&case.right)
            {
                let push = likely / all - if *is_right { likely / right.max(1e-20) } else { 0.0 };
                for (slope, value) in slope.iter_mut().zip(ingredients) {
                    *slope += push * value / told.len() as f32;
                }
            }
        }
        for at in (0..FEATURES).filter(|at| used[*at]) {
            mean[at] = 0.9 * mean[at] + 0.1 * slope[at];
            square[at] = 0.99 * square[at] + 0.01 * slope[at] * slope[at];
            let (mean, square) =
                (mean[at] / (1.0 - 0.9f32.powi(step)), square[at] / (1.0 - 0.99f32.powi(step)));
            weights[at] -= RATE * mean / (square.sqrt() + 1e-8);
        }
    }
    for at in (0..FEATURES).filter(|at| !used[*at]) {
        weights[at] = 0.0;
    }
    weights
}

/// The names that each message gets from weights chosen without its skill, the best first.
pub(crate) fn held_out(
    skills: &[SkillTexts],
    judged: &[Case],
    learned: &[Vec<Case>; 2],
    used: [bool; FEATURES],
    regular: f32,
) -> Vec<Vec<String>> {
    let mut rankings = vec![Vec::new(); judged.len()];
    for fold in 0..FOLDS {
        let others: Vec<&Case> = learned.iter().flatten().filter(|case| case.fold != fold).collect();
        let weights = FeatureWeights::from_array(choose(&others, used, regular));
        for (case, ranking) in judged.iter().zip(&mut rankings).filter(|(case, _)| case.fold == fold) {
            *ranking = rank(skills, case, &weights);
        }
    }
    rankings
}

/// The names of a case's candidates, the best first.
pub(crate) fn rank(skills: &[SkillTexts], case: &Case, weights: &FeatureWeights) -> Vec<String> {
    let mut scored: Vec<(f32, usize)> =
        case.candidates.iter().map(|(skill, ingredients)| (weights.score(ingredients), *skill)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| skills[a.1].name.cmp(&skills[b.1].name)));
    scored.into_iter().map(|(_, skill)| skills[skill].name.clone()).collect()
}
