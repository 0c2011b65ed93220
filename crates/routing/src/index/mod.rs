//! The index of every word of every skill, in a few immutable segments.
//!
//! A segment is one file, or its bytes in memory. For each word it has a posting list: the skills that contain the
//! word, and the word's impact (its weight in that skill, from 0 to 255).
//!
//! Invariants: invalid bytes are rejected, never trusted; results do not depend on how the index was built,
//! except for the rarity of words while removed skills are still in it.

mod build;
mod bytes;
mod columns;
mod entry;
mod layout;
mod list;
mod names;
mod search;
mod segment;
mod sketch;
mod source;
mod when_sentences;

use super::frequency::background_share;
use super::text::SkillTexts;
use super::vocabulary::Vocabulary;
use super::words::Term;
use prowess_fs::parallel_map;

pub(crate) use build::SegmentBuilder;
pub(crate) use bytes::DamagedIndex;
pub(crate) use bytes::checksum;
pub(crate) use columns::{ColumnHit, Columns, LISTS_MAX};
pub(crate) use entry::{FULL_IMPACT, SegmentEntry};
pub(crate) use segment::Segment;
pub(crate) use sketch::{ContentSignature, Sketch, pair_hash, short_term};
pub(crate) use source::{SegmentSource, with_checksums};

use list::{ListLocation, PostingList};
use search::{BestSkills, WeightedList, lower_bound, search};

/// The number of a skill that was removed.
const REMOVED: u32 = u32::MAX;

/// The number of skills that are read and indexed at a time.
const BATCH_SIZE: usize = 1024;

/// Indexes texts under their keys.
pub(crate) fn build<T: Sync>(skills: &[T], texts: impl Fn(&T) -> (u64, SkillTexts) + Sync) -> Vec<u8> {
    build_with(skills, texts, |_| ()).0
}

/// Indexes texts under their keys, and returns what `collect` returns for each entry.
pub(crate) fn build_with<T: Sync, K: Send>(
    skills: &[T],
    texts: impl Fn(&T) -> (u64, SkillTexts) + Sync,
    collect: impl Fn(&SegmentEntry) -> K + Sync,
) -> (Vec<u8>, Vec<K>) {
    let mut builder = SegmentBuilder::default();
    let mut collected = Vec::with_capacity(skills.len());
    for batch in skills.chunks(BATCH_SIZE) {
        let entries = parallel_map(batch, 32, |skill| {
            let (key, texts) = texts(skill);
            let entry = SegmentEntry::new(&texts);
            let value = collect(&entry);
            (key, entry, value)
        });
        for (key, entry, value) in entries {
            builder.add(key, &entry);
            collected.push(value);
        }
    }
    (builder.finish(), collected)
}

/// Segments, and the caller's skills in them.
#[derive(Debug)]
pub(crate) struct Index {
    parts: Vec<IndexPart>,
    skills: usize,
}

#[derive(Debug)]
struct IndexPart {
    segment: Segment,
    /// The caller's number of each skill, or [`REMOVED`]; `None` if the numbers are the same.
    numbers: Option<Vec<u32>>,
}

impl IndexPart {
    fn number(&self, skill: u32) -> Option<u32> {
        match &self.numbers {
            None => Some(skill),
            Some(numbers) => numbers.get(skill as usize).copied().filter(|number| *number != REMOVED),
        }
    }
}

/// A term and its weight in a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedTerm {
    pub(crate) term: Term,
    pub(crate) weight: f32,
}

/// The statistics of a term: its rarity in each field, and the location of its lists in each segment.
#[derive(Debug, Clone)]
pub(crate) struct TermStats {
    pub(crate) rarity: [f32; 2],
    lists: Vec<Option<[ListLocation; 2]>>,
}

impl TermStats {
    /// Returns `true` if any skill contains the term.
    pub(crate) fn is_found(&self) -> bool {
        self.lists.iter().any(Option::is_some)
    }

    /// Returns `true` if any skill contains the term in its name, description, tags or triggers.
    pub(crate) fn is_in_about(&self) -> bool {
        self.lists.iter().flatten().any(|[about, _]| about.count > 0)
    }
}

/// The general frequency of words counts like this number of further skills.
const BACKGROUND_SKILLS: f32 = 150.0;

/// How much less frequent words are in names and descriptions, and in instructions, than in instructions.
const BACKGROUND_FIELDS: [f32; 2] = [0.2, 1.0];

/// Returns the rarity of a word that `count` of `skills` contain, and this share of all skills anywhere.
fn rarity(count: u32, skills: usize, background_share: f32) -> f32 {
    let skill_count = skills as f32 + BACKGROUND_SKILLS;
    let containing = (count as f32 + BACKGROUND_SKILLS * background_share).min(skill_count);
    (1.0 + (skill_count - containing + 0.5) / (containing + 0.5)).ln()
}

/// Returns the value of one unit of impact of a term in a field.
fn impact_value(term: &WeightedTerm, stats: &TermStats, field: usize) -> f32 {
    term.weight * stats.rarity[field] * FULL_IMPACT[field] / 255.0
}

/// A skill that contains some of the terms.
#[derive(Debug, Clone)]
pub(crate) struct SearchCandidate {
    /// The caller's number of the skill.
    pub(crate) skill: u32,
    /// The sum of the values of the terms in both fields.
    pub(crate) score: f32,
    /// The impacts of each term in both fields.
    pub(crate) impacts: Vec<[u8; 2]>,
    pub(crate) sketch: Vec<u8>,
}

impl Index {
    /// Creates an index of one segment whose skills are the caller's, in the same order.
    pub(crate) fn from_segment(segment: Segment) -> Self {
        let skills = segment.skills() as usize;
        Self { parts: vec![IndexPart { segment, numbers: None }], skills }
    }

    /// Creates an index of several segments, each with the caller's number of every skill; `None` for removed
    /// ones.
    pub(crate) fn from_parts(parts: impl IntoIterator<Item = (Segment, Vec<Option<u32>>)>) -> Self {
        let part = |(segment, numbers): (Segment, Vec<Option<u32>>)| IndexPart {
            segment,
            numbers: Some(numbers.into_iter().map(|number| number.unwrap_or(REMOVED)).collect()),
        };
        let parts: Vec<IndexPart> = parts.into_iter().map(part).collect();
        let live_count =
            |part: &IndexPart| part.numbers.iter().flatten().filter(|number| **number != REMOVED).count();
        Self { skills: parts.iter().map(live_count).sum(), parts }
    }

    /// Returns the number of skills.
    pub(crate) fn len(&self) -> usize {
        self.skills
    }

    /// Returns the words of names of each segment.
    pub(crate) fn names(&self) -> impl Iterator<Item = Result<&Vocabulary, DamagedIndex>> {
        self.parts.iter().map(|part| part.segment.names())
    }

    /// Returns the statistics of each term.
    pub(crate) fn term_stats(&self, terms: &[WeightedTerm]) -> Result<Vec<TermStats>, DamagedIndex> {
        let stats = |term: &WeightedTerm| {
            let mut lists = Vec::with_capacity(self.parts.len());
            let mut counts = [0u32; 2];
            for part in &self.parts {
                let locations = part.segment.find(term.term)?;
                for (count, list) in counts.iter_mut().zip(locations.iter().flatten()) {
                    *count = count.saturating_add(list.count);
                }
                lists.push(locations);
            }
            let share = background_share(term.term);
            let rarity =
                [0, 1].map(|field| rarity(counts[field], self.skills, share * BACKGROUND_FIELDS[field]));
            Ok(TermStats { rarity, lists })
        };
        terms.iter().map(stats).collect()
    }

    /// Returns the `k` skills with the highest sums.
    pub(crate) fn search(
        &self,
        terms: &[WeightedTerm],
        stats: &[TermStats],
        k: usize,
    ) -> Result<Vec<SearchCandidate>, DamagedIndex> {
        let mut lists = Vec::with_capacity(self.parts.len());
        for (number, part) in self.parts.iter().enumerate() {
            lists.push(part.lists(number, stats)?);
        }
        let mut best = BestSkills::new(k);
        for ((number, part), lists) in self.parts.iter().enumerate().zip(&mut lists) {
            let value = |word: usize, field: usize| {
                terms
                    .get(word)
                    .zip(stats.get(word))
                    .map_or(0.0, |(term, stats)| impact_value(term, stats, field))
            };
            let mut weighted_lists = Vec::with_capacity(lists.len() * 2);
            for (word, lists) in lists.iter_mut().enumerate() {
                let fields = lists.iter_mut().flatten().enumerate();
                weighted_lists
                    .extend(fields.filter_map(|(field, list)| WeightedList::new(list, value(word, field))));
            }
            let key = |skill: u32| {
                part.number(skill)?;
                part.segment.keys().get(skill as usize).copied()
            };
            best.raise_floor(lower_bound(part.segment.skills(), &mut weighted_lists, key, k)?);
            search(part.segment.skills(), number, &mut weighted_lists, key, &mut best)?;
        }
        let hits = best.into_sorted();
        let mut candidates = Vec::with_capacity(hits.len());
        for ((number, part), lists) in self.parts.iter().enumerate().zip(&mut lists) {
            let mut chosen: Vec<(u32, f32)> =
                hits.iter().filter(|hit| hit.part == number).map(|hit| (hit.skill, hit.score())).collect();
            chosen.sort_unstable_by_key(|(skill, _)| *skill);
            part.load_candidates(&chosen, lists, &mut candidates)?;
        }
        Ok(candidates)
    }
}

/// The lists of each term in one segment.
type Lists<'s> = Vec<Option<[PostingList<'s>; 2]>>;

impl IndexPart {
    fn lists(&self, number: usize, stats: &[TermStats]) -> Result<Lists<'_>, DamagedIndex> {
        let open = |locations: [ListLocation; 2]| {
            let list = |location| PostingList::open(self.segment.source(), location);
            Ok([list(locations[0])?, list(locations[1])?])
        };
        stats.iter().map(|stats| stats.lists.get(number).copied().flatten().map(open).transpose()).collect()
    }

    /// Loads the data that reranking needs of each skill; they come in order.
    fn load_candidates(
        &self,
        chosen: &[(u32, f32)],
        lists: &mut Lists<'_>,
        candidates: &mut Vec<SearchCandidate>,
    ) -> Result<(), DamagedIndex> {
        let mut impacts = vec![vec![[0u8; 2]; lists.len()]; chosen.len()];
        for (word, lists) in lists.iter_mut().enumerate() {
            for (field, list) in lists.iter_mut().flatten().enumerate() {
                list.rewind();
                for ((skill, _), impacts) in chosen.iter().zip(&mut impacts) {
                    impacts[word][field] = list.impact(*skill)?.unwrap_or(0);
                }
            }
        }
        for ((skill, score), impacts) in chosen.iter().zip(impacts) {
            let sketch = self.segment.sketch(*skill)?.into_owned();
            let skill = self.number(*skill).ok_or(DamagedIndex)?;
            candidates.push(SearchCandidate { skill, score: *score, impacts, sketch });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
