//! Decoded posting lists, for comparing every skill with every other: each list is decoded once and used by
//! thousands of searches.
//!
//! [`Columns::search`] finds exactly the skills that [`Index::search`] finds. It adds up every list instead of
//! skipping parts, which is faster for decoded lists.

use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use super::bytes::DamagedIndex;
use super::list::PostingList;
use super::search::{FIXED_ONE, WINDOW, to_fixed};
use super::{Index, SearchCandidate, TermStats, WeightedTerm, impact_value};
use crate::words::Term;

/// A list is dense (one byte per skill) if at least 1/`DENSE_SHARE` of the skills contain the word.
const DENSE_SHARE: usize = 8;

/// The maximum number of lists in one search.
pub(crate) const LISTS_MAX: usize = 96;

// The sums of a search cannot overflow.
const _: () = assert!(LISTS_MAX as u64 * u8::MAX as u64 * u16::MAX as u64 <= u32::MAX as u64);

/// The decoded lists of one word: in the description and in the instructions.
#[derive(Debug)]
pub(crate) struct Column([Impacts; 2]);

impl Column {
    /// Returns the impacts of the word in a skill; 0 if it does not occur.
    pub(crate) fn impacts(&self, skill: u32) -> [u8; 2] {
        [self.0[0].get(skill), self.0[1].get(skill)]
    }
}

#[derive(Debug)]
enum Impacts {
    /// One impact per skill.
    Dense(Vec<u8>),
    /// The impacts of some skills, in order.
    Sparse { skills: Vec<u32>, impacts: Vec<u8> },
}

impl Impacts {
    fn new(skill_count: usize, postings: &[(u32, u8)]) -> Self {
        if postings.len().saturating_mul(DENSE_SHARE) < skill_count {
            let (skills, impacts) = postings.iter().copied().unzip();
            return Self::Sparse { skills, impacts };
        }
        let mut dense = vec![0; skill_count];
        for (skill, impact) in postings {
            if let Some(cell) = dense.get_mut(*skill as usize) {
                *cell = *impact;
            }
        }
        Self::Dense(dense)
    }

    fn get(&self, skill: u32) -> u8 {
        let impact = match self {
            Self::Dense(impacts) => impacts.get(skill as usize),
            Self::Sparse { skills, impacts } => {
                skills.binary_search(&skill).ok().and_then(|index| impacts.get(index))
            }
        };
        impact.copied().unwrap_or(0)
    }

    /// Adds the values of the impacts to the sums of the skills from `from` on.
    fn add(&self, from: usize, sums: &mut [u32], value: u16) {
        // The sums cannot overflow, see `LISTS_MAX`.
        let product = |impact: u8| u32::from(impact) * u32::from(value);
        match self {
            Self::Dense(impacts) => {
                for (sum, impact) in sums.iter_mut().zip(impacts.get(from..).unwrap_or_default()) {
                    *sum = sum.wrapping_add(product(*impact));
                }
            }
            Self::Sparse { skills, impacts } => {
                let first = skills.partition_point(|skill| (*skill as usize) < from);
                for (skill, impact) in skills.iter().zip(impacts).skip(first) {
                    let Some(sum) = sums.get_mut(*skill as usize - from) else { break };
                    *sum = sum.wrapping_add(product(*impact));
                }
            }
        }
    }
}

/// A hit and its score. Orders by descending sum, then by ascending skill number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ColumnHit {
    sum: std::cmp::Reverse<u32>,
    /// The caller's number of the skill.
    pub(crate) skill: u32,
}

impl ColumnHit {
    pub(crate) fn score(self) -> f32 {
        self.sum.0 as f32 / FIXED_ONE
    }
}

/// The posting lists of an index, decoded on first use.
#[derive(Debug)]
pub(crate) struct Columns<'i> {
    index: &'i Index,
    decoded: RwLock<HashMap<Term, Arc<Column>>>,
}

impl<'i> Columns<'i> {
    pub(crate) fn new(index: &'i Index) -> Self {
        Self { index, decoded: RwLock::default() }
    }

    /// Returns the column of each word.
    pub(crate) fn columns_for(
        &self,
        terms: &[WeightedTerm],
        stats: &[TermStats],
    ) -> Result<Vec<Arc<Column>>, DamagedIndex> {
        let cached: Vec<Option<Arc<Column>>> = {
            let decoded = self.decoded.read().unwrap_or_else(PoisonError::into_inner);
            terms.iter().map(|term| decoded.get(&term.term).map(Arc::clone)).collect()
        };
        let mut columns = Vec::with_capacity(terms.len());
        for ((term, stats), cached) in terms.iter().zip(stats).zip(cached) {
            let column = match cached {
                Some(column) => column,
                None => {
                    let column = Arc::new(Column([self.decode(stats, 0)?, self.decode(stats, 1)?]));
                    let mut decoded = self.decoded.write().unwrap_or_else(PoisonError::into_inner);
                    Arc::clone(decoded.entry(term.term).or_insert(column))
                }
            };
            columns.push(column);
        }
        Ok(columns)
    }

    fn decode(&self, stats: &TermStats, field: usize) -> Result<Impacts, DamagedIndex> {
        let mut postings: Vec<(u32, u8)> = Vec::new();
        for (part, locations) in self.index.parts.iter().zip(&stats.lists) {
            let Some(locations) = locations else { continue };
            let mut list = PostingList::open(part.segment.source(), locations[field])?;
            list.scan(0, part.segment.skills(), |skill, impact| {
                postings.extend(part.number(skill).map(|number| (number, impact)));
            })?;
        }
        // The postings are already in order if there is one part.
        postings.sort_by_key(|(skill, _)| *skill);
        Ok(Impacts::new(self.index.len(), &postings))
    }

    /// Returns the `k` skills with the highest sums, the best first.
    pub(crate) fn search(
        &self,
        terms: &[WeightedTerm],
        stats: &[TermStats],
        columns: &[Arc<Column>],
        k: usize,
    ) -> Vec<ColumnHit> {
        let mut lists: Vec<(&Impacts, u16)> = Vec::with_capacity(columns.len() * 2);
        for ((term, stats), column) in terms.iter().zip(stats).zip(columns) {
            for (field, impacts) in column.0.iter().enumerate() {
                let value = to_fixed(impact_value(term, stats, field));
                if value > 0 {
                    lists.push((impacts, u16::try_from(value).unwrap_or(u16::MAX)));
                }
            }
        }
        let mut best: BinaryHeap<ColumnHit> = BinaryHeap::with_capacity(k + 1);
        let mut window = [0u32; WINDOW as usize];
        for from in (0..self.index.len()).step_by(WINDOW as usize) {
            let length = (self.index.len() - from).min(WINDOW as usize);
            let sums = &mut window[..length];
            sums.fill(0);
            for (impacts, value) in &lists {
                impacts.add(from, sums, *value);
            }
            // Skills come in order, so one that equals the last of the best is not better.
            let mut threshold = if best.len() < k { 0 } else { best.peek().map_or(0, |last| last.sum.0) };
            for (skill, sum) in (from as u32..).zip(&*sums) {
                if *sum > threshold && k > 0 {
                    best.push(ColumnHit { sum: std::cmp::Reverse(*sum), skill });
                    if best.len() > k {
                        best.pop();
                    }
                    if best.len() == k {
                        threshold = best.peek().map_or(0, |last| last.sum.0);
                    }
                }
            }
        }
        best.into_sorted_vec()
    }

    /// Returns the bytes of a skill's sketch, which summarizes the words of its name and description for reranking.
    /// [`Sketch::parse`](super::Sketch::parse) parses them.
    pub(crate) fn sketch(&self, skill: u32) -> Result<std::borrow::Cow<'i, [u8]>, DamagedIndex> {
        for part in &self.index.parts {
            let local_number = match &part.numbers {
                None => (skill < part.segment.skills()).then_some(skill),
                Some(numbers) => numbers.iter().position(|number| *number == skill).map(|index| index as u32),
            };
            if let Some(local_number) = local_number {
                return part.segment.sketch(local_number);
            }
        }
        Err(DamagedIndex)
    }

    /// Returns the data that reranking needs of a found skill.
    pub(crate) fn candidate(
        &self,
        hit: ColumnHit,
        columns: &[Arc<Column>],
    ) -> Result<SearchCandidate, DamagedIndex> {
        Ok(SearchCandidate {
            skill: hit.skill,
            score: hit.score(),
            impacts: columns.iter().map(|column| column.impacts(hit.skill)).collect(),
            sketch: self.sketch(hit.skill)?.into_owned(),
        })
    }
}
