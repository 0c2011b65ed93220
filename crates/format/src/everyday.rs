//! Everyday English words, which occur in messages of any kind and do not say what is wanted.

use std::collections::HashSet;
use std::sync::OnceLock;

/// The words, in lower case, separated by white space.
pub const EVERYDAY_WORDS: &str = include_str!("everyday_words.txt");

/// The maximum number of words of a keyword that can be too general. A longer phrase is specific as a whole.
const GENERAL_WORDS_MAX: usize = 2;

/// Returns `true` if a keyword consists of one or two everyday words only.
///
/// ```
/// use prowess_format::everyday::is_everyday_keyword;
///
/// assert!(is_everyday_keyword("Write") && is_everyday_keyword("help me"));
/// assert!(!is_everyday_keyword("pdf") && !is_everyday_keyword("write a poem"));
/// ```
pub fn is_everyday_keyword(keyword: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| EVERYDAY_WORDS.split_whitespace().collect());
    let mut count = 0;
    let all = keyword.split_whitespace().all(|word| {
        count += 1;
        count <= GENERAL_WORDS_MAX && words.contains(word.to_lowercase().as_str())
    });
    all && count > 0
}
