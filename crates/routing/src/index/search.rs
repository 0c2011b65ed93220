//! Finding the best skills for some words: the same result as scoring every skill, with less work.
//!
//! Skills are processed in windows. For each window, the tables of the lists give an upper bound of what each
//! word can add. Lists that together cannot lift a skill into the best are not scanned: they are only looked up
//! for skills that contain enough of the other words. A window that cannot contain any of the best is skipped.
//!
//! Sums are integers, so the result does not depend on the order of addition.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bytes::DamagedIndex;
use super::list::PostingList;

/// The number of skills per window, chosen so that their sums stay in the fastest cache.
pub(super) const WINDOW: u32 = 4096;

/// Shorter parts of a list are always scanned.
const LONG_LIST: usize = 256;

/// The number of postings that can be scanned in the time of one lookup.
const LOOKUP_COST: usize = 32;

/// The rarest words together occur in at most one in this many skills.
const RARE_SHARE: u32 = 4;

/// The value 1 as a fixed-point number.
pub(super) const FIXED_ONE: f32 = 65_536.0;

/// Returns the value of one unit of impact as a fixed-point number. It is 0 only if the value is exactly 0, so
/// that a word in every skill still finds them.
pub(super) fn to_fixed(value: f32) -> u32 {
    (value * FIXED_ONE).ceil() as u32
}

/// A list, and the value of one unit of impact in it.
#[derive(Debug)]
pub(crate) struct WeightedList<'l, 's> {
    list: &'l mut PostingList<'s>,
    value: u32,
}

impl<'l, 's> WeightedList<'l, 's> {
    /// Returns `None` if the list cannot add anything.
    pub(crate) fn new(list: &'l mut PostingList<'s>, value: f32) -> Option<Self> {
        let value = to_fixed(value);
        (value > 0 && list.location.count > 0).then_some(Self { list, value })
    }
}

/// A found skill. Better ones are greater; among equal ones those with smaller keys, so that the result does
/// not depend on the order of the skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundSkill {
    sum: u32,
    key: Reverse<u64>,
    /// The segment of the skill, and its number there.
    pub(crate) part: usize,
    pub(crate) skill: u32,
}

impl FoundSkill {
    pub(crate) fn score(self) -> f32 {
        self.sum as f32 / FIXED_ONE
    }
}

/// The best skills so far.
#[derive(Debug)]
pub(crate) struct BestSkills {
    k: usize,
    /// A known lower bound of their sums.
    floor: u32,
    skills: BinaryHeap<Reverse<FoundSkill>>,
}

impl BestSkills {
    pub(crate) fn new(k: usize) -> Self {
        Self { k, floor: 1, skills: BinaryHeap::new() }
    }

    /// Returns the minimum sum that can still be among them.
    fn threshold(&self) -> u32 {
        match self.skills.peek() {
            Some(Reverse(last)) if self.skills.len() >= self.k => last.sum.max(self.floor),
            _ => self.floor,
        }
    }

    /// Raises the lower bound.
    pub(crate) fn raise_floor(&mut self, sum: u32) {
        self.floor = self.floor.max(sum);
    }

    fn add(&mut self, skill: FoundSkill) {
        self.skills.push(Reverse(skill));
        if self.skills.len() > self.k {
            self.skills.pop();
        }
    }

    /// Returns the skills, the best first.
    pub(crate) fn into_sorted(self) -> Vec<FoundSkill> {
        self.skills.into_sorted_vec().into_iter().map(|Reverse(skill)| skill).collect()
    }
}

/// An upper bound of what a list can add in a window.
#[derive(Debug, Clone, Copy)]
struct ListBound {
    list: usize,
    max: u32,
    count: usize,
}

/// Returns a sum that `k` skills reach by their rarest words alone, which is a lower bound for the best.
pub(crate) fn lower_bound(
    skills: u32,
    lists: &mut [WeightedList<'_, '_>],
    key: impl Fn(u32) -> Option<u64>,
    k: usize,
) -> Result<u32, DamagedIndex> {
    lists.sort_by(|a, b| b.value.cmp(&a.value).then(a.list.location.start.cmp(&b.list.location.start)));
    let mut remaining = skills / RARE_SHARE;
    let rare = lists.iter().take_while(|weighted| {
        let fits = weighted.list.location.count <= remaining;
        remaining = remaining.saturating_sub(weighted.list.location.count);
        fits
    });
    let rare = rare.count();
    let mut best = BestSkills::new(k);
    search(skills, 0, &mut lists[..rare], key, &mut best)?;
    lists[..rare].iter_mut().for_each(|weighted| weighted.list.rewind());
    Ok(best.threshold())
}

/// Adds the skills of a segment that contain one of the words and have a `key`, if they are among the best.
pub(crate) fn search(
    skills: u32,
    part: usize,
    lists: &mut [WeightedList<'_, '_>],
    key: impl Fn(u32) -> Option<u64>,
    best: &mut BestSkills,
) -> Result<(), DamagedIndex> {
    let mut sums = [0u32; WINDOW as usize];
    let mut bounds: Vec<ListBound> = Vec::with_capacity(lists.len());
    let mut candidates: Vec<(u32, u32)> = Vec::new();
    if best.k == 0 {
        return Ok(());
    }
    for from in (0..skills).step_by(WINDOW as usize) {
        let to = skills.min(from.saturating_add(WINDOW));
        let threshold = best.threshold();
        bounds.clear();
        for (list, weighted) in lists.iter_mut().enumerate() {
            let (largest, count) = weighted.list.upper_bound(from, to)?;
            if largest > 0 {
                bounds.push(ListBound { list, max: weighted.value * u32::from(largest), count });
            }
        }
        // The maximum that the lists not yet scanned can add.
        let mut unscanned_max = bounds.iter().map(|bound| bound.max).sum::<u32>();
        if unscanned_max < threshold {
            continue;
        }
        // Short lists that add much come first, so that few candidates remain early.
        bounds.sort_unstable_by(|a, b| {
            (u64::from(b.max) * a.count as u64)
                .cmp(&(u64::from(a.max) * b.count as u64))
                .then(a.list.cmp(&b.list))
        });
        let mut scanned = 0;
        for bound in &bounds {
            // If few candidates remain, looking up each of them is cheaper than scanning a long list.
            if bound.count >= LONG_LIST
                && unscanned_max < threshold
                && sums.iter().filter(|sum| **sum >= threshold - unscanned_max).count() * LOOKUP_COST
                    < bound.count
            {
                break;
            }
            let WeightedList { list, value } = &mut lists[bound.list];
            list.scan(from, to, |skill, impact| {
                if let Some(sum) = sums.get_mut((skill - from) as usize) {
                    *sum = sum.saturating_add(*value * u32::from(impact));
                }
            })?;
            unscanned_max -= bound.max;
            scanned += 1;
        }
        candidates.clear();
        let candidate_min = threshold.saturating_sub(unscanned_max).max(1);
        let summed = (from..to).zip(&sums).filter(|(_, sum)| **sum >= candidate_min);
        candidates.extend(summed.map(|(skill, sum)| (skill, *sum)));
        sums.fill(0);
        for bound in &bounds[scanned..] {
            let WeightedList { list, value } = &mut lists[bound.list];
            unscanned_max -= bound.max;
            for (skill, sum) in &mut candidates {
                let impact = list.impact(*skill)?.unwrap_or(0);
                *sum = sum.saturating_add(*value * u32::from(impact));
            }
            candidates.retain(|(_, sum)| sum.saturating_add(unscanned_max) >= threshold);
        }
        for (skill, sum) in &candidates {
            if let Some(key) = key(*skill) {
                best.add(FoundSkill { sum: *sum, key: Reverse(key), part, skill: *skill });
            }
        }
    }
    Ok(())
}
