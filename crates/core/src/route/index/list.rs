//! The skills that have a word, and how much it weighs in each: in blocks, so that most of a long list can be skipped.
//!
//! A posting is a skill's number, as the distance from the one before, and an impact of one byte. Lists of more than one
//! block begin with a table of blocks: the last skill of each, its length and its largest impact.

use super::bytes::{Damaged, Reader, put_varint};
use super::source::Source;

/// How many postings a block has.
pub(crate) const BLOCK: usize = 128;

/// The size of a block's row in the table.
const ROW: usize = 7;

/// A list, before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) start: u64,
    pub(crate) length: u32,
    /// How many skills it has.
    pub(crate) count: u32,
}

/// Writes a list; `postings` come in the order of skills.
pub(crate) fn write(postings: &[(u32, u8)], bytes: &mut Vec<u8>) {
    let mut before = 0;
    if postings.len() <= BLOCK {
        return block(postings, &mut before, bytes);
    }
    let table = bytes.len();
    bytes.resize(table + postings.len().div_ceil(BLOCK) * ROW, 0);
    for (number, chunk) in postings.chunks(BLOCK).enumerate() {
        let start = bytes.len();
        block(chunk, &mut before, bytes);
        let length = (bytes.len() - start) as u16;
        let largest = chunk.iter().map(|(_, impact)| *impact).max().unwrap_or(0);
        let row = &mut bytes[table + number * ROW..][..ROW];
        row[..4].copy_from_slice(&before.to_le_bytes());
        row[4..6].copy_from_slice(&length.to_le_bytes());
        row[6] = largest;
    }
}

fn block(postings: &[(u32, u8)], before: &mut u32, bytes: &mut Vec<u8>) {
    for (skill, impact) in postings {
        put_varint(skill.wrapping_sub(*before), bytes);
        bytes.push(*impact);
        *before = *skill;
    }
}

/// Calls `take` with each posting of a block.
fn each(bytes: &[u8], count: usize, mut skill: u32, mut take: impl FnMut(u32, u8)) -> Result<(), Damaged> {
    let mut reader = Reader(bytes);
    for _ in 0..count {
        skill = skill.checked_add(reader.varint()?).ok_or(Damaged)?;
        take(skill, reader.byte()?);
    }
    Ok(())
}

/// Calls `take` with each posting of a list, all below `skills`.
pub(crate) fn scan(
    source: &Source,
    place: Place,
    skills: u32,
    mut take: impl FnMut(usize, u8),
) -> Result<(), Damaged> {
    let bytes = source.read(place.start, place.length as usize)?;
    let count = place.count as usize;
    let table = if count > BLOCK { count.div_ceil(BLOCK) * ROW } else { 0 };
    let blocks = bytes.get(table..).ok_or(Damaged)?;
    let mut beyond = false;
    each(blocks, count, 0, |skill, impact| {
        if skill < skills {
            take(skill as usize, impact);
        } else {
            beyond = true;
        }
    })?;
    if beyond { Err(Damaged) } else { Ok(()) }
}

/// The largest impact of a list; short ones are not read for it.
pub(crate) fn largest(source: &Source, place: Place) -> Result<u8, Damaged> {
    if place.count as usize <= BLOCK {
        return Ok(u8::MAX);
    }
    let table = source.read(place.start, (place.count as usize).div_ceil(BLOCK) * ROW)?;
    Ok(table.chunks_exact(ROW).map(|row| row[6]).max().unwrap_or(u8::MAX))
}

/// Calls `take` with the place in `wanted` and the impact of each wanted skill that a list has. `wanted` is in order.
pub(crate) fn probe(
    source: &Source,
    place: Place,
    wanted: &[u32],
    mut take: impl FnMut(usize, u8),
) -> Result<(), Damaged> {
    let count = place.count as usize;
    if count <= BLOCK {
        let bytes = source.read(place.start, place.length as usize)?;
        let mut next = 0;
        return each(&bytes, count, 0, |skill, impact| meet(wanted, &mut next, skill, || impact, &mut take));
    }
    let blocks = count.div_ceil(BLOCK);
    // Where most blocks are wanted, one read is cheaper than many.
    let whole = wanted.len().saturating_mul(3) > blocks;
    let ahead = if whole { place.length as usize } else { blocks * ROW };
    let bytes = source.read(place.start, ahead)?;
    let table = bytes.get(..blocks * ROW).ok_or(Damaged)?;
    let (mut next, mut before, mut at) = (0, 0u32, blocks * ROW);
    for (number, row) in table.chunks_exact(ROW).enumerate() {
        let mut row = Reader(row);
        let (last, length) = (row.u32()?, row.u16()? as usize);
        while wanted.get(next).is_some_and(|skill| *skill < before) {
            next += 1;
        }
        match wanted.get(next) {
            None => return Ok(()),
            Some(skill) if *skill <= last => {
                let postings = BLOCK.min(count - number * BLOCK);
                let met = |skill, impact| meet(wanted, &mut next, skill, || impact, &mut take);
                if whole {
                    each(bytes.get(at..at + length).ok_or(Damaged)?, postings, before, met)?;
                } else {
                    let block = source.read(place.start + at as u64, length)?;
                    each(&block, postings, before, met)?;
                }
            }
            Some(_) => {}
        }
        before = last;
        at += length;
    }
    Ok(())
}

fn meet(
    wanted: &[u32],
    next: &mut usize,
    skill: u32,
    impact: impl Fn() -> u8,
    take: &mut impl FnMut(usize, u8),
) {
    while wanted.get(*next).is_some_and(|wanted| *wanted < skill) {
        *next += 1;
    }
    if wanted.get(*next) == Some(&skill) {
        take(*next, impact());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn written(postings: &BTreeMap<u32, u8>) -> (Source, Place) {
        let list: Vec<_> = postings.iter().map(|(skill, impact)| (*skill, *impact)).collect();
        let mut bytes = Vec::new();
        write(&list, &mut bytes);
        let place = Place { start: 0, length: bytes.len() as u32, count: list.len() as u32 };
        (Source::Memory(bytes), place)
    }

    proptest! {
        #[test]
        fn lists_come_back(postings in prop::collection::btree_map(0u32..5000, any::<u8>(), 0..700)) {
            let (source, place) = written(&postings);
            let mut read = BTreeMap::new();
            scan(&source, place, 5000, |skill, impact| { read.insert(skill as u32, impact); }).unwrap();
            prop_assert_eq!(&read, &postings);
            let most = postings.values().copied().max().unwrap_or(0);
            prop_assert!(largest(&source, place).unwrap() >= most);
        }

        #[test]
        fn probing_finds_what_scanning_finds(
            postings in prop::collection::btree_map(0u32..5000, any::<u8>(), 0..700),
            wanted in prop::collection::btree_set(0u32..5000, 0..60),
        ) {
            let (source, place) = written(&postings);
            let wanted: Vec<u32> = wanted.into_iter().collect();
            let mut met = Vec::new();
            probe(&source, place, &wanted, |at, impact| met.push((wanted[at], impact))).unwrap();
            let expected: Vec<_> =
                wanted.iter().filter_map(|skill| Some((*skill, *postings.get(skill)?))).collect();
            prop_assert_eq!(met, expected);
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..600), count in 0u32..2000, wanted in any::<[u32; 3]>(),
        ) {
            let mut wanted = wanted;
            wanted.sort_unstable();
            let place = Place { start: 0, length: bytes.len() as u32, count };
            let source = Source::Memory(bytes);
            let mut most = 0;
            let _ = scan(&source, place, 100, |skill, _| most = most.max(skill));
            prop_assert!(most < 100);
            let _ = largest(&source, place);
            let _ = probe(&source, place, &wanted, |_, _| {});
        }
    }
}
