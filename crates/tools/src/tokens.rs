//! Counts tokens with a real tokenizer, whose vocabulary is loaded on first use.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The encoding of the tokenizer. Models with other encodings have slightly different counts.
pub const ENCODING: &str = "o200k_base";

/// The maximum size of text that is counted, in bytes.
const COUNTED_MAX: usize = 4 * 1024 * 1024;

/// The maximum number of cached counts.
const CACHE_MAX: usize = 32_768;

/// The sizes of cached texts. Shorter ones are counted as fast as they are looked up, and longer ones are
/// rarely counted twice.
const CACHED_SIZES: std::ops::Range<usize> = 32..256 * 1024;

/// The size from which a text is counted in parts, and the minimum size of a part.
const SPLIT_MIN: usize = 2 * 1024;
const PART_MIN: usize = CACHED_SIZES.start;

/// The cached counts: a catalog and a conversation are counted again with every turn.
static CACHE: LazyLock<TokenCache> = LazyLock::new(TokenCache::default);

#[derive(Default)]
struct TokenCache {
    // A random key, so that hash collisions cannot be constructed.
    hasher: RandomState,
    counts: Mutex<HashMap<(u64, usize), usize>>,
}

/// Counts the tokens of a text: an estimate for models with other encodings.
///
/// ```
/// assert_eq!(prowess_tools::tokens::count("hello world"), 2);
/// ```
pub fn count(text: &str) -> usize {
    let text = text.get(..text.floor_char_boundary(COUNTED_MAX)).unwrap_or(text);
    cached_count(text, |text| match text.len() {
        // If a long text changes a little, only the changed parts are counted again.
        SPLIT_MIN.. => split_parts(text).map(|part| cached_count(part, encode)).sum(),
        _ => encode(text),
    })
}

/// Returns the cached count of a text, or calls `count`.
fn cached_count(text: &str, count: impl FnOnce(&str) -> usize) -> usize {
    if !CACHED_SIZES.contains(&text.len()) {
        return count(text);
    }
    let key = (CACHE.hasher.hash_one(text), text.len());
    if let Some(count) = CACHE.counts.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return *count;
    }
    let count = count(text);
    let mut counts = CACHE.counts.lock().unwrap_or_else(PoisonError::into_inner);
    if counts.len() >= CACHE_MAX {
        counts.clear();
    }
    counts.insert(key, count);
    count
}

/// Splits a text into parts whose token counts add up to that of the text.
///
/// The encoding first splits a text into words. No word continues after a line feed, unless white space or a
/// slash follows.
fn split_parts(text: &str) -> impl Iterator<Item = &str> {
    let mut remaining = text;
    std::iter::from_fn(move || {
        let is_end = |end: &usize| {
            let next = remaining.get(*end..).and_then(|next| next.chars().next());
            *end >= PART_MIN && next.is_some_and(|c| !c.is_whitespace() && c != '/')
        };
        let end =
            remaining.match_indices('\n').map(|(index, _)| index + 1).find(is_end).unwrap_or(remaining.len());
        let (part, rest) = remaining.split_at(end);
        remaining = rest;
        (!part.is_empty()).then_some(part)
    })
}

fn encode(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn parts_have_as_many_tokens_as_the_whole(text in "([a-zA-Z0-9 é译😀'<>./-]{0,40}[ \t]{0,2}\r?\n{0,3}[ /\u{85}]?){0,120}") {
            prop_assert_eq!(split_parts(&text).collect::<String>(), text.as_str());
            prop_assert_eq!(split_parts(&text).map(encode).sum::<usize>(), encode(&text));
            prop_assert_eq!(count(&text), encode(&text));
        }
    }
}
