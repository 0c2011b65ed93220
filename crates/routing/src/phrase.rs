//! Quoted phrases.
//!
//! Users quote the names of things, but also much that is unrelated to skills. A phrase therefore only adds a
//! small bonus to the skills that contain it.

use super::index::{DamagedIndex, Sketch, pair_hash};
use super::stop_words::is_stop_word;
use super::words::{Term, WordToken, for_each_word};

/// The number of content words in a phrase.
const CONTENT_WORDS: std::ops::RangeInclusive<usize> = 2..=8;

/// The maximum number of phrases in a message, and the maximum length of one in bytes.
const PHRASES_MAX: usize = 8;
const BYTES_MAX: usize = 240;

/// The total bonus for all phrases of a message.
const BONUS_MAX: f32 = 0.25;

/// Opening quotation marks, each with its closing ones.
const QUOTES: &[(char, &[char])] = &[
    ('"', &['"']),
    ('“', &['”']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('»', &['«']),
    ('「', &['」']),
    ('『', &['』']),
];

/// A quoted phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// The words, separated by single spaces.
    pub(crate) text: String,
    /// Pairs of adjacent content words.
    pairs: Vec<(Term, Term)>,
}

impl Phrase {
    fn new(quoted: &str) -> Option<Self> {
        let (mut content, mut texts): (Vec<Term>, Vec<&str>) = Default::default();
        for_each_word(quoted, |token, text| {
            if let WordToken::Word(term) = token {
                // Character pairs of one text share the same slice.
                if !texts.last().is_some_and(|last| std::ptr::eq(*last, text)) {
                    texts.push(text);
                }
                if !is_stop_word(term) && content.last() != Some(&term) {
                    content.push(term);
                }
            }
        });
        let pairs = content.windows(2).map(|pair| (pair[0], pair[1])).collect();
        CONTENT_WORDS.contains(&content.len()).then(|| Self { text: texts.join(" "), pairs })
    }

    /// Returns `true` if a skill contains the words next to each other.
    fn is_in(&self, sketch: &Sketch<'_>) -> bool {
        self.pairs.iter().all(|(first, second)| {
            sketch.has_pair(pair_hash(*first, *second)) || sketch.name_has_pair(*first, *second)
        })
    }
}

/// Appends the quoted phrases of a text without code to `phrases`.
pub(super) fn find_phrases(text: &str, phrases: &mut Vec<Phrase>) {
    let mut rest = text;
    while let Some((start, mark)) =
        rest.char_indices().find(|(_, c)| QUOTES.iter().any(|(open, _)| open == c))
    {
        if phrases.len() >= PHRASES_MAX {
            return;
        }
        let inside = &rest[start + mark.len_utf8()..];
        let closing = QUOTES.iter().find(|(open, _)| *open == mark).map_or(&[][..], |(_, close)| close);
        // A mark that is not closed on its line is not a quotation, but an inch sign or truncated text.
        let line = inside.find('\n').map_or(inside, |end| &inside[..end]);
        let Some(end) = line.find(closing).filter(|end| *end <= BYTES_MAX) else {
            rest = inside;
            continue;
        };
        if let Some(phrase) = Phrase::new(&line[..end]).filter(|phrase| !phrases.contains(phrase)) {
            phrases.push(phrase);
        }
        let mut after = inside[end..].chars();
        after.next();
        rest = after.as_str();
    }
}

/// Returns the phrases that a skill contains according to its sketch. The sketch may be wrong about pairs, so
/// the skill must contain each word, too.
pub(super) fn phrases_in(
    phrases: &[Phrase],
    sketch: &[u8],
    contains: impl Fn(Term) -> bool,
) -> Result<Vec<String>, DamagedIndex> {
    if phrases.is_empty() {
        return Ok(Vec::new());
    }
    let sketch = Sketch::parse(sketch)?;
    let has_all =
        |phrase: &&Phrase| phrase.pairs.iter().all(|(first, second)| contains(*first) && contains(*second));
    let contained = phrases.iter().filter(has_all).filter(|phrase| phrase.is_in(&sketch));
    Ok(contained.map(|phrase| phrase.text.clone()).collect())
}

/// Returns the bonus for containing `contained` of `total` phrases.
pub(super) fn bonus(contained: usize, total: usize) -> f32 {
    if total == 0 { 0.0 } else { BONUS_MAX * contained as f32 / total as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<String> {
        let mut phrases = Vec::new();
        find_phrases(text, &mut phrases);
        phrases.into_iter().map(|phrase| phrase.text).collect()
    }

    #[test]
    fn quotation_marks_of_many_languages() {
        assert_eq!(found("say \"merge invoices\" or “Sales tax”"), ["merge invoices", "Sales tax"]);
        assert_eq!(
            found("„Rechnungen prüfen“ «vérifier les factures»"),
            ["Rechnungen prüfen", "vérifier les factures"]
        );
        assert_eq!(found("请用「合同翻译」"), ["合同翻译"]);
    }

    #[test]
    fn other_quotes_are_ignored() {
        assert_eq!(found("a 5\" screen\nand a 6\" one"), [] as [&str; 0]);
        assert_eq!(found("\"word\" \"the of\" \"\" "), [] as [&str; 0]);
        assert_eq!(found("\"one two three four five six seven eight nine\""), [] as [&str; 0]);
        assert_eq!(found("\"merge it\" \"merge files\" \"merge files\""), ["merge files"]);
        assert_eq!(found(&"\"a b\" \"c d\" \"e f\" \"g h\" \"i j\" ".repeat(9)).len(), 3);
        assert_eq!(found(&(0..99).map(|n| format!("\"x y{n}\" ")).collect::<String>()).len(), PHRASES_MAX);
    }

    proptest! {
        #[test]
        fn the_number_of_phrases_is_bounded(text in "[ab \"“”„«»「」\n]{0,60}") {
            prop_assert!(found(&text).len() <= PHRASES_MAX);
        }
    }
}
