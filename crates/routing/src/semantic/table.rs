//! The vectors of texts, and their format on disk.
//!
//! A text is identified by its digest: a file that was touched, copied or moved is not embedded again, and a
//! changed text is. Files that are incomplete, of another model or of another version are rejected as a whole and
//! recreated.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::vectors::{DIMENSIONS_MAX, Vectors};
use crate::index::checksum;

pub(crate) type TextDigest = [u8; 16];

/// The magic number. Its last byte is the version of the format, and of the text that is embedded for a skill.
const MAGIC: &[u8; 8] = b"prwvec\x00\x01";

const HEADER_SIZE: usize = 8 + 32 + 4 + 4;
const FOOTER_SIZE: usize = 8;

/// The maximum size of a file: about a million vectors of a thousand numbers.
pub(crate) const FILE_MAX: u64 = 1 << 30;

/// The maximum number of vectors in a table.
const VECTORS_MAX: usize = 2_000_000;

/// Vectors and the digests of their texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct VectorTable {
    pub(crate) vectors: Vectors,
    keys: Vec<TextDigest>,
    rows: HashMap<TextDigest, u32>,
}

pub(crate) fn text_digest(text: &str) -> TextDigest {
    let mut key = TextDigest::default();
    key.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    key
}

impl VectorTable {
    /// Returns the row of a text's vector.
    pub(crate) fn row(&self, key: &TextDigest) -> Option<u32> {
        self.rows.get(key).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Adds a vector, unless the text is known or the table is full.
    pub(crate) fn add(&mut self, key: TextDigest, vector: &[f32]) -> Result<(), super::EmbedError> {
        if self.rows.contains_key(&key) || self.len() >= VECTORS_MAX {
            return Ok(());
        }
        self.vectors.push(vector)?;
        self.rows.insert(key, self.keys.len() as u32);
        self.keys.push(key);
        Ok(())
    }

    /// Copies missing vectors of these texts from another table.
    pub(crate) fn add_from<'k>(&mut self, other: &Self, keys: impl IntoIterator<Item = &'k TextDigest>) {
        for key in keys {
            if let (None, Some(row)) = (self.row(key), other.row(key))
                && self.len() < VECTORS_MAX
                && self.vectors.push_from(&other.vectors, row as usize)
            {
                self.rows.insert(*key, self.keys.len() as u32);
                self.keys.push(*key);
            }
        }
    }

    /// Serializes the table for a model of this identity.
    pub(crate) fn to_bytes(&self, identity: &str) -> Vec<u8> {
        let (scales, numbers) = self.vectors.parts();
        let mut bytes = Vec::with_capacity(HEADER_SIZE + FOOTER_SIZE + self.len() * 20 + numbers.len());
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

    /// Parses a file, if it is valid and of this identity.
    pub(crate) fn from_bytes(bytes: &[u8], identity: &str) -> Option<Self> {
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(FOOTER_SIZE)?)?;
        if sum != checksum(body).to_le_bytes() {
            return None;
        }
        let (head, rest) = body.split_at_checked(HEADER_SIZE)?;
        let (magic, head) = head.split_at_checked(MAGIC.len())?;
        let (digest, numbers) = head.split_at_checked(32)?;
        if magic != MAGIC || digest != Sha256::digest(identity.as_bytes()).as_slice() {
            return None;
        }
        let number =
            |offset: usize| Some(u32::from_le_bytes(*numbers.get(offset..)?.first_chunk()?) as usize);
        let (dimensions, count) = (number(0)?, number(4)?);
        if dimensions > DIMENSIONS_MAX || count > VECTORS_MAX || rest.len() != count * (20 + dimensions) {
            return None;
        }
        let (keys, rest) = rest.split_at_checked(count * 16)?;
        let (scales, rest) = rest.split_at_checked(count * 4)?;
        let keys: Vec<TextDigest> = keys.as_chunks().0.to_vec();
        let scales = scales.as_chunks().0.iter().map(|scale| f32::from_le_bytes(*scale)).collect();
        let numbers = rest.iter().map(|byte| byte.cast_signed()).collect();
        let rows: HashMap<TextDigest, u32> = keys.iter().copied().zip(0..).collect();
        // Valid files have no duplicates.
        let is_unique = rows.len() == keys.len();
        let vectors = Vectors::from_parts(dimensions, scales, numbers)?;
        is_unique.then_some(Self { vectors, keys, rows })
    }
}

/// Parses bytes as a file of vectors after correcting the checksum, which a fuzzer could not find. Returns the
/// number of vectors.
#[doc(hidden)]
pub fn read_for_fuzzing(bytes: &[u8]) -> Option<usize> {
    let mut corrected = bytes.to_vec();
    if let Some(digest) = corrected.get_mut(8..40) {
        digest.copy_from_slice(&Sha256::digest(b"fuzz"));
    }
    corrected.extend(checksum(&corrected).to_le_bytes());
    let table = VectorTable::from_bytes(&corrected, "fuzz")?;
    let query = vec![1.0; table.vectors.dimensions().max(1)];
    let similarities = table.vectors.similarities(&query).ok()?;
    assert_eq!(table.to_bytes("fuzz"), corrected, "the file round-trips");
    assert!(similarities.iter().all(|similarity| (-1.0..=1.0).contains(similarity)));
    Some(similarities.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(texts: &[&str]) -> VectorTable {
        let mut table = VectorTable::default();
        for text in texts {
            let vector = [text.len() as f32, 1.0, -2.0];
            table.add(text_digest(text), &vector).unwrap();
        }
        table
    }

    #[test]
    fn a_table_round_trips_and_changed_bytes_are_rejected() {
        let written = table(&["one", "three", "fifteen"]);
        let bytes = written.to_bytes("a model");
        assert_eq!(VectorTable::from_bytes(&bytes, "a model"), Some(written));
        assert_eq!(VectorTable::from_bytes(&bytes, "another model"), None);
        assert_eq!(
            VectorTable::from_bytes(&VectorTable::default().to_bytes("m"), "m"),
            Some(VectorTable::default())
        );
        for length in 0..bytes.len() {
            assert_eq!(VectorTable::from_bytes(&bytes[..length], "a model"), None, "cut at {length}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert_eq!(VectorTable::from_bytes(&changed, "a model"), None, "changed at {at}");
        }
    }

    #[test]
    fn only_the_requested_vectors_are_copied() {
        let old = table(&["one", "three", "fifteen"]);
        let mut new = table(&["two"]);
        new.add_from(
            &old,
            &[text_digest("three"), text_digest("four"), text_digest("two"), text_digest("three")],
        );
        assert_eq!(new.len(), 2);
        assert_eq!(new.row(&text_digest("three")), Some(1));
        assert_eq!(new.row(&text_digest("one")), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut head = b"prwvec\x00\x01".to_vec();
            head.extend([0; 32]);
            head.extend(bytes.iter().map(|byte| byte % 4));
            let _ = read_for_fuzzing(&head);
            let _ = read_for_fuzzing(&bytes);
        }
    }
}
