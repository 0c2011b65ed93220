//! The second look: the best by words alone are weighed again by how they answer the message as a whole.
//!
//! Each ingredient is a number that does not depend on how long the message is; `docs/routing.md` says what each is worth.

use super::index::{Candidate, Damaged, Gist, Known, Sketch, small};
use super::phrase;
use super::query::{Query, Word};
use super::words::Term;

/// What a word of a name weighs that the message does not have: about as much as a rare one.
const STRANGE: f32 = 6.0;

/// How many words of a description are near each other.
const NEAR: usize = 16;

/// How many ingredients the second look has.
pub const INGREDIENTS: usize = 7;

/// What each ingredient of the second look counts. The defaults are the result of measuring; others are for measuring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// The sum of BM25 over both fields, beside what the message's words are worth.
    pub words: f32,
    /// How much of the message the skill has anywhere.
    pub covered: f32,
    /// How much of its name the message has.
    pub named: f32,
    /// Words of the message that stand side by side in the skill, too.
    pub pairs: f32,
    /// How many words of the message its name and description have.
    pub count: f32,
    /// How much of the message is in sentences that say when to use it.
    pub when: f32,
    /// How much of the message one stretch of the description has.
    pub near: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self { words: 0.9, covered: 2.5, named: 1.9, pairs: 0.5, count: 1.4, when: 1.05, near: 0.4 }
    }
}

impl Weights {
    /// Names and weights of all ingredients, in one order.
    pub fn named(&self) -> [(&'static str, f32); INGREDIENTS] {
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

    /// Weights in the order of [`Weights::named`].
    pub fn of([words, covered, named, pairs, count, when, near]: [f32; INGREDIENTS]) -> Self {
        Self { words, covered, named, pairs, count, when, near }
    }

    /// What a skill comes to.
    pub fn score(&self, ingredients: &[f32; INGREDIENTS]) -> f32 {
        self.named().iter().zip(ingredients).map(|((_, weight), value)| weight * value).sum()
    }
}

/// A candidate, looked at.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub(super) ingredients: [f32; INGREDIENTS],
    /// The pairs of the message that it has.
    pub(super) together: Vec<(Term, Term)>,
    /// For each word of the message, whether the name has it.
    pub(super) in_name: Vec<bool>,
    /// Tells copies.
    pub(super) gist: Gist,
}

pub(super) fn look(query: &Query<'_>, known: &[Known], candidate: &Candidate) -> Result<Look, Damaged> {
    let sketch = Sketch::read(&candidate.sketch)?;
    let (worth, total) = worth(query, known);
    let share = |has: &dyn Fn([u8; 2]) -> bool| {
        let had = candidate.impacts.iter().zip(&worth).filter(|(impacts, _)| has(**impacts));
        had.map(|(_, worth)| worth).sum::<f32>() / total
    };
    let in_name: Vec<bool> = query.words.iter().map(|word| sketch.name_has(word.asked.term)).collect();
    let together: Vec<(Term, Term)> = query
        .pairs
        .iter()
        .filter(|(pair, ..)| sketch.has(*pair))
        .map(|(_, one, other)| (*one, *other))
        .collect();
    let count =
        candidate.impacts.iter().zip(&query.words).filter(|(impacts, word)| impacts[0] > 0 && !word.stop);
    let (when, near) = in_order(query, &sketch, &worth);
    let ingredients = [
        3.0 * candidate.score / total,
        3.0 * share(&|[about, body]| about > 0 || body > 0),
        named(query, known, &sketch, &in_name),
        pairs(query, together.len()),
        (count.count() as f32).sqrt(),
        3.0 * when / total,
        3.0 * near / total,
    ];
    Ok(Look { ingredients, together, in_name, gist: sketch.gist() })
}

/// An upper bound on the score of a skill, to skip the second look at skills that cannot reach some score.
///
/// Ingredients are computed one after the other, the cheapest first; an ingredient that is not computed yet counts with its maximum.
#[derive(Debug)]
pub(super) struct Bound<'q> {
    query: &'q Query<'q>,
    known: &'q [Known],
    weights: &'q Weights,
    /// What each word of the message is worth, and all that are said.
    worth: Vec<f32>,
    total: f32,
    /// The words of the message as sketches have them, in order, with their places.
    small: Vec<(u32, usize)>,
    /// The score that is to be reached.
    score: f32,
    /// The most that each ingredient could be, and phrases with them.
    most: [f32; INGREDIENTS],
    phrases: f32,
}

/// Sums of the same numbers in another order differ by less than this share.
const ROUNDING: f32 = 1e-3;

impl<'q> Bound<'q> {
    pub(super) fn new(query: &'q Query<'q>, known: &'q [Known], weights: &'q Weights, score: f32) -> Self {
        let (worth, total) = worth(query, known);
        let all = 3.0 * worth.iter().sum::<f32>() / total;
        let telling = query.words.iter().filter(|word| !word.stop).count();
        let most = [
            f32::INFINITY,
            all,
            f32::INFINITY,
            pairs(query, query.pairs.len()),
            (telling as f32).sqrt(),
            all,
            all,
        ];
        let mut small: Vec<(u32, usize)> =
            query.words.iter().map(|word| small(word.asked.term)).zip(0..).collect();
        small.sort_unstable();
        let phrases = phrase::worth(query.phrases.len(), query.phrases.len());
        Self { query, known, weights, worth, total, small, score, most, phrases }
    }

    /// Whether a skill may come to the score, going by the sum of its words, its sketch, and the impacts of each word.
    pub(super) fn can_reach(
        &self,
        sum: f32,
        sketch: &Sketch<'_>,
        impacts: impl Fn(usize) -> [u8; 2],
    ) -> bool {
        let mut most = self.most;
        (most[0], most[2]) = (3.0 * sum / self.total, self.named(sketch));
        let Some(misses) = self.misses(&most) else { return false };
        // A pair more than may be missing is enough to know.
        let missing = self.query.pairs.iter().filter(|(pair, ..)| !sketch.has(*pair));
        let missing = missing.take(misses.saturating_add(1)).count();
        if missing > misses {
            return false;
        }
        most[3] = pairs(self.query, self.query.pairs.len() - missing);
        let (mut covered, mut count) = (0.0, 0usize);
        for (at, (word, worth)) in self.query.words.iter().zip(&self.worth).enumerate() {
            let [about, body] = impacts(at);
            covered += if about > 0 || body > 0 { *worth } else { 0.0 };
            count += usize::from(about > 0 && !word.stop);
        }
        (most[1], most[4]) = (3.0 * covered / self.total, (count as f32).sqrt());
        self.above(&most) >= 0.0
    }

    /// How far what a skill comes to at most is above the score.
    fn above(&self, most: &[f32; INGREDIENTS]) -> f32 {
        (self.weights.score(most) + self.phrases) * (1.0 + ROUNDING) - self.score
    }

    /// How many pairs of the message a skill may be without; `None` where it does not come to the score with all of them.
    fn misses(&self, most: &[f32; INGREDIENTS]) -> Option<usize> {
        let above = self.above(most);
        let pair = self.weights.pairs * pairs(self.query, 1);
        // One more than that, because of rounding.
        (above >= 0.0).then(|| if pair > 0.0 { (above / pair) as usize + 1 } else { usize::MAX })
    }

    /// How much of the name the message has, as [`named`] has it.
    fn named(&self, sketch: &Sketch<'_>) -> f32 {
        let mut had: Vec<usize> = Vec::new();
        for word in sketch.name() {
            let from = self.small.partition_point(|(small, _)| *small < word);
            let same = self.small.iter().skip(from).take_while(|(small, _)| *small == word);
            had.extend(same.map(|(_, at)| *at));
        }
        had.sort_unstable();
        had.dedup();
        share_of_name(had.iter().filter_map(|at| self.query.words.get(*at).zip(self.known.get(*at))), sketch)
    }
}

/// What each word of the message is worth, and all that are said, together.
fn worth(query: &Query<'_>, known: &[Known]) -> (Vec<f32>, f32) {
    let worth: Vec<f32> =
        query.words.iter().zip(known).map(|(word, known)| word.asked.weight * known.rarity[1]).collect();
    let said = query.words.iter().zip(&worth).filter(|(word, _)| word.said);
    let total = said.map(|(_, worth)| worth).sum::<f32>().max(1.0);
    (worth, total)
}

/// What it counts to have so many pairs of the message.
fn pairs(query: &Query<'_>, had: usize) -> f32 {
    3.0 * had as f32 / (query.pairs.len().max(1) as f32).sqrt()
}

/// How much of the name the message has.
fn named(query: &Query<'_>, known: &[Known], sketch: &Sketch<'_>, in_name: &[bool]) -> f32 {
    let words = query.words.iter().zip(known).zip(in_name);
    share_of_name(words.filter(|(_, in_name)| **in_name).map(|(word, _)| word), sketch)
}

/// The share of a name that these words are.
fn share_of_name<'w>(words: impl Iterator<Item = (&'w Word<'w>, &'w Known)>, sketch: &Sketch<'_>) -> f32 {
    let (mut had, mut weighed, mut count) = (0.0, 0.0, 0);
    for (word, known) in words {
        weighed += known.rarity[1] * word.asked.weight;
        had += known.rarity[1];
        count += 1;
    }
    let strange = sketch.name_len().saturating_sub(count) as f32 * STRANGE;
    if had + strange > 0.0 { weighed / (had + strange) } else { 0.0 }
}

/// What sentences that say when have of the message, and what the best stretch of the description has.
fn in_order(query: &Query<'_>, sketch: &Sketch<'_>, worth: &[f32]) -> (f32, f32) {
    let terms: Vec<Term> = query.words.iter().map(|word| word.asked.term).collect();
    let worth = |at: usize| worth.get(at).copied().unwrap_or_default();
    let met: Vec<Option<(usize, bool)>> = sketch.about(&terms).collect();
    let mut seen = vec![false; terms.len()];
    let mut when = 0.0;
    for (at, _) in met.iter().flatten().filter(|(_, when)| *when) {
        when += if std::mem::replace(&mut seen[*at], true) { 0.0 } else { worth(*at) };
    }
    let mut near = 0.0f32;
    let mut counts = vec![0u32; terms.len()];
    let mut sum = 0.0;
    for (end, entering) in met.iter().enumerate() {
        if let Some((at, _)) = entering {
            counts[*at] += 1;
            sum += if counts[*at] == 1 { worth(*at) } else { 0.0 };
        }
        if let Some(Some((at, _))) = end.checked_sub(NEAR).and_then(|start| met.get(start)) {
            counts[*at] -= 1;
            sum -= if counts[*at] == 0 { worth(*at) } else { 0.0 };
        }
        near = near.max(sum);
    }
    (when, near)
}
