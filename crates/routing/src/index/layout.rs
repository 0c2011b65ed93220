//! The layout of a segment file.
//!
//! ```text
//! header    magic, version, counts, the start of each part, a checksum
//! keys      one for each skill: identifies its version
//! table     one row for each bucket of words: the start of its words and of their lists
//! words     for each word: the rest of its hash, and count and length of its two lists of postings (name and
//!           description, instructions)
//! lists     the postings of all words
//! ends      the end of each sketch
//! sketches  the data for reranking
//! names     the words of names, as text
//! ```
//!
//! Keys and table are read and checked when a segment is opened, the rest on demand.

use super::bytes::{ByteReader, DamagedIndex, checksum};

/// Changes with anything that changes the meaning of the bytes: words, stems, weights, layout.
pub(crate) const VERSION: u32 = 4;

const MAGIC: &[u8; 8] = b"prowessR";

/// The approximate number of words per bucket.
pub(crate) const BUCKET_TERMS: usize = 32;

pub(crate) const HEADER_SIZE: usize = 8 * 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) skills: u32,
    /// The number of bits of a hash that select the bucket.
    pub(crate) bits: u32,
    pub(crate) keys: u64,
    pub(crate) table: u64,
    pub(crate) words: u64,
    pub(crate) lists: u64,
    pub(crate) ends: u64,
    pub(crate) sketches: u64,
    pub(crate) names: u64,
    pub(crate) length: u64,
    /// The checksum of keys, table and counts.
    pub(crate) sum: u64,
}

#[derive(Debug)]
pub(crate) struct SegmentParts<'p> {
    /// The number of bits of a hash that select the bucket.
    pub(crate) bits: u32,
    pub(crate) keys: &'p [u64],
    pub(crate) table: &'p [(u64, u64)],
    pub(crate) words: &'p [u8],
    pub(crate) lists: &'p [u8],
    pub(crate) ends: &'p [u64],
    pub(crate) sketches: &'p [u8],
    pub(crate) names: &'p [u8],
}

impl SegmentHeader {
    pub(crate) fn assemble(parts: &SegmentParts<'_>) -> Vec<u8> {
        let SegmentParts { bits, keys, table, words, lists, ends, sketches, names } = *parts;
        let mut bytes = vec![0; HEADER_SIZE];
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
        let mut fields = Vec::with_capacity(HEADER_SIZE);
        for number in [VERSION, skills, bits, 0] {
            fields.extend(number.to_le_bytes());
        }
        for number in [keys, table, words, lists, ends, sketches, names, length, sum ^ checksum(&fields)] {
            fields.extend(number.to_le_bytes());
        }
        bytes[8..8 + fields.len()].copy_from_slice(&fields);
    }

    /// Reads a header, and checks that its parts are in order and have the right sizes for a file of `length`
    /// bytes.
    pub(crate) fn read(bytes: &[u8], length: u64) -> Result<Self, DamagedIndex> {
        let mut reader = ByteReader(bytes);
        if reader.take(8)? != MAGIC {
            return Err(DamagedIndex);
        }
        let fields = checksum(reader.0.get(..16).ok_or(DamagedIndex)?);
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
        let is_valid = version == VERSION
            && header.length == length
            && bits <= 24
            && starts.is_sorted()
            && header.keys == HEADER_SIZE as u64
            && sized(header.keys, header.table, u64::from(skills) * 8)
            && sized(header.table, header.words, ((1u64 << bits) + 1) * 16)
            && sized(header.ends, header.sketches, u64::from(skills) * 8);
        is_valid.then_some(header).ok_or(DamagedIndex)
    }
}
