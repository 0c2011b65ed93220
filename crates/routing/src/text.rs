//! Text as it is compared: NFKC, lower case, one space for each run of white space; and where words end.

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// How much of a body counts, in bytes.
pub const BODY_MAX: usize = 32 * 1024;

/// The texts of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Texts {
    /// Its name.
    pub name: String,
    /// Description, tags and triggers.
    pub about: String,
    /// Its instructions.
    pub body: String,
}

/// The most of a message that is looked at, in bytes.
pub const QUERY_MAX: usize = 64 * 1024;

/// The first `max` bytes of a text, at a character's edge.
pub(crate) fn head(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

/// The text that is compared. Two spellings of the same words give the same text: `Straße` and `STRASSE`, full-width
/// letters and plain ones.
///
/// ```
/// use prowess_routing::fold;
///
/// assert_eq!(fold("  Merge\n\tＰＤＦ Files "), " merge pdf files ");
/// assert_eq!(fold("STRASSE"), fold("Straße"));
/// ```
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return spaced(text.chars().map(|c| c.to_ascii_lowercase()));
    }
    // Most text is that already, and asking is faster than doing it twice.
    let is_folded =
        is_nfkc_quick(text.chars()) == IsNormalized::Yes && text.chars().all(|c| lower(c).eq([c]));
    if is_folded {
        return spaced(text.chars());
    }
    // Lower case can bring back what is not in NFKC, and the other way round: twice is enough.
    let once: String = text.nfkc().flat_map(lower).collect();
    spaced(once.nfkc().flat_map(lower))
}

/// [`fold`] without the white space around it, as triggers are kept.
pub(crate) fn fold_trimmed(text: &str) -> String {
    fold(text.trim())
}

/// Each character's lower case and nothing else: what a pattern that ignores case sees of it.
pub(super) fn fold_simply(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().flat_map(|c| fold_char(c).into_iter().flatten())
}

/// As [`fold_simply`], for one character.
fn fold_char(c: char) -> [Option<char>; 3] {
    if c == 'ſ' {
        return [Some('s'), None, None];
    }
    let mut lower = c.to_lowercase();
    [lower.next(), lower.next(), lower.next()]
}

/// The one character that all of a set fold to, if they do.
pub(super) fn fold_to_one(characters: impl IntoIterator<Item = char>) -> Option<char> {
    let mut one = None;
    for c in characters {
        let [Some(folded), None, None] = fold_char(c) else { return None };
        if *one.get_or_insert(folded) != folded {
            return None;
        }
    }
    one
}

fn lower(c: char) -> impl Iterator<Item = char> {
    let (first, second) = match c {
        'ß' | 'ẞ' => ('s', Some('s')),
        'ς' => ('σ', None),
        other => (other, None),
    };
    first.to_lowercase().chain(second)
}

fn spaced(characters: impl Iterator<Item = char>) -> String {
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

/// Whether a character belongs to a word.
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Whether a character is of a script that puts no space between words.
pub(crate) fn is_spaceless(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF            // Thai, Lao
        | 0x1780..=0x17FF | 0x19E0..=0x19FF // Khmer
        | 0x3005..=0x3007 | 0x3021..=0x3029 // Han marks and numerals
        | 0x3041..=0x30FF | 0x31F0..=0x31FF // Hiragana, Katakana
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF // Han
    )
}

/// Whether a word may end between the `edge` of a keyword and its `neighbour`.
pub(super) fn is_boundary(edge: Option<char>, neighbour: Option<char>) -> bool {
    let (Some(edge), Some(neighbour)) = (edge, neighbour) else { return true };
    is_spaceless(edge) || is_spaceless(neighbour) || !(is_word(edge) && is_word(neighbour))
}

/// Whether the words of `text[start..end]` end there.
pub(super) fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let (before, rest) = text.split_at(start);
    let (found, after) = rest.split_at(end - start);
    is_boundary(found.chars().next(), before.chars().next_back())
        && is_boundary(found.chars().next_back(), after.chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_fold_to_one() {
        assert_eq!(fold("Größe\u{3000}ÜBER"), "grösse über");
        assert_eq!(fold("cafe\u{301}"), fold("CAFÉ"));
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
        assert_eq!(fold("ﾃｽﾄ"), "テスト");
        assert_eq!(fold_to_one(['k', 'K', '\u{212a}']), Some('k'));
        assert_eq!(fold_to_one(['a', 'b']), None);
    }

    #[test]
    fn words_end_where_people_see_it() {
        assert!(is_whole("a pdf.", 2, 5));
        assert!(!is_whole("pdfs", 0, 3));
        assert!(is_whole("请翻译文档", 3, 9));
        assert!(is_whole("把pdf转换", 3, 6));
        assert!(!is_whole("prüfung", 0, 4));
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in "\\PC{0,40}") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }

        #[test]
        fn the_head_is_bounded(text in "\\PC{0,40}", max in 0usize..60) {
            prop_assert!(head(&text, max).len() <= max && text.starts_with(head(&text, max)));
        }
    }
}
