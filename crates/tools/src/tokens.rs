//! Token counts from a real tokenizer. Its vocabulary is loaded only where a count is asked for.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The encoding that is counted in. Models that use another come to slightly different figures.
pub const ENCODING: &str = "o200k_base";

/// The most text that is counted, in bytes.
const COUNTED_MAX: usize = 4 * 1024 * 1024;

/// How many counts are remembered.
const KNOWN_MAX: usize = 32_768;

/// Texts that are shorter are counted as fast as they are looked up, and longer ones are seldom counted twice.
const REMEMBERED: std::ops::Range<usize> = 32..256 * 1024;

/// Counts of texts that were counted before: a catalog and a conversation are priced again with every turn.
static KNOWN: LazyLock<Known> = LazyLock::new(Known::default);

#[derive(Default)]
struct Known {
    // Keyed by chance: nobody can choose a text that is taken for another.
    hasher: RandomState,
    counts: Mutex<HashMap<(u64, usize), usize>>,
}

/// How many tokens a text has: an estimate for models that use another encoding.
///
/// ```
/// assert_eq!(prowess_tools::tokens::count("hello world"), 2);
/// ```
pub fn count(text: &str) -> usize {
    if !REMEMBERED.contains(&text.len()) {
        return encode(text);
    }
    let key = (KNOWN.hasher.hash_one(text), text.len());
    if let Some(count) = KNOWN.counts.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return *count;
    }
    let count = encode(text);
    let mut counts = KNOWN.counts.lock().unwrap_or_else(PoisonError::into_inner);
    if counts.len() >= KNOWN_MAX {
        counts.clear();
    }
    counts.insert(key, count);
    count
}

fn encode(text: &str) -> usize {
    let text = text.get(..text.floor_char_boundary(COUNTED_MAX)).unwrap_or(text);
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}
