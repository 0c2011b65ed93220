//! Words of texts, for the search in chats.

/// The maximum size of the indexed start of a text, in bytes.
const INDEXED_MAX: usize = 100_000;

/// The maximum number of words of a query.
const QUERY_WORDS_MAX: usize = 16;

/// The number of characters of an excerpt before the word that was found, and after it.
const EXCERPT_CHARS: (usize, usize) = (30, 120);

/// Splits a text into words, separated by spaces. Characters of scripts without spaces, such as Chinese, are words of their
/// own.
pub(crate) fn to_words(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(INDEXED_MAX)];
    let mut words = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            c if is_wordless(c) => words.extend([' ', c, ' ']),
            c if c.is_alphanumeric() => words.push(c),
            _ => words.push(' '),
        }
    }
    words.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// Splits a query into words. Adjacent characters of scripts without spaces are one phrase.
pub(crate) fn split_query(text: &str) -> Vec<String> {
    let phrases = text.split(|c: char| !c.is_alphanumeric()).map(to_words).filter(|words| !words.is_empty());
    phrases.take(QUERY_WORDS_MAX).collect()
}

/// Returns the part of a text around the first word of a query.
pub(crate) fn excerpt(text: &str, words: &[String]) -> String {
    let line: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let lower: Vec<char> = line.iter().map(|c| c.to_lowercase().next().unwrap_or(*c)).collect();
    let start_of = |word: &String| {
        let word: Vec<char> = word.chars().filter(|c| *c != ' ').collect();
        lower.windows(word.len().max(1)).position(|window| window == word)
    };
    let found = words.iter().filter_map(start_of).min().unwrap_or_default();
    let start = found.saturating_sub(EXCERPT_CHARS.0);
    let end = line.len().min(found + EXCERPT_CHARS.1);
    let mut excerpt: String = if start > 0 { "…" } else { "" }.to_owned();
    excerpt.extend(&line[start..end]);
    if end < line.len() {
        excerpt.push('…');
    }
    excerpt
}

/// Returns `true` for characters of scripts that do not separate words.
fn is_wordless(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_of_texts_and_queries() {
        assert_eq!(to_words("Hello, example.com! foo_bar x2"), "hello example com foo bar x2");
        assert_eq!(to_words("翻译 PDF文件"), "翻 译 pdf 文 件");
        assert_eq!(split_query("翻译 PDF \"'; DROP"), ["翻 译", "pdf", "drop"]);
        assert!(split_query("\"* :&|!()").is_empty());
        assert!(to_words(&"é ".repeat(INDEXED_MAX)).len() <= INDEXED_MAX);
    }

    #[test]
    fn excerpts_contain_the_word() {
        let text = format!("{} The Invoice is here. {}", "before ".repeat(40), "after ".repeat(40));
        insta::assert_snapshot!(excerpt(&text, &["invoice".into()]));
        assert_eq!(excerpt("请翻译这个文件", &["翻 译".into()]), "请翻译这个文件");
        assert_eq!(excerpt("", &["x".into()]), "");
    }

    proptest! {
        #[test]
        fn words_are_plain_and_excerpts_never_panic(text in "\\PC{0,80}", query in "\\PC{0,20}") {
            let words = split_query(&query);
            prop_assert!(words.iter().all(|word| word.chars().all(|c| c.is_alphanumeric() || c == ' ')));
            excerpt(&text, &words);
        }
    }
}
