//! gzip: a single stream, checked to its last byte.

use super::ArchiveError;
use super::inflate::{self, InflateError};
use crate::limits::{FILES_MAX, TOTAL_MAX};

/// The maximum inflated size: all files, and two kilobytes of overhead for each.
const TAR_MAX: u64 = TOTAL_MAX + 2048 * FILES_MAX as u64 * 2;

const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

/// Inflates the only member. A second one is rejected, because only some programs would read it.
pub(crate) fn inflate(bytes: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    let data = skip_header(bytes)?;
    let max = usize::try_from(TAR_MAX).unwrap_or(usize::MAX);
    let (output, consumed) = inflate::inflate(data, max).map_err(|error| match error {
        InflateError::TooLarge => ArchiveError::TooLarge,
        InflateError::Truncated => ArchiveError::Truncated("its compressed data"),
        InflateError::Malformed => malformed("it is not a deflate stream"),
    })?;
    let Some((trailer, rest)) = data.get(consumed..).and_then(|rest| rest.split_first_chunk::<8>()) else {
        return Err(ArchiveError::Truncated("its checksum"));
    };
    let [c0, c1, c2, c3, s0, s1, s2, s3] = *trailer;
    let name = || "the archive".to_owned();
    if u32::from_le_bytes([c0, c1, c2, c3]) != crc32fast::hash(&output) {
        return Err(ArchiveError::Checksum { name: name() });
    }
    if u64::from(u32::from_le_bytes([s0, s1, s2, s3])) != output.len() as u64 {
        return Err(ArchiveError::Inconsistent { name: name(), about: super::Mismatch::Size });
    }
    if rest.is_empty() { Ok(output) } else { Err(ArchiveError::StrayBytes { position: "after its end" }) }
}

fn skip_header(bytes: &[u8]) -> Result<&[u8], ArchiveError> {
    const TRUNCATED: ArchiveError = ArchiveError::Truncated("its first header");
    let (header, mut rest) = bytes.split_first_chunk::<10>().ok_or(TRUNCATED)?;
    let [_, _, method, flags, ..] = *header;
    if method != 8 || flags & RESERVED != 0 {
        return Err(malformed("its header has unknown flags"));
    }
    if flags & EXTRA != 0 {
        let (length, after) = rest.split_first_chunk::<2>().ok_or(TRUNCATED)?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..).ok_or(TRUNCATED)?;
    }
    for field in [NAME, COMMENT] {
        if flags & field != 0 {
            let end = rest.iter().position(|byte| *byte == 0).ok_or(TRUNCATED)?;
            rest = rest.get(end + 1..).ok_or(TRUNCATED)?;
        }
    }
    if flags & HEADER_CRC != 0 {
        rest = rest.get(2..).ok_or(TRUNCATED)?;
    }
    Ok(rest)
}

fn malformed(reason: &'static str) -> ArchiveError {
    ArchiveError::Malformed { part: "the compressed data".to_owned(), reason }
}
