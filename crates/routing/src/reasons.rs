//! The reasons why a skill shares words with a message.

use std::borrow::Cow;

use super::query::{Query, QueryWord};
use super::rerank::Reranked;

/// The maximum number of words in a reason.
const WORDS_MAX: usize = 5;

/// Lists the words of the message by where the skill contains them, the most important ones first.
pub(super) fn reasons(query: &Query<'_>, reranked: &Reranked, impacts: &[[u8; 2]]) -> Vec<String> {
    let words =
        || query.words.iter().zip(&reranked.in_name).zip(impacts).filter(|((word, _), _)| !word.is_stop_word);
    let reason = |location: &str, matches: &dyn Fn(bool, [u8; 2]) -> bool| {
        let matching = words().filter(|((_, in_name), impacts)| matches(**in_name, **impacts));
        let mut texts: Vec<Cow<'_, str>> = Vec::new();
        for ((word, _), _) in matching {
            let text = display_word(word);
            if !texts.iter().any(|listed| listed.eq_ignore_ascii_case(&text)) && texts.len() < WORDS_MAX {
                texts.push(text);
            }
        }
        texts.sort_unstable();
        (!texts.is_empty()).then(|| format!("{location}: {}", texts.join(", ")))
    };
    let text = |term| query.words.iter().find(|word| word.weighted.term == term).map(|word| &*word.text);
    let pairs: Vec<String> = reranked
        .pairs
        .iter()
        .filter_map(|(first, second)| Some(format!("{} {}", text(*first)?, text(*second)?)))
        .take(WORDS_MAX)
        .collect();
    [
        reason("in its name", &|in_name, _| in_name),
        reason("in its description", &|in_name, [description, _]| !in_name && description > 0),
        reason("in its instructions", &|_, [description, body]| description == 0 && body > 0),
        (!pairs.is_empty()).then(|| format!("together: {}", pairs.join(", "))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a word and, for a correction, the text in the message.
fn display_word<'w>(word: &'w QueryWord<'_>) -> Cow<'w, str> {
    match &word.corrected_from {
        None => Cow::Borrowed(&*word.text),
        Some(typed) => Cow::Owned(format!("{} (for \"{typed}\")", word.text)),
    }
}
