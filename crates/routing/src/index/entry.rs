//! One skill's texts as the index keeps them: how much each word weighs in what it says of itself and in its
//! instructions, and a sketch for the second look.
//!
//! A weight is BM25's, without the word's rarity, in one byte. Lengths are compared with fixed ones, not with the mean of
//! the collection: what is kept of a skill does not change because another came.

use super::super::stop::is_stop;
use super::super::text::head;
use super::super::text::{BODY_MAX, Texts};
use super::super::words::{Found, Term, spelled, words};
use super::sketch::{Drawn, pair};
use super::when::sentences;

/// How a field is weighed: BM25's k1 and b, and the length that counts as usual.
#[derive(Debug, Clone, Copy)]
struct Field {
    k1: f32,
    b: f32,
    usual: f32,
}

const ABOUT: Field = Field { k1: 1.6, b: 0.25, usual: 50.0 };
const BODY: Field = Field { k1: 1.2, b: 0.8, usual: 600.0 };

/// What a full impact is worth in each field: BM25's k1 + 1.
pub(crate) const FULL: [f32; 2] = [ABOUT.k1 + 1.0, BODY.k1 + 1.0];

/// How often a word of the name counts.
const NAME_TIMES: u32 = 4;

/// The impacts of one word: in name, description, tags and triggers, and in the instructions. 0 where it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Weighed {
    pub(crate) term: Term,
    pub(crate) impacts: [u8; 2],
}

/// What is kept of a skill.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Each word once, in order.
    pub(crate) words: Vec<Weighed>,
    pub(crate) sketch: Vec<u8>,
    /// The words of its name that say something, as text, each once.
    pub(crate) name: Vec<String>,
}

impl Entry {
    pub(crate) fn new(texts: &Texts) -> Self {
        let mut drawn = Drawn::default();
        // About a word for six bytes.
        let expected = (texts.about.len() + texts.body.len().min(BODY_MAX)) / 6;
        let mut counted: Vec<(Term, [u32; 2])> = Vec::with_capacity(expected);
        drawn.pairs.reserve(expected);
        let mut name: Vec<String> = Vec::new();
        words(&texts.name, |found, text| {
            counted.push((found.term(), [NAME_TIMES, 0]));
            if let Found::Word(term) = found {
                drawn.name.push(term);
                name.extend(spelled(term, text).filter(|_| !is_stop(term)));
            }
        });
        name.sort_unstable();
        name.dedup();
        let mut before = None;
        for (sentence, when) in sentences(&texts.about) {
            words(sentence, |found, _| {
                counted.push((found.term(), [1, 0]));
                if let Found::Word(term) = found {
                    drawn.about.push((term, when));
                    side_by_side(&mut before, term, &mut drawn.pairs);
                }
            });
        }
        before = None;
        words(head(&texts.body, BODY_MAX), |found, _| {
            counted.push((found.term(), [0, 1]));
            if let Found::Word(term) = found {
                side_by_side(&mut before, term, &mut drawn.pairs);
            }
        });
        let mut sketch = Vec::new();
        drawn.write(&mut sketch);
        Self { words: weigh(counted), sketch, name }
    }
}

/// Notes a word beside the one before it; words that say nothing do not part two that do.
fn side_by_side(before: &mut Option<Term>, term: Term, pairs: &mut Vec<u64>) {
    if is_stop(term) {
        return;
    }
    if let Some(before) = before.filter(|before| *before != term) {
        pairs.push(pair(before, term));
    }
    *before = Some(term);
}

fn weigh(mut counted: Vec<(Term, [u32; 2])>) -> Vec<Weighed> {
    counted.sort_unstable_by_key(|(term, _)| *term);
    let sum = |counts: &[(Term, [u32; 2])]| {
        counts.iter().fold([0, 0], |sum, (_, [about, body])| [sum[0] + about, sum[1] + body])
    };
    let lengths = sum(&counted);
    let norms = [(ABOUT, lengths[0]), (BODY, lengths[1])]
        .map(|(field, length)| field.k1 * (1.0 - field.b + field.b * length as f32 / field.usual));
    let weighed = |same: &[(Term, [u32; 2])]| {
        let counts = sum(same);
        let impact = |field: usize| {
            let count = counts[field] as f32;
            if counts[field] == 0 {
                0
            } else {
                (255.0 * count / (count + norms[field])).round().max(1.0) as u8
            }
        };
        Weighed { term: same[0].0, impacts: [impact(0), impact(1)] }
    };
    counted.chunk_by(|a, b| a.0 == b.0).map(weighed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_weigh_by_count_and_field() {
        let texts = Texts {
            name: "pdf".into(),
            about: "Merges files. Use when merging pdf.".into(),
            body: "files files".into(),
        };
        let entry = Entry::new(&texts);
        let of = |word: &str| {
            let mut term = 0;
            words(word, |found, _| term = found.term());
            entry.words.iter().find(|weighed| weighed.term == term).unwrap().impacts
        };
        assert!(of("pdf")[0] > of("merge")[0] && of("merge")[0] > of("files")[0]);
        assert!(of("files")[1] > 0 && of("pdf")[1] == 0);
        assert!(entry.words.is_sorted_by_key(|weighed| weighed.term));
        let named = |name: &str| Entry::new(&Texts { name: name.into(), ..Texts::default() }).name;
        assert_eq!(named("use-Kube_ctl for-PDFs-PDFs 翻译"), ["ctl", "kube", "pdfs"]);
    }
}
