//! Which text has which vector, and the bytes of that on disk.
//!
//! A text is known by its digest, not by where it came from: a file that was touched, copied or moved is not embedded
//! again, and one that says something else is. Bytes that are torn, of another model or of another version are refused
//! whole, and made again.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::vectors::{DIMENSIONS_MAX, Vectors};
use crate::index::checksum;

/// The digest of a text.
pub(crate) type Key = [u8; 16];

/// Eight bytes of which the last is the version of everything behind them, and of which text of a skill is embedded.
const MAGIC: &[u8; 8] = b"prwvec\x00\x01";

const HEAD: usize = 8 + 32 + 4 + 4;
const FOOT: usize = 8;

/// The most bytes of a file: a million vectors of a thousand numbers.
pub(crate) const FILE_MAX: u64 = 1 << 30;

/// The most vectors of a table.
const VECTORS_MAX: usize = 2_000_000;

/// Vectors and the texts they are of.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    pub(crate) vectors: Vectors,
    keys: Vec<Key>,
    places: HashMap<Key, u32>,
}

/// The digest by which a text is known.
pub(crate) fn key(text: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    key
}

impl Table {
    /// Where a text's vector is.
    pub(crate) fn place(&self, key: &Key) -> Option<u32> {
        self.places.get(key).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Takes a vector over; whether there was room and it was new.
    pub(crate) fn add(&mut self, key: Key, vector: &[f32]) -> Result<(), super::EmbedError> {
        if self.places.contains_key(&key) || self.len() >= VECTORS_MAX {
            return Ok(());
        }
        self.vectors.push(vector)?;
        self.places.insert(key, self.keys.len() as u32);
        self.keys.push(key);
        Ok(())
    }

    /// Takes over what another has of these texts and this one has not.
    pub(crate) fn add_from<'k>(&mut self, other: &Self, wanted: impl IntoIterator<Item = &'k Key>) {
        for key in wanted {
            if let (None, Some(place)) = (self.place(key), other.place(key))
                && self.len() < VECTORS_MAX
                && self.vectors.push_from(&other.vectors, place as usize)
            {
                self.places.insert(*key, self.keys.len() as u32);
                self.keys.push(*key);
            }
        }
    }

    /// The bytes of a file for vectors of this identity.
    pub(crate) fn to_bytes(&self, identity: &str) -> Vec<u8> {
        let (scales, numbers) = self.vectors.parts();
        let mut bytes = Vec::with_capacity(HEAD + FOOT + self.len() * 20 + numbers.len());
        bytes.extend(MAGIC);
        bytes.extend(Sha256::digest(identity.as_bytes()));
        bytes.extend((self.vectors.dimensions() as u32).to_le_bytes());
        bytes.extend((self.len() as u32).to_le_bytes());
        self.keys.iter().for_each(|key| bytes.extend(key));
        scales.iter().for_each(|scale| bytes.extend(scale.to_le_bytes()));
        bytes.extend(numbers.iter().map(|number| number.cast_unsigned()));
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    /// Out of the bytes of a file, if they are whole and of this identity.
    pub(crate) fn of_bytes(bytes: &[u8], identity: &str) -> Option<Self> {
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(FOOT)?)?;
        if sum != checksum(body).to_le_bytes() {
            return None;
        }
        let (head, rest) = body.split_at_checked(HEAD)?;
        let (magic, head) = head.split_at_checked(MAGIC.len())?;
        let (digest, numbers) = head.split_at_checked(32)?;
        if magic != MAGIC || digest != Sha256::digest(identity.as_bytes()).as_slice() {
            return None;
        }
        let number = |at: usize| Some(u32::from_le_bytes(*numbers.get(at..)?.first_chunk()?) as usize);
        let (dimensions, count) = (number(0)?, number(4)?);
        if dimensions > DIMENSIONS_MAX || count > VECTORS_MAX || rest.len() != count * (20 + dimensions) {
            return None;
        }
        let (keys, rest) = rest.split_at_checked(count * 16)?;
        let (scales, rest) = rest.split_at_checked(count * 4)?;
        let keys: Vec<Key> = keys.as_chunks().0.to_vec();
        let scales = scales.as_chunks().0.iter().map(|scale| f32::from_le_bytes(*scale)).collect();
        let numbers = rest.iter().map(|byte| byte.cast_signed()).collect();
        let places: HashMap<Key, u32> = keys.iter().copied().zip(0..).collect();
        // A text that stands twice was not written by us.
        let single = places.len() == keys.len();
        let vectors = Vectors::of_parts(dimensions, scales, numbers)?;
        single.then_some(Self { vectors, keys, places })
    }
}

/// Reads bytes as a file of vectors, with the sum put right first: no fuzzer would find it. How many vectors there are.
#[doc(hidden)]
pub fn read_for_fuzzing(bytes: &[u8]) -> Option<usize> {
    let mut sealed = bytes.to_vec();
    if let Some(digest) = sealed.get_mut(8..40) {
        digest.copy_from_slice(&Sha256::digest(b"fuzz"));
    }
    sealed.extend(checksum(&sealed).to_le_bytes());
    let table = Table::of_bytes(&sealed, "fuzz")?;
    let query = vec![1.0; table.vectors.dimensions().max(1)];
    let close = table.vectors.similarities(&query).ok()?;
    assert_eq!(table.to_bytes("fuzz"), sealed, "what is read is written again");
    assert!(close.iter().all(|close| (-1.0..=1.0).contains(close)));
    Some(close.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(texts: &[&str]) -> Table {
        let mut table = Table::default();
        for text in texts {
            let vector = [text.len() as f32, 1.0, -2.0];
            table.add(key(text), &vector).unwrap();
        }
        table
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let written = table(&["one", "three", "fifteen"]);
        let bytes = written.to_bytes("a model");
        assert_eq!(Table::of_bytes(&bytes, "a model"), Some(written));
        assert_eq!(Table::of_bytes(&bytes, "another model"), None);
        assert_eq!(Table::of_bytes(&Table::default().to_bytes("m"), "m"), Some(Table::default()));
        for length in 0..bytes.len() {
            assert_eq!(Table::of_bytes(&bytes[..length], "a model"), None, "cut at {length}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert_eq!(Table::of_bytes(&changed, "a model"), None, "changed at {at}");
        }
    }

    #[test]
    fn only_what_is_wanted_is_taken_over() {
        let old = table(&["one", "three", "fifteen"]);
        let mut new = table(&["two"]);
        new.add_from(&old, &[key("three"), key("four"), key("two"), key("three")]);
        assert_eq!(new.len(), 2);
        assert_eq!(new.place(&key("three")), Some(1));
        assert_eq!(new.place(&key("one")), None);
    }

    proptest! {
        #[test]
        fn no_bytes_are_followed_into_trouble(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut head = b"prwvec\x00\x01".to_vec();
            head.extend([0; 32]);
            head.extend(bytes.iter().map(|byte| byte % 4));
            let _ = read_for_fuzzing(&head);
            let _ = read_for_fuzzing(&bytes);
        }
    }
}
