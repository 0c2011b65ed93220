//! The edit distance of two words.
//!
//! A missing letter, an extra one, a wrong one, and two swapped neighbours count as one edit each. Only small
//! distances matter, so most words are excluded by their length and their letters, without comparing them.

use super::words::WORD_MAX;

/// The maximum length of a compared word, in characters.
pub(super) const COMPARED_MAX: usize = WORD_MAX;

/// Returns the allowed number of edits for a word of this length. In short words, one letter makes another word.
pub(super) fn max_edits(letters: usize) -> u8 {
    match letters {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// The letters of a word: one bit for the first and one for the second occurrence of each letter, one for each
/// digit, two for all others. One edit removes at most one bit and adds at most one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LetterSet(u64);

impl LetterSet {
    pub(super) fn from_word(word: &str) -> Self {
        let mut bits = 0u64;
        for c in word.chars() {
            bits |= match c {
                'a'..='z' => {
                    let first = 1 << (c as u32 - 'a' as u32);
                    if bits & first == 0 { first } else { first << 26 }
                }
                '0'..='9' => 1 << (52 + c as u32 - '0' as u32),
                c => 1 << (62 + c as u32 % 2),
            };
        }
        Self(bits)
    }

    /// Returns `true` if words with these letters can be within `edits` of each other.
    pub(super) fn may_be_near(self, others: Self, edits: u8) -> bool {
        at_most_bits(self.0 & !others.0, edits) && at_most_bits(others.0 & !self.0, edits)
    }

    /// Returns `true` if all but `missing` of these letters are among the others.
    pub(super) fn are_mostly_in(self, others: Self, missing: u8) -> bool {
        at_most_bits(self.0 & !others.0, missing)
    }
}

/// Returns `true` if at most `max` bits are set. Does not count them, because this runs for every word of the
/// index.
fn at_most_bits(mut bits: u64, max: u8) -> bool {
    for _ in 0..max {
        bits &= bits.wrapping_sub(1);
    }
    bits == 0
}

/// What the typed text is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompareMode {
    /// The whole word.
    Whole,
    /// The prefix of the word that is nearest, because the rest is still to be typed.
    Prefix,
}

/// Returns the edit distance from the typed text to a word, if it is at most `max`.
pub(super) fn edit_distance<C: PartialEq>(typed: &[C], word: &[C], max: u8, mode: CompareMode) -> Option<u8> {
    let band = usize::from(max);
    let too_far = match mode {
        CompareMode::Whole => typed.len().abs_diff(word.len()) > band,
        CompareMode::Prefix => typed.len() > word.len() + band,
    };
    if too_far || typed.len() > COMPARED_MAX || word.len() > COMPARED_MAX {
        return None;
    }
    let far = max.saturating_add(1);
    let [mut first, mut second, mut third] = [[far; COMPARED_MAX + 1]; 3];
    let (mut second_last, mut last, mut current) = (&mut first, &mut second, &mut third);
    for (cell, edits) in last.iter_mut().zip(0..far) {
        *cell = edits;
    }
    for (row, letter) in (1usize..).zip(typed) {
        current.fill(far);
        let columns = row.saturating_sub(band)..=(row + band).min(word.len());
        let mut least = far;
        for column in columns {
            let Some(word_letter) = column.checked_sub(1).map(|index| &word[index]) else {
                current[0] = far.min(row as u8);
                least = least.min(current[0]);
                continue;
            };
            let mut edits = last[column - 1] + u8::from(letter != word_letter);
            edits = edits.min(last[column] + 1).min(current[column - 1] + 1);
            if row > 1 && column > 1 && *letter == word[column - 2] && typed[row - 2] == *word_letter {
                edits = edits.min(second_last[column - 2] + 1);
            }
            current[column] = edits.min(far);
            least = least.min(edits);
        }
        // No later row can have a smaller value than this one.
        if least > max {
            return None;
        }
        (second_last, last, current) = (last, current, second_last);
    }
    let edits = match mode {
        CompareMode::Whole => last[word.len()],
        CompareMode::Prefix => last[..=word.len()].iter().copied().min().unwrap_or(far),
    };
    (edits <= max).then_some(edits)
}

#[cfg(test)]
mod tests;
