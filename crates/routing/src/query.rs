//! A message as it is looked for: its words, what each weighs, and which stand side by side.

use std::borrow::Cow;
use std::collections::HashMap;

use super::abroad;
use super::aliases;
use super::index::{Asked, pair};
use super::phrase::{Phrase, phrases};
use super::starred::starred;
use super::stop::is_stop;
use super::text::{QUERY_MAX, head};
use super::words::{Found, Term, single, words};

/// The most words of a message that are looked up.
const LOOKED_UP: usize = 256;

/// After how many words one weighs a quarter less; it is never less than half. People say first what they want.
const FADES: f32 = 30.0;

/// What a word in a block of code weighs: it is what the message is about, rarely what it asks for.
const CODE: f32 = 0.5;

/// What the English word for a foreign one weighs.
const ABROAD: f32 = 0.8;

/// What another name for a word weighs, beside the word.
const ALIAS: f32 = 0.6;

/// A word of a message.
#[derive(Debug, Clone)]
pub(crate) struct Word<'q> {
    pub(crate) asked: Asked,
    /// As it stands in the message, or the English for it, or the word of a name that is nearly it.
    pub(crate) text: Cow<'q, str>,
    /// What stands in the message, where that is only nearly this word.
    pub(crate) instead_of: Option<String>,
    /// Whether it is said, not added.
    pub(crate) said: bool,
    /// Whether it is a word of running text, which may be mistyped, and not code or the whole of a compound.
    pub(crate) plain: bool,
    pub(crate) stop: bool,
}

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Query<'q> {
    pub(crate) words: Vec<Word<'q>>,
    pub(crate) pairs: Vec<(u64, Term, Term)>,
    /// What stands in quotation marks.
    pub(crate) phrases: Vec<Phrase>,
    /// The beginnings of words that a star follows, and what each weighs.
    pub(crate) beginnings: Vec<(&'q str, f32)>,
    /// The word that the message ends with: somebody may still be typing it.
    pub(crate) last: Option<usize>,
}

impl<'q> Query<'q> {
    pub(crate) fn new(message: &'q str) -> Self {
        let message = head(message, QUERY_MAX);
        let mut query = Self {
            words: Vec::new(),
            pairs: Vec::new(),
            phrases: Vec::new(),
            beginnings: Vec::new(),
            last: None,
        };
        let mut known: HashMap<Term, usize> = HashMap::new();
        let mut place = 0u32;
        for (stretch, code) in stretches(message) {
            let (mut earlier, mut before): (Option<Term>, Option<Term>) = (None, None);
            words(stretch, |found, text| {
                let fade = 1.0 - 0.5 * (place as f32 / (place as f32 + FADES));
                place += 1;
                let weight = if code { fade * CODE } else { fade };
                let plain = !code && matches!(found, Found::Word(_));
                let at = query.add(found.term(), weight, text, Added { said: true, plain }, &mut known);
                if plain && ends_with(message, text) {
                    query.last = at;
                }
                if let Found::Word(term) = found
                    && !is_stop(term)
                {
                    // Somebody may have put a word between two that a skill has side by side.
                    for near in [earlier, before].into_iter().flatten().filter(|near| *near != term) {
                        query.pairs.push((pair(near, term), near, term));
                    }
                    (earlier, before) = (before, Some(term));
                }
            });
            if !code {
                phrases(stretch, &mut query.phrases);
                starred(stretch, |text| {
                    let weight =
                        single(text).and_then(|term| known.get(&term)).and_then(|at| query.words.get(*at));
                    query.beginnings.push((text, weight.map_or(1.0, |word| word.asked.weight)));
                });
            }
        }
        for at in 0..query.words.len() {
            let Word { text, asked, .. } = &query.words[at];
            let weight = asked.weight * ALIAS;
            for alias in aliases::of(&text.clone()) {
                words(alias, |found, text| {
                    query.add(found.term(), weight, text, Added::MEANT, &mut known);
                });
            }
        }
        for english in abroad::english(message) {
            words(english, |found, text| {
                query.add(found.term(), ABROAD, text, Added::MEANT, &mut known);
            });
        }
        query.pairs.sort_unstable();
        query.pairs.dedup();
        query
    }

    /// Adds a word, or says again what is known; gives its place.
    fn add(
        &mut self,
        term: Term,
        weight: f32,
        text: &'q str,
        Added { said, plain }: Added,
        known: &mut HashMap<Term, usize>,
    ) -> Option<usize> {
        if let Some(at) = known.get(&term) {
            if let Some(word) = self.words.get_mut(*at) {
                word.asked.weight = word.asked.weight.max(weight);
                word.plain |= plain;
            }
            return Some(*at);
        }
        if self.words.len() >= LOOKED_UP {
            return None;
        }
        known.insert(term, self.words.len());
        self.words.push(Word {
            asked: Asked { term, weight },
            text: Cow::Borrowed(text),
            instead_of: None,
            said,
            plain,
            stop: is_stop(term),
        });
        Some(self.words.len() - 1)
    }

    /// Adds a word of a name that is nearly what stands in the message, unless the message has it anyway.
    pub(super) fn add_near(&mut self, text: &str, weight: f32, instead_of: &str) {
        let Some(term) = single(text) else { return };
        if self.words.len() < LOOKED_UP && self.words.iter().all(|word| word.asked.term != term) {
            self.words.push(Word {
                asked: Asked { term, weight },
                text: Cow::Owned(text.to_owned()),
                instead_of: Some(instead_of.to_owned()),
                said: false,
                plain: false,
                stop: is_stop(term),
            });
        }
    }
}

/// How a word came into a query.
#[derive(Debug, Clone, Copy)]
struct Added {
    said: bool,
    plain: bool,
}

impl Added {
    /// It is meant by another.
    const MEANT: Self = Self { said: false, plain: false };
}

/// Whether a stretch of a message is its end.
fn ends_with(message: &str, stretch: &str) -> bool {
    message.as_bytes().as_ptr_range().end == stretch.as_bytes().as_ptr_range().end
}

/// A message in stretches, each with whether it is a block of code.
fn stretches(message: &str) -> impl Iterator<Item = (&str, bool)> {
    message.split("```").enumerate().map(|(number, stretch)| (stretch, number % 2 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_first_weighs_most() {
        let query = Query::new("Merge the PDFs ```merge x``` please");
        let told: Vec<_> = query
            .words
            .iter()
            .map(|word| format!("{} {:.2} {}", word.text, word.asked.weight, word.stop))
            .collect();
        assert_eq!(
            told,
            ["Merge 1.00 false", "the 0.98 true", "PDFs 0.97 false", "x 0.47 false", "please 0.93 true"]
        );
        assert_eq!(query.pairs.len(), 2);
    }

    #[test]
    fn a_chinese_message_is_asked_in_english_too() {
        let query = Query::new("下载文章");
        let added: Vec<_> = query.words.iter().filter(|word| !word.said).map(|word| &*word.text).collect();
        assert_eq!(added, ["download", "article"]);
    }

    #[test]
    fn what_it_ends_with_may_still_be_typed() {
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
    fn what_is_quoted_and_what_a_star_follows() {
        let query = Query::new("use \"merge these invoices\" with kube* ```\"not this one\" code*```");
        assert_eq!(
            query.phrases.iter().map(|phrase| &*phrase.text).collect::<Vec<_>>(),
            ["merge these invoices"]
        );
        assert_eq!(query.beginnings.iter().map(|(text, _)| *text).collect::<Vec<_>>(), ["kube"]);
    }

    #[test]
    fn bounded() {
        let message: String = (0..9999).map(|n| format!("w{n} ")).collect();
        assert_eq!(Query::new(&message).words.len(), LOOKED_UP);
        assert!(Query::new("").words.is_empty());
    }
}
