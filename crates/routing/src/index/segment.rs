//! A part of the index: some skills, their words and their sketches. It never changes once it is made.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::build::rest;
use super::bytes::{Damaged, Reader, checksum};
use super::layout::{HEADER, Header};
use super::list::Place;
use super::names;
use super::source::Source;
use crate::vocabulary::Vocabulary;
use crate::words::Term;

/// A segment, opened.
#[derive(Debug)]
pub(crate) struct Segment {
    source: Source,
    header: Header,
    keys: Vec<u64>,
    table: Vec<u64>,
    /// Read when a word is first looked for that no skill has.
    names: OnceLock<Vocabulary>,
}

impl Segment {
    /// Reads what is needed to find the rest.
    pub(crate) fn open(source: Source) -> Result<Self, Damaged> {
        let header = Header::read(&source.read(0, HEADER)?, source.len())?;
        let length = usize::try_from(header.words - header.keys).map_err(|_| Damaged)?;
        let (keys, table) = {
            let bytes = source.read(header.keys, length)?;
            if checksum(&bytes) != header.sum {
                return Err(Damaged);
            }
            let mut numbers: Vec<u64> =
                bytes.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number)).collect();
            let table = numbers.split_off((header.skills as usize).min(numbers.len()));
            (numbers, table)
        };
        Ok(Self { source, header, keys, table, names: OnceLock::new() })
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn skills(&self) -> u32 {
        self.header.skills
    }

    /// The key of each skill.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The lists of a word: of what skills say of themselves, and of their instructions.
    pub(crate) fn find(&self, term: Term) -> Result<Option<[Place; 2]>, Damaged> {
        let bucket = if self.header.bits == 0 { 0 } else { (term >> (64 - self.header.bits)) as usize };
        let row = self.table.get(bucket * 2..bucket * 2 + 4).ok_or(Damaged)?;
        let (start, end) = (row[0], row[2]);
        let length = end.checked_sub(start).and_then(|length| usize::try_from(length).ok()).ok_or(Damaged)?;
        let words = self.source.read(self.header.words.checked_add(start).ok_or(Damaged)?, length)?;
        let mut reader = Reader(&words);
        let mut list = self.header.lists.checked_add(row[1]).ok_or(Damaged)?;
        while !reader.0.is_empty() {
            let found = reader.u32()? == rest(term);
            let mut place = || {
                let (count, length) = (reader.varint()?, reader.varint()?);
                let place = Place { start: list, length, count };
                list = list.checked_add(u64::from(length)).ok_or(Damaged)?;
                Ok::<Place, Damaged>(place)
            };
            let places = [place()?, place()?];
            if found {
                return Ok(Some(places));
            }
        }
        Ok(None)
    }

    /// The words of names.
    pub(crate) fn names(&self) -> Result<&Vocabulary, Damaged> {
        if let Some(known) = self.names.get() {
            return Ok(known);
        }
        let length = self.header.length.checked_sub(self.header.names).ok_or(Damaged)?;
        let length = usize::try_from(length).map_err(|_| Damaged)?;
        let read = names::read(&self.source.read(self.header.names, length)?)?;
        Ok(self.names.get_or_init(|| read))
    }

    /// The bytes of a skill's sketch.
    pub(crate) fn sketch(&self, skill: u32) -> Result<Cow<'_, [u8]>, Damaged> {
        if skill >= self.header.skills {
            return Err(Damaged);
        }
        let at = self.header.ends + u64::from(skill) * 8;
        let (start, end) = if skill == 0 {
            (0, Reader(&self.source.read(at, 8)?).u64()?)
        } else {
            let ends = self.source.read(at - 8, 16)?;
            let mut reader = Reader(&ends);
            (reader.u64()?, reader.u64()?)
        };
        let length = end.checked_sub(start).and_then(|length| usize::try_from(length).ok()).ok_or(Damaged)?;
        self.source.read(self.header.sketches.checked_add(start).ok_or(Damaged)?, length)
    }
}
