//! The skills that have a word, and how much it weighs in each: in blocks, so that most of a long list can be skipped.
//!
//! A posting is a skill's number, as the distance from the one before, and an impact of one byte. Lists of more than one
//! block begin with a table of blocks: the last skill of each, its length and its largest impact.

use std::borrow::Cow;

use super::bytes::{Damaged, Reader, put_varint};
use super::source::Source;

/// How many postings a block has.
pub(crate) const BLOCK: usize = 128;

/// The size of a block's row in the table.
const ROW: usize = 7;

/// Lists up to this length are read whole: that costs no more than to ask for a part.
const AT_ONCE: u32 = 64 * 1024;

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
        // Nearly all distances are below 128.
        if let [distance @ ..0x80, impact, rest @ ..] = reader.0 {
            skill = skill.checked_add(u32::from(*distance)).ok_or(Damaged)?;
            take(skill, *impact);
            reader.0 = rest;
            continue;
        }
        skill = skill.checked_add(reader.varint()?).ok_or(Damaged)?;
        take(skill, reader.byte()?);
    }
    Ok(())
}

/// A list that is being read: what of it was needed is kept, so that nothing is read twice for one message.
#[derive(Debug)]
pub(crate) struct List<'s> {
    source: &'s Source,
    pub(crate) place: Place,
    /// The whole, once it was needed.
    whole: Option<Cow<'s, [u8]>>,
    /// The table of blocks; empty where there is one block only.
    table: Cow<'s, [u8]>,
}

impl<'s> List<'s> {
    /// Reads short lists whole, of others the table of blocks.
    pub(crate) fn open(source: &'s Source, place: Place) -> Result<Self, Damaged> {
        let table =
            if place.count as usize > BLOCK { (place.count as usize).div_ceil(BLOCK) * ROW } else { 0 };
        if place.length <= AT_ONCE {
            let whole = source.read(place.start, place.length as usize)?;
            let table = whole.get(..table).ok_or(Damaged)?.to_vec();
            return Ok(Self { source, place, whole: Some(whole), table: Cow::Owned(table) });
        }
        if table > place.length as usize {
            return Err(Damaged);
        }
        Ok(Self { source, place, whole: None, table: source.read(place.start, table)? })
    }

    /// The largest impact; of a single block it is not known.
    pub(crate) fn largest(&self) -> u8 {
        self.table.chunks_exact(ROW).map(|row| row[6]).max().unwrap_or(u8::MAX)
    }

    fn whole(&mut self) -> Result<&[u8], Damaged> {
        if self.whole.is_none() {
            self.whole = Some(self.source.read(self.place.start, self.place.length as usize)?);
        }
        self.whole.as_deref().ok_or(Damaged)
    }

    /// Calls `take` with each posting, all below `skills`.
    pub(crate) fn scan(&mut self, skills: u32, mut take: impl FnMut(usize, u8)) -> Result<(), Damaged> {
        let (count, table) = (self.place.count as usize, self.table.len());
        let blocks = self.whole()?.get(table..).ok_or(Damaged)?;
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

    /// Calls `take` with the place in `wanted` and the impact of each wanted skill that the list has. `wanted` is in order.
    pub(crate) fn probe(&mut self, wanted: &[u32], mut take: impl FnMut(usize, u8)) -> Result<(), Damaged> {
        let count = self.place.count as usize;
        let mut next = 0;
        if self.table.is_empty() {
            let whole = self.whole()?;
            return each(whole, count, 0, |skill, impact| meet(wanted, &mut next, skill, impact, &mut take));
        }
        let blocks = count.div_ceil(BLOCK);
        // Where many blocks are wanted, one read is cheaper than many.
        if wanted.len().saturating_mul(4) > blocks {
            self.whole()?;
        }
        let (mut before, mut at) = (0u32, self.table.len());
        for (number, row) in self.table.chunks_exact(ROW).enumerate() {
            let mut row = Reader(row);
            let (last, length) = (row.u32()?, row.u16()? as usize);
            // The last of the block before may be wanted, and was met there.
            while wanted.get(next).is_some_and(|skill| *skill < before) {
                next += 1;
            }
            match wanted.get(next) {
                None => return Ok(()),
                Some(skill) if *skill <= last => {
                    let postings = BLOCK.min(count - number * BLOCK);
                    let met = |skill, impact| meet(wanted, &mut next, skill, impact, &mut take);
                    match &self.whole {
                        Some(whole) => {
                            each(whole.get(at..at + length).ok_or(Damaged)?, postings, before, met)?
                        }
                        None => {
                            each(
                                &self.source.read(self.place.start + at as u64, length)?,
                                postings,
                                before,
                                met,
                            )?;
                        }
                    }
                }
                Some(_) => {}
            }
            before = last;
            at += length;
        }
        Ok(())
    }
}

fn meet(wanted: &[u32], next: &mut usize, skill: u32, impact: u8, take: &mut impl FnMut(usize, u8)) {
    while wanted.get(*next).is_some_and(|wanted| *wanted < skill) {
        *next += 1;
    }
    if wanted.get(*next) == Some(&skill) {
        take(*next, impact);
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
            let mut list = List::open(&source, place).unwrap();
            list.scan(5000, |skill, impact| { read.insert(skill as u32, impact); }).unwrap();
            prop_assert_eq!(&read, &postings);
            let most = postings.values().copied().max().unwrap_or(0);
            prop_assert!(list.largest() >= most);
        }

        #[test]
        fn probing_finds_what_scanning_finds(
            postings in prop::collection::btree_map(0u32..5000, any::<u8>(), 0..700),
            wanted in prop::collection::btree_set(0u32..5000, 0..60),
        ) {
            let (source, place) = written(&postings);
            let wanted: Vec<u32> = wanted.into_iter().collect();
            let mut met = Vec::new();
            let mut list = List::open(&source, place).unwrap();
            list.probe(&wanted, |at, impact| met.push((wanted[at], impact))).unwrap();
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
            if let Ok(mut list) = List::open(&source, place) {
                let _ = list.scan(100, |skill, _| most = most.max(skill));
                let _ = list.probe(&wanted, |_, _| {});
                let _ = list.largest();
            }
            prop_assert!(most < 100);
        }
    }
}
