//! Sketches, the data for reranking: the words of the name, the words of the description in order, and a filter
//! of adjacent pairs.
//!
//! The filter uses eight bits per pair. It has about three percent false positives, and takes a tenth of the
//! size of the text. A sample of the pairs measures the similarity of two skills.

use super::bytes::{ByteReader, DamagedIndex, checksum};
use crate::words::{Term, mix};

/// The maximum number of words stored of a name and of a description.
const NAME_MAX: usize = 32;
const ABOUT_MAX: usize = 400;

/// The maximum number of pairs, the bits per pair, and the number of probes.
const PAIRS_MAX: usize = 8 * 1024;
const BITS: usize = 8;
const PROBES: usize = 3;

/// The size of the sample: the smallest pair of each of this many equal ranges.
const SAMPLE: usize = 32;

/// Two skills count as copies if enough entries of their samples are present, and at least this many of
/// [`SAMPLE`] of these are equal.
const COPY_EQUAL_MIN: usize = 26;
const COPY_PRESENT_MIN: usize = 16;

/// Marks a word of a sentence that states when to use the skill.
const WHEN_FLAG: u32 = 1 << 31;

/// Returns the short form of a term in a sketch: 31 bits are enough to compare a few dozen words.
pub(crate) fn short_term(term: Term) -> u32 {
    term as u32 & !WHEN_FLAG
}

/// Returns the hash of two adjacent words in either order.
pub(crate) fn pair_hash(a: Term, b: Term) -> u64 {
    mix(a.min(b).rotate_left(17) ^ a.max(b))
}

/// Collects the content of a sketch.
#[derive(Debug, Default)]
pub(crate) struct SketchBuilder {
    pub(crate) name: Vec<Term>,
    /// The words of the description, each with whether its sentence states when to use the skill.
    pub(crate) about: Vec<(Term, bool)>,
    pub(crate) pairs: Vec<u64>,
}

impl SketchBuilder {
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
            bytes.extend(short_term(*term).to_le_bytes());
        }
        for (term, when) in &self.about {
            bytes.extend((short_term(*term) | if *when { WHEN_FLAG } else { 0 }).to_le_bytes());
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

/// Returns a byte of the smallest pair of each range, or 0 if it is empty. The pairs are sorted, so the first
/// of a range is the smallest.
fn sample(pairs: &[u64]) -> [u8; SAMPLE] {
    let mut sample = [0; SAMPLE];
    for pair in pairs {
        let slot = &mut sample[(pair >> 59) as usize];
        if *slot == 0 {
            *slot = (*pair as u8).max(1);
        }
    }
    sample
}

/// Returns the bits of a pair in a filter of `bytes` bytes.
fn bits(pair: u64, bytes: usize) -> impl Iterator<Item = usize> {
    let step = (pair >> 32) | 1;
    (0..PROBES as u64)
        .map(move |probe| (pair.wrapping_add(probe.wrapping_mul(step)) % (bytes as u64 * 8)) as usize)
}

/// Identifies the content of a skill, to detect copies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContentSignature {
    text: u64,
    sample: [u8; SAMPLE],
}

impl ContentSignature {
    /// Returns `true` for copies and near copies, which share four of five pairs of words.
    pub(crate) fn is_similar(&self, other: &Self) -> bool {
        if self.text == other.text {
            return true;
        }
        let pairs = || self.sample.iter().zip(&other.sample);
        let present = pairs().filter(|(a, b)| **a != 0 || **b != 0).count();
        let equal = pairs().filter(|(a, b)| a == b && **a != 0).count();
        present >= COPY_PRESENT_MIN && equal * SAMPLE >= present * COPY_EQUAL_MIN
    }
}

/// A parsed sketch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sketch<'b> {
    sample: &'b [u8; SAMPLE],
    name: &'b [[u8; 4]],
    about: &'b [[u8; 4]],
    filter: &'b [u8],
}

impl<'b> Sketch<'b> {
    pub(crate) fn parse(bytes: &'b [u8]) -> Result<Self, DamagedIndex> {
        let mut reader = ByteReader(bytes);
        let (name, about) = (reader.byte()? as usize, reader.u16()? as usize);
        let sample = reader.take(SAMPLE)?.first_chunk().ok_or(DamagedIndex)?;
        let name = reader.take(name * 4)?.as_chunks().0;
        let about = reader.take(about * 4)?.as_chunks().0;
        Ok(Self { sample, name, about, filter: reader.0 })
    }

    /// Returns the number of words in the name.
    pub(crate) fn name_len(&self) -> usize {
        self.name.len()
    }

    /// Returns the words of the name in the form of [`short_term`].
    pub(crate) fn name(&self) -> impl Iterator<Item = u32> {
        self.name.iter().map(|word| u32::from_le_bytes(*word))
    }

    pub(crate) fn name_has(&self, term: Term) -> bool {
        self.name.iter().any(|word| u32::from_le_bytes(*word) == short_term(term))
    }

    /// Returns `true` if two words are adjacent in the name, in either order.
    pub(crate) fn name_has_pair(&self, a: Term, b: Term) -> bool {
        let (a, b) = (short_term(a).to_le_bytes(), short_term(b).to_le_bytes());
        self.name.windows(2).any(|pair| pair == [a, b] || pair == [b, a])
    }

    /// Returns for each word of the description which of `terms` it is, and whether its sentence states when to
    /// use the skill.
    pub(crate) fn about<'s>(&'s self, terms: &'s [Term]) -> impl Iterator<Item = Option<(usize, bool)>> + 's {
        self.about.iter().map(move |word| {
            let word = u32::from_le_bytes(*word);
            let index = terms.iter().position(|term| short_term(*term) == word & !WHEN_FLAG)?;
            Some((index, word & WHEN_FLAG != 0))
        })
    }

    /// Returns the signature of the content, regardless of the name.
    pub(crate) fn signature(&self) -> ContentSignature {
        let text = checksum(self.about.as_flattened()) ^ checksum(self.filter).rotate_left(1);
        ContentSignature { text, sample: *self.sample }
    }

    /// Returns `true` if two words are adjacent. May be a false positive.
    pub(crate) fn has_pair(&self, pair: u64) -> bool {
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
        fn a_sketch_contains_what_was_added(
            name in prop::collection::vec(any::<u64>(), 0..9),
            about in prop::collection::vec((any::<u64>(), any::<bool>()), 0..40),
            pairs in prop::collection::vec(any::<u64>(), 0..90),
        ) {
            let mut bytes = Vec::new();
            SketchBuilder { name: name.clone(), about: about.clone(), pairs: pairs.clone() }.write(&mut bytes);
            let sketch = Sketch::parse(&bytes).unwrap();
            prop_assert!(name.iter().all(|term| sketch.name_has(*term)));
            prop_assert!(pairs.iter().all(|pair| sketch.has_pair(*pair)));
            for (term, when) in about {
                prop_assert!(sketch.about(&[term]).any(|matched| matched == Some((0, when))));
            }
        }

        #[test]
        fn any_bytes_are_parsed_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..90), pair: u64) {
            if let Ok(sketch) = Sketch::parse(&bytes) {
                let _ = (sketch.has_pair(pair), sketch.name_has(pair), sketch.about(&[pair]).count());
            }
        }
    }

    #[test]
    fn near_copies_are_similar_and_others_are_not() {
        let signature = |pairs: std::ops::Range<u64>| {
            let mut bytes = Vec::new();
            let pairs = pairs.map(|n| pair_hash(mix(n), mix(n + 1))).collect();
            SketchBuilder { pairs, ..SketchBuilder::default() }.write(&mut bytes);
            Sketch::parse(&bytes).unwrap().signature()
        };
        assert!(signature(0..900).is_similar(&signature(0..900)));
        assert!(signature(0..900).is_similar(&signature(30..920)));
        assert!(!signature(0..900).is_similar(&signature(450..1350)));
        assert!(!signature(0..900).is_similar(&signature(2000..2900)));
        assert!(!signature(0..8).is_similar(&signature(0..9)), "too few pairs");
    }

    #[test]
    fn false_positives_are_rare() {
        let mut bytes = Vec::new();
        let pairs = (0..400).map(|n| pair_hash(n, n + 1)).collect();
        SketchBuilder { pairs, ..SketchBuilder::default() }.write(&mut bytes);
        let sketch = Sketch::parse(&bytes).unwrap();
        let false_positives = (1000..11_000u64).filter(|n| sketch.has_pair(pair_hash(*n, n + 1))).count();
        assert!(false_positives < 500, "{false_positives} of 10000");
    }
}
