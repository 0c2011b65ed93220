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

/// From this many bytes on, a text is counted in parts, each of at least so many.
const IN_PARTS: usize = 2 * 1024;
const PART_MIN: usize = REMEMBERED.start;

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
    let text = text.get(..text.floor_char_boundary(COUNTED_MAX)).unwrap_or(text);
    remembered(text, |text| match text.len() {
        // Of a long text that changed a little, only the parts that changed are counted again.
        IN_PARTS.. => parts(text).map(|part| remembered(part, encode)).sum(),
        _ => encode(text),
    })
}

/// The count of a text: as it was counted before, or as `count` gives it.
fn remembered(text: &str, count: impl FnOnce(&str) -> usize) -> usize {
    if !REMEMBERED.contains(&text.len()) {
        return count(text);
    }
    let key = (KNOWN.hasher.hash_one(text), text.len());
    if let Some(count) = KNOWN.counts.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return *count;
    }
    let count = count(text);
    let mut counts = KNOWN.counts.lock().unwrap_or_else(PoisonError::into_inner);
    if counts.len() >= KNOWN_MAX {
        counts.clear();
    }
    counts.insert(key, count);
    count
}

/// A text in parts that have as many tokens together as the text has.
///
/// The encoding splits a text into words first. No word goes on after a line feed, unless white space or a slash follows.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_end = |end: &usize| {
            let after = rest.get(*end..).and_then(|after| after.chars().next());
            *end >= PART_MIN && after.is_some_and(|c| !c.is_whitespace() && c != '/')
        };
        let end = rest.match_indices('\n').map(|(at, _)| at + 1).find(is_end).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
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
            prop_assert_eq!(parts(&text).collect::<String>(), text.as_str());
            prop_assert_eq!(parts(&text).map(encode).sum::<usize>(), encode(&text));
            prop_assert_eq!(count(&text), encode(&text));
        }
    }
}
