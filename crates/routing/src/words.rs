//! The words of a text, as they are counted and compared.
//!
//! A word is a run of letters and digits, in [its stem](super::stem). A compound (`code-review`, `snake_case`, `camelCase`)
//! counts as its parts and as a whole. Scripts without spaces count as pairs of characters: single ones say too little.

use super::stem::stem;
use super::text::{fold, is_spaceless, is_word};

/// The longest word that is told apart from others, in bytes.
pub(crate) const WORD_MAX: usize = 64;

/// A word, by its hash: an index of a million words needs no text.
pub(crate) type Term = u64;

/// What was found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A word, in the order of the text.
    Word(Term),
    /// The whole of which the words before are the parts.
    Whole(Term),
}

impl Found {
    pub(crate) fn term(self) -> Term {
        match self {
            Self::Word(term) | Self::Whole(term) => term,
        }
    }
}

/// Calls `take` for each word of a text, with the stretch that it was made of.
pub(crate) fn words<'t>(text: &'t str, mut take: impl FnMut(Found, &'t str)) {
    let mut rest = text;
    loop {
        let (_, run) = rest.split_at(first_where(rest, is_part));
        if run.is_empty() {
            return;
        }
        let (run, after) = run.split_at(first_where(run, |c| !is_part(c)));
        if is_simple(run) {
            plain(run.as_bytes(), &mut |term| take(Found::Word(term), run));
        } else {
            compound(run.trim_matches(['-', '_']), &mut take);
        }
        rest = after;
    }
}

/// Where the first character is for which something holds, or the end. Most text is ASCII, and need not be decoded.
fn first_where(text: &str, holds: impl Fn(char) -> bool) -> usize {
    let ascii = text.bytes().position(|byte| !byte.is_ascii() || holds(char::from(byte)));
    let Some(at) = ascii else { return text.len() };
    let rest = text.get(at..).unwrap_or_default();
    if rest.starts_with(|c: char| c.is_ascii()) { at } else { at + rest.find(holds).unwrap_or(rest.len()) }
}

/// Whether a run is one word and nothing else: ASCII letters and digits without a hump.
fn is_simple(run: &str) -> bool {
    let mut before = 0;
    run.bytes().all(|byte| {
        let is_hump = byte.is_ascii_uppercase() && u8::is_ascii_lowercase(&before);
        before = byte;
        byte.is_ascii_alphanumeric() && !is_hump
    })
}

/// Every word of a text and every whole of words.
pub(crate) fn terms(text: &str, mut take: impl FnMut(Term)) {
    words(text, |found, _| take(found.term()));
}

/// A word as it is written down, if reading that gives the same word again: not of a script without spaces, and not so
/// long that it is cut.
pub(crate) fn spelled(term: Term, text: &str) -> Option<String> {
    let folded = fold(text);
    if !(2..=WORD_MAX).contains(&folded.len()) || folded.contains(is_spaceless) {
        return None;
    }
    (single(&folded) == Some(term)).then_some(folded)
}

/// The word that a text is, if it is one and no more.
pub(crate) fn single(text: &str) -> Option<Term> {
    let (mut word, mut count) = (None, 0);
    words(text, |found, _| {
        word = Some(found.term());
        count += 1;
    });
    word.filter(|_| count == 1)
}

fn is_part(c: char) -> bool {
    is_word(c) || c == '-'
}

/// A run of letters, digits, hyphens and underscores.
fn compound<'t>(run: &'t str, take: &mut impl FnMut(Found, &'t str)) {
    let mut parts = 0;
    for piece in run.split(['-', '_']).filter(|piece| !piece.is_empty()) {
        parts += 1;
        let mut humps = 0;
        for hump in split_humps(piece) {
            humps += 1;
            word(hump, |term| take(Found::Word(term), hump));
        }
        if humps > 1 {
            word(piece, |term| take(Found::Whole(term), piece));
        }
    }
    if parts > 1 && run.len() <= WORD_MAX {
        // `code-review`, `code_review` and `codeReview` are one.
        let joined: String = run.chars().filter(|c| !matches!(c, '-' | '_')).collect();
        word(&joined, |term| take(Found::Whole(term), run));
    }
}

/// `camelCase` at its humps: before a capital that follows a small letter.
fn split_humps(piece: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(piece);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut before = None;
        for (at, c) in text.char_indices() {
            if c.is_uppercase() && before.is_some_and(char::is_lowercase) {
                rest = text.get(at..);
                return text.get(..at);
            }
            before = Some(c);
        }
        rest = None;
        Some(text)
    })
}

/// One word, of one script or several.
fn word(text: &str, mut take: impl FnMut(Term)) {
    if text.is_ascii() {
        return plain(text.as_bytes(), &mut take);
    }
    let folded = fold(text);
    let mut spaced = String::new();
    let mut before: Option<(char, bool)> = None;
    for c in folded.chars() {
        if is_spaceless(c) {
            plain(std::mem::take(&mut spaced).as_bytes(), &mut take);
            let mut buffer = [0u8; 8];
            if let Some((before, _)) = before {
                let first = before.encode_utf8(&mut buffer).len();
                let second = c.encode_utf8(&mut buffer[first..]).len();
                take(hash(&buffer[..first + second]));
            }
            before = Some((c, before.is_some()));
        } else {
            alone(before.take(), &mut take);
            spaced.push(c);
        }
    }
    alone(before, &mut take);
    plain(spaced.as_bytes(), &mut take);
}

/// A character that stands alone is a word.
fn alone(character: Option<(char, bool)>, take: &mut impl FnMut(Term)) {
    if let Some((c, false)) = character {
        take(hash(c.encode_utf8(&mut [0u8; 4]).as_bytes()));
    }
}

fn plain(bytes: &[u8], take: &mut impl FnMut(Term)) {
    if bytes.is_empty() {
        return;
    }
    let mut lower = [0u8; WORD_MAX];
    let length = bytes.len().min(WORD_MAX);
    let lower = &mut lower[..length];
    lower.copy_from_slice(&bytes[..length]);
    lower.make_ascii_lowercase();
    let length = stem(lower);
    take(hash(&lower[..length]));
}

/// FNV-1a, finished so that all bits count.
pub(crate) const fn hash(bytes: &[u8]) -> Term {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    mix(hash)
}

/// Spreads what differs over all bits.
pub(crate) const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits ^ (bits >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Vec<Term> {
        let mut words = Vec::new();
        terms(text, |term| words.push(term));
        words.sort_unstable();
        words
    }

    #[test]
    fn compounds_count_as_parts_and_as_a_whole() {
        assert_eq!(all("code-review"), all("code review codereview"));
        assert_eq!(all("codeReview"), all("code_review"));
        assert_eq!(all("--PDF--"), all("pdf"));
        assert_eq!(all("HTTPServer"), all("httpserver"));
        assert!(all("- _").is_empty());
    }

    proptest! {
        #[test]
        fn a_simple_run_is_read_as_any_other(text in "[a-zA-Z0-9_é译 -]{0,40}") {
            let mut expected = Vec::new();
            for run in text.split(|c| !is_part(c)).filter(|run| !run.is_empty()) {
                compound(run.trim_matches(['-', '_']), &mut |found, text| expected.push((found, text)));
            }
            let mut found = Vec::new();
            words(&text, |word, text| found.push((word, text)));
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn chinese_counts_as_pairs() {
        assert_eq!(all("翻译文PDF").len(), 3);
        assert_eq!(all("翻译 ＰＤＦ"), all("翻译pdf"));
        assert_eq!(all("译 x 译a").len(), 4);
        assert_eq!(all("Straße"), all("STRASSE"));
    }

    #[test]
    fn forms_of_a_word_are_one() {
        assert_eq!(all("Merging files"), all("merged FILE"));
    }

    #[test]
    fn words_are_written_down_as_they_are_read() {
        let mut written = Vec::new();
        words("Kube-CTL Grüße k 翻译 translate翻译", |found, text| {
            written.extend(spelled(found.term(), text))
        });
        assert_eq!(written, ["kube", "ctl", "grüsse"]);
        assert_eq!(single("two words"), None);
    }

    #[test]
    fn wholes_are_told_from_words() {
        let mut found = Vec::new();
        words("kube-ctl useEffect", |what, text| found.push((matches!(what, Found::Whole(_)), text)));
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
