//! How far two words are apart: how many letters somebody would have mistyped.
//!
//! A letter that is missing, one too many, another in its place, or two neighbours exchanged counts one. Only small numbers
//! matter, so most words are told apart by their length and by which letters they have, without comparing them.

use super::words::WORD_MAX;

/// The longest word that is compared, in letters.
pub(super) const LONGEST: usize = WORD_MAX;

/// How many edits a word of so many letters may be away. In short words one letter makes another word.
pub(super) fn allowed(letters: usize) -> u8 {
    match letters {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// Which letters a word has: a bit for the first and one for the second of each, one for each digit, two for all others.
/// One edit takes away at most one bit, and adds at most one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Letters(u64);

impl Letters {
    pub(super) fn of(word: &str) -> Self {
        let mut bits = 0u64;
        for c in word.chars() {
            bits |= match c {
                'a'..='z' => {
                    let first = 1 << (c as u32 - 'a' as u32);
                    if bits & first == 0 { first } else { first << 26 }
                }
                '0'..='9' => 1 << (52 + c as u32 - '0' as u32),
                other => 1 << (62 + other as u32 % 2),
            };
        }
        Self(bits)
    }

    /// Whether a word with these letters can be as near as that to one with the others.
    pub(super) fn are_near(self, others: Self, edits: u8) -> bool {
        few(self.0 & !others.0, edits) && few(others.0 & !self.0, edits)
    }

    /// Whether all but so many of these letters are among the others.
    pub(super) fn are_in(self, others: Self, but: u8) -> bool {
        few(self.0 & !others.0, but)
    }
}

/// Whether at most so many bits are set. Without counting them: this is asked of every word there is.
fn few(mut bits: u64, most: u8) -> bool {
    for _ in 0..most {
        bits &= bits.wrapping_sub(1);
    }
    bits == 0
}

/// What is compared with what was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compared {
    /// The whole word.
    Whole,
    /// Whatever beginning of the word is nearest: the rest is still to be typed.
    Beginning,
}

/// The edits from what was typed to a word, if they are at most so many.
pub(super) fn edits<C: PartialEq>(typed: &[C], word: &[C], most: u8, compared: Compared) -> Option<u8> {
    let reach = usize::from(most);
    let too_far = match compared {
        Compared::Whole => typed.len().abs_diff(word.len()) > reach,
        Compared::Beginning => typed.len() > word.len() + reach,
    };
    if too_far || typed.len() > LONGEST || word.len() > LONGEST {
        return None;
    }
    let far = most.saturating_add(1);
    let [mut first, mut second, mut third] = [[far; LONGEST + 1]; 3];
    let (mut before, mut last, mut now) = (&mut first, &mut second, &mut third);
    for (cell, edits) in last.iter_mut().zip(0..far) {
        *cell = edits;
    }
    for (row, letter) in (1usize..).zip(typed) {
        now.fill(far);
        let columns = row.saturating_sub(reach)..=(row + reach).min(word.len());
        let mut least = far;
        for column in columns {
            let Some(other) = column.checked_sub(1).map(|at| &word[at]) else {
                now[0] = far.min(row as u8);
                least = least.min(now[0]);
                continue;
            };
            let mut edits = last[column - 1] + u8::from(letter != other);
            edits = edits.min(last[column] + 1).min(now[column - 1] + 1);
            if row > 1 && column > 1 && *letter == word[column - 2] && typed[row - 2] == *other {
                edits = edits.min(before[column - 2] + 1);
            }
            now[column] = edits.min(far);
            least = least.min(edits);
        }
        // No later row has less than this one.
        if least > most {
            return None;
        }
        (before, last, now) = (last, now, before);
    }
    let edits = match compared {
        Compared::Whole => last[word.len()],
        Compared::Beginning => last[..=word.len()].iter().copied().min().unwrap_or(far),
    };
    (edits <= most).then_some(edits)
}

#[cfg(test)]
mod tests;
