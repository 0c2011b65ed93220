//! The bytes of a segment: in memory, or in a file whose pages are checked against their checksums on first read.
//!
//! A file is read on demand: opening a large one costs no more than opening a small one, several processes
//! share the page cache, and nothing is memory-mapped. The segment is followed by a checksum for each page, and
//! a footer.

use std::borrow::Cow;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use super::bytes::{ByteReader, DamagedIndex, checksum};

const PAGE_SIZE: u64 = 4096;

/// The size of the footer: the length of the segment, and the checksum of the checksums.
const FOOTER_SIZE: u64 = 16;

/// The source of a segment's bytes.
#[derive(Debug)]
pub(crate) enum SegmentSource {
    Memory(Vec<u8>),
    File(CheckedFile),
}

/// A file with page checksums.
#[derive(Debug)]
pub(crate) struct CheckedFile {
    file: File,
    length: u64,
    checksums: Vec<u32>,
    /// Which pages were verified.
    verified: Vec<AtomicBool>,
}

impl SegmentSource {
    pub(crate) fn open(file: File, length: u64) -> Result<Self, DamagedIndex> {
        let footer = length.checked_sub(FOOTER_SIZE).ok_or(DamagedIndex)?;
        let bytes = read_at(&file, footer, FOOTER_SIZE as usize)?;
        let mut reader = ByteReader(&bytes);
        let (body, sum) = (reader.u64()?, reader.u64()?);
        let size = footer.checked_sub(body).ok_or(DamagedIndex)?;
        if size != body.div_ceil(PAGE_SIZE) * 4 {
            return Err(DamagedIndex);
        }
        let bytes = read_at(&file, body, usize::try_from(size).map_err(|_| DamagedIndex)?)?;
        if footer_checksum(&bytes, body) != sum {
            return Err(DamagedIndex);
        }
        let checksums: Vec<u32> = bytes.as_chunks().0.iter().map(|sum| u32::from_le_bytes(*sum)).collect();
        let verified = checksums.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self::File(CheckedFile { file, length: body, checksums, verified }))
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File(pages) => pages.length,
        }
    }

    /// Reads `length` bytes from `start`.
    pub(crate) fn read(&self, start: u64, length: usize) -> Result<Cow<'_, [u8]>, DamagedIndex> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.len()).ok_or(DamagedIndex)?;
        match self {
            Self::Memory(bytes) => {
                let range = usize::try_from(start).ok().zip(usize::try_from(end).ok()).ok_or(DamagedIndex)?;
                bytes.get(range.0..range.1).map(Cow::Borrowed).ok_or(DamagedIndex)
            }
            Self::File(pages) => pages.read(start, end).map(Cow::Owned),
        }
    }
}

impl CheckedFile {
    fn read(&self, start: u64, end: u64) -> Result<Vec<u8>, DamagedIndex> {
        let (first, last) = (start / PAGE_SIZE, end.div_ceil(PAGE_SIZE));
        let pages = first as usize..last as usize;
        let verified = self.verified.get(pages.clone()).ok_or(DamagedIndex)?;
        if verified.iter().all(|verified| verified.load(Ordering::Relaxed)) {
            return read_at(&self.file, start, (end - start) as usize);
        }
        let from = first * PAGE_SIZE;
        let to = self.length.min(last * PAGE_SIZE);
        let mut bytes = read_at(&self.file, from, (to - from) as usize)?;
        for ((page, sum), verified) in
            bytes.chunks(PAGE_SIZE as usize).zip(&self.checksums[pages]).zip(verified)
        {
            if checksum(page) as u32 != *sum {
                return Err(DamagedIndex);
            }
            verified.store(true, Ordering::Relaxed);
        }
        bytes.truncate((end - from) as usize);
        bytes.drain(..(start - from) as usize);
        Ok(bytes)
    }
}

/// Appends the page checksums to a segment, as [`SegmentSource::open`] expects them.
pub(crate) fn with_checksums(mut segment: Vec<u8>) -> Vec<u8> {
    let body = segment.len() as u64;
    let sums: Vec<u8> =
        segment.chunks(PAGE_SIZE as usize).flat_map(|page| (checksum(page) as u32).to_le_bytes()).collect();
    let sum = footer_checksum(&sums, body);
    segment.extend(sums);
    segment.extend(body.to_le_bytes());
    segment.extend(sum.to_le_bytes());
    segment
}

fn footer_checksum(sums: &[u8], body: u64) -> u64 {
    checksum(sums) ^ body
}

fn read_at(file: &File, start: u64, length: usize) -> Result<Vec<u8>, DamagedIndex> {
    let mut bytes = vec![0; length];
    prowess_fs::read_exact_at(file, &mut bytes, start).map_err(|_| DamagedIndex)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn open(bytes: &[u8]) -> Result<SegmentSource, DamagedIndex> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        SegmentSource::open(file, bytes.len() as u64)
    }

    #[test]
    fn any_range_can_be_read() {
        let body: Vec<u8> = (0..10_000u32).map(|n| (n * 7) as u8).collect();
        let source = open(&with_checksums(body.clone())).unwrap();
        for (start, length) in [(0, 10_000), (4095, 2), (4096, 4096), (9999, 1), (10_000, 0), (5, 0)] {
            for _ in 0..2 {
                assert_eq!(source.read(start as u64, length).unwrap(), &body[start..start + length]);
            }
        }
        assert_eq!(source.read(9_999, 2), Err(DamagedIndex));
        assert_eq!(source.read(u64::MAX, 2), Err(DamagedIndex));
    }

    #[test]
    fn a_changed_byte_is_detected() {
        let whole = with_checksums((0..10_000u32).map(|n| n as u8).collect());
        for at in [0, 5_000, 9_999, 10_001, whole.len() - 1, whole.len() - 9] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            let result = open(&bytes).and_then(|source| source.read(0, 10_000).map(|_| ()));
            assert_eq!(result, Err(DamagedIndex), "{at}");
        }
        for length in [0, 15, 16, 5_000, whole.len() - 1] {
            assert!(open(&whole[..length]).is_err(), "{length}");
        }
    }
}
