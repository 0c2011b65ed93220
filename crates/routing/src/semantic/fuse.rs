//! What words and vectors come to.
//!
//! What a model takes for close differs from model to model: some give 0.1 to texts that have nothing in common, some 0.7.
//! So a similarity counts by how far it stands above what this message has with the whole collection.

use super::super::lexical::{COPY, Ranked};
use super::super::rank::{Match, MatchKind, Options, USED, lexical, used_recently, weighed};

/// How many skills words may bring where vectors have a say: what words alone would leave out, meaning may lift.
pub const CONSIDERED: usize = 256;

/// How many skills vectors may bring.
const NEAREST: usize = 64;

/// A skill that words, vectors or both have found.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// Its place among the skills.
    pub skill: usize,
    /// What both come to.
    pub score: f32,
    /// What words make of it, where they found it.
    pub words: Option<Ranked>,
    /// How close it is in meaning, where that is close enough to be said.
    pub close: Option<f32>,
}

impl Fused {
    /// What words alone found.
    pub(crate) fn of(words: Ranked) -> Self {
        Self { skill: words.skill, score: words.score, words: Some(words), close: None }
    }

    fn fits(&self) -> bool {
        self.words.as_ref().is_some_and(|words| words.confidence >= super::super::FITS)
    }
}

/// Fuses what words found with how close each skill is in meaning: `weight` is what a similarity adds to a score for each
/// standard deviation that it lies above the mean. The best come first, equal ones in the order of the skills.
///
/// ```
/// use prowess_routing::semantic::fuse;
/// use prowess_routing::{Lexical, Texts};
///
/// let text = |name: &str| Texts { name: name.into(), ..Texts::default() };
/// let skills = [text("pdf"), text("invoices"), text("weather")];
/// let words = Lexical::new(&skills, Texts::clone).rank("pdf of a bill", 9);
/// let fused = fuse(words, &[0.1, 0.7, 0.0], 2.0);
/// assert_eq!(fused.iter().map(|found| found.skill).collect::<Vec<_>>(), [0, 1]);
/// assert!(fused[1].words.is_none());
/// ```
pub fn fuse(words: Vec<Ranked>, similarities: &[f32], weight: f32) -> Vec<Fused> {
    let usual = Usual::of(similarities);
    let mut fused: Vec<Fused> = Vec::with_capacity(words.len() + NEAREST);
    for words in words {
        let close = similarities.get(words.skill).copied().unwrap_or_default();
        let above = usual.above(close);
        // A copy stays behind what is different, however close both are.
        let bonus = if words.reasons.iter().any(|reason| reason == COPY) { 0.0 } else { weight * above };
        fused.push(Fused { score: words.score + bonus, close: usual.told(close), ..Fused::of(words) });
    }
    let known: std::collections::HashSet<usize> = fused.iter().map(|found| found.skill).collect();
    // What only vectors found never stands before what fits: it would make the answer "nothing fits".
    let fitting = fused.iter().filter(|found| found.fits()).map(|found| found.score).reduce(f32::max);
    let most = fitting.map_or(f32::INFINITY, |best| best * 0.99);
    for (skill, close) in nearest(similarities).into_iter().filter(|(skill, _)| !known.contains(skill)) {
        let Some(told) = usual.told(close) else { continue };
        let score = (weight * usual.above(close)).min(most);
        fused.push(Fused { skill, score, words: None, close: Some(told) });
    }
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.skill.cmp(&b.skill)));
    fused
}

/// The skills that are closest, the closest first.
fn nearest(similarities: &[f32]) -> Vec<(usize, f32)> {
    let mut all: Vec<(usize, f32)> = similarities.iter().copied().enumerate().collect();
    let order = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if all.len() > NEAREST {
        all.select_nth_unstable_by(NEAREST, order);
        all.truncate(NEAREST);
    }
    all.sort_unstable_by(order);
    all
}

/// How close a message is to the skills of a collection in general.
struct Usual {
    mean: f32,
    deviation: f32,
}

impl Usual {
    fn of(similarities: &[f32]) -> Self {
        let count = similarities.len().max(1) as f64;
        let mean = similarities.iter().map(|close| f64::from(*close)).sum::<f64>() / count;
        let squares = similarities.iter().map(|close| (f64::from(*close) - mean).powi(2)).sum::<f64>();
        Self { mean: mean as f32, deviation: (squares / count).sqrt() as f32 }
    }

    /// How many deviations it lies above the mean, and nothing below.
    fn above(&self, close: f32) -> f32 {
        if self.deviation > 1e-4 { ((close - self.mean) / self.deviation).max(0.0) } else { 0.0 }
    }

    /// The similarity, where it is one that people would call close.
    fn told(&self, close: f32) -> Option<f32> {
        (close > 0.0 && self.above(close) >= 1.0).then_some(close)
    }
}

/// The match of a skill that was found.
pub(in super::super) fn matched(name: &str, found: Fused, options: &Options<'_>) -> Match {
    let Fused { score, words, close, .. } = found;
    let mut matched = match words {
        Some(words) => lexical(name, words, options),
        None => Match {
            name: name.to_owned(),
            score: 0.0,
            reasons: Vec::new(),
            kind: MatchKind::Semantic,
            // There is no word to go by: nothing is done because of it.
            confidence: 0.0,
        },
    };
    if let Some(close) = close {
        // After what words say, and before what was used.
        let at = matched.reasons.len() - usize::from(matched.reasons.last().is_some_and(|last| last == USED));
        matched.reasons.insert(at, close_reason(close));
    }
    if matched.kind == MatchKind::Semantic && used_recently(name, options) {
        matched.reasons.push(USED.to_owned());
    }
    matched.score = weighed(name, score, options);
    matched
}

pub(in super::super) fn close_reason(close: f32) -> String {
    format!("close in meaning: {close:.2}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(skill: usize, score: f32, confidence: f32) -> Ranked {
        Ranked { skill, score, confidence, reasons: Vec::new() }
    }

    fn order(fused: &[Fused]) -> Vec<usize> {
        fused.iter().map(|found| found.skill).collect()
    }

    #[test]
    fn meaning_lifts_what_words_found_too() {
        let found = vec![words(0, 10.0, 0.9), words(1, 9.0, 0.8)];
        assert_eq!(order(&fuse(found.clone(), &[0.1, 0.9, 0.1, 0.1], 2.0)), [1, 0]);
        assert_eq!(order(&fuse(found.clone(), &[0.1, 0.9, 0.1, 0.1], 0.0)), [0, 1]);
        assert_eq!(order(&fuse(found, &[], 2.0)), [0, 1]);
    }

    #[test]
    fn what_only_vectors_found_never_stands_before_what_fits() {
        let close = [0.0, 0.0, 0.0, 0.9];
        assert_eq!(order(&fuse(vec![words(0, 1.0, 0.9)], &close, 100.0)), [0, 3]);
        assert_eq!(order(&fuse(vec![words(0, 1.0, 0.1)], &close, 100.0)), [3, 0]);
    }

    #[test]
    fn a_copy_stays_behind() {
        let mut copy = words(1, 1.0, 0.9);
        copy.reasons.push(COPY.to_owned());
        let fused = fuse(vec![words(0, 9.0, 0.9), words(2, 2.0, 0.9), copy], &[0.9, 0.9, 0.0, 0.0, 0.0], 9.0);
        assert_eq!(order(&fused), [0, 2, 1]);
    }

    #[test]
    fn what_is_usual_for_a_model_is_not_close() {
        // Some models find everything alike.
        let fused = fuse(Vec::new(), &[0.80, 0.81, 0.80, 0.79], 1.0);
        assert_eq!(order(&fused), [1]);
        assert!(fuse(Vec::new(), &[0.8; 9], 1.0).is_empty());
    }

    proptest! {
        #[test]
        fn in_order_each_once_and_nothing_infinite(
            close in prop::collection::vec(-1.0_f32..1.0, 0..200),
            scores in prop::collection::vec(0.0_f32..50.0, 0..50),
            weight in 0.0_f32..50.0,
        ) {
            let found: Vec<Ranked> =
                scores.iter().enumerate().map(|(skill, score)| words(skill * 2, *score, 0.5)).collect();
            let fused = fuse(found.clone(), &close, weight);
            prop_assert!(fused.iter().all(|found| found.score.is_finite()));
            prop_assert!(fused.is_sorted_by(|a, b| a.score >= b.score));
            let mut skills = order(&fused);
            skills.sort_unstable();
            skills.dedup();
            prop_assert_eq!(skills.len(), fused.len());
            prop_assert!(found.iter().all(|found| skills.contains(&found.skill)));
            prop_assert!(fused.len() <= found.len() + NEAREST);
        }
    }
}
