//! Many entries to one segment's bytes, in one pass.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::bytes::put_varint;
use super::entry::Entry;
use super::layout::{BUCKET_TERMS, Header, Parts};
use super::list::write;
use super::names;
use prowess_fs::parallel;

/// A posting on its way into its list: the word, the skill, both impacts.
type Posting = (u64, u32, [u8; 2]);

/// A segment that is being made.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    keys: Vec<u64>,
    sketches: Vec<u8>,
    ends: Vec<u64>,
    /// By the first byte of the hash, so that each part can be sorted where the caches are.
    parts: Vec<Vec<Posting>>,
    /// The words of names, and how many names have each.
    names: HashMap<String, u32>,
}

impl Builder {
    /// Adds a skill under the key that tells whether it changed.
    pub(crate) fn add(&mut self, key: u64, entry: &Entry) {
        if self.parts.is_empty() {
            self.parts.resize_with(256, Vec::new);
        }
        let skill = self.keys.len() as u32;
        self.keys.push(key);
        self.sketches.extend(&entry.sketch);
        self.ends.push(self.sketches.len() as u64);
        for word in &entry.words {
            self.parts[(word.term >> 56) as usize].push((word.term, skill, word.impacts));
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
        let parts: Vec<Mutex<_>> = std::mem::take(&mut self.parts).into_iter().map(Mutex::new).collect();
        let sorted = parallel(&parts, 32, |part| {
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            part.sort_unstable_by_key(|(term, skill, _)| (*term, *skill));
            part.chunk_by(|a, b| a.0 == b.0).count()
        });
        let terms: usize = sorted.iter().sum();
        let bits = (terms / BUCKET_TERMS).max(1).ilog2().min(24);
        let (mut words, mut lists, mut list) = (Vec::new(), Vec::new(), Vec::new());
        let mut table: Vec<(u64, u64)> = Vec::with_capacity((1 << bits) + 1);
        for part in parts {
            let part = part.into_inner().unwrap_or_else(PoisonError::into_inner);
            for same in part.chunk_by(|a, b| a.0 == b.0) {
                let bucket = if bits == 0 { 0 } else { same[0].0 >> (64 - bits) };
                while table.len() as u64 <= bucket {
                    table.push((words.len() as u64, lists.len() as u64));
                }
                term(same, &mut list, &mut words, &mut lists);
            }
        }
        table.resize((1 << bits) + 1, (words.len() as u64, lists.len() as u64));
        let mut spelled: Vec<(&str, u32)> =
            self.names.iter().map(|(word, count)| (&**word, *count)).collect();
        spelled.sort_unstable();
        let mut names = Vec::new();
        names::write(spelled, &mut names);
        Header::assemble(&Parts {
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

/// What of a hash is kept beside the bucket it is in.
pub(crate) fn rest(term: u64) -> u32 {
    (term >> 8) as u32
}

fn term(postings: &[Posting], list: &mut Vec<(u32, u8)>, words: &mut Vec<u8>, lists: &mut Vec<u8>) {
    words.extend(rest(postings[0].0).to_le_bytes());
    for field in 0..2 {
        list.clear();
        let having = postings.iter().filter(|(.., impacts)| impacts[field] > 0);
        list.extend(having.map(|(_, skill, impacts)| (*skill, impacts[field])));
        let start = lists.len();
        write(list, lists);
        put_varint(list.len() as u32, words);
        put_varint((lists.len() - start) as u32, words);
    }
}
