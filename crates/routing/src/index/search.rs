//! The best skills for some words: exactly those that scoring every skill would give, without doing so.
//!
//! Skills are gone through in windows. For each, the table of every list says what its words could add there at most. Lists
//! that could not lift a skill into the best, all of them together, are not read for it: only skills that have one of the
//! other words, and enough of them, are looked up there. A window that has nothing for the best is not looked into at all.
//!
//! Sums are whole numbers, so the answer does not depend on the order in which they are made.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bytes::Damaged;
use super::list::List;

/// How many skills a window has: their sums stay in the fastest cache.
pub(super) const WINDOW: u32 = 4096;

/// Shorter stretches of a list are always gone through.
const LONG: usize = 256;

/// How many postings could be gone through in the time that it takes to ask for one skill.
const ASKING: usize = 32;

/// The rarest words are those that have one in so many skills, together.
const RARE: u32 = 4;

/// What 1 is in whole numbers.
pub(super) const ONE: f32 = 65_536.0;

/// What one unit of impact is worth, as a whole number: 0 only where it is worth nothing at all, because a word that every
/// skill has still finds them.
pub(super) fn whole_worth(worth: f32) -> u32 {
    (worth * ONE).ceil() as u32
}

/// A list that is wanted, and what one unit of impact in it is worth.
#[derive(Debug)]
pub(crate) struct Wanted<'l, 's> {
    list: &'l mut List<'s>,
    worth: u32,
}

impl<'l, 's> Wanted<'l, 's> {
    /// `None` where the list cannot add anything.
    pub(crate) fn new(list: &'l mut List<'s>, worth: f32) -> Option<Self> {
        let worth = whole_worth(worth);
        (worth > 0 && list.place.count > 0).then_some(Self { list, worth })
    }
}

/// A skill that was found. Better ones are greater; of equal ones those with smaller keys, so that the answer does not
/// depend on the order in which skills came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    sum: u32,
    key: Reverse<u64>,
    /// The segment it is in, and its number there.
    pub(crate) part: usize,
    pub(crate) skill: u32,
}

impl Found {
    pub(crate) fn score(self) -> f32 {
        self.sum as f32 / ONE
    }
}

/// The best so far.
#[derive(Debug)]
pub(crate) struct Best {
    k: usize,
    /// What the best are known to have at least.
    floor: u32,
    found: BinaryHeap<Reverse<Found>>,
}

impl Best {
    pub(crate) fn new(k: usize) -> Self {
        Self { k, floor: 1, found: BinaryHeap::new() }
    }

    /// The least sum that can still be among them.
    fn least(&self) -> u32 {
        match self.found.peek() {
            Some(Reverse(last)) if self.found.len() >= self.k => last.sum.max(self.floor),
            _ => self.floor,
        }
    }

    /// Says that the best have at least so much.
    pub(crate) fn at_least(&mut self, sum: u32) {
        self.floor = self.floor.max(sum);
    }

    fn add(&mut self, found: Found) {
        self.found.push(Reverse(found));
        if self.found.len() > self.k {
            self.found.pop();
        }
    }

    /// The best first.
    pub(crate) fn into_sorted(self) -> Vec<Found> {
        self.found.into_sorted_vec().into_iter().map(|Reverse(found)| found).collect()
    }
}

/// What a list could add in a window.
#[derive(Debug, Clone, Copy)]
struct Bound {
    list: usize,
    most: u32,
    count: usize,
}

/// A sum that so many skills reach by their rarest words alone: whatever the others add, the best have no less.
pub(crate) fn floor(
    skills: u32,
    wanted: &mut [Wanted<'_, '_>],
    key: impl Fn(u32) -> Option<u64>,
    k: usize,
) -> Result<u32, Damaged> {
    wanted.sort_by(|a, b| b.worth.cmp(&a.worth).then(a.list.place.start.cmp(&b.list.place.start)));
    let mut left = skills / RARE;
    let rare = wanted.iter().take_while(|wanted| {
        let fits = wanted.list.place.count <= left;
        left = left.saturating_sub(wanted.list.place.count);
        fits
    });
    let rare = rare.count();
    let mut best = Best::new(k);
    search(skills, 0, &mut wanted[..rare], key, &mut best)?;
    wanted[..rare].iter_mut().for_each(|wanted| wanted.list.rewind());
    Ok(best.least())
}

/// Adds the skills of a segment that have one of the words and for which `key` gives one, where they are among the best.
pub(crate) fn search(
    skills: u32,
    part: usize,
    wanted: &mut [Wanted<'_, '_>],
    key: impl Fn(u32) -> Option<u64>,
    best: &mut Best,
) -> Result<(), Damaged> {
    let mut sums = [0u32; WINDOW as usize];
    let mut bounds: Vec<Bound> = Vec::with_capacity(wanted.len());
    let mut candidates: Vec<(u32, u32)> = Vec::new();
    if best.k == 0 {
        return Ok(());
    }
    for from in (0..skills).step_by(WINDOW as usize) {
        let to = skills.min(from.saturating_add(WINDOW));
        let least = best.least();
        bounds.clear();
        for (list, wanted) in wanted.iter_mut().enumerate() {
            let (largest, count) = wanted.list.within(from, to)?;
            if largest > 0 {
                bounds.push(Bound { list, most: wanted.worth * u32::from(largest), count });
            }
        }
        // What the lists that were not gone through can add.
        let mut rest = bounds.iter().map(|bound| bound.most).sum::<u32>();
        if rest < least {
            continue;
        }
        // Short lists that add much come first: the sooner few skills are left, the less is read.
        bounds.sort_unstable_by(|a, b| {
            (u64::from(b.most) * a.count as u64)
                .cmp(&(u64::from(a.most) * b.count as u64))
                .then(a.list.cmp(&b.list))
        });
        let mut read = 0;
        for bound in &bounds {
            // Where few skills are left, asking for each of them costs less than going through a long list.
            if bound.count >= LONG
                && rest < least
                && sums.iter().filter(|sum| **sum >= least - rest).count() * ASKING < bound.count
            {
                break;
            }
            let Wanted { list, worth } = &mut wanted[bound.list];
            list.scan(from, to, |skill, impact| {
                if let Some(sum) = sums.get_mut((skill - from) as usize) {
                    *sum = sum.saturating_add(*worth * u32::from(impact));
                }
            })?;
            rest -= bound.most;
            read += 1;
        }
        candidates.clear();
        let enough = least.saturating_sub(rest).max(1);
        let summed = (from..to).zip(&sums).filter(|(_, sum)| **sum >= enough);
        candidates.extend(summed.map(|(skill, sum)| (skill, *sum)));
        sums.fill(0);
        for bound in &bounds[read..] {
            let Wanted { list, worth } = &mut wanted[bound.list];
            rest -= bound.most;
            for (skill, sum) in &mut candidates {
                let impact = list.impact(*skill)?.unwrap_or(0);
                *sum = sum.saturating_add(*worth * u32::from(impact));
            }
            candidates.retain(|(_, sum)| sum.saturating_add(rest) >= least);
        }
        for (skill, sum) in &candidates {
            if let Some(key) = key(*skill) {
                best.add(Found { sum: *sum, key: Reverse(key), part, skill: *skill });
            }
        }
    }
    Ok(())
}
