//! What stands in quotation marks: words that belong together.
//!
//! People quote what things are called, and also much that is none of a skill's business. So a phrase lifts the skills that
//! have it a little, and takes nothing away from others.

use super::index::{Damaged, Sketch, pair};
use super::stop::is_stop;
use super::words::{Found, Term, words};

/// How many words that say something a phrase has.
const WORDS: std::ops::RangeInclusive<usize> = 2..=8;

/// The most phrases of a message that count, and the most bytes of one.
const PHRASES_MAX: usize = 8;
const BYTES_MAX: usize = 240;

/// What all phrases of a message are worth together, in the second look.
const WORTH: f32 = 0.25;

/// Quotation marks that open, each with what closes them.
const MARKS: &[(char, &[char])] = &[
    ('"', &['"']),
    ('“', &['”']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('»', &['«']),
    ('「', &['」']),
    ('『', &['』']),
];

/// Words in quotation marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// Its words, with one space between.
    pub(crate) text: String,
    /// The words that say something, each with the next.
    pairs: Vec<(Term, Term)>,
}

impl Phrase {
    fn new(quoted: &str) -> Option<Self> {
        let (mut telling, mut texts): (Vec<Term>, Vec<&str>) = Default::default();
        words(quoted, |found, text| {
            if let Found::Word(term) = found {
                // Pairs of characters are all of one stretch.
                if !texts.last().is_some_and(|last| std::ptr::eq(*last, text)) {
                    texts.push(text);
                }
                if !is_stop(term) && telling.last() != Some(&term) {
                    telling.push(term);
                }
            }
        });
        let pairs = telling.windows(2).map(|pair| (pair[0], pair[1])).collect();
        WORDS.contains(&telling.len()).then(|| Self { text: texts.join(" "), pairs })
    }

    /// Whether a skill has its words side by side.
    fn is_in(&self, sketch: &Sketch<'_>) -> bool {
        self.pairs
            .iter()
            .all(|(one, other)| sketch.has(pair(*one, *other)) || sketch.name_has_beside(*one, *other))
    }
}

/// The phrases of a text that is no code, after those that are known.
pub(super) fn phrases(text: &str, known: &mut Vec<Phrase>) {
    let mut rest = text;
    while let Some((at, mark)) = rest.char_indices().find(|(_, c)| MARKS.iter().any(|(open, _)| open == c)) {
        if known.len() >= PHRASES_MAX {
            return;
        }
        let inside = &rest[at + mark.len_utf8()..];
        let closing = MARKS.iter().find(|(open, _)| *open == mark).map_or(&[][..], |(_, close)| close);
        // A mark that is not closed in its line is none: an inch, or the end of what somebody cut off.
        let line = inside.find('\n').map_or(inside, |end| &inside[..end]);
        let Some(end) = line.find(closing).filter(|end| *end <= BYTES_MAX) else {
            rest = inside;
            continue;
        };
        if let Some(phrase) = Phrase::new(&line[..end]).filter(|phrase| !known.contains(phrase)) {
            known.push(phrase);
        }
        let mut after = inside[end..].chars();
        after.next();
        rest = after.as_str();
    }
}

/// The phrases that a skill has, by its sketch. The sketch is sometimes wrong about two words, so it must have each at all.
pub(super) fn had(
    phrases: &[Phrase],
    sketch: &[u8],
    has: impl Fn(Term) -> bool,
) -> Result<Vec<String>, Damaged> {
    if phrases.is_empty() {
        return Ok(Vec::new());
    }
    let sketch = Sketch::read(sketch)?;
    let has_all = |phrase: &&Phrase| phrase.pairs.iter().all(|(one, other)| has(*one) && has(*other));
    let had = phrases.iter().filter(has_all).filter(|phrase| phrase.is_in(&sketch));
    Ok(had.map(|phrase| phrase.text.clone()).collect())
}

/// What it is worth to have so many of the message's phrases.
pub(super) fn worth(had: usize, of: usize) -> f32 {
    if of == 0 { 0.0 } else { WORTH * had as f32 / of as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<String> {
        let mut known = Vec::new();
        phrases(text, &mut known);
        known.into_iter().map(|phrase| phrase.text).collect()
    }

    #[test]
    fn marks_of_many_languages() {
        assert_eq!(found("say \"merge invoices\" or “Sales tax”"), ["merge invoices", "Sales tax"]);
        assert_eq!(
            found("„Rechnungen prüfen“ «vérifier les factures»"),
            ["Rechnungen prüfen", "vérifier les factures"]
        );
        assert_eq!(found("请用「合同翻译」"), ["合同翻译"]);
    }

    #[test]
    fn what_is_no_phrase() {
        assert_eq!(found("a 5\" screen\nand a 6\" one"), [] as [&str; 0]);
        assert_eq!(found("\"word\" \"the of\" \"\" "), [] as [&str; 0]);
        assert_eq!(found("\"one two three four five six seven eight nine\""), [] as [&str; 0]);
        assert_eq!(found("\"merge it\" \"merge files\" \"merge files\""), ["merge files"]);
        assert_eq!(found(&"\"a b\" \"c d\" \"e f\" \"g h\" \"i j\" ".repeat(9)).len(), 3);
        assert_eq!(found(&(0..99).map(|n| format!("\"x y{n}\" ")).collect::<String>()).len(), PHRASES_MAX);
    }

    proptest! {
        #[test]
        fn whatever_is_quoted(text in "[ab \"“”„«»「」\n]{0,60}") {
            prop_assert!(found(&text).len() <= PHRASES_MAX);
        }
    }
}
