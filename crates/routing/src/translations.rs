//! English translations of common words in other languages, because most skills are written in English.
//!
//! The list contains everyday words from computing and business, one per line, with all English meanings.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::text::is_spaceless;

const CHINESE: &str = include_str!("translations/zh.txt");

/// The length of the longest word in the list, in characters.
const WORD_CHARS_MAX: usize = 5;

/// Translates the words of a message that are in the list, preferring the longest match.
pub(super) fn to_english(message: &str) -> Vec<&'static str> {
    if message.is_ascii() {
        return Vec::new();
    }
    static LIST: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let list = LIST.get_or_init(|| CHINESE.lines().filter_map(|line| line.split_once(' ')).collect());
    let mut translations = Vec::new();
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        if is_spaceless(first) {
            let ends = rest.char_indices().map(|(start, c)| start + c.len_utf8()).take(WORD_CHARS_MAX);
            let longest = ends.filter_map(|end| Some((end, *list.get(rest.get(..end)?)?))).last();
            if let Some((end, english)) = longest {
                translations.push(english);
                length = end;
            }
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    translations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_match_wins() {
        assert_eq!(to_english("帮我做代码审查, please"), ["code review"]);
        assert_eq!(to_english("下载这篇微信文章"), ["download", "wechat", "article"]);
        assert!(to_english("plain English").is_empty() && to_english("grüße").is_empty());
    }

    #[test]
    fn the_list_has_no_duplicates() {
        let mut seen = std::collections::HashSet::new();
        for line in CHINESE.lines() {
            let (word, english) = line.split_once(' ').unwrap();
            assert!(seen.insert(word), "duplicate word {word}");
            assert!((1..=WORD_CHARS_MAX).contains(&word.chars().count()) && english.is_ascii(), "{line}");
        }
    }
}
