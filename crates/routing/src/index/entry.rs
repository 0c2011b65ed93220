//! The index entry of one skill: the weight of each word in its description and in its instructions, and a
//! sketch for reranking.
//!
//! A weight is that of BM25 without the rarity of the word, in one byte. Lengths are compared with fixed ones,
//! not with the mean of the collection, so that an entry does not depend on other skills.

use super::super::stop_words::is_stop_word;
use super::super::text::truncate;
use super::super::text::{BODY_MAX, SkillTexts};
use super::super::words::{Term, WordToken, for_each_word, spelling};
use super::sketch::{SketchBuilder, pair_hash};
use super::when_sentences::{SentenceKind, sentences};

/// The BM25 parameters k1 and b of a field, and its typical length.
#[derive(Debug, Clone, Copy)]
struct FieldParams {
    k1: f32,
    b: f32,
    typical_length: f32,
}

const ABOUT: FieldParams = FieldParams { k1: 1.6, b: 0.25, typical_length: 50.0 };
const BODY: FieldParams = FieldParams { k1: 1.2, b: 0.8, typical_length: 600.0 };

/// The value of a full impact in each field: k1 + 1 in BM25.
pub(crate) const FULL_IMPACT: [f32; 2] = [ABOUT.k1 + 1.0, BODY.k1 + 1.0];

/// How often a word of the name counts.
const NAME_COUNT: u32 = 4;

/// The impacts of one word: in name, description, tags and triggers, and in the instructions; 0 if it does not
/// occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WeightedWord {
    pub(crate) term: Term,
    pub(crate) impacts: [u8; 2],
}

/// The index entry of a skill.
#[derive(Debug)]
pub(crate) struct SegmentEntry {
    /// The words, sorted, without duplicates.
    pub(crate) words: Vec<WeightedWord>,
    pub(crate) sketch: Vec<u8>,
    /// The content words of the name as text, without duplicates.
    pub(crate) name: Vec<String>,
}

impl SegmentEntry {
    pub(crate) fn new(texts: &SkillTexts) -> Self {
        let mut sketch_builder = SketchBuilder::default();
        // About one word per six bytes.
        let expected = (texts.about.len() + texts.body.len().min(BODY_MAX)) / 6;
        let mut counts: Vec<(Term, [u32; 2])> = Vec::with_capacity(expected);
        sketch_builder.pairs.reserve(expected);
        let mut name: Vec<String> = Vec::new();
        for_each_word(&texts.name, |token, text| {
            counts.push((token.term(), [NAME_COUNT, 0]));
            if let WordToken::Word(term) = token {
                sketch_builder.name.push(term);
                name.extend(spelling(term, text).filter(|_| !is_stop_word(term)));
            }
        });
        name.sort_unstable();
        name.dedup();
        let mut previous = None;
        for (sentence, kind) in sentences(&texts.about) {
            if kind == SentenceKind::WhenNot {
                // Such words must not attract the messages that the author sends elsewhere. They count like
                // words of the instructions.
                for_each_word(sentence, |token, _| counts.push((token.term(), [0, 1])));
                continue;
            }
            for_each_word(sentence, |token, _| {
                counts.push((token.term(), [1, 0]));
                if let WordToken::Word(term) = token {
                    sketch_builder.about.push((term, kind == SentenceKind::When));
                    add_pair(&mut previous, term, &mut sketch_builder.pairs);
                }
            });
        }
        previous = None;
        for_each_word(truncate(&texts.body, BODY_MAX), |token, _| {
            counts.push((token.term(), [0, 1]));
            if let WordToken::Word(term) = token {
                add_pair(&mut previous, term, &mut sketch_builder.pairs);
            }
        });
        let mut sketch = Vec::new();
        sketch_builder.write(&mut sketch);
        Self { words: weigh_words(counts), sketch, name }
    }
}

/// Adds the pair of a word and the one before it; stop words in between are ignored.
fn add_pair(previous: &mut Option<Term>, term: Term, pairs: &mut Vec<u64>) {
    if is_stop_word(term) {
        return;
    }
    if let Some(previous) = previous.filter(|previous| *previous != term) {
        pairs.push(pair_hash(previous, term));
    }
    *previous = Some(term);
}

fn weigh_words(mut counts: Vec<(Term, [u32; 2])>) -> Vec<WeightedWord> {
    counts.sort_unstable_by_key(|(term, _)| *term);
    let sum = |counts: &[(Term, [u32; 2])]| {
        counts.iter().fold([0, 0], |sum, (_, [about, body])| [sum[0] + about, sum[1] + body])
    };
    let lengths = sum(&counts);
    let norms = [(ABOUT, lengths[0]), (BODY, lengths[1])]
        .map(|(field, length)| field.k1 * (1.0 - field.b + field.b * length as f32 / field.typical_length));
    let weigh = |occurrences: &[(Term, [u32; 2])]| {
        let counts = sum(occurrences);
        let impact = |field: usize| {
            let count = counts[field] as f32;
            if counts[field] == 0 {
                0
            } else {
                (255.0 * count / (count + norms[field])).round().max(1.0) as u8
            }
        };
        WeightedWord { term: occurrences[0].0, impacts: [impact(0), impact(1)] }
    };
    counts.chunk_by(|a, b| a.0 == b.0).map(weigh).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_depend_on_count_and_field() {
        let texts = SkillTexts {
            name: "pdf".into(),
            about: "Merges files. Use when merging pdf.".into(),
            body: "files files".into(),
        };
        let entry = SegmentEntry::new(&texts);
        let impacts_of = |word: &str| {
            let mut term = 0;
            for_each_word(word, |found, _| term = found.term());
            entry.words.iter().find(|weighed| weighed.term == term).unwrap().impacts
        };
        assert!(
            impacts_of("pdf")[0] > impacts_of("merge")[0] && impacts_of("merge")[0] > impacts_of("files")[0]
        );
        assert!(impacts_of("files")[1] > 0 && impacts_of("pdf")[1] == 0);
        assert!(entry.words.is_sorted_by_key(|weighed| weighed.term));
        let named =
            |name: &str| SegmentEntry::new(&SkillTexts { name: name.into(), ..SkillTexts::default() }).name;
        assert_eq!(named("use-Kube_ctl for-PDFs-PDFs 翻译"), ["ctl", "kube", "pdfs"]);
    }
}
