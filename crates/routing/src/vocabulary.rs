//! The words of skills' names as text: for words that are mistyped, and for those of which only the beginning was typed.

use super::near::{Compared, LONGEST, Letters, allowed, edits};
use super::words::WORD_MAX;

/// Words in order, each with how many names have it.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// All words, one behind the other, and where each ends.
    text: String,
    ends: Vec<u32>,
    counts: Vec<u32>,
    /// The letters of all words, by length, so that only those of about the right length are looked at; and whose they are.
    letters: Vec<Letters>,
    whose: Vec<u32>,
    /// Where the words of each length begin.
    lengths: Vec<u32>,
}

/// A word that is near what was typed, or begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Near<'v> {
    pub(crate) word: &'v str,
    /// Its place in the vocabulary.
    pub(crate) at: usize,
    /// How many names have it.
    pub(crate) count: u32,
    /// How many letters are mistyped.
    pub(crate) edits: u8,
}

impl Vocabulary {
    /// Takes words that come in order, each once and none longer than [`WORD_MAX`].
    pub(crate) fn new<'w>(words: impl IntoIterator<Item = (&'w str, u32)>) -> Self {
        let mut made = Self::default();
        let mut by_length: Vec<(usize, Letters, u32)> = Vec::new();
        for (at, (word, count)) in (0..).zip(words) {
            made.text.push_str(word);
            made.ends.push(made.text.len() as u32);
            made.counts.push(count);
            by_length.push((word.chars().count().min(WORD_MAX), Letters::of(word), at));
        }
        by_length.sort_by_key(|(length, ..)| *length);
        let begin = |length: usize| by_length.partition_point(|(of, ..)| *of < length) as u32;
        made.lengths = (0..=WORD_MAX + 1).map(begin).collect();
        made.letters = by_length.iter().map(|(_, letters, _)| *letters).collect();
        made.whose = by_length.iter().map(|(.., at)| *at).collect();
        made
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn word(&self, at: usize) -> Option<&str> {
        let start = at.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start as usize..*self.ends.get(at)? as usize)
    }

    /// The places of the words that begin so.
    pub(crate) fn beginning(&self, prefix: &str) -> std::ops::Range<usize> {
        let start = self.first_where(0, |word| word >= prefix);
        start..self.first_where(start, |word| !word.starts_with(prefix))
    }

    /// The place of a word.
    pub(crate) fn find(&self, word: &str) -> Option<usize> {
        let at = self.first_where(0, |other| other >= word);
        self.word(at).is_some_and(|other| other == word).then_some(at)
    }

    /// The first place from `start` where something begins to hold, which then holds to the end.
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

    /// What is known of the words in these places.
    pub(crate) fn words(&self, places: std::ops::Range<usize>) -> impl Iterator<Item = Near<'_>> {
        places.filter_map(|at| self.near(at, 0))
    }

    fn near(&self, at: usize, edits: u8) -> Option<Near<'_>> {
        Some(Near { word: self.word(at)?, at, count: *self.counts.get(at)?, edits })
    }

    /// The words that are nearest to what was typed, all equally near. What is typed right is no typing error: the word
    /// itself is not among them.
    pub(crate) fn nearest(&self, typed: &str, compared: Compared) -> Vec<Near<'_>> {
        let letters = typed.chars().count();
        let mut most = allowed(letters);
        if most == 0 || letters > LONGEST {
            return Vec::new();
        }
        let shortest = letters - usize::from(most);
        let longest = match compared {
            Compared::Whole => (letters + usize::from(most)).min(WORD_MAX),
            Compared::Beginning => WORD_MAX,
        };
        let place = |length: usize| self.lengths.get(length).map_or(0, |place| *place as usize);
        let window = place(shortest)..place(longest + 1);
        let of_typed = Letters::of(typed);
        let mut found: Vec<Near<'_>> = Vec::new();
        let candidates = self.letters[window.clone()].iter().zip(&self.whose[window]);
        for (letters, at) in candidates {
            let may_be = match compared {
                Compared::Whole => of_typed.are_near(*letters, most),
                Compared::Beginning => of_typed.are_in(*letters, most),
            };
            if !may_be {
                continue;
            }
            let Some(word) = self.word(*at as usize) else { continue };
            let Some(edits) = apart(typed, word, most, compared).filter(|edits| *edits > 0) else { continue };
            if edits < most {
                found.clear();
                most = edits;
            }
            found.extend(self.near(*at as usize, edits));
        }
        found
    }
}

fn apart(typed: &str, word: &str, most: u8, compared: Compared) -> Option<u8> {
    if typed.is_ascii() && word.is_ascii() {
        return edits(typed.as_bytes(), word.as_bytes(), most, compared);
    }
    let letters = |text: &str| text.chars().collect::<Vec<_>>();
    edits(&letters(typed), &letters(word), most, compared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn told(found: &[Near<'_>]) -> Vec<String> {
        let mut told: Vec<_> = found.iter().map(|near| format!("{} {}", near.word, near.edits)).collect();
        told.sort();
        told
    }

    #[test]
    fn near_and_beginning() {
        let words = ["docker", "kubectl", "kubernetes", "pdf", "über", "überall"];
        let vocabulary = Vocabulary::new(words.map(|word| (word, 1)));
        let nearest = |typed| told(&vocabulary.nearest(typed, Compared::Whole));
        assert_eq!(nearest("kuberentes"), ["kubernetes 1"]);
        assert_eq!(nearest("dcoker"), ["docker 1"]);
        assert_eq!(nearest("übre"), ["über 1"]);
        assert_eq!(nearest("pfd"), [] as [&str; 0], "too short");
        assert_eq!(nearest("docker"), [] as [&str; 0], "no error");
        assert_eq!(told(&vocabulary.nearest("kubrent", Compared::Beginning)), [] as [&str; 0]);
        assert_eq!(told(&vocabulary.nearest("kubren", Compared::Beginning)), ["kubernetes 1"]);
        let beginning = |prefix| told(&vocabulary.words(vocabulary.beginning(prefix)).collect::<Vec<_>>());
        assert_eq!(beginning("kube"), ["kubectl 0", "kubernetes 0"]);
        assert_eq!(beginning("über"), ["über 0", "überall 0"]);
        assert_eq!(beginning("x"), [] as [&str; 0]);
        assert_eq!(vocabulary.find("pdf"), Some(3));
        assert_eq!(vocabulary.find("pd"), None);
        assert_eq!(Vocabulary::new([]).beginning("a"), 0..0);
    }

    proptest! {
        #[test]
        fn the_nearest_are_those_that_comparing_all_gives(
            words in prop::collection::btree_map("[abé]{1,9}", 1u32..9, 0..40), typed in "[abé]{0,10}",
        ) {
            let vocabulary = Vocabulary::new(words.iter().map(|(word, count)| (&**word, *count)));
            let most = usize::from(allowed(typed.chars().count()));
            let apart: BTreeMap<&str, usize> = words
                .keys()
                .map(|word| (&**word, strsim::osa_distance(&typed, word)))
                .filter(|(_, edits)| (1..=most).contains(edits))
                .collect();
            let least = apart.values().copied().min();
            let mut expected: Vec<_> =
                apart.iter().filter(|(_, edits)| Some(**edits) == least).map(|(word, edits)| format!("{word} {edits}")).collect();
            expected.sort();
            prop_assert_eq!(told(&vocabulary.nearest(&typed, Compared::Whole)), expected);
        }

        #[test]
        fn a_range_is_what_begins_so(words in prop::collection::btree_set("[abé]{1,5}", 0..40), prefix in "[abé]{0,3}") {
            let vocabulary = Vocabulary::new(words.iter().map(|word| (&**word, 1)));
            let found: Vec<_> = vocabulary.words(vocabulary.beginning(&prefix)).map(|near| near.word).collect();
            let expected: Vec<_> = words.iter().filter(|word| word.starts_with(&prefix)).map(|word| &**word).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
