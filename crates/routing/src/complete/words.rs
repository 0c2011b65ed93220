//! The words of many texts, and which texts have each.

use std::collections::HashMap;

use super::parts_words;
use crate::near::Compared;
use crate::text::head;
use crate::vocabulary::Vocabulary;
use crate::words::WORD_MAX;

/// Words in order, each with the numbers of the texts that have it.
#[derive(Debug)]
pub(super) struct Words {
    words: Vocabulary,
    /// The numbers of all words, one list behind the other, and where each ends.
    numbers: Vec<u32>,
    ends: Vec<u32>,
    texts: usize,
}

/// Which of many texts: a bit for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen(Vec<u64>);

impl Chosen {
    fn none(of: usize) -> Self {
        Self(vec![0; of.div_ceil(64)])
    }

    fn add(&mut self, number: u32) {
        if let Some(bits) = self.0.get_mut(number as usize / 64) {
            *bits |= 1 << (number % 64);
        }
    }

    fn and(&mut self, other: &Self) {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits &= other;
        }
    }

    /// The numbers, in order.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.0).filter(|(_, bits)| **bits != 0).flat_map(|(at, bits)| {
            (0..64).filter(move |bit| bits & (1u64 << bit) != 0).map(move |bit| at * 64 + bit)
        })
    }
}

/// The words of a text that is folded; of long ones the beginning.
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(parts_words).filter(|word| !word.is_empty()).map(|word| head(word, WORD_MAX))
}

impl Words {
    /// Takes folded texts, which are numbered as they come.
    pub(super) fn new<S: AsRef<str>>(texts: impl Iterator<Item = S>) -> Self {
        let mut having: HashMap<Box<str>, Vec<u32>> = HashMap::new();
        let mut count = 0;
        for (number, text) in (0..).zip(texts) {
            count += 1;
            for word in split(text.as_ref()) {
                match having.get_mut(word) {
                    Some(numbers) if numbers.last() == Some(&number) => {}
                    Some(numbers) => numbers.push(number),
                    None => {
                        having.insert(word.into(), vec![number]);
                    }
                }
            }
        }
        let mut having: Vec<(Box<str>, Vec<u32>)> = having.into_iter().collect();
        having.sort_unstable();
        let words = Vocabulary::new(having.iter().map(|(word, numbers)| (&**word, numbers.len() as u32)));
        let (mut numbers, mut ends) = (Vec::new(), Vec::with_capacity(having.len()));
        for (_, of_word) in having {
            numbers.extend(of_word);
            ends.push(numbers.len() as u32);
        }
        Self { words, numbers, ends, texts: count }
    }

    /// The texts that have all words of what was typed, the last of them perhaps only begun. `None` where nothing was typed
    /// that begins with a word.
    pub(super) fn having(&self, typed: &str) -> Option<Chosen> {
        if typed.starts_with(parts_words) {
            return None;
        }
        let ended = typed.ends_with(parts_words);
        let mut words = split(typed).peekable();
        let mut chosen: Option<Chosen> = None;
        while let Some(word) = words.next() {
            let found = if words.peek().is_none() && !ended {
                self.of(self.words.beginning(word))
            } else {
                self.of(self.words.find(word).map_or(0..0, |at| at..at + 1))
            };
            match &mut chosen {
                Some(chosen) => chosen.and(&found),
                None => chosen = Some(found),
            }
        }
        chosen
    }

    /// The texts that have words near to those that were typed, or words that begin so. `None` where nothing is mistyped.
    pub(super) fn nearly_having(&self, typed: &str) -> Option<Chosen> {
        let mut chosen: Option<Chosen> = None;
        let mut mistyped = false;
        for word in split(typed) {
            let begun = self.words.beginning(word);
            let found = match begun.is_empty() {
                false => self.of(begun),
                true => {
                    let near = self.words.nearest(word, Compared::Beginning);
                    mistyped |= !near.is_empty();
                    self.of(near.iter().map(|near| near.at))
                }
            };
            match &mut chosen {
                Some(chosen) => chosen.and(&found),
                None => chosen = Some(found),
            }
        }
        chosen.filter(|_| mistyped)
    }

    /// The texts that have any of these words.
    fn of(&self, words: impl Iterator<Item = usize>) -> Chosen {
        let mut chosen = Chosen::none(self.texts);
        for at in words {
            let start =
                at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
            let end = self.ends.get(at).map_or(start, |end| *end as usize);
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
    fn which_texts_have_words() {
        let words = Words::new(["merge pdf files", "split_pdf", "pdfs", "文档 x"].iter());
        let having = |typed| words.having(typed).map(|chosen| chosen.numbers().collect::<Vec<_>>());
        assert_eq!(having("pdf"), Some(vec![0, 1, 2]));
        assert_eq!(having("pdf fi"), Some(vec![0]));
        assert_eq!(having("pd f"), Some(vec![]));
        assert_eq!(having("pdf-"), Some(vec![0, 1]));
        assert_eq!(having("文"), Some(vec![3]));
        assert_eq!((having("-pdf"), having("")), (None, None));
        let nearly = |typed| words.nearly_having(typed).map(|chosen| chosen.numbers().collect::<Vec<_>>());
        assert_eq!(nearly("mrege fil"), Some(vec![0]));
        assert_eq!(nearly("mreg"), Some(vec![0]));
        assert_eq!((nearly("zzzzz"), nearly("files merge")), (None, None));
    }

    proptest! {
        #[test]
        fn whoever_has_what_was_typed_is_chosen(texts in prop::collection::vec("[ab_ é-]{0,9}", 0..9), typed in "[ab é-]{1,4}") {
            let words = Words::new(texts.iter());
            if let Some(chosen) = words.having(&typed) {
                let chosen: Vec<_> = chosen.numbers().collect();
                for (number, text) in (0..).zip(&texts) {
                    prop_assert!(chosen.contains(&number) || !super::super::starts_word(&typed, text), "{} {}", typed, text);
                }
            } else {
                prop_assert!(typed.starts_with(parts_words));
            }
        }
    }
}
