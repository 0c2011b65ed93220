//! Posting lists: the skills that contain a word, and its impact in each, in blocks so that most of a long list
//! can be skipped.
//!
//! A posting is the number of a skill, as the distance from the previous one, and an impact of one byte. Lists
//! of more than one block start with a table of blocks: the last skill of each, its length and its largest
//! impact.

use std::borrow::Cow;

use super::bytes::{ByteReader, DamagedIndex, put_varint};
use super::source::SegmentSource;

/// The number of postings per block.
pub(crate) const BLOCK: usize = 128;

/// The size of a row in the table of blocks.
const ROW_SIZE: usize = 7;

/// The maximum length of a list that is read as a whole, because reading a part costs as much.
const READ_WHOLE_MAX: u32 = 64 * 1024;

/// The initial read size for one block of a longer list. It doubles for consecutive blocks: a system call costs
/// about as much as copying this.
const READ_SIZE: usize = 4 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ListLocation {
    pub(crate) start: u64,
    pub(crate) length: u32,
    /// The number of postings.
    pub(crate) count: u32,
}

/// Writes a list; `postings` are in the order of skills.
pub(crate) fn write_list(postings: &[(u32, u8)], bytes: &mut Vec<u8>) {
    let mut previous = 0;
    if postings.len() <= BLOCK {
        return write_block(postings, &mut previous, bytes);
    }
    let table = bytes.len();
    bytes.resize(table + postings.len().div_ceil(BLOCK) * ROW_SIZE, 0);
    for (number, chunk) in postings.chunks(BLOCK).enumerate() {
        let start = bytes.len();
        write_block(chunk, &mut previous, bytes);
        let length = (bytes.len() - start) as u16;
        let largest = chunk.iter().map(|(_, impact)| *impact).max().unwrap_or(0);
        let row = &mut bytes[table + number * ROW_SIZE..][..ROW_SIZE];
        row[..4].copy_from_slice(&previous.to_le_bytes());
        row[4..6].copy_from_slice(&length.to_le_bytes());
        row[6] = largest;
    }
}

fn write_block(postings: &[(u32, u8)], previous: &mut u32, bytes: &mut Vec<u8>) {
    for (skill, impact) in postings {
        put_varint(skill.wrapping_sub(*previous), bytes);
        bytes.push(*impact);
        *previous = *skill;
    }
}

/// A row of the table of blocks.
#[derive(Debug, Clone, Copy)]
struct BlockRow {
    last: u32,
    length: usize,
    largest: u8,
}

impl BlockRow {
    fn read([a, b, c, d, e, f, largest]: [u8; ROW_SIZE]) -> Self {
        let (last, length) = (u32::from_le_bytes([a, b, c, d]), u16::from_le_bytes([e, f]).into());
        Self { last, length, largest }
    }
}

/// A list that is read from its first skill to its last.
#[derive(Debug)]
pub(crate) struct PostingList<'s> {
    source: &'s SegmentSource,
    pub(crate) location: ListLocation,
    /// The table of blocks; empty if there is only one block.
    table: Cow<'s, [u8]>,
    buffer: ReadBuffer<'s>,
    position: BlockPosition,
    /// The position in the current block, once something was read from it.
    cursor: Option<BlockCursor>,
}

/// Bytes of a list that were read.
#[derive(Debug)]
struct ReadBuffer<'s> {
    bytes: Cow<'s, [u8]>,
    /// The offset of the bytes in the list.
    start: usize,
    /// The size of the next read.
    read_size: usize,
}

/// The position of a block in a list.
#[derive(Debug, Clone, Copy)]
struct BlockPosition {
    block: usize,
    /// The offset of the block.
    start: usize,
    /// The last skill of the previous block.
    before: u32,
}

/// A position in a block.
#[derive(Debug, Clone, Copy)]
struct BlockCursor {
    /// The offset of the next posting, and the number of postings left.
    start: usize,
    remaining: usize,
    /// A posting that was read but not consumed.
    peeked: Option<(u32, u8)>,
    /// The skill of the posting before the next one.
    before: u32,
}

impl<'s> PostingList<'s> {
    /// Opens a list: reads a short one as a whole, and the table of blocks of a longer one.
    pub(crate) fn open(source: &'s SegmentSource, location: ListLocation) -> Result<Self, DamagedIndex> {
        let (length, count) = (location.length as usize, location.count as usize);
        let size = if count > BLOCK { count.div_ceil(BLOCK) * ROW_SIZE } else { 0 };
        if size > length {
            return Err(DamagedIndex);
        }
        let read =
            source.read(location.start, if location.length <= READ_WHOLE_MAX { length } else { size })?;
        let table = match &read {
            Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(..size).ok_or(DamagedIndex)?),
            Cow::Owned(bytes) => Cow::Owned(bytes.get(..size).ok_or(DamagedIndex)?.to_vec()),
        };
        let buffer = ReadBuffer { bytes: read, start: 0, read_size: READ_SIZE };
        let position = BlockPosition { block: 0, start: size, before: 0 };
        Ok(Self { source, location, table, buffer, position, cursor: None })
    }

    /// Goes back to the first skill.
    pub(crate) fn rewind(&mut self) {
        self.cursor = None;
        self.position = BlockPosition { block: 0, start: self.table.len(), before: 0 };
    }

    fn row(&self, block: usize) -> Option<BlockRow> {
        if self.table.is_empty() {
            let length = self.location.length as usize;
            let only = block == 0 && self.location.count > 0;
            return only.then_some(BlockRow { last: u32::MAX, length, largest: u8::MAX });
        }
        self.table.as_chunks().0.get(block).copied().map(BlockRow::read)
    }

    /// Goes to the block that may contain `skill`. Returns `false` after the last block.
    fn seek_block(&mut self, skill: u32) -> bool {
        while let Some(row) = self.row(self.position.block) {
            if row.last >= skill {
                return true;
            }
            self.next_block(row);
        }
        false
    }

    /// Goes to the next block.
    fn next_block(&mut self, row: BlockRow) {
        self.position = BlockPosition {
            block: self.position.block + 1,
            start: self.position.start + row.length,
            before: row.last,
        };
        self.cursor = None;
    }

    /// Returns the maximum impact of the skills from `from` up to `to`, and their maximum number.
    pub(crate) fn upper_bound(&mut self, from: u32, to: u32) -> Result<(u8, usize), DamagedIndex> {
        if !self.seek_block(from) {
            return Ok((0, 0));
        }
        // A single block has no summary, but reading it is cheap, because the word is rare.
        let single = self.table.is_empty();
        if (single || self.cursor.is_some()) && self.seek_posting(from)?.is_none_or(|(skill, _)| skill >= to)
        {
            let next = self.row(self.position.block + 1);
            if single || next.is_none() || self.cursor.is_some_and(|cursor| cursor.peeked.is_some()) {
                return Ok((0, 0));
            }
        }
        let (mut largest, mut count) = (0, 0);
        for number in self.position.block.. {
            let Some(row) = self.row(number) else { break };
            largest = largest.max(row.largest);
            count += BLOCK;
            if row.last >= to {
                break;
            }
        }
        Ok((largest, count))
    }

    /// Calls `visit` with each posting from `from` up to `to`, and stops after them.
    pub(crate) fn scan(
        &mut self,
        from: u32,
        to: u32,
        mut visit: impl FnMut(u32, u8),
    ) -> Result<(), DamagedIndex> {
        while self.seek_block(from) {
            let Some(row) = self.row(self.position.block) else { break };
            self.read_block(to, |skill, impact| {
                if skill >= from {
                    visit(skill, impact);
                }
            })?;
            if row.last >= to {
                break;
            }
            self.next_block(row);
        }
        Ok(())
    }

    /// Returns the impact in a skill, if it is in the list. Skills must be requested in ascending order.
    pub(crate) fn impact(&mut self, skill: u32) -> Result<Option<u8>, DamagedIndex> {
        if !self.seek_block(skill) {
            return Ok(None);
        }
        Ok(self.seek_posting(skill)?.filter(|(peeked, _)| *peeked == skill).map(|(_, impact)| impact))
    }

    /// Returns the first posting of the block that is not before `skill`.
    fn seek_posting(&mut self, skill: u32) -> Result<Option<(u32, u8)>, DamagedIndex> {
        self.read_block(skill, |_, _| {})?;
        Ok(self.cursor.and_then(|cursor| cursor.peeked))
    }

    /// Calls `visit` with each posting of the block before `to`.
    fn read_block(&mut self, to: u32, mut visit: impl FnMut(u32, u8)) -> Result<(), DamagedIndex> {
        let start = BlockCursor {
            start: self.position.start,
            remaining: self.block_len(),
            peeked: None,
            before: self.position.before,
        };
        let mut cursor = self.cursor.unwrap_or(start);
        match cursor.peeked {
            Some((skill, _)) if skill >= to => return Ok(()),
            Some((skill, impact)) => visit(skill, impact),
            None => {}
        }
        cursor.peeked = None;
        let end = self.position.start + self.row(self.position.block).ok_or(DamagedIndex)?.length;
        let mut reader = ByteReader(self.bytes(cursor.start, end)?);
        let mut skill = cursor.before;
        while cursor.remaining > 0 {
            // Nearly all distances are below 128.
            let (distance, impact) = match reader.0 {
                [distance @ ..0x80, impact, rest @ ..] => {
                    reader.0 = rest;
                    (u32::from(*distance), *impact)
                }
                _ => (reader.varint()?, reader.byte()?),
            };
            skill = skill.checked_add(distance).ok_or(DamagedIndex)?;
            cursor.remaining -= 1;
            if skill >= to {
                cursor.peeked = Some((skill, impact));
                break;
            }
            visit(skill, impact);
        }
        cursor.before = skill;
        cursor.start = end - reader.0.len();
        self.cursor = Some(cursor);
        Ok(())
    }

    /// Returns the number of postings in the current block.
    fn block_len(&self) -> usize {
        BLOCK.min((self.location.count as usize).saturating_sub(self.position.block * BLOCK))
    }

    /// Returns bytes of the list, reading more if necessary.
    fn bytes(&mut self, start: usize, end: usize) -> Result<&[u8], DamagedIndex> {
        let buffer = &mut self.buffer;
        if start < buffer.start || end > buffer.start + buffer.bytes.len() {
            let is_consecutive = (buffer.start..=buffer.start + buffer.bytes.len()).contains(&start);
            buffer.read_size =
                if is_consecutive { (buffer.read_size * 2).min(READ_WHOLE_MAX as usize) } else { READ_SIZE };
            let available = (self.location.length as usize).checked_sub(start).ok_or(DamagedIndex)?;
            let length = end.checked_sub(start).ok_or(DamagedIndex)?.max(buffer.read_size).min(available);
            buffer.bytes = self.source.read(self.location.start + start as u64, length)?;
            buffer.start = start;
        }
        let range = start.checked_sub(buffer.start).zip(end.checked_sub(buffer.start)).ok_or(DamagedIndex)?;
        buffer.bytes.get(range.0..range.1).ok_or(DamagedIndex)
    }
}

#[cfg(test)]
mod tests;
