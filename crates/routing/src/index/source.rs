//! Where a segment's bytes are: in memory, or in a file whose every page is compared with its sum when it is first read.
//!
//! A file is read where it is asked for: opening a large one costs no more than a small one, several processes share what
//! the system keeps of it, and nothing needs to be mapped. Behind the segment it has a sum for each page, and a footer.

use std::borrow::Cow;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use super::bytes::{Damaged, Reader, checksum};

const PAGE: u64 = 4096;

/// The length of the segment, and the sum of the sums.
const FOOTER: u64 = 16;

/// What a segment is read from.
#[derive(Debug)]
pub(crate) enum Source {
    Memory(Vec<u8>),
    File(Pages),
}

/// A file with its sums.
#[derive(Debug)]
pub(crate) struct Pages {
    file: File,
    length: u64,
    sums: Vec<u32>,
    /// Which pages were found to be whole.
    checked: Vec<AtomicBool>,
}

impl Source {
    /// A file of so many bytes.
    pub(crate) fn open(file: File, length: u64) -> Result<Self, Damaged> {
        let footer = length.checked_sub(FOOTER).ok_or(Damaged)?;
        let bytes = read(&file, footer, FOOTER as usize)?;
        let mut reader = Reader(&bytes);
        let (body, sum) = (reader.u64()?, reader.u64()?);
        let size = footer.checked_sub(body).ok_or(Damaged)?;
        if size != body.div_ceil(PAGE) * 4 {
            return Err(Damaged);
        }
        let bytes = read(&file, body, usize::try_from(size).map_err(|_| Damaged)?)?;
        if sum_of(&bytes, body) != sum {
            return Err(Damaged);
        }
        let sums: Vec<u32> = bytes.as_chunks().0.iter().map(|sum| u32::from_le_bytes(*sum)).collect();
        let checked = sums.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self::File(Pages { file, length: body, sums, checked }))
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File(pages) => pages.length,
        }
    }

    /// `length` bytes from `start`.
    pub(crate) fn read(&self, start: u64, length: usize) -> Result<Cow<'_, [u8]>, Damaged> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.len()).ok_or(Damaged)?;
        match self {
            Self::Memory(bytes) => {
                let range = usize::try_from(start).ok().zip(usize::try_from(end).ok()).ok_or(Damaged)?;
                bytes.get(range.0..range.1).map(Cow::Borrowed).ok_or(Damaged)
            }
            Self::File(pages) => pages.read(start, end).map(Cow::Owned),
        }
    }
}

impl Pages {
    fn read(&self, start: u64, end: u64) -> Result<Vec<u8>, Damaged> {
        let (first, last) = (start / PAGE, end.div_ceil(PAGE));
        let pages = first as usize..last as usize;
        let known = self.checked.get(pages.clone()).ok_or(Damaged)?;
        if known.iter().all(|known| known.load(Ordering::Relaxed)) {
            return read(&self.file, start, (end - start) as usize);
        }
        let from = first * PAGE;
        let to = self.length.min(last * PAGE);
        let mut bytes = read(&self.file, from, (to - from) as usize)?;
        for ((page, sum), known) in bytes.chunks(PAGE as usize).zip(&self.sums[pages]).zip(known) {
            if checksum(page) as u32 != *sum {
                return Err(Damaged);
            }
            known.store(true, Ordering::Relaxed);
        }
        bytes.truncate((end - from) as usize);
        bytes.drain(..(start - from) as usize);
        Ok(bytes)
    }
}

/// A segment with the sums of its pages, as [`Source::open`] wants it.
pub(crate) fn with_sums(mut segment: Vec<u8>) -> Vec<u8> {
    let body = segment.len() as u64;
    let sums: Vec<u8> =
        segment.chunks(PAGE as usize).flat_map(|page| (checksum(page) as u32).to_le_bytes()).collect();
    let sum = sum_of(&sums, body);
    segment.extend(sums);
    segment.extend(body.to_le_bytes());
    segment.extend(sum.to_le_bytes());
    segment
}

fn sum_of(sums: &[u8], body: u64) -> u64 {
    checksum(sums) ^ body
}

fn read(file: &File, start: u64, length: usize) -> Result<Vec<u8>, Damaged> {
    let mut bytes = vec![0; length];
    prowess_fs::read_exact_at(file, &mut bytes, start).map_err(|_| Damaged)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn opened(bytes: &[u8]) -> Result<Source, Damaged> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Source::open(file, bytes.len() as u64)
    }

    #[test]
    fn what_was_written_is_read_in_any_piece() {
        let body: Vec<u8> = (0..10_000u32).map(|n| (n * 7) as u8).collect();
        let source = opened(&with_sums(body.clone())).unwrap();
        for (start, length) in [(0, 10_000), (4095, 2), (4096, 4096), (9999, 1), (10_000, 0), (5, 0)] {
            for _ in 0..2 {
                assert_eq!(source.read(start as u64, length).unwrap(), &body[start..start + length]);
            }
        }
        assert_eq!(source.read(9_999, 2), Err(Damaged));
        assert_eq!(source.read(u64::MAX, 2), Err(Damaged));
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let whole = with_sums((0..10_000u32).map(|n| n as u8).collect());
        for at in [0, 5_000, 9_999, 10_001, whole.len() - 1, whole.len() - 9] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            let noticed = opened(&bytes).and_then(|source| source.read(0, 10_000).map(|_| ()));
            assert_eq!(noticed, Err(Damaged), "{at}");
        }
        for length in [0, 15, 16, 5_000, whole.len() - 1] {
            assert!(opened(&whole[..length]).is_err(), "{length}");
        }
    }
}
