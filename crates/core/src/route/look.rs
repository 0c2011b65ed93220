//! The second look: the best by words alone are weighed again by how they answer the message as a whole.
//!
//! Each ingredient is a number that does not depend on how long the message is; `docs/routing.md` says what each is worth.

use super::index::{Candidate, Damaged, Gist, Known, Sketch};
use super::query::Query;
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
    let worth: Vec<f32> =
        query.words.iter().zip(known).map(|(word, known)| word.asked.weight * known.rarity[1]).collect();
    let said = query.words.iter().zip(&worth).filter(|(word, _)| word.said);
    let total = said.map(|(_, worth)| worth).sum::<f32>().max(1.0);
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
        3.0 * together.len() as f32 / (query.pairs.len().max(1) as f32).sqrt(),
        (count.count() as f32).sqrt(),
        3.0 * when / total,
        3.0 * near / total,
    ];
    Ok(Look { ingredients, together, in_name, gist: sketch.gist() })
}

/// How much of the name the message has.
fn named(query: &Query<'_>, known: &[Known], sketch: &Sketch<'_>, in_name: &[bool]) -> f32 {
    let (mut had, mut weighed, mut count) = (0.0, 0.0, 0);
    for ((word, known), _) in query.words.iter().zip(known).zip(in_name).filter(|(_, in_name)| **in_name) {
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
