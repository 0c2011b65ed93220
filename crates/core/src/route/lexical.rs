//! Ranking by words: BM25 over name, description and tags, plus BM25 over the body.
//!
//! Deterministic: the same skills and the same query give the same scores, and equal scores come in the order of names.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::text::{QUERY_MAX, head};
use super::words::{Term, terms};
use crate::scan::parallel;

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// How often the name counts.
const NAME_TIMES: usize = 3;

/// How much of a body counts, in bytes.
pub const BODY_MAX: usize = 32 * 1024;

/// The texts of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Texts {
    /// Its name.
    pub name: String,
    /// Description and tags.
    pub about: String,
    /// Its instructions.
    pub body: String,
}

/// An index of the words of many skills, kept in memory.
///
/// ```
/// use prowess::route::{Lexical, Texts};
///
/// let text = |name: &str, about: &str| Texts { name: name.into(), about: about.into(), body: String::new() };
/// let skills = [text("pdf", "Merges and splits documents"), text("weather", "Tells the forecast")];
/// let index = Lexical::new(&skills, Texts::clone);
/// assert_eq!(index.rank("merge two documents", 5)[0].skill, 0);
/// ```
#[derive(Debug)]
pub struct Lexical {
    names: Vec<Box<str>>,
    about: Field,
    body: Field,
}

/// A skill and how well it answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Its place among the skills that the index was built of.
    pub skill: usize,
    /// The sum of both fields.
    pub score: f32,
}

impl Lexical {
    /// Indexes skills; `texts` is called for each on several threads.
    pub fn new<T: Sync>(skills: &[T], texts: impl Fn(&T) -> Texts + Sync) -> Self {
        let counted = parallel(skills, |skill| {
            let Texts { name, about, body } = texts(skill);
            let mut words = Vec::new();
            terms(&name, |term| words.extend([term; NAME_TIMES]));
            terms(&about, |term| words.push(term));
            let about = Counts::of(words);
            let mut words = Vec::new();
            terms(head(&body, BODY_MAX), |term| words.push(term));
            (name, about, Counts::of(words))
        });
        let mut names = Vec::with_capacity(counted.len());
        let (mut abouts, mut bodies) = (Vec::with_capacity(counted.len()), Vec::with_capacity(counted.len()));
        for (name, about, body) in counted {
            names.push(name.into());
            abouts.push(about);
            bodies.push(body);
        }
        Self { names, about: Field::new(&abouts), body: Field::new(&bodies) }
    }

    /// The best `k` skills that share a word with the query.
    pub fn rank(&self, query: &str, k: usize) -> Vec<Ranked> {
        let scores = self.scores(query);
        let mut ranked: Vec<Ranked> = scores
            .into_iter()
            .enumerate()
            .filter(|(_, score)| *score > 0.0)
            .map(|(skill, score)| Ranked { skill, score })
            .collect();
        let order = |a: &Ranked, b: &Ranked| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| self.names[a.skill].cmp(&self.names[b.skill]))
                .then(a.skill.cmp(&b.skill))
        };
        if k < ranked.len() {
            ranked.select_nth_unstable_by(k, order);
            ranked.truncate(k);
        }
        ranked.sort_unstable_by(order);
        ranked
    }

    /// The score of each skill.
    fn scores(&self, query: &str) -> Vec<f32> {
        let mut scores = vec![0.0; self.names.len()];
        let mut words = Vec::new();
        terms(head(query, QUERY_MAX), |term| words.push(term));
        words.sort_unstable();
        words.dedup();
        for term in words {
            self.about.add(term, &mut scores);
            self.body.add(term, &mut scores);
        }
        scores
    }
}

/// The words of one text, each once.
struct Counts {
    terms: Vec<(Term, u16)>,
    length: u32,
}

impl Counts {
    fn of(mut words: Vec<Term>) -> Self {
        words.sort_unstable();
        let length = u32::try_from(words.len()).unwrap_or(u32::MAX);
        let count = |same: &[Term]| (same[0], u16::try_from(same.len()).unwrap_or(u16::MAX));
        Self { terms: words.chunk_by(|a, b| a == b).map(count).collect(), length }
    }
}

/// One field of all skills: for each word, the skills that have it.
#[derive(Debug)]
struct Field {
    /// Where each word's postings begin and end.
    terms: HashMap<Term, (u32, u32), BuildHasherDefault<AsIs>>,
    postings: Vec<(u32, u16)>,
    /// What the length of each text makes of `k1`.
    norms: Vec<f32>,
}

impl Field {
    fn new(texts: &[Counts]) -> Self {
        let mut terms: HashMap<Term, (u32, u32), _> = HashMap::default();
        for (term, _) in texts.iter().flat_map(|text| &text.terms) {
            terms.entry(*term).or_default().1 += 1;
        }
        let mut total = 0;
        for (start, end) in terms.values_mut() {
            let count = *end;
            (*start, *end) = (total, total);
            total += count;
        }
        let mut postings = vec![(0, 0); total as usize];
        for (skill, text) in (0u32..).zip(texts) {
            for (term, count) in &text.terms {
                if let Some((_, end)) = terms.get_mut(term) {
                    postings[*end as usize] = (skill, *count);
                    *end += 1;
                }
            }
        }
        let mean = texts.iter().map(|text| f64::from(text.length)).sum::<f64>() / texts.len().max(1) as f64;
        let norm = |text: &Counts| K1 * (1.0 - B + B * (f64::from(text.length) / mean.max(1.0)) as f32);
        Self { terms, postings, norms: texts.iter().map(norm).collect() }
    }

    fn add(&self, term: Term, scores: &mut [f32]) {
        let Some((start, end)) = self.terms.get(&term) else { return };
        let postings = &self.postings[*start as usize..*end as usize];
        let (all, having) = (self.norms.len() as f32, postings.len() as f32);
        let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        for (skill, count) in postings {
            let (skill, count) = (*skill as usize, f32::from(*count));
            scores[skill] += rarity * count * (K1 + 1.0) / (count + self.norms[skill]);
        }
    }
}

/// Words are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, term: u64) {
        self.0 = term;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn skill(name: &str, about: &str, body: &str) -> Texts {
        Texts { name: name.into(), about: about.into(), body: body.into() }
    }

    fn ranked(skills: &[Texts], query: &str) -> Vec<String> {
        let index = Lexical::new(skills, Texts::clone);
        let told = |ranked: &Ranked| format!("{} {:.2}", skills[ranked.skill].name, ranked.score);
        index.rank(query, 9).iter().map(told).collect()
    }

    #[test]
    fn the_name_counts_more_than_the_description_and_the_body_counts_too() {
        let skills = [
            skill("weather", "Tells the forecast", "Ask a station."),
            skill("notes", "Writes things down", "A pdf is fine."),
            skill("pdf", "Merges documents", "Use it."),
        ];
        assert_eq!(ranked(&skills, "PDF?"), ["pdf 1.58", "notes 0.86"]);
        assert_eq!(ranked(&skills, "nothing of the sort at all").len(), 1);
        assert_eq!(ranked(&[], "pdf"), [] as [&str; 0]);
    }

    #[test]
    fn equal_scores_come_by_name() {
        let skills = [skill("b", "same", ""), skill("c", "same", ""), skill("a", "same", "")];
        let names: Vec<_> = ranked(&skills, "same").iter().map(|told| told[..1].to_owned()).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }

    proptest! {
        #[test]
        fn the_best_few_are_the_beginning_of_all(abouts in prop::collection::vec("[ab ]{0,9}", 0..9), k in 0usize..9) {
            let skills: Vec<_> = abouts.iter().map(|about| skill("x", about, "")).collect();
            let index = Lexical::new(&skills, Texts::clone);
            let all = index.rank("a b ab", usize::MAX);
            prop_assert_eq!(&index.rank("a b ab", k)[..], &all[..k.min(all.len())]);
        }
    }
}
