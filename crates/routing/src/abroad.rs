//! Common words of other languages and their English: most skills are written in English, and not everybody asks so.
//!
//! The list has everyday words of work with computers and business, one a line, with all the English it may mean.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::text::is_spaceless;

const CHINESE: &str = include_str!("abroad/zh.txt");

/// The longest word of the list, in characters.
const LONGEST: usize = 5;

/// The English for the words of a message that are on the list, the longest word first where several begin alike.
pub(super) fn english(message: &str) -> Vec<&'static str> {
    if message.is_ascii() {
        return Vec::new();
    }
    static LIST: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let list = LIST.get_or_init(|| CHINESE.lines().filter_map(|line| line.split_once(' ')).collect());
    let mut found = Vec::new();
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let mut taken = first.len_utf8();
        if is_spaceless(first) {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).take(LONGEST);
            let longest = ends.filter_map(|end| Some((end, *list.get(rest.get(..end)?)?))).last();
            if let Some((end, english)) = longest {
                found.push(english);
                taken = end;
            }
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_word_counts() {
        assert_eq!(english("帮我做代码审查, please"), ["code review"]);
        assert_eq!(english("下载这篇微信文章"), ["download", "wechat", "article"]);
        assert!(english("plain English").is_empty() && english("grüße").is_empty());
    }

    #[test]
    fn every_line_of_the_list_counts_once() {
        let mut seen = std::collections::HashSet::new();
        for line in CHINESE.lines() {
            let (word, english) = line.split_once(' ').unwrap();
            assert!(seen.insert(word), "{word} is there twice");
            assert!((1..=LONGEST).contains(&word.chars().count()) && english.is_ascii(), "{line}");
        }
    }
}
