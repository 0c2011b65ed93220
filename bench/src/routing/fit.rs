//! Fits weights with regularization to part of the messages, and evaluates them on the rest.
//!
//! Messages of one skill are in the same fold, so that weights are not fitted to the evaluated skills.

use prowess_bench::catalog::data::hash;
use prowess_routing::eval::LabelledMessage;
use prowess_routing::{FEATURES, FeatureWeights, LexicalIndex, SkillTexts};

const FOLDS: u64 = 5;
const STEPS: i32 = 150;
const RATE: f32 = 0.06;

/// A message: the features of its candidates, and which of them are correct.
pub(crate) struct Case {
    pub(crate) candidates: Vec<(usize, [f32; FEATURES])>,
    pub(crate) correct: Vec<bool>,
    fold: u64,
}

/// Returns the candidates of each message with their features.
pub(crate) fn cases(skills: &[SkillTexts], index: &LexicalIndex, messages: &[LabelledMessage]) -> Vec<Case> {
    let case = |message: &LabelledMessage| {
        let candidates = index.features(&message.query);
        let correct =
            candidates.iter().map(|(skill, _)| message.skills.contains(&skills[*skill].name)).collect();
        let fold = message.skills.first().map_or(0, |name| hash(name) >> 33) % FOLDS;
        Case { candidates, correct, fold }
    };
    messages.iter().map(case).collect()
}

/// Fits the weights of the used features to cases, to maximize the likelihood of the correct skills.
pub(crate) fn fit_weights(cases: &[&Case], used: [bool; FEATURES], regularization: f32) -> [f32; FEATURES] {
    let mut weights = [0.0f32; FEATURES];
    weights[0] = 1.0;
    let (mut mean, mut square) = ([0.0f32; FEATURES], [0.0f32; FEATURES]);
    let labelled: Vec<&&Case> = cases.iter().filter(|case| case.correct.contains(&true)).collect();
    for step in 1..=STEPS {
        let mut gradient = weights.map(|weight| weight * regularization);
        for case in &labelled {
            let score =
                |features: &[f32; FEATURES]| features.iter().zip(&weights).map(|(a, b)| a * b).sum::<f32>();
            let scores: Vec<f32> = case.candidates.iter().map(|(_, features)| score(features)).collect();
            let highest = scores.iter().copied().fold(f32::MIN, f32::max);
            let likely: Vec<f32> = scores.iter().map(|score| (score - highest).exp()).collect();
            let total: f32 = likely.iter().sum();
            let correct: f32 = likely
                .iter()
                .zip(&case.correct)
                .filter(|(_, correct)| **correct)
                .map(|(likely, _)| likely)
                .sum();
            for (((_, features), likely), is_correct) in
                case.candidates.iter().zip(&likely).zip(&case.correct)
            {
                let error = likely / total - if *is_correct { likely / correct.max(1e-20) } else { 0.0 };
                for (gradient, value) in gradient.iter_mut().zip(features) {
                    *gradient += error * value / labelled.len() as f32;
                }
            }
        }
        for index in (0..FEATURES).filter(|index| used[*index]) {
            mean[index] = 0.9 * mean[index] + 0.1 * gradient[index];
            square[index] = 0.99 * square[index] + 0.01 * gradient[index] * gradient[index];
            let (mean, square) =
                (mean[index] / (1.0 - 0.9f32.powi(step)), square[index] / (1.0 - 0.99f32.powi(step)));
            weights[index] -= RATE * mean / (square.sqrt() + 1e-8);
        }
    }
    for index in (0..FEATURES).filter(|index| !used[*index]) {
        weights[index] = 0.0;
    }
    weights
}

/// Ranks the candidates of each message with weights that were fitted without its skill.
pub(crate) fn cross_validate(
    skills: &[SkillTexts],
    evaluated: &[Case],
    training: &[Vec<Case>; 2],
    used: [bool; FEATURES],
    regularization: f32,
) -> Vec<Vec<String>> {
    let mut rankings = vec![Vec::new(); evaluated.len()];
    for fold in 0..FOLDS {
        let others: Vec<&Case> = training.iter().flatten().filter(|case| case.fold != fold).collect();
        let weights = FeatureWeights::from_array(fit_weights(&others, used, regularization));
        for (case, ranking) in evaluated.iter().zip(&mut rankings).filter(|(case, _)| case.fold == fold) {
            *ranking = rank(skills, case, &weights);
        }
    }
    rankings
}

/// Returns the names of the candidates of a case, best first.
pub(crate) fn rank(skills: &[SkillTexts], case: &Case, weights: &FeatureWeights) -> Vec<String> {
    let mut scored: Vec<(f32, usize)> =
        case.candidates.iter().map(|(skill, features)| (weights.score(features), *skill)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| skills[a.1].name.cmp(&skills[b.1].name)));
    scored.into_iter().map(|(_, skill)| skills[skill].name.clone()).collect()
}
