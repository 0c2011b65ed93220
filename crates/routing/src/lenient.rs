//! Words of names that a message nearly has: mistyped ones, and ones of which only the beginning stands there.
//!
//! Only what no skill says of itself counts as mistyped, so that a message that is spelled right is answered as before, and
//! nothing of this is read or worked out for it.

use super::index::{Damaged, Index, Known};
use super::near::Compared;
use super::query::Query;
use super::text::{fold, is_spaceless};
use super::vocabulary::{Near, Vocabulary};

/// How many words of a message are looked for in other spellings: comparing one takes some of a query's time.
const TRIED: usize = 8;

/// The most words that stand for one that is mistyped, and for a beginning.
const NEAREST: usize = 3;
const BEGINNINGS: usize = 8;

/// The fewest letters of a last word that may be a beginning.
const LAST: usize = 3;

/// What a word weighs that is one edit away, and two, beside what stands in the message.
const EDITS: [f32; 2] = [0.7, 0.5];

/// What a word weighs that begins with what a star follows, and with what the message ends with.
const STARRED: f32 = 0.8;
const ENDING: f32 = 0.5;

/// What is looked for beyond the words as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// Words of names that are nearly those of the message.
    Typos,
    /// Words of names that begin with `kube*`, or with the last word of the message where no skill has it.
    Prefixes,
    /// Words in quotation marks, side by side.
    Phrases,
}

/// Adds to a message the words of names that it nearly has, and what is known of them.
pub(super) fn add_near(
    query: &mut Query<'_>,
    known: &mut Vec<Known>,
    index: &Index,
    looks_for: impl Fn(Beyond) -> bool,
) -> Result<(), Damaged> {
    let mut added: Vec<(String, f32, String)> = Vec::new();
    if looks_for(Beyond::Prefixes) {
        for (text, weight) in &query.beginnings {
            let words =
                most_common(index, |names| names.words(names.beginning(&fold(text))).collect(), BEGINNINGS)?;
            added.extend(words.into_iter().map(|(word, _)| (word, weight * STARRED, format!("{text}*"))));
        }
        if let Some((word, known)) = query.last.and_then(|at| query.words.get(at).zip(known.get(at)))
            && !known.is_known()
            && word.text.chars().count() >= LAST
        {
            let text = fold(&word.text);
            let words =
                most_common(index, |names| names.words(names.beginning(&text)).collect(), BEGINNINGS)?;
            let weight = word.asked.weight * ENDING;
            added.extend(words.into_iter().map(|(begun, _)| (begun, weight, word.text.clone().into_owned())));
        }
    }
    if looks_for(Beyond::Typos) {
        let strange = query.words.iter().zip(&*known).filter(|(word, known)| {
            word.plain && word.said && !word.stop && !known.is_told() && may_be_mistyped(&word.text)
        });
        for (word, _) in strange.take(TRIED) {
            let text = fold(&word.text);
            let words = most_common(index, |names| names.nearest(&text, Compared::Whole), NEAREST)?;
            added.extend(words.into_iter().map(|(near, edits)| {
                let share = EDITS[usize::from(edits > 1)];
                (near, word.asked.weight * share, word.text.clone().into_owned())
            }));
        }
    }
    if added.is_empty() {
        return Ok(());
    }
    for (word, weight, instead_of) in &added {
        query.add_near(word, *weight, instead_of);
    }
    let asked: Vec<_> = query.words[known.len()..].iter().map(|word| word.asked).collect();
    known.extend(index.know(&asked)?);
    Ok(())
}

/// Letters, perhaps with digits behind them: numbers and the names of versions and files are what they are.
fn may_be_mistyped(text: &str) -> bool {
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    letters.chars().count() >= 4 && letters.chars().all(char::is_alphabetic) && !text.contains(is_spaceless)
}

/// The words that all segments give: the fewest edits only, then the ones that most names have, then in order.
fn most_common<'i>(
    index: &'i Index,
    of: impl Fn(&'i Vocabulary) -> Vec<Near<'i>>,
    most: usize,
) -> Result<Vec<(String, u8)>, Damaged> {
    let mut found: Vec<Near<'i>> = Vec::new();
    for names in index.names() {
        found.extend(of(names?));
    }
    let least = found.iter().map(|near| near.edits).min();
    found.retain(|near| Some(near.edits) == least);
    // Several segments may have one word.
    found.sort_unstable_by_key(|near| near.word);
    let mut words: Vec<(u32, &str, u8)> = found
        .chunk_by(|one, other| one.word == other.word)
        .filter_map(|same| {
            let count = same.iter().fold(0u32, |sum, near| sum.saturating_add(near.count));
            same.first().map(|near| (count, near.word, near.edits))
        })
        .collect();
    words.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
    words.truncate(most);
    Ok(words.into_iter().map(|(_, word, edits)| (word.to_owned(), edits)).collect())
}

#[cfg(test)]
mod tests;
