//! Where things are in a segment's file.
//!
//! ```text
//! header    magic, version, counts, where each part begins, sums
//! keys      one for each skill: tells whether it is still the same
//! table     one row for each bucket of words: where its words and their lists begin
//! words     for each word: the rest of its hash, and count and length of both lists
//! lists     the postings of all words
//! ends      where each sketch ends
//! sketches  what the second look needs
//! names     the words of names, as text
//! ```
//!
//! Keys and table are read when a segment is opened, and compared with their sum; the rest where it is asked for.

use super::bytes::{Damaged, Reader, checksum};

/// Changes with anything that changes what the bytes mean: words, stems, weights, layout.
pub(crate) const VERSION: u32 = 3;

const MAGIC: &[u8; 8] = b"prowessR";

/// How many words a bucket has, about.
pub(crate) const BUCKET_TERMS: usize = 32;

pub(crate) const HEADER: usize = 8 * 12;

/// The first bytes of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) skills: u32,
    pub(crate) bits: u32,
    pub(crate) keys: u64,
    pub(crate) table: u64,
    pub(crate) words: u64,
    pub(crate) lists: u64,
    pub(crate) ends: u64,
    pub(crate) sketches: u64,
    pub(crate) names: u64,
    pub(crate) length: u64,
    /// Of keys and table.
    pub(crate) sum: u64,
}

/// What a segment is made of.
#[derive(Debug)]
pub(crate) struct Parts<'p> {
    pub(crate) bits: u32,
    pub(crate) keys: &'p [u64],
    pub(crate) table: &'p [(u64, u64)],
    pub(crate) words: &'p [u8],
    pub(crate) lists: &'p [u8],
    pub(crate) ends: &'p [u64],
    pub(crate) sketches: &'p [u8],
    pub(crate) names: &'p [u8],
}

impl Header {
    pub(crate) fn assemble(parts: &Parts<'_>) -> Vec<u8> {
        let Parts { bits, keys, table, words, lists, ends, sketches, names } = *parts;
        let mut bytes = vec![0; HEADER];
        let part = |bytes: &mut Vec<u8>, part: &mut dyn Iterator<Item = u64>| {
            let start = bytes.len() as u64;
            part.for_each(|number| bytes.extend(number.to_le_bytes()));
            start
        };
        let raw = |bytes: &mut Vec<u8>, part: &[u8]| {
            let start = bytes.len() as u64;
            bytes.extend(part);
            start
        };
        let header = Self {
            skills: keys.len() as u32,
            bits,
            keys: part(&mut bytes, &mut keys.iter().copied()),
            table: part(&mut bytes, &mut table.iter().flat_map(|(words, lists)| [*words, *lists])),
            words: raw(&mut bytes, words),
            lists: raw(&mut bytes, lists),
            ends: part(&mut bytes, &mut ends.iter().copied()),
            sketches: raw(&mut bytes, sketches),
            names: raw(&mut bytes, names),
            length: bytes.len() as u64,
            sum: 0,
        };
        let sum = checksum(&bytes[header.keys as usize..header.words as usize]);
        Self { sum, ..header }.write(&mut bytes);
        bytes
    }

    fn write(&self, bytes: &mut [u8]) {
        let Self { skills, bits, keys, table, words, lists, ends, sketches, names, length, sum } = *self;
        bytes[..8].copy_from_slice(MAGIC);
        let mut fields = Vec::with_capacity(HEADER);
        for number in [VERSION, skills, bits, 0] {
            fields.extend(number.to_le_bytes());
        }
        for number in [keys, table, words, lists, ends, sketches, names, length, sum ^ checksum(&fields)] {
            fields.extend(number.to_le_bytes());
        }
        bytes[8..8 + fields.len()].copy_from_slice(&fields);
    }

    /// Reads a header and checks that its parts are in order and of the right sizes, for a file of `length` bytes.
    pub(crate) fn read(bytes: &[u8], length: u64) -> Result<Self, Damaged> {
        let mut reader = Reader(bytes);
        if reader.take(8)? != MAGIC {
            return Err(Damaged);
        }
        let fields = checksum(reader.0.get(..16).ok_or(Damaged)?);
        let (version, skills, bits, _) = (reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?);
        let mut next = || reader.u64();
        let header = Self {
            skills,
            bits,
            keys: next()?,
            table: next()?,
            words: next()?,
            lists: next()?,
            ends: next()?,
            sketches: next()?,
            names: next()?,
            length: next()?,
            sum: next()? ^ fields,
        };
        let Self { keys, table, words, lists, ends, sketches, names, .. } = header;
        let starts = [keys, table, words, lists, ends, sketches, names, length];
        let sized = |start: u64, end: u64, size: u64| end.checked_sub(start) == Some(size);
        let holds = version == VERSION
            && header.length == length
            && bits <= 24
            && starts.is_sorted()
            && header.keys == HEADER as u64
            && sized(header.keys, header.table, u64::from(skills) * 8)
            && sized(header.table, header.words, ((1u64 << bits) + 1) * 16)
            && sized(header.ends, header.sketches, u64::from(skills) * 8);
        holds.then_some(header).ok_or(Damaged)
    }
}
