//! Splitting a text into words for indexing and search.
//!
//! A word is a run of letters and digits, reduced to [its stem](super::stem). A compound (`code-review`,
//! `snake_case`, `camelCase`) counts as its parts and as a whole. Scripts without spaces are split into pairs
//! of characters, because single ones carry too little meaning.

use super::stem::stem;
use super::text::{fold, is_spaceless, is_word};

/// The maximum length of a word, in bytes; longer ones are cut.
pub(crate) const WORD_MAX: usize = 64;

/// The hash of a word. The index does not store the text.
pub(crate) type Term = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordToken {
    /// A word, in the order of the text.
    Word(Term),
    /// The compound whose parts are the preceding words.
    Compound(Term),
}

impl WordToken {
    pub(crate) fn term(self) -> Term {
        match self {
            Self::Word(term) | Self::Compound(term) => term,
        }
    }
}

/// Calls `visit` for each word of a text, with its source text.
pub(crate) fn for_each_word<'t>(text: &'t str, mut visit: impl FnMut(WordToken, &'t str)) {
    let mut rest = text;
    loop {
        let (_, run) = rest.split_at(first_where(rest, is_compound_char));
        if run.is_empty() {
            return;
        }
        let (run, after) = run.split_at(first_where(run, |c| !is_compound_char(c)));
        let contraction = contraction(after);
        rest = contraction.map_or(after, |(_, rest)| rest);
        if contraction.is_some_and(|(ending, _)| ending.eq_ignore_ascii_case("t"))
            && run.ends_with(['n', 'N'])
        {
            // A negated auxiliary, such as `don't` and `isn't`, is a stop word.
        } else if is_simple(run) {
            simple_term(run.as_bytes(), &mut |term| visit(WordToken::Word(term), run));
        } else {
            split_compound(run.trim_matches(['-', '_']), &mut visit);
        }
    }
}

/// The endings of English contractions, which are not words.
const CONTRACTIONS: [&str; 7] = ["s", "t", "re", "ll", "d", "ve", "m"];

/// Returns the ending of a contraction at the start of a text, without its apostrophe, and the text after it.
fn contraction(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix(['\'', '’'])?;
    let (ending, rest) = rest.split_at(first_where(rest, |c| !is_compound_char(c)));
    CONTRACTIONS.iter().any(|known| known.eq_ignore_ascii_case(ending)).then_some((ending, rest))
}

/// Returns the offset of the first character for which a condition holds, or the end. ASCII text is not decoded.
fn first_where(text: &str, holds: impl Fn(char) -> bool) -> usize {
    let ascii = text.bytes().position(|byte| !byte.is_ascii() || holds(char::from(byte)));
    let Some(offset) = ascii else { return text.len() };
    let rest = text.get(offset..).unwrap_or_default();
    if rest.starts_with(|c: char| c.is_ascii()) {
        offset
    } else {
        offset + rest.find(holds).unwrap_or(rest.len())
    }
}

/// Returns `true` if a run is a single word: ASCII letters and digits without a camelCase boundary.
fn is_simple(run: &str) -> bool {
    let mut previous = 0;
    run.bytes().all(|byte| {
        let is_hump = byte.is_ascii_uppercase() && u8::is_ascii_lowercase(&previous);
        previous = byte;
        byte.is_ascii_alphanumeric() && !is_hump
    })
}

/// Calls `visit` for each word and compound of a text.
pub(crate) fn for_each_term(text: &str, mut visit: impl FnMut(Term)) {
    for_each_word(text, |token, _| visit(token.term()));
}

/// Returns the folded text of a word, if it gives the same word again: not for scripts without spaces, nor for
/// words that are cut.
pub(crate) fn spelling(term: Term, text: &str) -> Option<String> {
    let folded = fold(text);
    if !(2..=WORD_MAX).contains(&folded.len()) || folded.contains(is_spaceless) {
        return None;
    }
    (single_term(&folded) == Some(term)).then_some(folded)
}

/// Returns the term of a text that is a single word.
pub(crate) fn single_term(text: &str) -> Option<Term> {
    let (mut word, mut count) = (None, 0);
    for_each_word(text, |token, _| {
        word = Some(token.term());
        count += 1;
    });
    word.filter(|_| count == 1)
}

fn is_compound_char(c: char) -> bool {
    is_word(c) || c == '-'
}

/// Splits a run of letters, digits, hyphens and underscores.
fn split_compound<'t>(run: &'t str, visit: &mut impl FnMut(WordToken, &'t str)) {
    let mut parts = 0;
    for piece in run.split(['-', '_']).filter(|piece| !piece.is_empty()) {
        parts += 1;
        let mut humps = 0;
        for hump in split_humps(piece) {
            humps += 1;
            word_terms(hump, |term| visit(WordToken::Word(term), hump));
        }
        if humps > 1 {
            word_terms(piece, |term| visit(WordToken::Compound(term), piece));
        }
    }
    if parts > 1 && run.len() <= WORD_MAX {
        // `code-review`, `code_review` and `codeReview` are the same word.
        let joined: String = run.chars().filter(|c| !matches!(c, '-' | '_')).collect();
        word_terms(&joined, |term| visit(WordToken::Compound(term), run));
    }
}

/// Splits `camelCase` before each capital that follows a lower-case letter.
fn split_humps(piece: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(piece);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut previous = None;
        for (offset, c) in text.char_indices() {
            if c.is_uppercase() && previous.is_some_and(char::is_lowercase) {
                rest = text.get(offset..);
                return text.get(..offset);
            }
            previous = Some(c);
        }
        rest = None;
        Some(text)
    })
}

/// Splits a word that may contain several scripts into terms.
fn word_terms(text: &str, mut visit: impl FnMut(Term)) {
    if text.is_ascii() {
        return simple_term(text.as_bytes(), &mut visit);
    }
    let folded = fold(text);
    let mut spaced = String::new();
    let mut previous: Option<(char, bool)> = None;
    for c in folded.chars() {
        if is_spaceless(c) {
            simple_term(std::mem::take(&mut spaced).as_bytes(), &mut visit);
            let mut buffer = [0u8; 8];
            if let Some((previous, _)) = previous {
                let first = previous.encode_utf8(&mut buffer).len();
                let second = c.encode_utf8(&mut buffer[first..]).len();
                visit(hash(&buffer[..first + second]));
            }
            previous = Some((c, previous.is_some()));
        } else {
            single_char_term(previous.take(), &mut visit);
            spaced.push(c);
        }
    }
    single_char_term(previous, &mut visit);
    simple_term(spaced.as_bytes(), &mut visit);
}

/// Emits a character that has no neighbour of its kind.
fn single_char_term(character: Option<(char, bool)>, visit: &mut impl FnMut(Term)) {
    if let Some((c, false)) = character {
        visit(hash(c.encode_utf8(&mut [0u8; 4]).as_bytes()));
    }
}

/// Emits the stemmed term of a word of one script.
fn simple_term(bytes: &[u8], visit: &mut impl FnMut(Term)) {
    if bytes.is_empty() {
        return;
    }
    let mut lower = [0u8; WORD_MAX];
    let length = bytes.len().min(WORD_MAX);
    let lower = &mut lower[..length];
    lower.copy_from_slice(&bytes[..length]);
    lower.make_ascii_lowercase();
    let length = stem(lower);
    visit(hash(&lower[..length]));
}

/// Hashes with FNV-1a and a final mix.
pub(crate) const fn hash(bytes: &[u8]) -> Term {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    mix(hash)
}

/// Spreads differences over all bits.
pub(crate) const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits ^ (bits >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted_terms(text: &str) -> Vec<Term> {
        let mut words = Vec::new();
        for_each_term(text, |term| words.push(term));
        words.sort_unstable();
        words
    }

    #[test]
    fn compounds_count_as_parts_and_as_a_whole() {
        assert_eq!(sorted_terms("code-review"), sorted_terms("code review codereview"));
        assert_eq!(sorted_terms("codeReview"), sorted_terms("code_review"));
        assert_eq!(sorted_terms("--PDF--"), sorted_terms("pdf"));
        assert_eq!(sorted_terms("HTTPServer"), sorted_terms("httpserver"));
        assert!(sorted_terms("- _").is_empty());
    }

    proptest! {
        #[test]
        fn simple_runs_match_the_general_case(text in "[a-zA-Z0-9_é译 -]{0,40}") {
            let mut expected = Vec::new();
            for run in text.split(|c| !is_compound_char(c)).filter(|run| !run.is_empty()) {
                split_compound(run.trim_matches(['-', '_']), &mut |found, text| expected.push((found, text)));
            }
            let mut found = Vec::new();
            for_each_word(&text, |word, text| found.push((word, text)));
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn chinese_is_split_into_pairs() {
        assert_eq!(sorted_terms("翻译文PDF").len(), 3);
        assert_eq!(sorted_terms("翻译 ＰＤＦ"), sorted_terms("翻译pdf"));
        assert_eq!(sorted_terms("译 x 译a").len(), 4);
        assert_eq!(sorted_terms("Straße"), sorted_terms("STRASSE"));
    }

    #[test]
    fn contractions_have_no_separate_ending() {
        for text in ["what's", "what’s", "WHAT'S", "what'll", "what'd", "what're", "what've", "what'm"] {
            assert_eq!(sorted_terms(text), sorted_terms("what"), "{text}");
        }
        assert!(sorted_terms("don't isn’t WON'T").is_empty());
        assert_eq!(sorted_terms("user's code-base's"), sorted_terms("user code-base"));
        assert_eq!(sorted_terms("O'Reilly x's3 'quoted'"), sorted_terms("o reilly x s3 quoted"));
    }

    #[test]
    fn inflected_forms_are_one_word() {
        assert_eq!(sorted_terms("Merging files"), sorted_terms("merged FILE"));
    }

    #[test]
    fn spellings_round_trip() {
        let mut written = Vec::new();
        for_each_word("Kube-CTL Grüße k 翻译 translate翻译", |found, text| {
            written.extend(spelling(found.term(), text))
        });
        assert_eq!(written, ["kube", "ctl", "grüsse"]);
        assert_eq!(single_term("two words"), None);
    }

    #[test]
    fn compounds_are_distinguished_from_words() {
        let mut found = Vec::new();
        for_each_word("kube-ctl useEffect", |token, text| {
            found.push((matches!(token, WordToken::Compound(_)), text))
        });
        let expected = [
            (false, "kube"),
            (false, "ctl"),
            (true, "kube-ctl"),
            (false, "use"),
            (false, "Effect"),
            (true, "useEffect"),
        ];
        assert_eq!(found, expected);
    }
}
