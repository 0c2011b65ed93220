//! Building the bytes of a segment from many entries, in one pass.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::bytes::put_varint;
use super::entry::SegmentEntry;
use super::layout::{BUCKET_TERMS, SegmentHeader, SegmentParts};
use super::list::write_list;
use super::names;
use prowess_fs::parallel_map;

/// A posting before it is written to its list: the word, the skill, both impacts.
type Posting = (u64, u32, [u8; 2]);

/// Builds a segment.
#[derive(Debug, Default)]
pub(crate) struct SegmentBuilder {
    keys: Vec<u64>,
    sketches: Vec<u8>,
    ends: Vec<u64>,
    /// Postings by the first byte of the hash, so that each partition can be sorted in cache.
    partitions: Vec<Vec<Posting>>,
    /// The words of names, and the number of names that contain each.
    names: HashMap<String, u32>,
}

impl SegmentBuilder {
    /// Adds a skill under the key that identifies its version.
    pub(crate) fn add(&mut self, key: u64, entry: &SegmentEntry) {
        if self.partitions.is_empty() {
            self.partitions.resize_with(256, Vec::new);
        }
        let skill = self.keys.len() as u32;
        self.keys.push(key);
        self.sketches.extend(&entry.sketch);
        self.ends.push(self.sketches.len() as u64);
        for word in &entry.words {
            self.partitions[(word.term >> 56) as usize].push((word.term, skill, word.impacts));
        }
        for word in &entry.name {
            match self.names.get_mut(word) {
                Some(count) => *count += 1,
                None => {
                    self.names.insert(word.clone(), 1);
                }
            }
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let partitions: Vec<Mutex<_>> =
            std::mem::take(&mut self.partitions).into_iter().map(Mutex::new).collect();
        let sorted = parallel_map(&partitions, 32, |partition| {
            let mut partition = partition.lock().unwrap_or_else(PoisonError::into_inner);
            partition.sort_unstable_by_key(|(term, skill, _)| (*term, *skill));
            partition.chunk_by(|a, b| a.0 == b.0).count()
        });
        let terms: usize = sorted.iter().sum();
        let bits = (terms / BUCKET_TERMS).max(1).ilog2().min(24);
        let (mut words, mut lists, mut list) = (Vec::new(), Vec::new(), Vec::new());
        let mut table: Vec<(u64, u64)> = Vec::with_capacity((1 << bits) + 1);
        for partition in partitions {
            let partition = partition.into_inner().unwrap_or_else(PoisonError::into_inner);
            for postings in partition.chunk_by(|a, b| a.0 == b.0) {
                let bucket = if bits == 0 { 0 } else { postings[0].0 >> (64 - bits) };
                while table.len() as u64 <= bucket {
                    table.push((words.len() as u64, lists.len() as u64));
                }
                write_term(postings, &mut list, &mut words, &mut lists);
            }
        }
        table.resize((1 << bits) + 1, (words.len() as u64, lists.len() as u64));
        let mut sorted_names: Vec<(&str, u32)> =
            self.names.iter().map(|(word, count)| (&**word, *count)).collect();
        sorted_names.sort_unstable();
        let mut names = Vec::new();
        names::write_names(sorted_names, &mut names);
        SegmentHeader::assemble(&SegmentParts {
            bits,
            keys: &self.keys,
            table: &table,
            words: &words,
            lists: &lists,
            ends: &self.ends,
            sketches: &self.sketches,
            names: &names,
        })
    }
}

/// Returns the part of a hash that is stored in its bucket.
pub(crate) fn stored_hash(term: u64) -> u32 {
    (term >> 8) as u32
}

fn write_term(postings: &[Posting], list: &mut Vec<(u32, u8)>, words: &mut Vec<u8>, lists: &mut Vec<u8>) {
    words.extend(stored_hash(postings[0].0).to_le_bytes());
    for field in 0..2 {
        list.clear();
        let matching = postings.iter().filter(|(.., impacts)| impacts[field] > 0);
        list.extend(matching.map(|(_, skill, impacts)| (*skill, impacts[field])));
        let start = lists.len();
        write_list(list, lists);
        put_varint(list.len() as u32, words);
        put_varint((lists.len() - start) as u32, words);
    }
}
