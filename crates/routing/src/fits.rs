//! Whether a skill that shares words with a message answers it at all.
//!
//! A score says which of several skills is best, not whether any is right: "good morning" is covered well by whatever has
//! both words. How likely one is right was fitted on labelled messages, small talk, and messages asked of small collections
//! without their skill (`bench-routing calibrate`): it takes the ingredients of the second look, and how far the skill is
//! ahead of the best other one.

use super::look::{INGREDIENTS, Weights};

/// A skill that is less likely right than this does not fit: nothing is activated for it.
pub const FITS: f32 = 0.45;

/// What each ingredient says for a skill.
const SPEAKS: Weights =
    Weights { words: -0.37, covered: 1.05, named: 2.25, pairs: 0.3, count: 1.37, when: 0.0, near: 0.62 };

/// What being ahead says, and how far ahead counts. Where nothing else is found, nobody is beaten.
const AHEAD: f32 = 6.6;
const AHEAD_MAX: f32 = 0.4;

const USUAL: f32 = -5.67;

/// How likely a skill is right: by its ingredients, its score, and the best score of the others.
pub(super) fn confidence(ingredients: &[f32; INGREDIENTS], score: f32, other: f32) -> f32 {
    let ahead = ((score - other) / score.max(f32::MIN_POSITIVE)).clamp(-AHEAD_MAX, AHEAD_MAX);
    let evidence = SPEAKS.score(ingredients) + AHEAD * ahead + USUAL;
    1.0 / (1.0 + (-evidence).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_evidence_is_more_likely() {
        let none = [0.0; INGREDIENTS];
        let some = [3.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.5];
        let much = [4.0, 2.5, 0.8, 2.0, 2.0, 1.0, 1.5];
        assert!(confidence(&none, 0.0, 0.0) < 0.01);
        assert!(confidence(&some, 9.0, 8.5) < FITS);
        assert!(confidence(&much, 15.0, 10.0) > 0.7);
        assert!(confidence(&much, 15.0, 10.0) > confidence(&much, 15.0, 14.0));
        assert!(confidence(&much, 15.0, 14.0) > confidence(&much, 15.0, 18.0));
    }
}
