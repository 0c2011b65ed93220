//! Why a skill shares words with a message, in words.

use std::borrow::Cow;

use super::look::Look;
use super::query::{Query, Word};

/// The most words that are named.
const NAMED: usize = 5;

/// Where the words of the message are, the ones that say most first.
pub(super) fn reasons(query: &Query<'_>, look: &Look, impacts: &[[u8; 2]]) -> Vec<String> {
    let words = || query.words.iter().zip(&look.in_name).zip(impacts).filter(|((word, _), _)| !word.stop);
    let told = |place: &str, has: &dyn Fn(bool, [u8; 2]) -> bool| {
        let had = words().filter(|((_, in_name), impacts)| has(**in_name, **impacts));
        let mut texts: Vec<Cow<'_, str>> = Vec::new();
        for ((word, _), _) in had {
            let text = told_as(word);
            if !texts.iter().any(|known| known.eq_ignore_ascii_case(&text)) && texts.len() < NAMED {
                texts.push(text);
            }
        }
        texts.sort_unstable();
        (!texts.is_empty()).then(|| format!("{place}: {}", texts.join(", ")))
    };
    let text = |term| query.words.iter().find(|word| word.asked.term == term).map(|word| &*word.text);
    let together: Vec<String> = look
        .together
        .iter()
        .filter_map(|(one, other)| Some(format!("{} {}", text(*one)?, text(*other)?)))
        .take(NAMED)
        .collect();
    [
        told("in its name", &|in_name, _| in_name),
        told("in its description", &|in_name, [about, _]| !in_name && about > 0),
        told("in its instructions", &|_, [about, body]| about == 0 && body > 0),
        (!together.is_empty()).then(|| format!("together: {}", together.join(", "))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A word, and what stands in the message where that is only nearly it.
fn told_as<'w>(word: &'w Word<'_>) -> Cow<'w, str> {
    match &word.instead_of {
        None => Cow::Borrowed(&*word.text),
        Some(said) => Cow::Owned(format!("{} (for \"{said}\")", word.text)),
    }
}
