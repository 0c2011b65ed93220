//! What the second look at a skill needs: the words of its name, those of its description in order, and which words stand
//! side by side anywhere in it.
//!
//! Pairs are kept in a filter of eight bits each. It says yes to about three in a hundred pairs that are not there, and
//! costs a tenth of the text. How like another a skill is can be told from a sample of its pairs.

use super::bytes::{Damaged, Reader, checksum};
use crate::words::{Term, mix};

/// The most words that are kept of a name and of a description.
const NAME_MAX: usize = 32;
const ABOUT_MAX: usize = 400;

/// The most pairs, and how many bits each is worth.
const PAIRS_MAX: usize = 8 * 1024;
const BITS: usize = 8;
const PROBES: usize = 3;

/// How many pairs the sample has: of each part of all pairs there could be, the least that is there.
const SAMPLE: usize = 32;

/// Two samples are of copies where so many of those that are there are the same, and so many are there.
const COPY: usize = 26;
const ENOUGH: usize = 16;

/// Marks a word of a sentence that says when to use the skill.
const WHEN: u32 = 1 << 31;

/// A word in a sketch: 31 bits of it are enough to compare a few dozen with a few dozen.
pub(crate) fn small(term: Term) -> u32 {
    term as u32 & !WHEN
}

/// Two words side by side, in whatever order.
pub(crate) fn pair(one: Term, other: Term) -> u64 {
    mix(one.min(other).rotate_left(17) ^ one.max(other))
}

/// What is sketched.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    pub(crate) name: Vec<Term>,
    /// The words of the description, each with whether its sentence says when to use the skill.
    pub(crate) about: Vec<(Term, bool)>,
    pub(crate) pairs: Vec<u64>,
}

impl Drawn {
    pub(crate) fn write(mut self, bytes: &mut Vec<u8>) {
        self.name.truncate(NAME_MAX);
        self.about.truncate(ABOUT_MAX);
        self.pairs.sort_unstable();
        self.pairs.dedup();
        bytes.push(self.name.len() as u8);
        bytes.extend((self.about.len() as u16).to_le_bytes());
        bytes.extend(sample(&self.pairs));
        self.pairs.truncate(PAIRS_MAX);
        for term in &self.name {
            bytes.extend(small(*term).to_le_bytes());
        }
        for (term, when) in &self.about {
            bytes.extend((small(*term) | if *when { WHEN } else { 0 }).to_le_bytes());
        }
        let start = bytes.len();
        bytes.resize(start + (self.pairs.len() * BITS).div_ceil(8), 0);
        let filter = &mut bytes[start..];
        for pair in &self.pairs {
            for bit in bits(*pair, filter.len()) {
                filter[bit / 8] |= 1 << (bit % 8);
            }
        }
    }
}

/// A byte of the least pair of each part; 0 where a part has none. Pairs are in order, so the first of a part is the least.
fn sample(pairs: &[u64]) -> [u8; SAMPLE] {
    let mut sample = [0; SAMPLE];
    for pair in pairs {
        let part = &mut sample[(pair >> 59) as usize];
        if *part == 0 {
            *part = (*pair as u8).max(1);
        }
    }
    sample
}

/// The bits of a pair in a filter of so many bytes.
fn bits(pair: u64, bytes: usize) -> impl Iterator<Item = usize> {
    let step = (pair >> 32) | 1;
    (0..PROBES as u64)
        .map(move |probe| (pair.wrapping_add(probe.wrapping_mul(step)) % (bytes as u64 * 8)) as usize)
}

/// What a skill says, as far as it is needed to tell whether another says the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gist {
    text: u64,
    sample: [u8; SAMPLE],
}

impl Gist {
    /// Whether one is a copy of the other, or nearly: four of five pairs of words are the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        if self.text == other.text {
            return true;
        }
        let both = || self.sample.iter().zip(&other.sample);
        let there = both().filter(|(one, other)| **one != 0 || **other != 0).count();
        let same = both().filter(|(one, other)| one == other && **one != 0).count();
        there >= ENOUGH && same * SAMPLE >= there * COPY
    }
}

/// A sketch that was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sketch<'b> {
    sample: &'b [u8; SAMPLE],
    name: &'b [[u8; 4]],
    about: &'b [[u8; 4]],
    filter: &'b [u8],
}

impl<'b> Sketch<'b> {
    pub(crate) fn read(bytes: &'b [u8]) -> Result<Self, Damaged> {
        let mut reader = Reader(bytes);
        let (name, about) = (reader.byte()? as usize, reader.u16()? as usize);
        let sample = reader.take(SAMPLE)?.first_chunk().ok_or(Damaged)?;
        let name = reader.take(name * 4)?.as_chunks().0;
        let about = reader.take(about * 4)?.as_chunks().0;
        Ok(Self { sample, name, about, filter: reader.0 })
    }

    /// How many words the name has.
    pub(crate) fn name_len(&self) -> usize {
        self.name.len()
    }

    /// The words of the name, as [`small`] gives them.
    pub(crate) fn name(&self) -> impl Iterator<Item = u32> {
        self.name.iter().map(|word| u32::from_le_bytes(*word))
    }

    pub(crate) fn name_has(&self, term: Term) -> bool {
        self.name.iter().any(|word| u32::from_le_bytes(*word) == small(term))
    }

    /// Whether two words stand side by side in the name, in whatever order.
    pub(crate) fn name_has_beside(&self, one: Term, other: Term) -> bool {
        let (one, other) = (small(one).to_le_bytes(), small(other).to_le_bytes());
        self.name.windows(2).any(|pair| pair == [one, other] || pair == [other, one])
    }

    /// The words of the description in order: which of `terms` each is, and whether its sentence says when.
    pub(crate) fn about<'s>(&'s self, terms: &'s [Term]) -> impl Iterator<Item = Option<(usize, bool)>> + 's {
        self.about.iter().map(move |word| {
            let word = u32::from_le_bytes(*word);
            let at = terms.iter().position(|term| small(*term) == word & !WHEN)?;
            Some((at, word & WHEN != 0))
        })
    }

    /// What the skill says, whatever its name.
    pub(crate) fn gist(&self) -> Gist {
        let text = checksum(self.about.as_flattened()) ^ checksum(self.filter).rotate_left(1);
        Gist { text, sample: *self.sample }
    }

    /// Whether two words stand side by side; yes is sometimes wrong.
    pub(crate) fn has(&self, pair: u64) -> bool {
        !self.filter.is_empty()
            && bits(pair, self.filter.len()).all(|bit| self.filter[bit / 8] & (1 << (bit % 8)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_drawn_is_there(
            name in prop::collection::vec(any::<u64>(), 0..9),
            about in prop::collection::vec((any::<u64>(), any::<bool>()), 0..40),
            pairs in prop::collection::vec(any::<u64>(), 0..90),
        ) {
            let mut bytes = Vec::new();
            Drawn { name: name.clone(), about: about.clone(), pairs: pairs.clone() }.write(&mut bytes);
            let sketch = Sketch::read(&bytes).unwrap();
            prop_assert!(name.iter().all(|term| sketch.name_has(*term)));
            prop_assert!(pairs.iter().all(|pair| sketch.has(*pair)));
            for (term, when) in about {
                prop_assert!(sketch.about(&[term]).any(|met| met == Some((0, when))));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..90), pair: u64) {
            if let Ok(sketch) = Sketch::read(&bytes) {
                let _ = (sketch.has(pair), sketch.name_has(pair), sketch.about(&[pair]).count());
            }
        }
    }

    #[test]
    fn copies_with_a_few_changes_are_alike_and_others_are_not() {
        let gist = |pairs: std::ops::Range<u64>| {
            let mut bytes = Vec::new();
            let pairs = pairs.map(|n| pair(mix(n), mix(n + 1))).collect();
            Drawn { pairs, ..Drawn::default() }.write(&mut bytes);
            Sketch::read(&bytes).unwrap().gist()
        };
        assert!(gist(0..900).is_like(&gist(0..900)));
        assert!(gist(0..900).is_like(&gist(30..920)));
        assert!(!gist(0..900).is_like(&gist(450..1350)));
        assert!(!gist(0..900).is_like(&gist(2000..2900)));
        assert!(!gist(0..8).is_like(&gist(0..9)), "too little to tell");
    }

    #[test]
    fn few_pairs_that_are_not_there_seem_to_be() {
        let mut bytes = Vec::new();
        let pairs = (0..400).map(|n| pair(n, n + 1)).collect();
        Drawn { pairs, ..Drawn::default() }.write(&mut bytes);
        let sketch = Sketch::read(&bytes).unwrap();
        let wrong = (1000..11_000u64).filter(|n| sketch.has(pair(*n, n + 1))).count();
        assert!(wrong < 500, "{wrong} of 10000");
    }
}
