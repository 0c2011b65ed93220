//! The query for a message: its words, their weights, and adjacent pairs.

use std::borrow::Cow;
use std::collections::HashMap;

use super::aliases;
use super::index::{WeightedTerm, pair_hash};
use super::phrase::{Phrase, find_phrases};
use super::prefixes::prefixes;
use super::stop_words::is_stop_word;
use super::text::{QUERY_MAX, truncate};
use super::translations;
use super::words::{Term, WordToken, for_each_word, single_term};

/// The maximum number of words of a message that are looked up.
const WORDS_MAX: usize = 256;

/// The first words matter most: after this number of words, the weight has dropped to 75 %; it approaches 50 %.
const FADE_WORDS: f32 = 30.0;

/// The weight of a word in a code block, which is rarely what the message asks for.
const CODE_WEIGHT: f32 = 0.5;

/// The weight of the English translation of a word in another language.
const TRANSLATION_WEIGHT: f32 = 0.8;

/// The weight of an alias, relative to its word.
const ALIAS_WEIGHT: f32 = 0.6;

/// A word of a message.
#[derive(Debug, Clone)]
pub(crate) struct QueryWord<'q> {
    pub(crate) weighted: WeightedTerm,
    /// The text in the message, its English translation, or the correction of a typo.
    pub(crate) text: Cow<'q, str>,
    /// The text in the message, if this is a correction.
    pub(crate) corrected_from: Option<String>,
    /// Whether the word is in the message, not derived.
    pub(crate) original: bool,
    /// Whether it is a word of running text, which may contain typos, and not code or a whole compound.
    pub(crate) plain: bool,
    pub(crate) is_stop_word: bool,
    /// The index of the word that this one is derived from, unless it is original or a translation.
    pub(crate) source: Option<usize>,
}

/// A parsed message.
#[derive(Debug)]
pub(crate) struct Query<'q> {
    pub(crate) words: Vec<QueryWord<'q>>,
    pub(crate) pairs: Vec<(u64, Term, Term)>,
    /// Quoted phrases.
    pub(crate) phrases: Vec<Phrase>,
    /// Prefixes marked with a star, and their weights.
    pub(crate) prefixes: Vec<(&'q str, f32)>,
    /// The index of the last word, if the message ends with it: it may be incomplete.
    pub(crate) last: Option<usize>,
}

impl<'q> Query<'q> {
    pub(crate) fn new(message: &'q str) -> Self {
        let message = truncate(message, QUERY_MAX);
        let mut query = Self {
            words: Vec::new(),
            pairs: Vec::new(),
            phrases: Vec::new(),
            prefixes: Vec::new(),
            last: None,
        };
        let mut indexes: HashMap<Term, usize> = HashMap::new();
        let mut position = 0u32;
        for (segment, code) in segments(message) {
            let (mut earlier, mut previous_word): (Option<Term>, Option<Term>) = (None, None);
            for_each_word(segment, |token, text| {
                let fade = 1.0 - 0.5 * (position as f32 / (position as f32 + FADE_WORDS));
                position += 1;
                let weight = if code { fade * CODE_WEIGHT } else { fade };
                let plain = !code && matches!(token, WordToken::Word(_));
                let index = query.add(
                    token.term(),
                    weight,
                    text,
                    WordOrigin { original: true, plain, source: None },
                    &mut indexes,
                );
                if plain && ends_with(message, text) {
                    query.last = index;
                }
                if let WordToken::Word(term) = token
                    && !is_stop_word(term)
                {
                    // The message may have a word between two that are adjacent in a skill.
                    for previous in
                        [earlier, previous_word].into_iter().flatten().filter(|previous| *previous != term)
                    {
                        query.pairs.push((pair_hash(previous, term), previous, term));
                    }
                    (earlier, previous_word) = (previous_word, Some(term));
                }
            });
            if !code {
                find_phrases(segment, &mut query.phrases);
                prefixes(segment, |text| {
                    let weight = single_term(text)
                        .and_then(|term| indexes.get(&term))
                        .and_then(|index| query.words.get(*index));
                    query.prefixes.push((text, weight.map_or(1.0, |word| word.weighted.weight)));
                });
            }
        }
        query.add_aliases(&mut indexes);
        for english in translations::to_english(message) {
            for_each_word(english, |token, text| {
                query.add(token.term(), TRANSLATION_WEIGHT, text, WordOrigin::derived(None), &mut indexes);
            });
        }
        query.pairs.sort_unstable();
        query.pairs.dedup();
        query
    }

    /// Adds the other names of words, and of pairs of adjacent words.
    fn add_aliases(&mut self, indexes: &mut HashMap<Term, usize>) {
        let mut added: Vec<(usize, &'static str)> = Vec::new();
        for (index, word) in self.words.iter().enumerate() {
            added.extend(aliases::aliases(word.weighted.term, &word.text).map(|alias| (index, alias)));
        }
        for (_, first, second) in &self.pairs {
            let index = indexes.get(first).copied();
            added.extend(index.into_iter().flat_map(|index| {
                aliases::aliases_of_pair(*first, *second).map(move |alias| (index, alias))
            }));
        }
        for (index, alias) in added {
            let weight = self.words.get(index).map_or(0.0, |word| word.weighted.weight) * ALIAS_WEIGHT;
            for_each_word(alias, |token, text| {
                self.add(token.term(), weight, text, WordOrigin::derived(Some(index)), indexes);
            });
        }
    }

    /// Adds a word or raises the weight of one that is already in the query. Returns its index.
    fn add(
        &mut self,
        term: Term,
        weight: f32,
        text: &'q str,
        WordOrigin { original, plain, source }: WordOrigin,
        indexes: &mut HashMap<Term, usize>,
    ) -> Option<usize> {
        if let Some(index) = indexes.get(&term) {
            if let Some(word) = self.words.get_mut(*index) {
                word.weighted.weight = word.weighted.weight.max(weight);
                word.plain |= plain;
            }
            return Some(*index);
        }
        if self.words.len() >= WORDS_MAX {
            return None;
        }
        indexes.insert(term, self.words.len());
        self.words.push(QueryWord {
            weighted: WeightedTerm { term, weight },
            text: Cow::Borrowed(text),
            corrected_from: None,
            original,
            plain,
            is_stop_word: is_stop_word(term),
            source,
        });
        Some(self.words.len() - 1)
    }

    /// Adds the correction of a word, unless the message contains it anyway.
    pub(super) fn add_correction(&mut self, text: &str, weight: f32, typed: &str) {
        let Some(term) = single_term(text) else { return };
        let source = self.words.iter().position(|word| word.original && word.text == typed);
        if self.words.len() < WORDS_MAX && self.words.iter().all(|word| word.weighted.term != term) {
            self.words.push(QueryWord {
                weighted: WeightedTerm { term, weight },
                text: Cow::Owned(text.to_owned()),
                corrected_from: Some(typed.to_owned()),
                original: false,
                plain: false,
                is_stop_word: is_stop_word(term),
                source,
            });
        }
    }
}

/// Where a word of a query comes from.
#[derive(Debug, Clone, Copy)]
struct WordOrigin {
    original: bool,
    plain: bool,
    source: Option<usize>,
}

impl WordOrigin {
    /// Derived from another word, or translated.
    fn derived(source: Option<usize>) -> Self {
        Self { original: false, plain: false, source }
    }
}

/// Returns `true` if a part of the message extends to its end.
fn ends_with(message: &str, part: &str) -> bool {
    message.as_bytes().as_ptr_range().end == part.as_bytes().as_ptr_range().end
}

/// Splits a message at code fences. Each segment has a flag for code.
fn segments(message: &str) -> impl Iterator<Item = (&str, bool)> {
    message.split("```").enumerate().map(|(number, segment)| (segment, number % 2 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_weigh_most() {
        let query = Query::new("Merge the PDFs ```merge x``` please");
        let words: Vec<_> = query
            .words
            .iter()
            .map(|word| format!("{} {:.2} {}", word.text, word.weighted.weight, word.is_stop_word))
            .collect();
        assert_eq!(
            words,
            ["Merge 1.00 false", "the 0.98 true", "PDFs 0.97 false", "x 0.47 false", "please 0.93 true"]
        );
        assert_eq!(query.pairs.len(), 2);
    }

    #[test]
    fn chinese_words_are_also_searched_in_english() {
        let query = Query::new("下载文章");
        let added: Vec<_> =
            query.words.iter().filter(|word| !word.original).map(|word| &*word.text).collect();
        assert_eq!(added, ["download", "article"]);
    }

    #[test]
    fn the_last_word_may_be_incomplete() {
        let last = |message: &str| {
            let query = Query::new(message);
            query.last.map(|at| query.words[at].text.clone().into_owned())
        };
        assert_eq!(last("deploy to kube").as_deref(), Some("kube"));
        assert_eq!(last("kube deploy kube").as_deref(), Some("kube"));
        assert_eq!(last("deploy kube-ct").as_deref(), Some("ct"));
        assert_eq!(last("deploy to kube."), None);
        assert_eq!(last("deploy to kube "), None);
        assert_eq!(last("```kube"), None);
        assert_eq!(last(""), None);
    }

    #[test]
    fn quoted_phrases_and_prefixes_are_found() {
        let query = Query::new("use \"merge these invoices\" with kube* ```\"not this one\" code*```");
        assert_eq!(
            query.phrases.iter().map(|phrase| &*phrase.text).collect::<Vec<_>>(),
            ["merge these invoices"]
        );
        assert_eq!(query.prefixes.iter().map(|(text, _)| *text).collect::<Vec<_>>(), ["kube"]);
    }

    #[test]
    fn the_number_of_words_is_bounded() {
        let message: String = (0..9999).map(|n| format!("w{n} ")).collect();
        assert_eq!(Query::new(&message).words.len(), WORDS_MAX);
        assert!(Query::new("").words.is_empty());
    }
}
