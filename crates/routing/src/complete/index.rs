//! The names of a snapshot, so that completing one looks only at what begins with what was typed.
//!
//! Names that begin so are found in the order of names, words in the order of words. Only where these give too few are all
//! names looked through, as one text, and then the words of descriptions. What is found is what looking at every skill
//! gives; a property test says so.

use std::sync::OnceLock;

use memchr::memmem;

use super::words::{Chosen, Words};
use super::{COMPLETIONS_MAX, folded, folded_about, in_order, parts_words, starts_word};
use crate::near::Letters;
use crate::text::fold_trimmed;
use crate::words::WORD_MAX;

/// Parts names: white space is folded to blanks, so that no name and nothing that is typed has it.
const END: char = '\n';

/// Names in order, by number.
#[derive(Debug)]
pub(crate) struct Completions {
    /// What each is called, and where the caller has it.
    names: Vec<(String, usize)>,
    /// All folded names, each with [`END`] behind it, and where each begins.
    text: String,
    starts: Vec<u32>,
    /// The numbers in the order of folded names.
    sorted: Vec<u32>,
    letters: Vec<Letters>,
    of_names: OnceLock<Words>,
    of_descriptions: OnceLock<Words>,
}

impl Completions {
    /// Takes names, each with the place where the caller has the skill.
    pub(crate) fn new(names: impl Iterator<Item = (String, usize)>) -> Self {
        let mut names: Vec<(String, usize)> = names.collect();
        names.sort_unstable();
        let (mut text, mut starts, mut letters) = (String::new(), Vec::new(), Vec::new());
        for (name, _) in &names {
            let folded = fold_trimmed(name);
            starts.push(text.len() as u32);
            letters.push(Letters::of(&folded));
            text.push_str(&folded);
            text.push(END);
        }
        let sorted = (0..names.len() as u32).collect();
        let (of_names, of_descriptions) = Default::default();
        let mut made = Self { names, text, starts, sorted, letters, of_names, of_descriptions };
        let mut sorted = std::mem::take(&mut made.sorted);
        sorted.sort_by_key(|number| made.name(*number));
        made.sorted = sorted;
        made
    }

    /// A folded name.
    fn name(&self, number: u32) -> &str {
        let at = number as usize;
        let start = self.starts.get(at).map_or(self.text.len(), |start| *start as usize);
        let end = self.starts.get(at + 1).map_or(self.text.len(), |start| *start as usize);
        self.text.get(start..end).unwrap_or_default().trim_end_matches(END)
    }

    /// The skills that are `wanted` and that could be meant: what each is called, and its place. Descriptions are asked for
    /// by place.
    pub(crate) fn complete(
        &self,
        typed: &str,
        wanted: impl Fn(usize) -> bool,
        description: impl Fn(usize) -> String,
    ) -> Vec<(&str, usize)> {
        let typed = folded(typed);
        let mut found = Found { index: self, wanted: &wanted, numbers: Vec::new() };
        let place = |number: u32| self.names.get(number as usize).map_or(0, |(_, place)| *place);
        let about = |number: u32| folded_about(&description(place(number)));
        let all = || 0..self.names.len() as u32;
        let (same, begun) = self.beginning(&typed);
        found.add(same);
        found.add(begun);
        if !found.is_enough() {
            let words = self.of_names.get_or_init(|| Words::new(all().map(|number| self.name(number))));
            let has = |number: &u32| starts_word(&typed, self.name(*number));
            match words.having(&typed) {
                Some(chosen) => found.add(chosen.numbers().filter(has)),
                None => found.add(self.having(&typed).filter(has)),
            }
        }
        if !found.is_enough() {
            found.add(self.having(&typed));
        }
        if !found.is_enough() {
            let letters = Letters::of(&typed);
            let in_order = |number: &u32| {
                self.letters.get(*number as usize).is_some_and(|of| letters.are_in(*of, 0))
                    && in_order(&typed, self.name(*number))
            };
            found.add(all().filter(in_order));
        }
        if !found.is_enough() {
            let words = self.of_descriptions.get_or_init(|| Words::new(all().map(about)));
            let has = |number: &u32| starts_word(&typed, &about(*number));
            match words.having(&typed) {
                // Of one short word, nothing is left to be compared.
                Some(chosen) if !typed.contains(parts_words) && typed.len() < WORD_MAX => {
                    found.add(chosen.numbers());
                }
                Some(chosen) => found.add(chosen.numbers().filter(has)),
                None => found.add(all().filter(has)),
            }
        }
        if found.numbers.is_empty() {
            let nearly = self.of_names.get().and_then(|words| words.nearly_having(&typed));
            found.add(nearly.iter().flat_map(Chosen::numbers));
        }
        let told = |number: &u32| self.names.get(*number as usize).map(|(name, place)| (&**name, *place));
        found.numbers.iter().filter_map(told).collect()
    }

    /// The names that are this, and the others that begin so, each in order.
    fn beginning(&self, typed: &str) -> (Vec<u32>, Vec<u32>) {
        let start = self.sorted.partition_point(|number| self.name(*number) < typed);
        let rest = &self.sorted[start..];
        let end = rest.partition_point(|number| self.name(*number).starts_with(typed));
        let mut begun = rest[..end].to_vec();
        begun.sort_unstable();
        begun.into_iter().partition(|number| self.name(*number) == typed)
    }

    /// The names that have what was typed, in order.
    fn having(&self, typed: &str) -> impl Iterator<Item = u32> {
        let finder = memmem::Finder::new(typed).into_owned();
        let mut at = 0;
        std::iter::from_fn(move || {
            let hit = at + finder.find(self.text.as_bytes().get(at..).filter(|rest| !rest.is_empty())?)?;
            let number = self.starts.partition_point(|start| *start as usize <= hit).checked_sub(1)?;
            at = self.starts.get(number + 1).map_or(self.text.len(), |start| *start as usize);
            Some(number as u32)
        })
    }
}

/// What was found so far, the best first.
struct Found<'i, W> {
    index: &'i Completions,
    wanted: &'i W,
    numbers: Vec<u32>,
}

impl<W: Fn(usize) -> bool> Found<'_, W> {
    fn is_enough(&self) -> bool {
        self.numbers.len() >= COMPLETIONS_MAX
    }

    fn add(&mut self, numbers: impl IntoIterator<Item = u32>) {
        let known = self.numbers.len();
        for number in numbers {
            if self.is_enough() {
                return;
            }
            let is_wanted =
                || self.index.names.get(number as usize).is_some_and(|(_, place)| (self.wanted)(*place));
            if !self.numbers[..known].contains(&number) && is_wanted() {
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
        let index = Completions::new(skills.iter().map(|skill| skill.name().to_string()).zip(0..));
        let found = index.complete(typed, |_| true, |place| skills[place].description().to_owned());
        found.into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    #[test]
    fn typing_errors_are_forgiven_last() {
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
    fn only_what_is_wanted() {
        let skills: Vec<_> = (0..200).map(|n| skill(&format!("skill-{n:03}"), "Does.")).collect();
        let index = Completions::new(skills.iter().map(|skill| skill.name().to_string()).zip(0..));
        let found = index.complete("skill", |place| place >= 100, |_| String::new());
        assert_eq!((found.len(), found[0]), (COMPLETIONS_MAX, ("skill-100", 100)));
        assert_eq!(Completions::new(std::iter::empty()).complete("", |_| true, |_| String::new()), []);
    }

    proptest! {
        #[test]
        fn as_looking_at_every_skill(
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
