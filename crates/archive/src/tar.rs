//! A strict tar reader: only files and directories, one name and one size for each, and only zeros after the end.

use super::pax::{self, PaxRecords, PaxScope};
use super::tree_builder::{TreeBuilder, display_name};
use super::{ArchiveError, Mismatch};
use crate::MemoryTree;
use crate::limits::PATH_MAX;

const BLOCK: usize = 512;
/// The maximum size of an extended header. Names are shorter, and other records are ignored.
const RECORD_MAX: u64 = 64 * 1024;

pub(crate) fn read_tar(bytes: &[u8]) -> Result<MemoryTree, ArchiveError> {
    let mut rest = bytes;
    let mut builder = TreeBuilder::default();
    let mut pending = PendingHeaders::default();
    loop {
        let (block, after) =
            rest.split_first_chunk::<BLOCK>().ok_or(ArchiveError::Truncated("its entries"))?;
        if block.iter().all(|byte| *byte == 0) {
            return check_end(after, &pending).map(|()| builder.finish());
        }
        let header = TarHeader::parse(block)?;
        let (data, after) = header.data(after)?;
        rest = after;
        match header.kind {
            b'x' => pending.set_pax(data)?,
            b'g' => pax::parse(data, PaxScope::All).map(|_| ())?,
            b'L' => pending.set_long_name(data)?,
            b'K' => pending.is_link = true,
            _ => std::mem::take(&mut pending).add_entry(&header, data, &mut builder)?,
        }
    }
}

/// Checks that the first block of zeros is followed by another one, and by nothing but zeros.
fn check_end(rest: &[u8], pending: &PendingHeaders<'_>) -> Result<(), ArchiveError> {
    if rest.len() < BLOCK || *pending != PendingHeaders::default() {
        return Err(ArchiveError::Truncated("its end"));
    }
    let zeros = rest.iter().all(|byte| *byte == 0);
    if zeros { Ok(()) } else { Err(ArchiveError::StrayBytes { position: "after its end" }) }
}

/// Extended headers that apply to the next entry.
#[derive(Debug, Default, PartialEq, Eq)]
struct PendingHeaders<'a> {
    pax: Option<PaxRecords<'a>>,
    long_name: Option<&'a [u8]>,
    is_link: bool,
}

impl<'a> PendingHeaders<'a> {
    fn set_pax(&mut self, data: &'a [u8]) -> Result<(), ArchiveError> {
        let pax = pax::parse(data, PaxScope::Next)?;
        if self.pax.replace(pax).is_some() { Err(duplicate_record()) } else { Ok(()) }
    }

    fn set_long_name(&mut self, data: &'a [u8]) -> Result<(), ArchiveError> {
        let name = data.strip_suffix(b"\0").unwrap_or(data);
        if self.long_name.replace(name).is_some() { Err(duplicate_record()) } else { Ok(()) }
    }

    fn add_entry(
        self,
        header: &TarHeader<'_>,
        data: &[u8],
        builder: &mut TreeBuilder,
    ) -> Result<(), ArchiveError> {
        let pax = self.pax.unwrap_or_default();
        let header_name = header.name();
        let raw = match (pax.path, self.long_name) {
            (Some(_), Some(_)) => return Err(duplicate_record()),
            (Some(name), None) | (None, Some(name)) => name,
            (None, None) => &header_name,
        };
        let name = || display_name(raw);
        // In the oldest archives, a directory is a file whose name ends with a slash.
        let is_dir = header.kind == b'5' || (header.kind == 0 && raw.ends_with(b"/"));
        match header.kind {
            b'1' | b'2' => return Err(ArchiveError::Link { name: name() }),
            b'S' => return Err(ArchiveError::Sparse { name: name() }),
            0 | b'0' | b'5' if pax.sparse => return Err(ArchiveError::Sparse { name: name() }),
            0 | b'0' | b'5' => {}
            _ => return Err(ArchiveError::Special { name: name() }),
        }
        if self.is_link {
            return Err(ArchiveError::Link { name: name() });
        }
        // If the two differ, one program may see a file where another sees entries.
        if pax.size.is_some_and(|size| size != header.size) {
            return Err(ArchiveError::Inconsistent { name: name(), about: Mismatch::Size });
        }
        let path = builder.add_name(raw, is_dir)?;
        match path {
            Some(path) if !is_dir => builder.add_file(path, header.mode & 0o111 != 0, data.to_vec()),
            _ if data.is_empty() => Ok(()),
            _ => Err(ArchiveError::Malformed { part: name(), reason: "it is a directory with content" }),
        }
    }
}

/// The header of an entry.
struct TarHeader<'a> {
    block: &'a [u8; BLOCK],
    kind: u8,
    size: u64,
    mode: u64,
}

impl<'a> TarHeader<'a> {
    fn parse(block: &'a [u8; BLOCK]) -> Result<Self, ArchiveError> {
        let malformed = |reason| ArchiveError::Malformed {
            part: format!("the header of “{}”", display_name(until_nul(&block[..100]))),
            reason,
        };
        let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
        let checksum_field: u64 = block[148..156].iter().map(|byte| u64::from(*byte)).sum();
        // The checksum is computed as if its own field contained spaces.
        if parse_octal(&block[148..156]) != Some(sum - checksum_field + 8 * u64::from(b' ')) {
            return Err(malformed("its checksum is wrong"));
        }
        let size =
            parse_octal(&block[124..136]).ok_or_else(|| malformed("its size is not an octal number"))?;
        let mode = parse_octal(&block[100..108]).unwrap_or_default();
        Ok(Self { block, kind: block[156], size, mode })
    }

    /// Returns the name in the header itself.
    fn name(&self) -> Vec<u8> {
        let name = until_nul(&self.block[..100]);
        let prefix = until_nul(&self.block[345..500]);
        // The GNU format uses this field for other purposes.
        if &self.block[257..263] == b"ustar\0" && !prefix.is_empty() {
            [prefix, b"/", name].concat()
        } else {
            name.to_vec()
        }
    }

    /// Returns the content, and the bytes after its last block.
    fn data(&self, rest: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), ArchiveError> {
        const TRUNCATED: ArchiveError = ArchiveError::Truncated("the content of an entry");
        let is_extended = matches!(self.kind, b'x' | b'g' | b'L' | b'K');
        if is_extended && self.size > RECORD_MAX || self.kind == b'L' && self.size > PATH_MAX as u64 + 1 {
            let reason = "it is too long";
            return Err(ArchiveError::Malformed { part: "an extended header".to_owned(), reason });
        }
        // Links and devices have no content, regardless of their size field; they are rejected later.
        let has_no_content = matches!(self.kind, b'1'..=b'4' | b'6');
        let size = if has_no_content { 0 } else { usize::try_from(self.size).map_err(|_| TRUNCATED)? };
        let data = rest.get(..size).ok_or(TRUNCATED)?;
        Ok((data, rest.get(size.next_multiple_of(BLOCK)..).ok_or(TRUNCATED)?))
    }
}

fn until_nul(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Parses an octal number, surrounded by spaces or ended by NUL.
fn parse_octal(field: &[u8]) -> Option<u64> {
    let text = until_nul(field).trim_ascii();
    if text.is_empty() {
        return Some(0);
    }
    text.iter().try_fold(0_u64, |number, digit| match digit {
        b'0'..=b'7' => number.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

fn duplicate_record() -> ArchiveError {
    ArchiveError::Malformed { part: "an extended header".to_owned(), reason: "it has a duplicate record" }
}
