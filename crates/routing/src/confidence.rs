//! The confidence that a skill is the right one for a message.
//!
//! A score ranks skills, but does not show whether any is right: "good morning" matches any skill that contains
//! both words. The probability is a logistic function of a few kinds of evidence that mean the same in
//! collections of any size, because the rarity of words includes their [general frequency](super::frequency). It
//! was fitted on labelled messages, small talk, and messages to collections without their skill
//! (`bench-routing calibrate`).

use super::index::TermStats;
use super::query::Query;
use super::rerank::Reranked;
use super::text::is_spaceless;

/// The minimum confidence for a match: below it, no skill is activated.
pub const CONFIDENCE_MIN: f32 = 0.58;

/// The number of kinds of evidence.
pub const EVIDENCE: usize = 7;

/// The names of the kinds of evidence, in the order of [`Evidence::values`].
pub const EVIDENCE_NAMES: [&str; EVIDENCE] =
    ["covered", "named", "pairs", "words", "strength", "lead", "gap"];

/// The weight of each kind of evidence.
pub const EVIDENCE_WEIGHTS: [f32; EVIDENCE] = [2.03, 1.46, 0.386, -0.203, 1.0, 2.41, 0.232];

/// The bias of the logistic function.
pub const EVIDENCE_BIAS: f32 = -4.65;

/// The maximum of the lead, which a skill without competitors gets.
const LEAD_MAX: f32 = 0.4;

/// How much a word counts as covered by its alias, or by the correction of a typo.
const DERIVED_SHARE: f32 = 0.8;

/// What speaks for a skill.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// The share of the message's informative words that the skill contains, weighted by rarity.
    pub covered: f32,
    /// The share of the skill's name in the message.
    pub named: f32,
    /// Adjacent words of the message that are also adjacent in the skill.
    pub pairs: f32,
    /// The BM25 score over both fields, relative to the value of the message's words.
    pub words: f32,
    /// The value of the words in the name and description, on a logarithmic scale.
    pub strength: f32,
    /// The difference to the best other score, relative to the skill's own.
    pub lead: f32,
    /// The difference to the best other score.
    pub gap: f32,
}

impl Evidence {
    /// Collects the evidence for a candidate with a score, in comparison with the best other score.
    pub(super) fn new(
        query: &Query<'_>,
        stats: &[TermStats],
        reranked: &Reranked,
        impacts: &[[u8; 2]],
        [score, best_other]: [f32; 2],
    ) -> Self {
        // How much each original word is covered: in name and description, and anywhere.
        let mut coverage = vec![[0.0f32; 2]; query.words.len()];
        for (index, (word, [about, body])) in query.words.iter().zip(impacts).enumerate() {
            let share = if word.source.is_some() { DERIVED_SHARE } else { 1.0 };
            let Some(coverage) = coverage.get_mut(word.source.unwrap_or(index)) else { continue };
            for (coverage, is_in) in coverage.iter_mut().zip([*about > 0, *about > 0 || *body > 0]) {
                *coverage = coverage.max(if is_in { share } else { 0.0 });
            }
        }
        let (mut total, mut described, mut contained) = (0.0f32, 0.0f32, 0.0f32);
        for ((word, stats), [about, anywhere]) in query.words.iter().zip(stats).zip(coverage) {
            // Skills are written in few languages: unknown words of scripts without spaces say nothing.
            let is_foreign = || !stats.is_found() && word.text.chars().any(is_spaceless);
            if word.source.is_some() || word.is_stop_word || is_foreign() {
                continue;
            }
            let value = word.weighted.weight * stats.rarity[1];
            total += value;
            described += value * about;
            contained += value * anywhere;
        }
        let [words, _, named, pairs, ..] = reranked.features;
        Self {
            covered: contained / total.max(1.0),
            named,
            pairs,
            words,
            strength: described.ln_1p(),
            lead: ((score - best_other) / score.max(f32::MIN_POSITIVE)).clamp(-LEAD_MAX, LEAD_MAX),
            gap: score - best_other,
        }
    }

    /// Returns all values, in the order of [`EVIDENCE_NAMES`].
    pub fn values(&self) -> [f32; EVIDENCE] {
        let Self { covered, named, pairs, words, strength, lead, gap } = *self;
        [covered, named, pairs, words, strength, lead, gap]
    }

    /// Returns the probability that the skill is right.
    pub fn confidence(&self) -> f32 {
        let sum: f32 = self.values().iter().zip(EVIDENCE_WEIGHTS).map(|(value, weight)| value * weight).sum();
        1.0 / (1.0 + (-(sum + EVIDENCE_BIAS)).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONE: Evidence =
        Evidence { covered: 0.0, named: 0.0, pairs: 0.0, words: 0.0, strength: 0.0, lead: 0.0, gap: 0.0 };

    #[test]
    fn confidence_grows_with_evidence() {
        let some = Evidence { covered: 0.4, words: 3.0, strength: 1.5, lead: 0.1, gap: 1.0, ..NONE };
        let much =
            Evidence { covered: 0.9, named: 0.8, pairs: 2.0, words: 4.0, strength: 2.5, lead: 0.4, gap: 6.0 };
        assert!(NONE.confidence() < 0.02);
        assert!((0.02..CONFIDENCE_MIN).contains(&some.confidence()));
        assert!(much.confidence() > 0.9);
    }

    proptest! {
        #[test]
        fn a_larger_lead_never_lowers_the_confidence(
            covered in 0.0f32..1.0, strength in 0.0f32..4.0, gap in -9.0f32..9.0, more in 0.0f32..5.0,
        ) {
            let evidence = |gap: f32| Evidence { covered, strength, gap, lead: (gap / 20.0).clamp(-LEAD_MAX, LEAD_MAX), ..NONE };
            let (less, more) = (evidence(gap).confidence(), evidence(gap + more).confidence());
            prop_assert!((0.0..=1.0).contains(&less) && less <= more);
        }
    }
}
