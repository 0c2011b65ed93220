//! The confidence that a skill is the right one for a message.
//!
//! A score ranks skills, but does not show whether any is right: "good morning" matches any skill that contains
//! both words. The probability was fitted on labelled messages, small talk, and messages to small collections
//! without their skill (`bench-routing calibrate`). It depends on the features of reranking, and on the lead
//! over the next best skill.

use super::rerank::{FEATURES, FeatureWeights};

/// The minimum confidence for a match: below it, no skill is activated.
pub const CONFIDENCE_MIN: f32 = 0.45;

const FEATURE_WEIGHTS: FeatureWeights = FeatureWeights {
    words: -0.37,
    covered: 1.05,
    named: 2.25,
    pairs: 0.3,
    count: 1.37,
    when: 0.0,
    near: 0.62,
};

/// The weight of the lead, and its maximum. A skill without competitors gets the maximum.
const LEAD_WEIGHT: f32 = 6.6;
const LEAD_MAX: f32 = 0.4;

/// The bias of the logistic function.
const BIAS: f32 = -5.67;

/// Returns the probability that a skill is right, given its features, its score, and the best score of the
/// others.
pub(super) fn confidence(features: &[f32; FEATURES], score: f32, best_other: f32) -> f32 {
    let lead = ((score - best_other) / score.max(f32::MIN_POSITIVE)).clamp(-LEAD_MAX, LEAD_MAX);
    let evidence = FEATURE_WEIGHTS.score(features) + LEAD_WEIGHT * lead + BIAS;
    1.0 / (1.0 + (-evidence).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_grows_with_evidence() {
        let none = [0.0; FEATURES];
        let some = [3.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.5];
        let much = [4.0, 2.5, 0.8, 2.0, 2.0, 1.0, 1.5];
        assert!(confidence(&none, 0.0, 0.0) < 0.01);
        assert!(confidence(&some, 9.0, 8.5) < CONFIDENCE_MIN);
        assert!(confidence(&much, 15.0, 10.0) > 0.7);
        assert!(confidence(&much, 15.0, 10.0) > confidence(&much, 15.0, 14.0));
        assert!(confidence(&much, 15.0, 14.0) > confidence(&much, 15.0, 18.0));
    }
}
