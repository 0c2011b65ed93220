//! Inflating with a size limit.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// Why bytes could not be inflated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InflateError {
    /// The output is larger than the limit.
    TooLarge,
    /// The input ends too early.
    Truncated,
    /// The input is not a deflate stream.
    Malformed,
}

/// Inflates one stream to at most `max` bytes. Returns the output and the number of bytes consumed.
pub(crate) fn inflate(input: &[u8], max: usize) -> Result<(Vec<u8>, usize), InflateError> {
    let mut state = Box::<DecompressorOxide>::default();
    // The size of the output is unknown, so the buffer grows with it. One byte more than the limit shows
    // that there is more output.
    let capacity_max = max.saturating_add(1);
    let mut output = vec![0; input.len().saturating_mul(2).clamp(1024, 1024 * 1024).min(capacity_max)];
    let (mut read, mut written) = (0, 0);
    loop {
        let rest = input.get(read..).unwrap_or_default();
        let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, consumed, produced) = decompress(&mut state, rest, &mut output, written, flags);
        read += consumed;
        written += produced;
        match status {
            _ if written > max => return Err(InflateError::TooLarge),
            TINFLStatus::Done => {
                output.truncate(written);
                return Ok((output, read));
            }
            TINFLStatus::HasMoreOutput if output.len() < capacity_max => {
                output.resize(output.len().saturating_mul(2).min(capacity_max), 0);
            }
            TINFLStatus::HasMoreOutput => return Err(InflateError::TooLarge),
            TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => {
                return Err(InflateError::Truncated);
            }
            _ => return Err(InflateError::Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::deflate::compress_to_vec;
    use proptest::prelude::*;

    #[test]
    fn the_limit_is_exact() {
        let zeros = compress_to_vec(&[0; 5000], 6);
        assert_eq!(inflate(&zeros, 5000), Ok((vec![0; 5000], zeros.len())));
        assert_eq!(inflate(&zeros, 4999), Err(InflateError::TooLarge));
        assert_eq!(inflate(&zeros[..zeros.len() - 1], 5000), Err(InflateError::Truncated));
        assert_eq!(inflate(&[0xff; 9], 5000), Err(InflateError::Malformed));
        assert_eq!(inflate(&compress_to_vec(b"", 6), 0), Ok((Vec::new(), 2)));
        assert_eq!(inflate(b"", 0), Err(InflateError::Truncated));
    }

    proptest! {
        #[test]
        fn deflated_bytes_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..5000), more: u8) {
            let mut packed = compress_to_vec(&bytes, 6);
            let length = packed.len();
            packed.push(more);
            prop_assert_eq!(inflate(&packed, bytes.len()), Ok((bytes, length)));
        }
    }
}
