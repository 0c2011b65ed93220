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

/// How much of a longer list is read where one block is needed. It doubles while blocks are needed one after the other:
/// a call of the system costs about as much as it takes to copy this.
const PIECE: usize = 4 * 1024;

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

/// A row of the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    last: u32,
    length: usize,
    largest: u8,
}

impl Row {
    fn read([a, b, c, d, e, f, largest]: [u8; ROW]) -> Self {
        let (last, length) = (u32::from_le_bytes([a, b, c, d]), u16::from_le_bytes([e, f]).into());
        Self { last, length, largest }
    }
}

/// A list that is being read, from its first skill to its last.
#[derive(Debug)]
pub(crate) struct List<'s> {
    source: &'s Source,
    pub(crate) place: Place,
    /// The table of blocks; empty where there is one block only.
    table: Cow<'s, [u8]>,
    held: Held<'s>,
    at: At,
    /// What was met of the block it is at, once something was asked of it.
    inside: Option<Inside>,
}

/// Bytes of a list that were read.
#[derive(Debug)]
struct Held<'s> {
    bytes: Cow<'s, [u8]>,
    /// Where in the list they begin.
    start: usize,
    /// How much is read next.
    piece: usize,
}

/// A place in a list.
#[derive(Debug, Clone, Copy)]
struct At {
    block: usize,
    /// Where the bytes of the block begin.
    start: usize,
    /// The last skill of the block before.
    before: u32,
}

/// A place in a block.
#[derive(Debug, Clone, Copy)]
struct Inside {
    /// Where the bytes of the next posting begin, and how many postings are left.
    start: usize,
    left: usize,
    /// The posting that was met last, and not taken.
    met: Option<(u32, u8)>,
    /// The skill of the posting before the next.
    before: u32,
}

impl<'s> List<'s> {
    /// Reads short lists whole, of others the table of blocks.
    pub(crate) fn open(source: &'s Source, place: Place) -> Result<Self, Damaged> {
        let (length, count) = (place.length as usize, place.count as usize);
        let size = if count > BLOCK { count.div_ceil(BLOCK) * ROW } else { 0 };
        if size > length {
            return Err(Damaged);
        }
        let read = source.read(place.start, if place.length <= AT_ONCE { length } else { size })?;
        let table = match &read {
            Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(..size).ok_or(Damaged)?),
            Cow::Owned(bytes) => Cow::Owned(bytes.get(..size).ok_or(Damaged)?.to_vec()),
        };
        let held = Held { bytes: read, start: 0, piece: PIECE };
        let at = At { block: 0, start: size, before: 0 };
        Ok(Self { source, place, table, held, at, inside: None })
    }

    /// Back to the first skill.
    pub(crate) fn rewind(&mut self) {
        self.inside = None;
        self.at = At { block: 0, start: self.table.len(), before: 0 };
    }

    fn row(&self, block: usize) -> Option<Row> {
        if self.table.is_empty() {
            let length = self.place.length as usize;
            let only = block == 0 && self.place.count > 0;
            return only.then_some(Row { last: u32::MAX, length, largest: u8::MAX });
        }
        self.table.as_chunks().0.get(block).copied().map(Row::read)
    }

    /// Goes to the block that may have `skill`; false where all are behind.
    fn go(&mut self, skill: u32) -> bool {
        while let Some(row) = self.row(self.at.block) {
            if row.last >= skill {
                return true;
            }
            self.next(row);
        }
        false
    }

    /// Goes to the next block.
    fn next(&mut self, row: Row) {
        self.at = At { block: self.at.block + 1, start: self.at.start + row.length, before: row.last };
        self.inside = None;
    }

    /// What skills from `from` up to `to` may have at most, and how many of them there are at most.
    pub(crate) fn within(&mut self, from: u32, to: u32) -> Result<(u8, usize), Damaged> {
        if !self.go(from) {
            return Ok((0, 0));
        }
        // Of a single block nothing is known before it is read, and of rare words that is little.
        let single = self.table.is_empty();
        if (single || self.inside.is_some()) && self.meet(from)?.is_none_or(|(skill, _)| skill >= to) {
            let next = self.row(self.at.block + 1);
            if single || next.is_none() || self.inside.is_some_and(|inside| inside.met.is_some()) {
                return Ok((0, 0));
            }
        }
        let (mut largest, mut count) = (0, 0);
        for number in self.at.block.. {
            let Some(row) = self.row(number) else { break };
            largest = largest.max(row.largest);
            count += BLOCK;
            if row.last >= to {
                break;
            }
        }
        Ok((largest, count))
    }

    /// Calls `take` with each posting from `from` up to `to`, and stays behind them.
    pub(crate) fn scan(&mut self, from: u32, to: u32, mut take: impl FnMut(u32, u8)) -> Result<(), Damaged> {
        while self.go(from) {
            let Some(row) = self.row(self.at.block) else { break };
            self.run(to, |skill, impact| {
                if skill >= from {
                    take(skill, impact);
                }
            })?;
            if row.last >= to {
                break;
            }
            self.next(row);
        }
        Ok(())
    }

    /// The impact in a skill, if it is there. Skills are asked for in order, from where it is.
    pub(crate) fn impact(&mut self, skill: u32) -> Result<Option<u8>, Damaged> {
        if !self.go(skill) {
            return Ok(None);
        }
        Ok(self.meet(skill)?.filter(|(met, _)| *met == skill).map(|(_, impact)| impact))
    }

    /// The first posting of the block that is not before `skill`.
    fn meet(&mut self, skill: u32) -> Result<Option<(u32, u8)>, Damaged> {
        self.run(skill, |_, _| {})?;
        Ok(self.inside.and_then(|inside| inside.met))
    }

    /// Calls `take` with each posting of the block that is before `to`.
    fn run(&mut self, to: u32, mut take: impl FnMut(u32, u8)) -> Result<(), Damaged> {
        let whole = Inside { start: self.at.start, left: self.postings(), met: None, before: self.at.before };
        let mut inside = self.inside.unwrap_or(whole);
        match inside.met {
            Some((skill, _)) if skill >= to => return Ok(()),
            Some((skill, impact)) => take(skill, impact),
            None => {}
        }
        inside.met = None;
        let end = self.at.start + self.row(self.at.block).ok_or(Damaged)?.length;
        let mut reader = Reader(self.bytes(inside.start, end)?);
        let mut skill = inside.before;
        while inside.left > 0 {
            // Nearly all distances are below 128.
            let (distance, impact) = match reader.0 {
                [distance @ ..0x80, impact, rest @ ..] => {
                    reader.0 = rest;
                    (u32::from(*distance), *impact)
                }
                _ => (reader.varint()?, reader.byte()?),
            };
            skill = skill.checked_add(distance).ok_or(Damaged)?;
            inside.left -= 1;
            if skill >= to {
                inside.met = Some((skill, impact));
                break;
            }
            take(skill, impact);
        }
        inside.before = skill;
        inside.start = end - reader.0.len();
        self.inside = Some(inside);
        Ok(())
    }

    /// How many postings the block has that it is at.
    fn postings(&self) -> usize {
        BLOCK.min((self.place.count as usize).saturating_sub(self.at.block * BLOCK))
    }

    /// Bytes of the list.
    fn bytes(&mut self, start: usize, end: usize) -> Result<&[u8], Damaged> {
        let held = &mut self.held;
        if start < held.start || end > held.start + held.bytes.len() {
            let goes_on = (held.start..=held.start + held.bytes.len()).contains(&start);
            held.piece = if goes_on { (held.piece * 2).min(AT_ONCE as usize) } else { PIECE };
            let most = (self.place.length as usize).checked_sub(start).ok_or(Damaged)?;
            let length = end.checked_sub(start).ok_or(Damaged)?.max(held.piece).min(most);
            held.bytes = self.source.read(self.place.start + start as u64, length)?;
            held.start = start;
        }
        let range = start.checked_sub(held.start).zip(end.checked_sub(held.start)).ok_or(Damaged)?;
        held.bytes.get(range.0..range.1).ok_or(Damaged)
    }
}

#[cfg(test)]
mod tests;
