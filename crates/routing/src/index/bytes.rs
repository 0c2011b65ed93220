//! Numbers in bytes: written, and read without ever reading past the end.

use crate::words::mix;

/// An index file says something that cannot be true: it is torn, foreign or of another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index is damaged")]
pub(crate) struct Damaged;

/// Reads numbers from the front of some bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'b>(pub(crate) &'b [u8]);

impl<'b> Reader<'b> {
    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], Damaged> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Damaged> {
        let (first, rest) = self.0.split_first().ok_or(Damaged)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Damaged> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Damaged)?;
        self.0 = rest;
        Ok(u16::from_le_bytes(*bytes))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Damaged> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Damaged)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*bytes))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Damaged> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Damaged)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    /// A number of seven bits a byte, the lowest first.
    pub(crate) fn varint(&mut self) -> Result<u32, Damaged> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u32::from(first));
        }
        let mut number = u32::from(first & 0x7f);
        for shift in [7, 14, 21, 28] {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f).checked_shl(shift).ok_or(Damaged)?;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }
}

pub(crate) fn put_varint(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A sum that tells bytes from others. It guards against accidents, not against people.
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
        fn numbers_come_back(numbers in prop::collection::vec(any::<u32>(), 0..40)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| put_varint(*number, &mut bytes));
            let mut reader = Reader(&bytes);
            for number in numbers {
                prop_assert_eq!(reader.varint(), Ok(number));
            }
            prop_assert_eq!(reader.varint(), Err(Damaged));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = Reader(&bytes);
            while reader.varint().is_ok() {}
        }

        #[test]
        fn one_changed_byte_changes_the_sum(mut bytes in prop::collection::vec(any::<u8>(), 1..60), at: prop::sample::Index) {
            let before = checksum(&bytes);
            let at = at.index(bytes.len());
            bytes[at] ^= 1;
            prop_assert_ne!(checksum(&bytes), before);
        }
    }
}
