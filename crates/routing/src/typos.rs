//! Expanding a query: words of names that are close to mistyped words, or start with an incomplete word.
//!
//! Only words that no skill uses to describe itself count as mistyped, so that a correctly spelled message
//! gives the same result as before, at no extra cost.

use super::edit_distance::CompareMode;
use super::frequency::is_frequent;
use super::index::{DamagedIndex, Index, TermStats};
use super::query::Query;
use super::text::{fold, is_spaceless};
use super::vocabulary::{NearWord, Vocabulary};

/// The maximum number of words of a message that are checked for typos, because comparing takes time.
const TYPO_WORDS_MAX: usize = 8;

/// The maximum number of corrections of a typo, and of words for a prefix.
const CORRECTIONS_MAX: usize = 3;
const PREFIX_WORDS_MAX: usize = 8;

/// The minimum length of an incomplete last word, in characters.
const LAST_WORD_MIN: usize = 3;

/// The weight of a word that is one or two edits away, relative to the original.
const EDIT_WEIGHTS: [f32; 2] = [0.7, 0.5];

/// The weight of a word found by a prefix with a star, and by the last word of the message.
const PREFIX_WEIGHT: f32 = 0.8;
const LAST_WORD_WEIGHT: f32 = 0.5;

/// An expansion of a query beyond its exact words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryExpansion {
    /// Words of names that are close to those of the message.
    Typos,
    /// Words of names that start with `kube*`, or with the last word of the message if no skill contains it.
    Prefixes,
    /// Adjacent words in quotation marks.
    Phrases,
}

/// Adds words of names that are close to those of the message, with their statistics.
pub(super) fn expand(
    query: &mut Query<'_>,
    stats: &mut Vec<TermStats>,
    index: &Index,
    is_enabled: impl Fn(QueryExpansion) -> bool,
) -> Result<(), DamagedIndex> {
    let mut added: Vec<(String, f32, String)> = Vec::new();
    if is_enabled(QueryExpansion::Prefixes) {
        for (text, weight) in &query.prefixes {
            let words = most_common(
                index,
                |names| names.entries(names.with_prefix(&fold(text))).collect(),
                PREFIX_WORDS_MAX,
            )?;
            added.extend(
                words.into_iter().map(|(word, _)| (word, weight * PREFIX_WEIGHT, format!("{text}*"))),
            );
        }
        if let Some((word, stats)) =
            query.last.and_then(|word_index| query.words.get(word_index).zip(stats.get(word_index)))
            && !stats.is_found()
            && word.text.chars().count() >= LAST_WORD_MIN
        {
            let text = fold(&word.text);
            let words = most_common(
                index,
                |names| names.entries(names.with_prefix(&text)).collect(),
                PREFIX_WORDS_MAX,
            )?;
            let weight = word.weighted.weight * LAST_WORD_WEIGHT;
            added.extend(
                words.into_iter().map(|(completed, _)| (completed, weight, word.text.clone().into_owned())),
            );
        }
    }
    if is_enabled(QueryExpansion::Typos) {
        let unknown = query.words.iter().zip(&*stats).filter(|(word, stats)| {
            word.plain
                && word.original
                && !word.is_stop_word
                && !stats.is_in_about()
                && !is_frequent(word.weighted.term)
                && may_be_typo(&word.text)
        });
        for (word, _) in unknown.take(TYPO_WORDS_MAX) {
            let text = fold(&word.text);
            let words =
                most_common(index, |names| names.nearest(&text, CompareMode::Whole), CORRECTIONS_MAX)?;
            added.extend(words.into_iter().map(|(correction, edits)| {
                let share = EDIT_WEIGHTS[usize::from(edits > 1)];
                (correction, word.weighted.weight * share, word.text.clone().into_owned())
            }));
        }
    }
    if added.is_empty() {
        return Ok(());
    }
    for (word, weight, typed) in &added {
        query.add_correction(word, *weight, typed);
    }
    let weighted: Vec<_> = query.words[stats.len()..].iter().map(|word| word.weighted).collect();
    stats.extend(index.term_stats(&weighted)?);
    Ok(())
}

/// Returns `true` for letters, optionally followed by digits. Numbers and names of versions and files are never
/// typos.
fn may_be_typo(text: &str) -> bool {
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    letters.chars().count() >= 4 && letters.chars().all(char::is_alphabetic) && !text.contains(is_spaceless)
}

/// Returns the words from all segments with the fewest edits, the most common ones first, then in alphabetical
/// order.
fn most_common<'i>(
    index: &'i Index,
    find: impl Fn(&'i Vocabulary) -> Vec<NearWord<'i>>,
    max: usize,
) -> Result<Vec<(String, u8)>, DamagedIndex> {
    let mut near_words: Vec<NearWord<'i>> = Vec::new();
    for names in index.names() {
        near_words.extend(find(names?));
    }
    let fewest_edits = near_words.iter().map(|near| near.edits).min();
    near_words.retain(|near| Some(near.edits) == fewest_edits);
    // Several segments may contain the same word.
    near_words.sort_unstable_by_key(|near| near.word);
    let mut words: Vec<(u32, &str, u8)> = near_words
        .chunk_by(|a, b| a.word == b.word)
        .filter_map(|equal| {
            let count = equal.iter().fold(0u32, |sum, near| sum.saturating_add(near.count));
            equal.first().map(|near| (count, near.word, near.edits))
        })
        .collect();
    words.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    words.truncate(max);
    Ok(words.into_iter().map(|(_, word, edits)| (word.to_owned(), edits)).collect())
}

#[cfg(test)]
mod tests;
