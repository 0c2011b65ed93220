//! Text normalization (NFKC, lower case, single spaces) and word boundaries.

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// The maximum length of an indexed body, in bytes.
pub const BODY_MAX: usize = 32 * 1024;

/// The texts of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillTexts {
    /// The name.
    pub name: String,
    /// Description, tags and triggers.
    pub about: String,
    /// The instructions.
    pub body: String,
}

/// The maximum length of a message that is considered, in bytes.
pub const QUERY_MAX: usize = 64 * 1024;

/// Returns at most the first `max` bytes of a text, cut at a character boundary.
pub(crate) fn truncate(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

/// Normalizes text for comparison. Equivalent spellings give the same text: `Straße` and `STRASSE`, full-width
/// and plain letters.
///
/// ```
/// use prowess_routing::fold;
///
/// assert_eq!(fold("  Merge\n\tＰＤＦ Files "), " merge pdf files ");
/// assert_eq!(fold("STRASSE"), fold("Straße"));
/// ```
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return collapse_spaces(text.chars().map(|c| c.to_ascii_lowercase()));
    }
    // Most text is normalized already, and checking is faster than normalizing twice.
    let is_folded =
        is_nfkc_quick(text.chars()) == IsNormalized::Yes && text.chars().all(|c| lower(c).eq([c]));
    if is_folded {
        return collapse_spaces(text.chars());
    }
    // Lower-casing can produce text that is not in NFKC, and vice versa: two passes are enough.
    let first_pass: String = text.nfkc().flat_map(lower).collect();
    collapse_spaces(first_pass.nfkc().flat_map(lower))
}

/// Like [`fold`], without surrounding white space, as triggers are stored.
pub(crate) fn fold_trimmed(text: &str) -> String {
    fold(text.trim())
}

/// Converts each character to lower case without normalization, as a case-insensitive pattern sees it.
pub(super) fn fold_case(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().flat_map(|c| fold_char(c).into_iter().flatten())
}

/// Like [`fold_case`], for one character.
fn fold_char(c: char) -> [Option<char>; 3] {
    if c == 'ſ' {
        return [Some('s'), None, None];
    }
    let mut lower = c.to_lowercase();
    [lower.next(), lower.next(), lower.next()]
}

/// Returns the character that all characters of a set fold to, if there is only one.
pub(super) fn fold_to_one(characters: impl IntoIterator<Item = char>) -> Option<char> {
    let mut common = None;
    for c in characters {
        let [Some(folded), None, None] = fold_char(c) else { return None };
        if *common.get_or_insert(folded) != folded {
            return None;
        }
    }
    common
}

fn lower(c: char) -> impl Iterator<Item = char> {
    let (first, second) = match c {
        'ß' | 'ẞ' => ('s', Some('s')),
        'ς' => ('σ', None),
        c => (c, None),
    };
    first.to_lowercase().chain(second)
}

fn collapse_spaces(characters: impl Iterator<Item = char>) -> String {
    let mut text = String::with_capacity(characters.size_hint().0);
    let mut space = false;
    for c in characters {
        if c.is_whitespace() {
            if !space {
                text.push(' ');
            }
            space = true;
        } else {
            text.push(c);
            space = false;
        }
    }
    text
}

/// Returns `true` for characters of words.
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Returns `true` for characters of scripts without spaces between words.
pub(crate) fn is_spaceless(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF            // Thai, Lao
        | 0x1780..=0x17FF | 0x19E0..=0x19FF // Khmer
        | 0x3005..=0x3007 | 0x3021..=0x3029 // Han marks and numerals
        | 0x3041..=0x30FF | 0x31F0..=0x31FF // Hiragana, Katakana
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF // Han
    )
}

/// Returns `true` if a word may end between the `edge` of a keyword and its `neighbour`.
pub(super) fn is_boundary(edge: Option<char>, neighbour: Option<char>) -> bool {
    let (Some(edge), Some(neighbour)) = (edge, neighbour) else { return true };
    is_spaceless(edge) || is_spaceless(neighbour) || !(is_word(edge) && is_word(neighbour))
}

/// Returns `true` if `text[start..end]` starts and ends at word boundaries.
pub(super) fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let (before, rest) = text.split_at(start);
    let (word, after) = rest.split_at(end - start);
    is_boundary(word.chars().next(), before.chars().next_back())
        && is_boundary(word.chars().next_back(), after.chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_fold_to_the_same_text() {
        assert_eq!(fold("Größe\u{3000}ÜBER"), "grösse über");
        assert_eq!(fold("cafe\u{301}"), fold("CAFÉ"));
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
        assert_eq!(fold("ﾃｽﾄ"), "テスト");
        assert_eq!(fold_to_one(['k', 'K', '\u{212a}']), Some('k'));
        assert_eq!(fold_to_one(['a', 'b']), None);
    }

    #[test]
    fn word_boundaries_in_several_scripts() {
        assert!(is_whole_word("a pdf.", 2, 5));
        assert!(!is_whole_word("pdfs", 0, 3));
        assert!(is_whole_word("请翻译文档", 3, 9));
        assert!(is_whole_word("把pdf转换", 3, 6));
        assert!(!is_whole_word("prüfung", 0, 4));
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in "\\PC{0,40}") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }

        #[test]
        fn truncated_text_is_bounded(text in "\\PC{0,40}", max in 0usize..60) {
            prop_assert!(truncate(&text, max).len() <= max && text.starts_with(truncate(&text, max)));
        }
    }
}
