//! A table of words, with the texts that contain each.

use std::collections::HashMap;

use super::is_separator;
use crate::edit_distance::CompareMode;
use crate::text::truncate;
use crate::vocabulary::Vocabulary;
use crate::words::WORD_MAX;

/// Sorted words, each with the numbers of the texts that contain it.
#[derive(Debug)]
pub(super) struct WordTable {
    words: Vocabulary,
    /// The numbers for all words, one list after the other, and the end of each.
    numbers: Vec<u32>,
    ends: Vec<u32>,
    texts: usize,
}

/// A set of texts, with one bit each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextSet(Vec<u64>);

impl TextSet {
    fn empty(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn add(&mut self, number: u32) {
        if let Some(bits) = self.0.get_mut(number as usize / 64) {
            *bits |= 1 << (number % 64);
        }
    }

    fn intersect(&mut self, other: &Self) {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits &= other;
        }
    }

    /// Returns the numbers, in order.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.0).filter(|(_, bits)| **bits != 0).flat_map(|(block, bits)| {
            (0..64).filter(move |bit| bits & (1u64 << bit) != 0).map(move |bit| block * 64 + bit)
        })
    }
}

/// Splits a folded text into words; long ones are truncated.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_separator).filter(|word| !word.is_empty()).map(|word| truncate(word, WORD_MAX))
}

impl WordTable {
    /// Creates the table of folded texts, which are numbered in order.
    pub(super) fn new<S: AsRef<str>>(texts: impl Iterator<Item = S>) -> Self {
        let mut texts_by_word: HashMap<Box<str>, Vec<u32>> = HashMap::new();
        let mut count = 0;
        for (number, text) in (0..).zip(texts) {
            count += 1;
            for word in split_words(text.as_ref()) {
                match texts_by_word.get_mut(word) {
                    Some(numbers) if numbers.last() == Some(&number) => {}
                    Some(numbers) => numbers.push(number),
                    None => {
                        texts_by_word.insert(word.into(), vec![number]);
                    }
                }
            }
        }
        let mut texts_by_word: Vec<(Box<str>, Vec<u32>)> = texts_by_word.into_iter().collect();
        texts_by_word.sort_unstable();
        let words =
            Vocabulary::new(texts_by_word.iter().map(|(word, numbers)| (&**word, numbers.len() as u32)));
        let (mut numbers, mut ends) = (Vec::new(), Vec::with_capacity(texts_by_word.len()));
        for (_, word_numbers) in texts_by_word {
            numbers.extend(word_numbers);
            ends.push(numbers.len() as u32);
        }
        Self { words, numbers, ends, texts: count }
    }

    /// Returns the texts that contain all typed words; the last word may be incomplete. Returns `None` if the
    /// typed text does not start with a word.
    pub(super) fn containing(&self, typed: &str) -> Option<TextSet> {
        if typed.starts_with(is_separator) {
            return None;
        }
        let is_complete = typed.ends_with(is_separator);
        let mut words = split_words(typed).peekable();
        let mut chosen: Option<TextSet> = None;
        while let Some(word) = words.next() {
            let matching = if words.peek().is_none() && !is_complete {
                self.texts_with(self.words.with_prefix(word))
            } else {
                self.texts_with(self.words.find(word).map_or(0..0, |index| index..index + 1))
            };
            match &mut chosen {
                Some(chosen) => chosen.intersect(&matching),
                None => chosen = Some(matching),
            }
        }
        chosen
    }

    /// Returns the texts that contain words close to the typed ones, or starting with them. Returns `None` if
    /// there is no typo.
    pub(super) fn nearly_containing(&self, typed: &str) -> Option<TextSet> {
        let mut chosen: Option<TextSet> = None;
        let mut has_typo = false;
        for word in split_words(typed) {
            let prefixed = self.words.with_prefix(word);
            let matching = match prefixed.is_empty() {
                false => self.texts_with(prefixed),
                true => {
                    let similar = self.words.nearest(word, CompareMode::Prefix);
                    has_typo |= !similar.is_empty();
                    self.texts_with(similar.iter().map(|word| word.index))
                }
            };
            match &mut chosen {
                Some(chosen) => chosen.intersect(&matching),
                None => chosen = Some(matching),
            }
        }
        chosen.filter(|_| has_typo)
    }

    /// Returns the texts that contain any of these words.
    fn texts_with(&self, words: impl Iterator<Item = usize>) -> TextSet {
        let mut chosen = TextSet::empty(self.texts);
        for index in words {
            let start = index
                .checked_sub(1)
                .and_then(|previous| self.ends.get(previous))
                .map_or(0, |end| *end as usize);
            let end = self.ends.get(index).map_or(start, |end| *end as usize);
            self.numbers[start..end].iter().for_each(|number| chosen.add(*number));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_found_by_their_words() {
        let words = WordTable::new(["merge pdf files", "split_pdf", "pdfs", "文档 x"].iter());
        let containing = |typed| words.containing(typed).map(|chosen| chosen.numbers().collect::<Vec<_>>());
        assert_eq!(containing("pdf"), Some(vec![0, 1, 2]));
        assert_eq!(containing("pdf fi"), Some(vec![0]));
        assert_eq!(containing("pd f"), Some(vec![]));
        assert_eq!(containing("pdf-"), Some(vec![0, 1]));
        assert_eq!(containing("文"), Some(vec![3]));
        assert_eq!((containing("-pdf"), containing("")), (None, None));
        let nearly =
            |typed| words.nearly_containing(typed).map(|chosen| chosen.numbers().collect::<Vec<_>>());
        assert_eq!(nearly("mrege fil"), Some(vec![0]));
        assert_eq!(nearly("mreg"), Some(vec![0]));
        assert_eq!((nearly("zzzzz"), nearly("files merge")), (None, None));
    }

    proptest! {
        #[test]
        fn texts_that_contain_the_typed_text_are_found(texts in prop::collection::vec("[ab_ é-]{0,9}", 0..9), typed in "[ab é-]{1,4}") {
            let words = WordTable::new(texts.iter());
            if let Some(chosen) = words.containing(&typed) {
                let chosen: Vec<_> = chosen.numbers().collect();
                for (number, text) in (0..).zip(&texts) {
                    prop_assert!(chosen.contains(&number) || !super::super::starts_word(&typed, text), "{} {}", typed, text);
                }
            } else {
                prop_assert!(typed.starts_with(is_separator));
            }
        }
    }
}
