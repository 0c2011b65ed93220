//! How frequent words are in general language, independent of a collection.
//!
//! In a collection of twenty skills, a word that one of them contains looks rare, even if most skills anywhere
//! contain it. Two lists correct this: the share of skills whose instructions contain a word, measured on
//! 10,000 public skills, and everyday words of English messages, which say little about what is wanted.

use std::collections::HashMap;
use std::sync::OnceLock;

use prowess_format::everyday::EVERYDAY_WORDS;

use super::words::{Term, for_each_term};

/// Words by frequency. Each line starts with the share of skills that contain its words, in percent.
const SKILL_WORDS: &str = include_str!("frequency/words.txt");

/// The share assumed for words that are not listed.
const UNLISTED_SHARE: f32 = 0.004;

/// The minimum share of everyday words.
const EVERYDAY_SHARE: f32 = 0.15;

fn frequencies() -> &'static HashMap<Term, f32> {
    static FREQUENCIES: OnceLock<HashMap<Term, f32>> = OnceLock::new();
    FREQUENCIES.get_or_init(|| {
        let mut frequencies: HashMap<Term, f32> = HashMap::new();
        for line in SKILL_WORDS.lines() {
            let Some((percent, words)) = line.split_once(' ') else { continue };
            let share = percent.parse::<f32>().unwrap_or_default() / 100.0;
            for_each_term(words, |term| {
                let known = frequencies.entry(term).or_default();
                *known = known.max(share);
            });
        }
        for_each_term(EVERYDAY_WORDS, |term| {
            let known = frequencies.entry(term).or_default();
            *known = known.max(EVERYDAY_SHARE);
        });
        frequencies
    })
}

/// Returns the share of skills anywhere whose instructions contain a word.
pub(crate) fn background_share(term: Term) -> f32 {
    frequencies().get(&term).copied().unwrap_or(UNLISTED_SHARE)
}

/// Returns `true` for frequent English words, which cannot be typing errors.
pub(crate) fn is_frequent(term: Term) -> bool {
    frequencies().contains_key(&term)
}

#[cfg(test)]
mod tests {
    use super::super::words::single_term;
    use super::*;

    #[test]
    fn frequent_words_have_a_high_share() {
        let share = |word: &str| background_share(single_term(word).unwrap());
        assert!(share("the") >= 0.5 && share("file") > 0.3);
        assert!(share("please") >= EVERYDAY_SHARE && share("tomorrow") >= EVERYDAY_SHARE);
        assert_eq!(share("spreadsheet"), UNLISTED_SHARE);
        assert!(frequencies().values().all(|share| (UNLISTED_SHARE..1.0).contains(share)));
    }
}
