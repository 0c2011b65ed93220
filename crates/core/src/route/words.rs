//! The words of a text, as lexical ranking counts them.
//!
//! A word is a run of letters and digits. A compound (`code-review`, `snake_case`, `camelCase`) counts as its parts and
//! as a whole. Scripts without spaces count as single characters and pairs. Words are not stemmed: on labelled queries
//! over 10,000 skills it put fewer of the right ones first.

use super::text::{fold, is_spaceless, is_word};

/// The longest word that is told apart from others, in bytes.
const WORD_MAX: usize = 64;

/// A word, by its hash: an index of a million words needs no text.
pub(super) type Term = u64;

/// Calls `take` for each word of a text.
pub(super) fn terms(text: &str, mut take: impl FnMut(Term)) {
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let run = &rest[start..];
        let end = run.find(|c| !is_part(c)).unwrap_or(run.len());
        let (run, after) = run.split_at(end);
        compound(run.trim_matches(['-', '_']), &mut take);
        rest = after;
    }
}

fn is_part(c: char) -> bool {
    is_word(c) || c == '-'
}

/// A run of letters, digits, hyphens and underscores.
fn compound(run: &str, take: &mut impl FnMut(Term)) {
    let mut parts = 0;
    for piece in run.split(['-', '_']).filter(|piece| !piece.is_empty()) {
        parts += 1;
        let mut humps = 0;
        for hump in split_humps(piece) {
            humps += 1;
            word(hump, take);
        }
        if humps > 1 {
            word(piece, take);
        }
    }
    if parts > 1 && run.len() <= WORD_MAX {
        // `code-review`, `code_review` and `codeReview` are one.
        let joined: String = run.chars().filter(|c| !matches!(c, '-' | '_')).collect();
        word(&joined, take);
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
fn word(text: &str, take: &mut impl FnMut(Term)) {
    if text.is_ascii() {
        let mut lower = [0u8; WORD_MAX];
        let length = text.len().min(WORD_MAX);
        let lower = &mut lower[..length];
        lower.copy_from_slice(&text.as_bytes()[..length]);
        lower.make_ascii_lowercase();
        take(hash(lower));
        return;
    }
    let text = fold(text);
    let mut plain = String::new();
    let mut before: Option<char> = None;
    for c in text.chars() {
        if is_spaceless(c) {
            flush(&mut plain, take);
            let mut buffer = [0u8; 8];
            take(hash(c.encode_utf8(&mut buffer).as_bytes()));
            if let Some(before) = before {
                let first = before.encode_utf8(&mut buffer).len();
                let second = c.encode_utf8(&mut buffer[first..]).len();
                take(hash(&buffer[..first + second]));
            }
            before = Some(c);
        } else {
            before = None;
            plain.push(c);
        }
    }
    flush(&mut plain, take);
}

fn flush(plain: &mut String, take: &mut impl FnMut(Term)) {
    if !plain.is_empty() {
        let bytes = plain.as_bytes();
        take(hash(&bytes[..bytes.len().min(WORD_MAX)]));
        plain.clear();
    }
}

/// FNV-1a, finished so that all bits count.
fn hash(bytes: &[u8]) -> Term {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^ (hash >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn chinese_counts_as_characters_and_pairs() {
        assert_eq!(all("翻译PDF").len(), 4);
        assert_eq!(all("翻译 ＰＤＦ"), all("翻译pdf"));
        assert_eq!(all("Straße"), all("STRASSE"));
    }
}
