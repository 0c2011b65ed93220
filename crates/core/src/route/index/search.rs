//! The best skills of a segment for some words: exactly those that scoring every skill would give, without doing so.
//!
//! Lists are read whole in the order of what a posting is worth, until the words that are left could not lift a skill that
//! has none of the others into the best. From there on only skills that can still get there are looked up, and most
//! blocks of the long lists of common words are never read.

use super::bytes::Damaged;
use super::list::List;
use super::segment::Segment;

/// A list that is wanted, and what one unit of impact in it is worth.
#[derive(Debug)]
pub(crate) struct Wanted<'l, 's> {
    pub(crate) list: &'l mut List<'s>,
    pub(crate) worth: f32,
}

/// A list below this length is read whole without looking for a way around it.
const SHORT: u32 = 2_048;

/// The best `k` skills that have one of the words and are `alive`; equal ones in the order of keys, so that the answer
/// does not depend on the order in which skills came.
pub(crate) fn best(
    segment: &Segment,
    mut wanted: Vec<Wanted<'_, '_>>,
    k: usize,
    alive: impl Fn(u32) -> bool,
) -> Result<Vec<(u32, f32)>, Damaged> {
    wanted.retain(|wanted| wanted.list.place.count > 0 && wanted.worth > 0.0);
    wanted.sort_by(|a, b| b.worth.total_cmp(&a.worth).then(a.list.place.start.cmp(&b.list.place.start)));
    // What the lists from each on could add at most; a little more, for sums are rounded.
    let mut left = vec![0.0f32; wanted.len() + 1];
    for (at, wanted) in wanted.iter().enumerate().rev() {
        left[at] = left[at + 1] + wanted.worth * f32::from(wanted.list.largest()) * 1.000_1;
    }
    let mut scores = vec![0.0f32; segment.skills() as usize];
    let (mut at, mut most, mut few) = (0, 0.0f32, None);
    while let Some(Wanted { list, worth }) = wanted.get_mut(at) {
        if list.place.count > SHORT && most > left[at] {
            few = kth(&scores, k, left[at], &alive);
            if few.is_some() {
                break;
            }
        }
        list.scan(segment.skills(), |skill, impact| {
            let score = scores[skill] + *worth * f32::from(impact);
            scores[skill] = score;
            most = most.max(score);
        })?;
        at += 1;
    }
    let mut found: Vec<(u32, f32)> = match few {
        None => collect(&scores, f32::MIN_POSITIVE, &alive),
        Some(threshold) => {
            let mut found = collect(&scores, (threshold - left[at]).max(f32::MIN_POSITIVE), &alive);
            for (Wanted { list, worth }, left) in wanted[at..].iter_mut().zip(&left[at + 1..]) {
                let skills: Vec<u32> = found.iter().map(|(skill, _)| *skill).collect();
                list.probe(&skills, |at, impact| found[at].1 += *worth * f32::from(impact))?;
                found.retain(|(_, score)| score + left >= threshold);
            }
            found
        }
    };
    let order = |a: &(u32, f32), b: &(u32, f32)| {
        let key = |skill: u32| segment.keys().get(skill as usize);
        b.1.total_cmp(&a.1).then_with(|| key(a.0).cmp(&key(b.0)))
    };
    if k < found.len() {
        found.select_nth_unstable_by(k, order);
        found.truncate(k);
    }
    found.sort_unstable_by(order);
    Ok(found)
}

fn collect(scores: &[f32], least: f32, alive: &impl Fn(u32) -> bool) -> Vec<(u32, f32)> {
    let scored = (0u32..).zip(scores).filter(|(skill, score)| **score >= least && alive(*skill));
    scored.map(|(skill, score)| (skill, *score)).collect()
}

/// The score that `k` skills have already, if that is more than any other can still get.
fn kth(scores: &[f32], k: usize, left: f32, alive: &impl Fn(u32) -> bool) -> Option<f32> {
    let mut above: Vec<f32> = collect(scores, left, alive).into_iter().map(|(_, score)| score).collect();
    if k == 0 || above.len() < k {
        return None;
    }
    let (_, kth, _) = above.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    (*kth > left).then_some(*kth)
}
