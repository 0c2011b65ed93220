//! Encoding and decoding numbers without reading past the end.

use crate::words::mix;

/// The error for an invalid index file: incomplete, of another program, or of another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index is damaged")]
pub(crate) struct DamagedIndex;

/// Reads numbers from the front of a byte slice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByteReader<'b>(pub(crate) &'b [u8]);

impl<'b> ByteReader<'b> {
    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], DamagedIndex> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(DamagedIndex)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, DamagedIndex> {
        let (first, rest) = self.0.split_first().ok_or(DamagedIndex)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, DamagedIndex> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(DamagedIndex)?;
        self.0 = rest;
        Ok(u16::from_le_bytes(*bytes))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, DamagedIndex> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(DamagedIndex)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*bytes))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, DamagedIndex> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(DamagedIndex)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    /// Reads a number with seven bits per byte, the lowest first.
    pub(crate) fn varint(&mut self) -> Result<u32, DamagedIndex> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u32::from(first));
        }
        let mut number = u32::from(first & 0x7f);
        for shift in [7, 14, 21, 28] {
            let byte = self.byte()?;
            if shift == 28 && byte > 0x0f {
                return Err(DamagedIndex);
            }
            number |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DamagedIndex)
    }
}

pub(crate) fn put_varint(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Returns a checksum that detects accidental changes. It is not cryptographic.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sum = mix(bytes.len() as u64);
    for word in words {
        sum = (sum.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    for byte in rest {
        sum = (sum.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    mix(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_round_trip(numbers in prop::collection::vec(any::<u32>(), 0..40)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| put_varint(*number, &mut bytes));
            let mut reader = ByteReader(&bytes);
            for number in numbers {
                prop_assert_eq!(reader.varint(), Ok(number));
            }
            prop_assert_eq!(reader.varint(), Err(DamagedIndex));
        }

        #[test]
        fn any_bytes_are_read_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = ByteReader(&bytes);
            while reader.varint().is_ok() {}
        }

        #[test]
        fn one_changed_byte_changes_the_checksum(mut bytes in prop::collection::vec(any::<u8>(), 1..60), at: prop::sample::Index) {
            let before = checksum(&bytes);
            let at = at.index(bytes.len());
            bytes[at] ^= 1;
            prop_assert_ne!(checksum(&bytes), before);
        }
    }
}
