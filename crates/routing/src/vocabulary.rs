//! The words of skill names as text, for correcting typos and completing prefixes.

use super::edit_distance::{COMPARED_MAX, CompareMode, LetterSet, edit_distance, max_edits};
use super::words::WORD_MAX;

/// Sorted words, each with the number of names that contain it.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// All words, concatenated, and the end of each.
    text: String,
    ends: Vec<u32>,
    counts: Vec<u32>,
    /// The letters of all words, sorted by length to search only words of about the right length, and their
    /// indexes.
    letters: Vec<LetterSet>,
    word_indexes: Vec<u32>,
    /// The start of the words of each length.
    lengths: Vec<u32>,
}

/// A word that is close to the typed text, or starts with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NearWord<'v> {
    pub(crate) word: &'v str,
    /// The index in the vocabulary.
    pub(crate) index: usize,
    /// The number of names that contain it.
    pub(crate) count: u32,
    /// The edit distance.
    pub(crate) edits: u8,
}

impl Vocabulary {
    /// Creates a vocabulary from sorted words without duplicates, none longer than [`WORD_MAX`].
    pub(crate) fn new<'w>(words: impl IntoIterator<Item = (&'w str, u32)>) -> Self {
        let mut vocabulary = Self::default();
        let mut by_length: Vec<(usize, LetterSet, u32)> = Vec::new();
        for (index, (word, count)) in (0..).zip(words) {
            vocabulary.text.push_str(word);
            vocabulary.ends.push(vocabulary.text.len() as u32);
            vocabulary.counts.push(count);
            by_length.push((word.chars().count().min(WORD_MAX), LetterSet::from_word(word), index));
        }
        by_length.sort_by_key(|(length, ..)| *length);
        let start =
            |length: usize| by_length.partition_point(|(word_length, ..)| *word_length < length) as u32;
        vocabulary.lengths = (0..=WORD_MAX + 1).map(start).collect();
        vocabulary.letters = by_length.iter().map(|(_, letters, _)| *letters).collect();
        vocabulary.word_indexes = by_length.iter().map(|(.., index)| *index).collect();
        vocabulary
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn word(&self, index: usize) -> Option<&str> {
        let start = index.checked_sub(1).map_or(Some(0), |previous| self.ends.get(previous).copied())?;
        self.text.get(start as usize..*self.ends.get(index)? as usize)
    }

    /// Returns the indexes of the words with a prefix.
    pub(crate) fn with_prefix(&self, prefix: &str) -> std::ops::Range<usize> {
        let start = self.first_where(0, |word| word >= prefix);
        start..self.first_where(start, |word| !word.starts_with(prefix))
    }

    /// Returns the index of a word.
    pub(crate) fn find(&self, word: &str) -> Option<usize> {
        let index = self.first_where(0, |candidate| candidate >= word);
        self.word(index).is_some_and(|candidate| candidate == word).then_some(index)
    }

    /// Returns the first index from `start` at which a monotonic condition holds.
    fn first_where(&self, start: usize, holds: impl Fn(&str) -> bool) -> usize {
        let (mut low, mut high) = (start, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.word(middle).is_none_or(&holds) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// Returns the words at these indexes.
    pub(crate) fn entries(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = NearWord<'_>> {
        range.filter_map(|index| self.entry(index, 0))
    }

    fn entry(&self, index: usize, edits: u8) -> Option<NearWord<'_>> {
        Some(NearWord { word: self.word(index)?, index, count: *self.counts.get(index)?, edits })
    }

    /// Returns the words nearest to the typed text, all at the same distance. The typed word itself is never
    /// among them.
    pub(crate) fn nearest(&self, typed: &str, mode: CompareMode) -> Vec<NearWord<'_>> {
        let letters = typed.chars().count();
        let mut max = max_edits(letters);
        if max == 0 || letters > COMPARED_MAX {
            return Vec::new();
        }
        let shortest = letters - usize::from(max);
        let longest = match mode {
            CompareMode::Whole => (letters + usize::from(max)).min(WORD_MAX),
            CompareMode::Prefix => WORD_MAX,
        };
        let start = |length: usize| self.lengths.get(length).map_or(0, |start| *start as usize);
        let window = start(shortest)..start(longest + 1);
        let typed_letters = LetterSet::from_word(typed);
        let mut near_words: Vec<NearWord<'_>> = Vec::new();
        let candidates = self.letters[window.clone()].iter().zip(&self.word_indexes[window]);
        for (letters, index) in candidates {
            let is_possible = match mode {
                CompareMode::Whole => typed_letters.may_be_near(*letters, max),
                CompareMode::Prefix => typed_letters.are_mostly_in(*letters, max),
            };
            if !is_possible {
                continue;
            }
            let Some(word) = self.word(*index as usize) else { continue };
            let Some(edits) = distance(typed, word, max, mode).filter(|edits| *edits > 0) else { continue };
            if edits < max {
                near_words.clear();
                max = edits;
            }
            near_words.extend(self.entry(*index as usize, edits));
        }
        near_words
    }
}

fn distance(typed: &str, word: &str, max: u8, mode: CompareMode) -> Option<u8> {
    if typed.is_ascii() && word.is_ascii() {
        return edit_distance(typed.as_bytes(), word.as_bytes(), max, mode);
    }
    let letters = |text: &str| text.chars().collect::<Vec<_>>();
    edit_distance(&letters(typed), &letters(word), max, mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn describe(found: &[NearWord<'_>]) -> Vec<String> {
        let mut words: Vec<_> = found.iter().map(|near| format!("{} {}", near.word, near.edits)).collect();
        words.sort();
        words
    }

    #[test]
    fn nearest_words_and_prefixes() {
        let words = ["docker", "kubectl", "kubernetes", "pdf", "über", "überall"];
        let vocabulary = Vocabulary::new(words.map(|word| (word, 1)));
        let nearest = |typed| describe(&vocabulary.nearest(typed, CompareMode::Whole));
        assert_eq!(nearest("kuberentes"), ["kubernetes 1"]);
        assert_eq!(nearest("dcoker"), ["docker 1"]);
        assert_eq!(nearest("übre"), ["über 1"]);
        assert_eq!(nearest("pfd"), [] as [&str; 0], "too short");
        assert_eq!(nearest("docker"), [] as [&str; 0], "no error");
        assert_eq!(describe(&vocabulary.nearest("kubrent", CompareMode::Prefix)), [] as [&str; 0]);
        assert_eq!(describe(&vocabulary.nearest("kubren", CompareMode::Prefix)), ["kubernetes 1"]);
        let beginning =
            |prefix| describe(&vocabulary.entries(vocabulary.with_prefix(prefix)).collect::<Vec<_>>());
        assert_eq!(beginning("kube"), ["kubectl 0", "kubernetes 0"]);
        assert_eq!(beginning("über"), ["über 0", "überall 0"]);
        assert_eq!(beginning("x"), [] as [&str; 0]);
        assert_eq!(vocabulary.find("pdf"), Some(3));
        assert_eq!(vocabulary.find("pd"), None);
        assert_eq!(Vocabulary::new([]).with_prefix("a"), 0..0);
    }

    proptest! {
        #[test]
        fn the_nearest_match_a_comparison_with_all_words(
            words in prop::collection::btree_map("[abé]{1,9}", 1u32..9, 0..40), typed in "[abé]{0,10}",
        ) {
            let vocabulary = Vocabulary::new(words.iter().map(|(word, count)| (&**word, *count)));
            let max = usize::from(max_edits(typed.chars().count()));
            let distances: BTreeMap<&str, usize> = words
                .keys()
                .map(|word| (&**word, strsim::osa_distance(&typed, word)))
                .filter(|(_, edits)| (1..=max).contains(edits))
                .collect();
            let least = distances.values().copied().min();
            let mut expected: Vec<_> =
                distances.iter().filter(|(_, edits)| Some(**edits) == least).map(|(word, edits)| format!("{word} {edits}")).collect();
            expected.sort();
            prop_assert_eq!(describe(&vocabulary.nearest(&typed, CompareMode::Whole)), expected);
        }

        #[test]
        fn a_prefix_range_contains_exactly_its_words(words in prop::collection::btree_set("[abé]{1,5}", 0..40), prefix in "[abé]{0,3}") {
            let vocabulary = Vocabulary::new(words.iter().map(|word| (&**word, 1)));
            let found: Vec<_> = vocabulary.entries(vocabulary.with_prefix(&prefix)).map(|near| near.word).collect();
            let expected: Vec<_> = words.iter().filter(|word| word.starts_with(&prefix)).map(|word| &**word).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
