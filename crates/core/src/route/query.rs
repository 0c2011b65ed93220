//! A message as it is looked for: its words, what each weighs, and which stand side by side.

use std::collections::HashMap;

use super::abroad;
use super::aliases;
use super::index::{Asked, pair};
use super::stop::is_stop;
use super::text::{QUERY_MAX, head};
use super::words::{Found, Term, words};

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
    /// As it stands in the message, or the English for it.
    pub(crate) text: &'q str,
    /// Whether it is said, not added.
    pub(crate) said: bool,
    pub(crate) stop: bool,
}

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Query<'q> {
    pub(crate) words: Vec<Word<'q>>,
    pub(crate) pairs: Vec<(u64, Term, Term)>,
}

impl<'q> Query<'q> {
    pub(crate) fn new(message: &'q str) -> Self {
        let message = head(message, QUERY_MAX);
        let mut query = Self { words: Vec::new(), pairs: Vec::new() };
        let mut known: HashMap<Term, usize> = HashMap::new();
        let mut place = 0u32;
        for (stretch, code) in stretches(message) {
            let (mut earlier, mut before): (Option<Term>, Option<Term>) = (None, None);
            words(stretch, |found, text| {
                let fade = 1.0 - 0.5 * (place as f32 / (place as f32 + FADES));
                place += 1;
                let weight = if code { fade * CODE } else { fade };
                query.add(found.term(), weight, text, true, &mut known);
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
        }
        let said: Vec<(&str, f32)> = query.words.iter().map(|word| (word.text, word.asked.weight)).collect();
        for (text, weight) in said {
            for alias in aliases::of(text) {
                words(alias, |found, text| query.add(found.term(), weight * ALIAS, text, false, &mut known));
            }
        }
        for english in abroad::english(message) {
            words(english, |found, text| query.add(found.term(), ABROAD, text, false, &mut known));
        }
        query.pairs.sort_unstable();
        query.pairs.dedup();
        query
    }

    fn add(&mut self, term: Term, weight: f32, text: &'q str, said: bool, known: &mut HashMap<Term, usize>) {
        if let Some(word) = known.get(&term).and_then(|at| self.words.get_mut(*at)) {
            word.asked.weight = word.asked.weight.max(weight);
        } else if self.words.len() < LOOKED_UP {
            known.insert(term, self.words.len());
            self.words.push(Word { asked: Asked { term, weight }, text, said, stop: is_stop(term) });
        }
    }
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
        let added: Vec<_> = query.words.iter().filter(|word| !word.said).map(|word| word.text).collect();
        assert_eq!(added, ["download", "article"]);
    }

    #[test]
    fn bounded() {
        let message: String = (0..9999).map(|n| format!("w{n} ")).collect();
        assert_eq!(Query::new(&message).words.len(), LOOKED_UP);
        assert!(Query::new("").words.is_empty());
    }
}
