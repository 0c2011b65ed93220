//! An index of the names of a snapshot for fast completion.
//!
//! Prefixes are found in sorted names and sorted words. Only if these give too few results are all names
//! searched as one text, and then the words of descriptions. Except for typos, which only the index tolerates, the
//! result is the same as checking every skill; a property test verifies this.

use std::sync::OnceLock;

use memchr::memmem;

use super::words::{TextSet, WordTable};
use super::{COMPLETIONS_MAX, fold_description, fold_typed, is_separator, is_subsequence, starts_word};
use crate::edit_distance::LetterSet;
use crate::text::fold_trimmed;
use crate::words::WORD_MAX;

/// Separates names. White space is folded to spaces, so that neither names nor typed text contain line breaks.
const SEPARATOR: char = '\n';

/// Sorted names, by number.
#[derive(Debug)]
pub(crate) struct CompletionIndex {
    /// Each name, with the caller's index of the skill.
    names: Vec<(String, usize)>,
    /// All folded names, each followed by [`SEPARATOR`], and the start of each.
    text: String,
    starts: Vec<u32>,
    /// The numbers, sorted by folded name.
    sorted: Vec<u32>,
    letters: Vec<LetterSet>,
    name_words: OnceLock<WordTable>,
    description_words: OnceLock<WordTable>,
}

impl CompletionIndex {
    /// Creates the index from names, each with the caller's index of the skill.
    pub(crate) fn new(names: impl Iterator<Item = (String, usize)>) -> Self {
        let mut names: Vec<(String, usize)> = names.collect();
        names.sort_unstable();
        let (mut text, mut starts, mut letters) = (String::new(), Vec::new(), Vec::new());
        for (name, _) in &names {
            let folded = fold_trimmed(name);
            starts.push(text.len() as u32);
            letters.push(LetterSet::from_word(&folded));
            text.push_str(&folded);
            text.push(SEPARATOR);
        }
        let sorted = (0..names.len() as u32).collect();
        let (name_words, description_words) = Default::default();
        let mut index = Self { names, text, starts, sorted, letters, name_words, description_words };
        let mut sorted = std::mem::take(&mut index.sorted);
        sorted.sort_by_key(|number| index.name(*number));
        index.sorted = sorted;
        index
    }

    /// Returns a folded name.
    fn name(&self, number: u32) -> &str {
        let index = number as usize;
        let start = self.starts.get(index).map_or(self.text.len(), |start| *start as usize);
        let end = self.starts.get(index + 1).map_or(self.text.len(), |start| *start as usize);
        self.text.get(start..end).unwrap_or_default().trim_end_matches(SEPARATOR)
    }

    /// Returns the skills that complete the typed text and for which `is_wanted` returns `true`: the name and the
    /// caller's index of each. Descriptions are requested by index.
    pub(crate) fn complete(
        &self,
        typed: &str,
        is_wanted: impl Fn(usize) -> bool,
        description: impl Fn(usize) -> String,
    ) -> Vec<(&str, usize)> {
        let typed = fold_typed(typed);
        let mut results = CompletionResults { index: self, is_wanted: &is_wanted, numbers: Vec::new() };
        let skill_index =
            |number: u32| self.names.get(number as usize).map_or(0, |(_, skill_index)| *skill_index);
        let about = |number: u32| fold_description(&description(skill_index(number)));
        let all = || 0..self.names.len() as u32;
        let (exact, prefixed) = self.with_prefix(&typed);
        results.add(exact);
        results.add(prefixed);
        if !results.is_enough() {
            let words = self.name_words.get_or_init(|| WordTable::new(all().map(|number| self.name(number))));
            let is_match = |number: &u32| starts_word(&typed, self.name(*number));
            match words.containing(&typed) {
                Some(chosen) => results.add(chosen.numbers().filter(is_match)),
                None => results.add(self.containing(&typed).filter(is_match)),
            }
        }
        if !results.is_enough() {
            results.add(self.containing(&typed));
        }
        if !results.is_enough() {
            let letters = LetterSet::from_word(&typed);
            let in_order = |number: &u32| {
                self.letters
                    .get(*number as usize)
                    .is_some_and(|name_letters| letters.are_mostly_in(*name_letters, 0))
                    && is_subsequence(&typed, self.name(*number))
            };
            results.add(all().filter(in_order));
        }
        if !results.is_enough() {
            let words = self.description_words.get_or_init(|| WordTable::new(all().map(about)));
            let is_match = |number: &u32| starts_word(&typed, &about(*number));
            match words.containing(&typed) {
                // For one short word, the result is exact.
                Some(chosen) if !typed.contains(is_separator) && typed.len() < WORD_MAX => {
                    results.add(chosen.numbers());
                }
                Some(chosen) => results.add(chosen.numbers().filter(is_match)),
                None => results.add(all().filter(is_match)),
            }
        }
        if results.numbers.is_empty() {
            let similar = self.name_words.get().and_then(|words| words.nearly_containing(&typed));
            results.add(similar.iter().flat_map(TextSet::numbers));
        }
        let named = |number: &u32| self.names.get(*number as usize).map(|(name, index)| (&**name, *index));
        results.numbers.iter().filter_map(named).collect()
    }

    /// Returns the names equal to the typed text, and the others that start with it, each in order.
    fn with_prefix(&self, typed: &str) -> (Vec<u32>, Vec<u32>) {
        let start = self.sorted.partition_point(|number| self.name(*number) < typed);
        let rest = &self.sorted[start..];
        let end = rest.partition_point(|number| self.name(*number).starts_with(typed));
        let mut prefixed = rest[..end].to_vec();
        prefixed.sort_unstable();
        prefixed.into_iter().partition(|number| self.name(*number) == typed)
    }

    /// Returns the names that contain the typed text, in order.
    fn containing(&self, typed: &str) -> impl Iterator<Item = u32> {
        let finder = memmem::Finder::new(typed).into_owned();
        let mut search_start = 0;
        std::iter::from_fn(move || {
            let offset = search_start
                + finder.find(self.text.as_bytes().get(search_start..).filter(|rest| !rest.is_empty())?)?;
            let number = self.starts.partition_point(|start| *start as usize <= offset).checked_sub(1)?;
            search_start = self.starts.get(number + 1).map_or(self.text.len(), |start| *start as usize);
            Some(number as u32)
        })
    }
}

/// The results so far, the best first.
struct CompletionResults<'i, W> {
    index: &'i CompletionIndex,
    is_wanted: &'i W,
    numbers: Vec<u32>,
}

impl<W: Fn(usize) -> bool> CompletionResults<'_, W> {
    fn is_enough(&self) -> bool {
        self.numbers.len() >= COMPLETIONS_MAX
    }

    fn add(&mut self, numbers: impl IntoIterator<Item = u32>) {
        let previous = self.numbers.len();
        for number in numbers {
            if self.is_enough() {
                return;
            }
            let is_wanted =
                || self.index.names.get(number as usize).is_some_and(|(_, index)| (self.is_wanted)(*index));
            if !self.numbers[..previous].contains(&number) && is_wanted() {
                self.numbers.push(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::complete;
    use super::*;
    use proptest::prelude::*;
    use prowess_format::{Manifest, Rules, parse};

    fn skill(name: &str, description: &str) -> Manifest {
        let source = format!("---\nname: {name}\ndescription: {description:?}\n---\nx");
        parse(source.as_bytes(), None, &Rules::standard()).document.unwrap().manifest
    }

    fn by_index(skills: &[Manifest], typed: &str) -> Vec<String> {
        let index = CompletionIndex::new(skills.iter().map(|skill| skill.name().to_string()).zip(0..));
        let found = index.complete(typed, |_| true, |number| skills[number].description().to_owned());
        found.into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    #[test]
    fn typos_are_tolerated_last() {
        let skills =
            [skill("code-review", "Reads."), skill("kubernetes", "Deploys."), skill("pdf", "Merges.")];
        assert_eq!(by_index(&skills, "kubernets"), ["kubernetes"], "its letters are there in order");
        assert_eq!(by_index(&skills, "kuberentes"), ["kubernetes"]);
        assert_eq!(by_index(&skills, "kubren"), ["kubernetes"]);
        assert_eq!(by_index(&skills, "code reveiw"), ["code-review"]);
        assert_eq!(by_index(&skills, "fpd"), [] as [&str; 0], "too short");
        assert_eq!(by_index(&skills, "mer"), ["pdf"]);
    }

    #[test]
    fn only_accepted_skills_are_returned() {
        let skills: Vec<_> = (0..200).map(|n| skill(&format!("skill-{n:03}"), "Does.")).collect();
        let index = CompletionIndex::new(skills.iter().map(|skill| skill.name().to_string()).zip(0..));
        let found = index.complete("skill", |number| number >= 100, |_| String::new());
        assert_eq!((found.len(), found[0]), (COMPLETIONS_MAX, ("skill-100", 100)));
        assert_eq!(CompletionIndex::new(std::iter::empty()).complete("", |_| true, |_| String::new()), []);
    }

    proptest! {
        #[test]
        fn the_index_matches_checking_every_skill(
            skills in prop::collection::btree_map("[ab]{1,4}(-[ab1]{1,3}){0,2}", "[AB][ab é_.-]{0,12}c", 0..70),
            typed in "[ab é_.1-]{0,4}",
        ) {
            let skills: Vec<_> = skills.iter().map(|(name, description)| skill(name, description)).collect();
            let expected: Vec<_> = complete(&typed, skills.iter()).iter().map(|found| found.name.to_owned()).collect();
            let found = by_index(&skills, &typed);
            prop_assert!(found == expected || expected.is_empty() && typed.chars().count() >= 4, "{:?} {:?}", found, expected);
        }
    }
}
