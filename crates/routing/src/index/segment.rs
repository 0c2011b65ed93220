//! A segment of the index: some skills, their words and their sketches. It is immutable.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::build::stored_hash;
use super::bytes::{ByteReader, DamagedIndex, checksum};
use super::layout::{HEADER_SIZE, SegmentHeader};
use super::list::ListLocation;
use super::names;
use super::source::SegmentSource;
use crate::vocabulary::Vocabulary;
use crate::words::Term;

/// An open segment.
#[derive(Debug)]
pub(crate) struct Segment {
    source: SegmentSource,
    header: SegmentHeader,
    keys: Vec<u64>,
    table: Vec<u64>,
    /// Read when a word is searched for the first time that no skill contains.
    names: OnceLock<Vocabulary>,
}

impl Segment {
    /// Opens a segment, and reads what is needed to find the rest.
    pub(crate) fn open(source: SegmentSource) -> Result<Self, DamagedIndex> {
        let header = SegmentHeader::read(&source.read(0, HEADER_SIZE)?, source.len())?;
        let length = usize::try_from(header.words - header.keys).map_err(|_| DamagedIndex)?;
        let (keys, table) = {
            let bytes = source.read(header.keys, length)?;
            if checksum(&bytes) != header.sum {
                return Err(DamagedIndex);
            }
            let mut numbers: Vec<u64> =
                bytes.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number)).collect();
            let table = numbers.split_off((header.skills as usize).min(numbers.len()));
            (numbers, table)
        };
        Ok(Self { source, header, keys, table, names: OnceLock::new() })
    }

    pub(crate) fn source(&self) -> &SegmentSource {
        &self.source
    }

    pub(crate) fn skills(&self) -> u32 {
        self.header.skills
    }

    /// Returns the key of each skill.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Returns the locations of the lists of a term: for the description, and for the instructions.
    pub(crate) fn find(&self, term: Term) -> Result<Option<[ListLocation; 2]>, DamagedIndex> {
        let bucket = if self.header.bits == 0 { 0 } else { (term >> (64 - self.header.bits)) as usize };
        let row = self.table.get(bucket * 2..bucket * 2 + 4).ok_or(DamagedIndex)?;
        let (start, end) = (row[0], row[2]);
        let length =
            end.checked_sub(start).and_then(|length| usize::try_from(length).ok()).ok_or(DamagedIndex)?;
        let words = self.source.read(self.header.words.checked_add(start).ok_or(DamagedIndex)?, length)?;
        let mut reader = ByteReader(&words);
        let mut list = self.header.lists.checked_add(row[1]).ok_or(DamagedIndex)?;
        while !reader.0.is_empty() {
            let is_match = reader.u32()? == stored_hash(term);
            let mut location = || {
                let (count, length) = (reader.varint()?, reader.varint()?);
                let location = ListLocation { start: list, length, count };
                list = list.checked_add(u64::from(length)).ok_or(DamagedIndex)?;
                Ok::<ListLocation, DamagedIndex>(location)
            };
            let locations = [location()?, location()?];
            if is_match {
                return Ok(Some(locations));
            }
        }
        Ok(None)
    }

    /// Returns the words of names.
    pub(crate) fn names(&self) -> Result<&Vocabulary, DamagedIndex> {
        if let Some(names) = self.names.get() {
            return Ok(names);
        }
        let length = self.header.length.checked_sub(self.header.names).ok_or(DamagedIndex)?;
        let length = usize::try_from(length).map_err(|_| DamagedIndex)?;
        let vocabulary = names::read_names(&self.source.read(self.header.names, length)?)?;
        Ok(self.names.get_or_init(|| vocabulary))
    }

    /// Returns the bytes of a skill's sketch, which [`Sketch::parse`](super::Sketch::parse) parses.
    pub(crate) fn sketch(&self, skill: u32) -> Result<Cow<'_, [u8]>, DamagedIndex> {
        if skill >= self.header.skills {
            return Err(DamagedIndex);
        }
        let end_offset = self.header.ends + u64::from(skill) * 8;
        let (start, end) = if skill == 0 {
            (0, ByteReader(&self.source.read(end_offset, 8)?).u64()?)
        } else {
            let ends = self.source.read(end_offset - 8, 16)?;
            let mut reader = ByteReader(&ends);
            (reader.u64()?, reader.u64()?)
        };
        let length =
            end.checked_sub(start).and_then(|length| usize::try_from(length).ok()).ok_or(DamagedIndex)?;
        self.source.read(self.header.sketches.checked_add(start).ok_or(DamagedIndex)?, length)
    }
}
