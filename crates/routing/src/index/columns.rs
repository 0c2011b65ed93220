//! Decoded lists, for comparing every skill with every other: each list is decoded once and then used by thousands of
//! searches.
//!
//! [`Columns::search`] finds exactly the skills that [`Index::search`] finds. It adds up every list instead of skipping
//! parts of it: over decoded bytes that is faster than deciding what to skip.

use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use super::bytes::Damaged;
use super::list::List;
use super::search::{ONE, WINDOW, whole_worth};
use super::{Asked, Candidate, Index, Known, worth};
use crate::words::Term;

/// A list with one skill in so many is kept as one byte for each skill, and any shorter list as postings.
const DENSE: usize = 8;

/// The decoded lists of one word: in what skills say of themselves, and in their instructions.
#[derive(Debug)]
pub(crate) struct Column([Impacts; 2]);

impl Column {
    /// The impacts of the word in a skill; 0 where it is not.
    pub(crate) fn impacts(&self, skill: u32) -> [u8; 2] {
        [self.0[0].get(skill), self.0[1].get(skill)]
    }
}

#[derive(Debug)]
enum Impacts {
    /// One for each skill.
    Dense(Vec<u8>),
    /// Those of some skills, in order.
    Sparse { skills: Vec<u32>, impacts: Vec<u8> },
}

impl Impacts {
    fn new(all: usize, postings: &[(u32, u8)]) -> Self {
        if postings.len().saturating_mul(DENSE) < all {
            let (skills, impacts) = postings.iter().copied().unzip();
            return Self::Sparse { skills, impacts };
        }
        let mut dense = vec![0; all];
        for (skill, impact) in postings {
            if let Some(place) = dense.get_mut(*skill as usize) {
                *place = *impact;
            }
        }
        Self::Dense(dense)
    }

    fn get(&self, skill: u32) -> u8 {
        let found = match self {
            Self::Dense(impacts) => impacts.get(skill as usize),
            Self::Sparse { skills, impacts } => {
                skills.binary_search(&skill).ok().and_then(|at| impacts.get(at))
            }
        };
        found.copied().unwrap_or(0)
    }

    /// Adds what the impacts are worth to the sums of the skills from `from` on.
    fn add(&self, from: usize, sums: &mut [u32], worth: u16) {
        // Sums cannot overflow: 96 lists of at most 255 times 2^16 - 1 stay below 2^32.
        let product = |impact: u8| u32::from(impact) * u32::from(worth);
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

/// A skill that was found, by what its words add up to. Of equal ones, those with smaller numbers are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    sum: std::cmp::Reverse<u32>,
    /// The caller's number.
    pub(crate) skill: u32,
}

impl Hit {
    pub(crate) fn score(self) -> f32 {
        self.sum.0 as f32 / ONE
    }
}

/// The lists of an index, each decoded when it is first needed.
#[derive(Debug)]
pub(crate) struct Columns<'i> {
    index: &'i Index,
    decoded: RwLock<HashMap<Term, Arc<Column>>>,
}

impl<'i> Columns<'i> {
    pub(crate) fn new(index: &'i Index) -> Self {
        Self { index, decoded: RwLock::default() }
    }

    /// The column of each word.
    pub(crate) fn of(&self, asked: &[Asked], known: &[Known]) -> Result<Vec<Arc<Column>>, Damaged> {
        let there: Vec<Option<Arc<Column>>> = {
            let decoded = self.decoded.read().unwrap_or_else(PoisonError::into_inner);
            asked.iter().map(|asked| decoded.get(&asked.term).map(Arc::clone)).collect()
        };
        let column = |((asked, known), there): ((&Asked, &Known), Option<Arc<Column>>)| match there {
            Some(column) => Ok(column),
            None => {
                let made = Arc::new(Column([self.decode(known, 0)?, self.decode(known, 1)?]));
                let mut decoded = self.decoded.write().unwrap_or_else(PoisonError::into_inner);
                Ok(Arc::clone(decoded.entry(asked.term).or_insert(made)))
            }
        };
        asked.iter().zip(known).zip(there).map(column).collect()
    }

    fn decode(&self, known: &Known, field: usize) -> Result<Impacts, Damaged> {
        let mut postings: Vec<(u32, u8)> = Vec::new();
        for (part, places) in self.index.parts.iter().zip(&known.places) {
            let Some(places) = places else { continue };
            let mut list = List::open(part.segment.source(), places[field])?;
            list.scan(0, part.segment.skills(), |skill, impact| {
                postings.extend(part.number(skill).map(|number| (number, impact)));
            })?;
        }
        // Already in order where there is one part.
        postings.sort_by_key(|(skill, _)| *skill);
        Ok(Impacts::new(self.index.len(), &postings))
    }

    /// The `k` skills that have most of the words, the best first.
    pub(crate) fn search(
        &self,
        asked: &[Asked],
        known: &[Known],
        columns: &[Arc<Column>],
        k: usize,
    ) -> Vec<Hit> {
        let mut lists: Vec<(&Impacts, u16)> = Vec::with_capacity(columns.len() * 2);
        for ((asked, known), column) in asked.iter().zip(known).zip(columns) {
            for (field, impacts) in column.0.iter().enumerate() {
                let worth = whole_worth(worth(asked, known, field));
                if worth > 0 {
                    lists.push((impacts, u16::try_from(worth).unwrap_or(u16::MAX)));
                }
            }
        }
        let mut best: BinaryHeap<Hit> = BinaryHeap::with_capacity(k + 1);
        let mut window = [0u32; WINDOW as usize];
        for from in (0..self.index.len()).step_by(WINDOW as usize) {
            let length = (self.index.len() - from).min(WINDOW as usize);
            let sums = &mut window[..length];
            sums.fill(0);
            for (impacts, worth) in &lists {
                impacts.add(from, sums, *worth);
            }
            // Skills come in order, so one that equals the last of the best is not better.
            let mut most_below = if best.len() < k { 0 } else { best.peek().map_or(0, |last| last.sum.0) };
            for (skill, sum) in (from as u32..).zip(&*sums) {
                if *sum > most_below && k > 0 {
                    best.push(Hit { sum: std::cmp::Reverse(*sum), skill });
                    if best.len() > k {
                        best.pop();
                    }
                    if best.len() == k {
                        most_below = best.peek().map_or(0, |last| last.sum.0);
                    }
                }
            }
        }
        best.into_sorted_vec()
    }

    /// The bytes of a skill's sketch, as [`Sketch::read`](super::Sketch::read) takes them.
    pub(crate) fn sketch(&self, skill: u32) -> Result<std::borrow::Cow<'i, [u8]>, Damaged> {
        for part in &self.index.parts {
            let inside = match &part.numbers {
                None => (skill < part.segment.skills()).then_some(skill),
                Some(numbers) => numbers.iter().position(|number| *number == skill).map(|at| at as u32),
            };
            if let Some(inside) = inside {
                return part.segment.sketch(inside);
            }
        }
        Err(Damaged)
    }

    /// What the second look needs of a skill that was found.
    pub(crate) fn candidate(&self, hit: Hit, columns: &[Arc<Column>]) -> Result<Candidate, Damaged> {
        Ok(Candidate {
            skill: hit.skill,
            score: hit.score(),
            impacts: columns.iter().map(|column| column.impacts(hit.skill)).collect(),
            sketch: self.sketch(hit.skill)?.into_owned(),
        })
    }
}
