//! Ranking by words: BM25 over what skills say of themselves and over their instructions, then a second look at the best.
//!
//! Deterministic: the same skills and the same message give the same scores, and equal scores come in the order of names.

use std::fs::File;
use std::io;
use std::path::Path;

use super::fits::confidence;
use super::index::{
    Asked, Candidate, Columns, Damaged, Hit, Index, Known, Segment, Sketch, Source, build, build_with,
    with_sums,
};
use super::lenient::{Beyond, add_near};
use super::look::{Bound, INGREDIENTS, Look, Weights, look};
use super::phrase;
use super::query::Query;
use super::text::Texts;
use super::why::reasons;
use super::words::Term;
use prowess_fs::replace_soon;

/// How many get a second look, at least.
const LOOKED_AT: usize = 64;

/// How many words of a message are compared: those that are worth most.
const COMPARED: usize = 48;

/// In a collection of so few skills "please" may be rare and "review" may not: there, a word that says nothing counts at
/// most so much, and any other at least so much.
const FEW: usize = 100;
const STOP_MOST: f32 = 0.5;
const TELLING_LEAST: f32 = 1.0;

/// With so many words that say something, the others are not looked for.
const TELLING: usize = 3;

/// What is said of a copy.
pub(super) const COPY: &str = "nearly the same text as another";

/// An index of the words of many skills.
///
/// ```
/// use prowess_routing::{Lexical, Texts};
///
/// let text = |name: &str, about: &str| Texts { name: name.into(), about: about.into(), body: String::new() };
/// let skills = [text("pdf", "Merges and splits documents"), text("weather", "Tells the forecast")];
/// let index = Lexical::new(&skills, Texts::clone);
/// let best = &index.rank("merging two documents", 5)[0];
/// assert_eq!(best.skill, 0);
/// assert_eq!(best.reasons, ["in its description: documents, merging"]);
/// ```
#[derive(Debug)]
pub struct Lexical {
    index: Index,
    weights: Weights,
    without: Vec<Beyond>,
}

/// A skill and how well it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Its place among the skills that the index was built of.
    pub skill: usize,
    /// What all ingredients come to.
    pub score: f32,
    /// How likely it is right, from 0 to 1, going by labelled messages.
    pub confidence: f32,
    /// Why, in words.
    pub reasons: Vec<String>,
}

/// A skill that was looked at.
struct Looked {
    score: f32,
    skill: u32,
    look: Look,
    /// Those of each word of the message.
    impacts: Vec<[u8; 2]>,
    /// The phrases of the message that it has.
    phrases: Vec<String>,
}

impl Lexical {
    /// Indexes skills in memory; `texts` is called for each on several threads.
    pub fn new<T: Sync>(skills: &[T], texts: impl Fn(&T) -> Texts + Sync) -> Self {
        Self::with_terms(skills, texts, |_| ()).0
    }

    /// Indexes skills in memory, and gives what `keep` takes from the sorted words of each.
    pub(super) fn with_terms<T: Sync, K: Send>(
        skills: &[T],
        texts: impl Fn(&T) -> Texts + Sync,
        keep: impl Fn(&mut dyn Iterator<Item = Term>) -> K + Sync,
    ) -> (Self, Vec<K>) {
        let numbered: Vec<(u64, &T)> = (0u64..).zip(skills).collect();
        let (bytes, kept) = build_with(
            &numbered,
            |(number, skill)| (*number, texts(skill)),
            |entry| keep(&mut entry.words.iter().map(|word| word.term)),
        );
        let index = match Segment::open(Source::Memory(bytes)) {
            Ok(segment) => Index::whole(segment),
            // What was just written can be read; an empty index finds nothing.
            Err(Damaged) => Index::parts([]),
        };
        (Self::over(index), kept)
    }

    /// Indexes skills into a file, in place of what is there, and says how many bytes that took.
    pub fn save<T: Sync>(path: &Path, skills: &[T], texts: impl Fn(&T) -> Texts + Sync) -> io::Result<u64> {
        let numbered: Vec<(u64, &T)> = (0u64..).zip(skills).collect();
        let bytes = with_sums(build(&numbered, |(number, skill)| (*number, texts(skill))));
        replace_soon(path, &bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Opens what was saved. Little of it is read before it is asked for.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let segment = Source::open(file, length).and_then(Segment::open);
        segment.map(Index::whole).map(Self::over).map_err(io::Error::other)
    }

    /// The bytes of an index without the sums that guard them: for whoever changes them to see what happens.
    #[doc(hidden)]
    pub fn bare_bytes(skills: &[Texts]) -> Vec<u8> {
        let numbered: Vec<(u64, &Texts)> = (0u64..).zip(skills).collect();
        build(&numbered, |(number, texts)| (*number, (*texts).clone()))
    }

    /// Opens such bytes.
    #[doc(hidden)]
    pub fn from_bare_bytes(bytes: Vec<u8>) -> Option<Self> {
        Segment::open(Source::Memory(bytes)).ok().map(Index::whole).map(Self::over)
    }

    pub(super) fn over(index: Index) -> Self {
        Self { index, weights: Weights::default(), without: Vec::new() }
    }

    /// The same with other weights.
    #[must_use]
    pub fn weighed(self, weights: Weights) -> Self {
        Self { weights, ..self }
    }

    /// The same that does not look for something beyond the words as they stand: to see what it is worth.
    #[must_use]
    pub fn without(mut self, beyond: Beyond) -> Self {
        self.without.push(beyond);
        self
    }

    /// The best `k` skills that share a word with the message.
    pub fn rank(&self, query: &str, k: usize) -> Vec<Ranked> {
        self.try_rank(query, k).unwrap_or_default()
    }

    /// The ingredients of the second look, for each skill that gets one.
    pub fn ingredients(&self, query: &str) -> Vec<(usize, [f32; INGREDIENTS])> {
        let mut query = Query::new(query);
        let known = self.know(&mut query).unwrap_or_default();
        let looks = self.looks(&query, &known, 0).unwrap_or_default();
        looks.into_iter().map(|looked| (looked.skill as usize, looked.look.ingredients)).collect()
    }

    /// The best `k` skills for a description, with their scores. Copies of a skill keep their places, unlike in [`Lexical::rank`].
    #[cfg(test)]
    pub(super) fn scores(&self, query: &str, k: usize) -> Vec<(usize, f32)> {
        let mut query = Query::new(query);
        let known = self.know(&mut query).unwrap();
        let looks = self.sorted_looks(&query, &known, k).unwrap();
        looks.into_iter().take(k).map(|looked| (looked.skill as usize, looked.score)).collect()
    }

    fn sorted_looks(&self, query: &Query<'_>, known: &[Known], k: usize) -> Result<Vec<Looked>, Damaged> {
        let mut looks = self.looks(query, known, k)?;
        looks.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.skill.cmp(&b.skill)));
        Ok(looks)
    }

    /// [`Lexical::rank`], where the index may be damaged.
    pub(super) fn try_rank(&self, query: &str, k: usize) -> Result<Vec<Ranked>, Damaged> {
        let mut query = Query::new(query);
        let known = self.know(&mut query)?;
        // One more than asked for, to know how far the first is ahead.
        let (looks, copies) = copies_last(self.sorted_looks(&query, &known, k)?, k.max(2));
        let (first_copy, least) = (looks.len(), looks.last().map_or(0.0, |looked| looked.score));
        let score = |at: usize| looks.get(at).map_or(0.0, |looked| looked.score);
        let (first, second) = (score(0), score(1));
        let looks = looks.into_iter().chain(copies).take(k).enumerate();
        let ranked = |(at, Looked { score, skill, look, impacts, phrases }): (usize, Looked)| {
            let mut reasons = reasons(&query, &look, &impacts);
            reasons.extend(phrases.iter().map(|phrase| format!("phrase: \"{phrase}\"")));
            let confidence = confidence(&look.ingredients, score, if at == 0 { second } else { first });
            Ranked { skill: skill as usize, score, confidence, reasons }
        };
        let mut ranked: Vec<Ranked> = looks.map(ranked).collect();
        for copy in ranked.iter_mut().skip(first_copy) {
            copy.score = copy.score.min(least) * 0.99;
            copy.reasons.push(COPY.to_owned());
        }
        Ok(ranked)
    }

    /// What is known of the words of a message, with those that it nearly has.
    fn know(&self, query: &mut Query<'_>) -> Result<Vec<Known>, Damaged> {
        let asked: Vec<Asked> = query.words.iter().map(|word| word.asked).collect();
        let mut known = self.index.know(&asked)?;
        add_near(query, &mut known, &self.index, |beyond| !self.without.contains(&beyond))?;
        if self.without.contains(&Beyond::Phrases) {
            query.phrases.clear();
        }
        if self.index.len() < FEW {
            for (word, known) in query.words.iter().zip(&mut known) {
                let tells =
                    |rarity: f32| if word.stop { rarity.min(STOP_MOST) } else { rarity.max(TELLING_LEAST) };
                known.rarity = known.rarity.map(tells);
            }
        }
        Ok(known)
    }

    fn looks(&self, query: &Query<'_>, known: &[Known], k: usize) -> Result<Vec<Looked>, Damaged> {
        let found = self.index.search(&compared(query, known), known, k.max(LOOKED_AT))?;
        found.into_iter().map(|candidate| self.looked(query, known, candidate)).collect()
    }

    fn looked(&self, query: &Query<'_>, known: &[Known], candidate: Candidate) -> Result<Looked, Damaged> {
        let look = look(query, known, &candidate)?;
        let impacts = || query.words.iter().zip(&candidate.impacts);
        let has = |term| impacts().any(|(word, impacts)| word.asked.term == term && *impacts != [0, 0]);
        let phrases = phrase::had(&query.phrases, &candidate.sketch, has)?;
        let score = self.weights.score(&look.ingredients) + phrase::worth(phrases.len(), query.phrases.len());
        Ok(Looked { score, skill: candidate.skill, look, impacts: candidate.impacts, phrases })
    }
}

/// The words of a message with the weights that are compared: 0 for those that are left out.
fn compared(query: &Query<'_>, known: &[Known]) -> Vec<Asked> {
    let mut compared: Vec<Asked> = query.words.iter().map(|word| word.asked).collect();
    let mut worth: Vec<(f32, usize)> =
        compared.iter().zip(known).map(|(asked, known)| asked.weight * known.rarity[1]).zip(0..).collect();
    // Words that no skill has are worth most, and find nothing.
    worth.retain(|(_, at)| known[*at].is_known());
    worth.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Words that say nothing have the longest lists: they decide only where there are few others.
    let telling = worth.iter().filter(|(_, at)| !query.words[*at].stop).count();
    if telling >= TELLING {
        worth.iter().filter(|(_, at)| query.words[*at].stop).for_each(|(_, at)| compared[*at].weight = 0.0);
    }
    for (_, at) in worth.iter().skip(COMPARED) {
        compared[*at].weight = 0.0;
    }
    compared
}

/// Ranks the skills of an index for many descriptions, one after the other.
#[derive(Debug)]
pub(super) struct Comparison<'l> {
    lexical: &'l Lexical,
    columns: Columns<'l>,
}

impl<'l> Comparison<'l> {
    pub(super) fn new(lexical: &'l Lexical) -> Self {
        Self { lexical, columns: Columns::new(&lexical.index) }
    }

    /// The best `k` skills for a description, with their scores, as far as they score at least `share` of what the skill
    /// `own` does. Where that one is not among those that get a second look, all count.
    ///
    /// `share` is at most 1, so every skill that is left out ranks behind `own`.
    pub(super) fn scores(&self, about: &str, own: usize, share: f32, k: usize) -> Vec<(usize, f32)> {
        let mut looks = self.looks(about, own, share, k).unwrap_or_default();
        looks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        looks.truncate(k);
        looks.into_iter().map(|(skill, score)| (skill as usize, score)).collect()
    }

    fn looks(&self, about: &str, own: usize, share: f32, k: usize) -> Result<Vec<(u32, f32)>, Damaged> {
        let mut query = Query::new(about);
        let known = self.lexical.know(&mut query)?;
        let asked = compared(&query, &known);
        let columns = self.columns.of(&asked, &known)?;
        let found = self.columns.search(&asked, &known, &columns, k.max(LOOKED_AT));
        let score = |hit: &Hit| {
            let candidate = self.columns.candidate(*hit, &columns)?;
            Ok(self.lexical.looked(&query, &known, candidate)?.score)
        };
        let own = found.iter().find(|hit| hit.skill as usize == own);
        let Some((own, own_score)) = own.map(|own| Ok((own, score(own)?))).transpose()? else {
            return found.iter().map(|hit| Ok((hit.skill, score(hit)?))).collect();
        };
        let bound = Bound::new(&query, &known, &self.lexical.weights, own_score * share);
        let mut looks = vec![(own.skill, own_score)];
        for hit in found.iter().filter(|hit| hit.skill != own.skill) {
            let sketch = self.columns.sketch(hit.skill)?;
            if bound.can_reach(hit.score(), &Sketch::read(&sketch)?, |word| columns[word].impacts(hit.skill))
            {
                looks.push((hit.skill, score(hit)?));
            }
        }
        Ok(looks)
    }
}

/// Those that differ, up to `k`, and the copies among those before the last of them. Registries are full of copies, most of
/// them with a few changes: one of each comes before the others, so that they do not crowd out the rest.
fn copies_last(looks: Vec<Looked>, k: usize) -> (Vec<Looked>, Vec<Looked>) {
    let (mut different, mut copies): (Vec<Looked>, Vec<Looked>) = (Vec::new(), Vec::new());
    for looked in looks {
        if different.len() >= k {
            break;
        }
        if different.iter().any(|other| other.look.gist.is_like(&looked.look.gist)) {
            copies.push(looked);
        } else {
            different.push(looked);
        }
    }
    (different, copies)
}

#[cfg(test)]
mod tests;
