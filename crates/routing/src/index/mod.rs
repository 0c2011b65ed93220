//! The index: every word of every skill, in a few segments that never change.
//!
//! What must always hold: bytes that make no sense are refused, never followed; what is found does not depend on how the
//! index came to be, but for how rare words are taken to be while removed skills are still in it.

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
mod when;

use super::text::Texts;
use super::vocabulary::Vocabulary;
use super::words::Term;
use prowess_fs::parallel;

pub(crate) use build::Builder;
pub(crate) use bytes::Damaged;
pub(crate) use bytes::checksum;
pub(crate) use columns::{Columns, Hit};
pub(crate) use entry::{Entry, FULL};
pub(crate) use segment::Segment;
pub(crate) use sketch::{Gist, Sketch, pair, small};
pub(crate) use source::{Source, with_sums};

use list::{List, Place};
use search::{Best, Wanted, floor, search};

/// No skill: the one that was indexed is gone.
const GONE: u32 = u32::MAX;

/// How many skills are read and indexed at a time.
const BATCH: usize = 1024;

/// Indexes texts under their keys.
pub(crate) fn build<T: Sync>(skills: &[T], texts: impl Fn(&T) -> (u64, Texts) + Sync) -> Vec<u8> {
    build_with(skills, texts, |_| ()).0
}

/// Indexes texts under their keys, and gives what `keep` takes from each entry.
pub(crate) fn build_with<T: Sync, K: Send>(
    skills: &[T],
    texts: impl Fn(&T) -> (u64, Texts) + Sync,
    keep: impl Fn(&Entry) -> K + Sync,
) -> (Vec<u8>, Vec<K>) {
    let mut builder = Builder::default();
    let mut kept = Vec::with_capacity(skills.len());
    for batch in skills.chunks(BATCH) {
        let entries = parallel(batch, 32, |skill| {
            let (key, texts) = texts(skill);
            let entry = Entry::new(&texts);
            let keep = keep(&entry);
            (key, entry, keep)
        });
        for (key, entry, keep) in entries {
            builder.add(key, &entry);
            kept.push(keep);
        }
    }
    (builder.finish(), kept)
}

/// Segments, and which skills of the caller they hold.
#[derive(Debug)]
pub(crate) struct Index {
    parts: Vec<Part>,
    skills: usize,
}

#[derive(Debug)]
struct Part {
    segment: Segment,
    /// The caller's number of each skill, or [`GONE`]; `None` where they are the same.
    numbers: Option<Vec<u32>>,
}

impl Part {
    fn number(&self, skill: u32) -> Option<u32> {
        match &self.numbers {
            None => Some(skill),
            Some(numbers) => numbers.get(skill as usize).copied().filter(|number| *number != GONE),
        }
    }
}

/// A word of a message and what it weighs there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) term: Term,
    pub(crate) weight: f32,
}

/// A word, found: how rare it is in each field, and where its lists are in each segment.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) rarity: [f32; 2],
    places: Vec<Option<[Place; 2]>>,
}

impl Known {
    /// Whether any skill has it.
    pub(crate) fn is_known(&self) -> bool {
        self.places.iter().any(Option::is_some)
    }

    /// Whether any skill says it of itself: in name, description, tags or triggers.
    pub(crate) fn is_told(&self) -> bool {
        self.places.iter().flatten().any(|[about, _]| about.count > 0)
    }
}

/// What one unit of impact of a word is worth in a field.
fn worth(asked: &Asked, known: &Known, field: usize) -> f32 {
    asked.weight * known.rarity[field] * FULL[field] / 255.0
}

/// A skill that has some of the words.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// The caller's number.
    pub(crate) skill: u32,
    /// The sum of what the words weigh in both fields.
    pub(crate) score: f32,
    /// For each word, its impacts in both fields.
    pub(crate) impacts: Vec<[u8; 2]>,
    pub(crate) sketch: Vec<u8>,
}

impl Index {
    /// One segment whose skills are the caller's, in the same order.
    pub(crate) fn whole(segment: Segment) -> Self {
        let skills = segment.skills() as usize;
        Self { parts: vec![Part { segment, numbers: None }], skills }
    }

    /// Several segments, each with the caller's number of every skill; `None` where one is gone.
    pub(crate) fn parts(parts: impl IntoIterator<Item = (Segment, Vec<Option<u32>>)>) -> Self {
        let part = |(segment, numbers): (Segment, Vec<Option<u32>>)| Part {
            segment,
            numbers: Some(numbers.into_iter().map(|number| number.unwrap_or(GONE)).collect()),
        };
        let parts: Vec<Part> = parts.into_iter().map(part).collect();
        let alive = |part: &Part| part.numbers.iter().flatten().filter(|number| **number != GONE).count();
        Self { skills: parts.iter().map(alive).sum(), parts }
    }

    /// How many skills it has.
    pub(crate) fn len(&self) -> usize {
        self.skills
    }

    /// The words of names, of each segment.
    pub(crate) fn names(&self) -> impl Iterator<Item = Result<&Vocabulary, Damaged>> {
        self.parts.iter().map(|part| part.segment.names())
    }

    /// What is known of each word.
    pub(crate) fn know(&self, asked: &[Asked]) -> Result<Vec<Known>, Damaged> {
        let all = self.skills as f32;
        let known = |asked: &Asked| {
            let mut places = Vec::with_capacity(self.parts.len());
            let mut counts = [0u32; 2];
            for part in &self.parts {
                let found = part.segment.find(asked.term)?;
                for (count, place) in counts.iter_mut().zip(found.iter().flatten()) {
                    *count = count.saturating_add(place.count);
                }
                places.push(found);
            }
            let rarity = counts.map(|count| {
                let having = (count as f32).min(all);
                (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
            });
            Ok(Known { rarity, places })
        };
        asked.iter().map(known).collect()
    }

    /// The `k` skills that have most of the words.
    pub(crate) fn search(
        &self,
        asked: &[Asked],
        known: &[Known],
        k: usize,
    ) -> Result<Vec<Candidate>, Damaged> {
        let mut lists = Vec::with_capacity(self.parts.len());
        for (number, part) in self.parts.iter().enumerate() {
            lists.push(part.lists(number, known)?);
        }
        let mut best = Best::new(k);
        for ((number, part), lists) in self.parts.iter().enumerate().zip(&mut lists) {
            let worth = |word: usize, field: usize| {
                asked.get(word).zip(known.get(word)).map_or(0.0, |(asked, known)| worth(asked, known, field))
            };
            let mut wanted = Vec::with_capacity(lists.len() * 2);
            for (word, lists) in lists.iter_mut().enumerate() {
                let fields = lists.iter_mut().flatten().enumerate();
                wanted.extend(fields.filter_map(|(field, list)| Wanted::new(list, worth(word, field))));
            }
            let key = |skill: u32| {
                part.number(skill)?;
                part.segment.keys().get(skill as usize).copied()
            };
            best.at_least(floor(part.segment.skills(), &mut wanted, key, k)?);
            search(part.segment.skills(), number, &mut wanted, key, &mut best)?;
        }
        let found = best.into_sorted();
        let mut candidates = Vec::with_capacity(found.len());
        for ((number, part), lists) in self.parts.iter().enumerate().zip(&mut lists) {
            let mut chosen: Vec<(u32, f32)> = found
                .iter()
                .filter(|found| found.part == number)
                .map(|found| (found.skill, found.score()))
                .collect();
            chosen.sort_unstable_by_key(|(skill, _)| *skill);
            part.look_up(&chosen, lists, &mut candidates)?;
        }
        Ok(candidates)
    }
}

/// The lists of each word in one segment.
type Lists<'s> = Vec<Option<[List<'s>; 2]>>;

impl Part {
    fn lists(&self, number: usize, known: &[Known]) -> Result<Lists<'_>, Damaged> {
        let open = |places: [Place; 2]| {
            let list = |place| List::open(self.segment.source(), place);
            Ok([list(places[0])?, list(places[1])?])
        };
        known.iter().map(|known| known.places.get(number).copied().flatten().map(open).transpose()).collect()
    }

    /// What the second look needs of each skill; they come in order.
    fn look_up(
        &self,
        chosen: &[(u32, f32)],
        lists: &mut Lists<'_>,
        candidates: &mut Vec<Candidate>,
    ) -> Result<(), Damaged> {
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
            let skill = self.number(*skill).ok_or(Damaged)?;
            candidates.push(Candidate { skill, score: *score, impacts, sketch });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
