//! The words of a request that a description lacks.

use std::collections::HashSet;

use super::stop_words::is_stop_word;
use super::words::{WordToken, for_each_term, for_each_word};

/// Returns the words of a request that occur in none of the texts, in any of their forms, without common words. Adding
/// them to the description of a skill makes it match the request.
///
/// ```
/// let words = prowess_routing::missing_words("reconcile the invoices of June", &["Checks invoices."]);
/// assert_eq!(words, ["reconcile", "june"]);
/// ```
pub fn missing_words(request: &str, texts: &[&str]) -> Vec<String> {
    let mut known = HashSet::new();
    for text in texts {
        for_each_term(text, |term| {
            known.insert(term);
        });
    }
    let mut words: Vec<String> = Vec::new();
    for_each_word(request, |token, text| {
        let word = text.to_lowercase();
        if let WordToken::Word(term) = token
            && !known.contains(&term)
            && !is_stop_word(term)
            && text.chars().count() >= 3
            && !text.contains(|c: char| c.is_ascii_digit())
            && !words.contains(&word)
        {
            words.push(word);
        }
    });
    words
}
