//! Reranking: the best candidates by words are scored again by how well they match the message as a whole.
//!
//! Each feature is a number that does not depend on the length of the message; `docs/routing.md` explains them.

use super::index::{ContentSignature, DamagedIndex, SearchCandidate, Sketch, TermStats, short_term};
use super::phrase;
use super::query::{Query, QueryWord};
use super::words::Term;

/// The rarity assumed for words of a name that are not in the message: about that of a rare word.
const UNMATCHED_NAME_WORD: f32 = 6.0;

/// The size of the window over the description, in words.
const WINDOW: usize = 16;

/// The number of features.
pub const FEATURES: usize = 7;

/// The weight of each feature. The defaults were measured; other values are for experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeatureWeights {
    /// The BM25 score over both fields, relative to the value of the message's words.
    pub words: f32,
    /// The share of the message that occurs anywhere in the skill.
    pub covered: f32,
    /// The share of the skill's name that occurs in the message.
    pub named: f32,
    /// Adjacent words of the message that are also adjacent in the skill.
    pub pairs: f32,
    /// The number of words of the message in the name and description.
    pub count: f32,
    /// The share of the message in sentences that state when to use the skill.
    pub when: f32,
    /// The share of the message in one window of the description.
    pub near: f32,
}

impl Default for FeatureWeights {
    fn default() -> Self {
        Self { words: 1.1, covered: 2.4, named: 2.1, pairs: 0.4, count: 1.3, when: 1.05, near: 0.4 }
    }
}

impl FeatureWeights {
    /// Returns the names and weights of all features, in a fixed order.
    pub fn entries(&self) -> [(&'static str, f32); FEATURES] {
        let Self { words, covered, named, pairs, count, when, near } = *self;
        [
            ("words", words),
            ("covered", covered),
            ("named", named),
            ("pairs", pairs),
            ("count", count),
            ("when", when),
            ("near", near),
        ]
    }

    /// Creates weights in the order of [`FeatureWeights::entries`].
    pub fn from_array([words, covered, named, pairs, count, when, near]: [f32; FEATURES]) -> Self {
        Self { words, covered, named, pairs, count, when, near }
    }

    /// Returns the weighted sum of the features.
    pub fn score(&self, features: &[f32; FEATURES]) -> f32 {
        self.entries().iter().zip(features).map(|((_, weight), value)| weight * value).sum()
    }
}

/// The features of a candidate.
#[derive(Debug, Clone)]
pub(super) struct Reranked {
    pub(super) features: [f32; FEATURES],
    /// The adjacent pairs of the message that the skill contains.
    pub(super) pairs: Vec<(Term, Term)>,
    /// Whether the name contains each word of the message.
    pub(super) in_name: Vec<bool>,
    /// Identifies copies.
    pub(super) signature: ContentSignature,
}

/// Computes the features of a candidate.
pub(super) fn rerank(
    query: &Query<'_>,
    stats: &[TermStats],
    candidate: &SearchCandidate,
) -> Result<Reranked, DamagedIndex> {
    let sketch = Sketch::parse(&candidate.sketch)?;
    let (values, total) = word_values(query, stats);
    let share = |contains: &dyn Fn([u8; 2]) -> bool| {
        let contained = candidate.impacts.iter().zip(&values).filter(|(impacts, _)| contains(**impacts));
        contained.map(|(_, value)| value).sum::<f32>() / total
    };
    let in_name: Vec<bool> = query.words.iter().map(|word| sketch.name_has(word.weighted.term)).collect();
    let pairs: Vec<(Term, Term)> = query
        .pairs
        .iter()
        .filter(|(pair, ..)| sketch.has_pair(*pair))
        .map(|(_, first, second)| (*first, *second))
        .collect();
    let count = candidate
        .impacts
        .iter()
        .zip(&query.words)
        .filter(|(impacts, word)| impacts[0] > 0 && !word.is_stop_word);
    let (when, near) = when_and_window(query, &sketch, &values);
    let features = [
        3.0 * candidate.score / total,
        3.0 * share(&|[about, body]| about > 0 || body > 0),
        name_share(query, stats, &sketch, &in_name),
        pairs_feature(query, pairs.len()),
        (count.count() as f32).sqrt(),
        3.0 * when / total,
        3.0 * near / total,
    ];
    Ok(Reranked { features, pairs, in_name, signature: sketch.signature() })
}

/// An upper bound on the score of a skill, to skip reranking skills that cannot reach a given score.
///
/// Features are computed from the cheapest to the most expensive; a feature that is not computed yet counts
/// with its maximum.
#[derive(Debug)]
pub(super) struct ScoreBound<'q> {
    query: &'q Query<'q>,
    stats: &'q [TermStats],
    weights: &'q FeatureWeights,
    /// The value of each word of the message, and the total of the original ones.
    values: Vec<f32>,
    total: f32,
    /// The words of the message as stored in sketches, sorted, with their indexes.
    short_terms: Vec<(u32, usize)>,
    /// The score to reach.
    score: f32,
    /// The maximum of each feature, and of the phrase bonus.
    max: [f32; FEATURES],
    phrases: f32,
}

/// The maximum relative rounding difference between sums in different orders.
const ROUNDING: f32 = 1e-3;

impl<'q> ScoreBound<'q> {
    pub(super) fn new(
        query: &'q Query<'q>,
        stats: &'q [TermStats],
        weights: &'q FeatureWeights,
        score: f32,
    ) -> Self {
        let (values, total) = word_values(query, stats);
        let all = 3.0 * values.iter().sum::<f32>() / total;
        let content_words = query.words.iter().filter(|word| !word.is_stop_word).count();
        let max = [
            f32::INFINITY,
            all,
            f32::INFINITY,
            pairs_feature(query, query.pairs.len()),
            (content_words as f32).sqrt(),
            all,
            all,
        ];
        let mut short_terms: Vec<(u32, usize)> =
            query.words.iter().map(|word| short_term(word.weighted.term)).zip(0..).collect();
        short_terms.sort_unstable();
        let phrases = phrase::bonus(query.phrases.len(), query.phrases.len());
        Self { query, stats, weights, values, total, short_terms, score, max, phrases }
    }

    /// Returns `true` if a skill may reach the score, given the sum of its words, its sketch, and the impacts
    /// of each word.
    pub(super) fn can_reach(
        &self,
        sum: f32,
        sketch: &Sketch<'_>,
        impacts: impl Fn(usize) -> [u8; 2],
    ) -> bool {
        let mut max = self.max;
        (max[0], max[2]) = (3.0 * sum / self.total, self.name_share(sketch));
        let Some(misses) = self.allowed_misses(&max) else { return false };
        // Stop counting at one pair more than may be missing.
        let missing = self.query.pairs.iter().filter(|(pair, ..)| !sketch.has_pair(*pair));
        let missing = missing.take(misses.saturating_add(1)).count();
        if missing > misses {
            return false;
        }
        max[3] = pairs_feature(self.query, self.query.pairs.len() - missing);
        let (mut covered, mut count) = (0.0, 0usize);
        for (index, (word, value)) in self.query.words.iter().zip(&self.values).enumerate() {
            let [about, body] = impacts(index);
            covered += if about > 0 || body > 0 { *value } else { 0.0 };
            count += usize::from(about > 0 && !word.is_stop_word);
        }
        (max[1], max[4]) = (3.0 * covered / self.total, (count as f32).sqrt());
        self.margin(&max) >= 0.0
    }

    /// Returns by how much the upper bound exceeds the score.
    fn margin(&self, max: &[f32; FEATURES]) -> f32 {
        (self.weights.score(max) + self.phrases) * (1.0 + ROUNDING) - self.score
    }

    /// Returns how many pairs of the message a skill may lack, or `None` if it cannot reach the score with all
    /// of them.
    fn allowed_misses(&self, max: &[f32; FEATURES]) -> Option<usize> {
        let margin = self.margin(max);
        let pair = self.weights.pairs * pairs_feature(self.query, 1);
        // One more because of rounding.
        (margin >= 0.0).then(|| if pair > 0.0 { (margin / pair) as usize + 1 } else { usize::MAX })
    }

    /// Returns the share of the name in the message, like [`name_share`].
    fn name_share(&self, sketch: &Sketch<'_>) -> f32 {
        let mut matched: Vec<usize> = Vec::new();
        for word in sketch.name() {
            let from = self.short_terms.partition_point(|(short_term, _)| *short_term < word);
            let equal = self.short_terms.iter().skip(from).take_while(|(short_term, _)| *short_term == word);
            matched.extend(equal.map(|(_, index)| *index));
        }
        matched.sort_unstable();
        matched.dedup();
        share_of_words(
            matched.iter().filter_map(|index| self.query.words.get(*index).zip(self.stats.get(*index))),
            sketch,
        )
    }
}

/// Returns the value of each word of the message, and the total of the original ones.
fn word_values(query: &Query<'_>, stats: &[TermStats]) -> (Vec<f32>, f32) {
    let values: Vec<f32> =
        query.words.iter().zip(stats).map(|(word, stats)| word.weighted.weight * stats.rarity[1]).collect();
    let original = query.words.iter().zip(&values).filter(|(word, _)| word.original);
    let total = original.map(|(_, value)| value).sum::<f32>().max(1.0);
    (values, total)
}

/// Returns the feature for containing `count` pairs of the message.
fn pairs_feature(query: &Query<'_>, count: usize) -> f32 {
    3.0 * count as f32 / (query.pairs.len().max(1) as f32).sqrt()
}

/// Returns the share of the name in the message.
fn name_share(query: &Query<'_>, stats: &[TermStats], sketch: &Sketch<'_>, in_name: &[bool]) -> f32 {
    let words = query.words.iter().zip(stats).zip(in_name);
    share_of_words(words.filter(|(_, in_name)| **in_name).map(|(word, _)| word), sketch)
}

/// Returns the share of a name that these words cover.
fn share_of_words<'w>(
    words: impl Iterator<Item = (&'w QueryWord<'w>, &'w TermStats)>,
    sketch: &Sketch<'_>,
) -> f32 {
    let (mut total, mut matched, mut count) = (0.0, 0.0, 0);
    for (word, stats) in words {
        matched += stats.rarity[1] * word.weighted.weight;
        total += stats.rarity[1];
        count += 1;
    }
    let unmatched = sketch.name_len().saturating_sub(count) as f32 * UNMATCHED_NAME_WORD;
    if total + unmatched > 0.0 { matched / (total + unmatched) } else { 0.0 }
}

/// Returns the value of the message's words in sentences that state when to use the skill, and in the best
/// window of the description.
fn when_and_window(query: &Query<'_>, sketch: &Sketch<'_>, values: &[f32]) -> (f32, f32) {
    let terms: Vec<Term> = query.words.iter().map(|word| word.weighted.term).collect();
    let value = |index: usize| values.get(index).copied().unwrap_or_default();
    let matches: Vec<Option<(usize, bool)>> = sketch.about(&terms).collect();
    let mut counted = vec![false; terms.len()];
    let mut when = 0.0;
    for (index, _) in matches.iter().flatten().filter(|(_, when)| *when) {
        when += if std::mem::replace(&mut counted[*index], true) { 0.0 } else { value(*index) };
    }
    let mut best = 0.0f32;
    let mut counts = vec![0u32; terms.len()];
    let mut sum = 0.0;
    for (end, entering) in matches.iter().enumerate() {
        if let Some((index, _)) = entering {
            counts[*index] += 1;
            sum += if counts[*index] == 1 { value(*index) } else { 0.0 };
        }
        if let Some(Some((index, _))) = end.checked_sub(WINDOW).and_then(|start| matches.get(start)) {
            counts[*index] -= 1;
            sum -= if counts[*index] == 0 { value(*index) } else { 0.0 };
        }
        best = best.max(sum);
    }
    (when, best)
}
