//! A strict zip reader: the central directory and the local headers must agree, and entries must follow each
//! other without gaps.

use super::inflate::{InflateError, inflate};
use super::tree_builder::{TreeBuilder, display_name};
use super::zip_headers::{CentralEntry, ZipEntryKind, check_descriptor, check_local_header, u16_at, u32_at};
use super::{ArchiveError, Mismatch};
use crate::MemoryTree;

const END: &[u8] = b"PK\x05\x06";
const END_SIZE: usize = 22;
const COMMENT_MAX: usize = u16::MAX as usize;

pub(crate) fn read_zip(bytes: &[u8]) -> Result<MemoryTree, ArchiveError> {
    let directory = find_directory(bytes)?;
    let start = directory.start;
    let mut rest = directory.records;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (entry, after) = CentralEntry::parse(rest)?;
        entries.push(entry);
        rest = after;
    }
    if entries.len() != directory.count {
        let reason = "it has a wrong number of entries";
        return Err(ArchiveError::Malformed { part: "its directory".to_owned(), reason });
    }
    entries.sort_by_key(|entry| entry.offset);
    let start_of = |entry: Option<&CentralEntry<'_>>| entry.map_or(start, |entry| entry.offset as usize);
    if start_of(entries.first()) != 0 {
        return Err(ArchiveError::StrayBytes { position: "before the first entry" });
    }
    let mut builder = TreeBuilder::default();
    for (index, entry) in entries.iter().enumerate() {
        let end = start_of(entries.get(index + 1));
        if end == entry.offset as usize {
            return Err(ArchiveError::Overlap { name: display_name(entry.header.name) });
        }
        let Some(entry_bytes) = bytes.get(entry.offset as usize..end.min(start)) else {
            let reason = "it is outside the archive";
            return Err(ArchiveError::Malformed { part: display_name(entry.header.name), reason });
        };
        add_entry(&mut builder, entry, entry_bytes)?;
    }
    Ok(builder.finish())
}

/// Returns `true` if the bytes end like a zip archive.
pub(crate) fn has_end(bytes: &[u8]) -> bool {
    find_directory(bytes).is_ok()
}

/// Adds one entry; its header, content and descriptor fill `entry_bytes`.
fn add_entry(
    builder: &mut TreeBuilder,
    entry: &CentralEntry<'_>,
    entry_bytes: &[u8],
) -> Result<(), ArchiveError> {
    let header = &entry.header;
    let name = || display_name(header.name);
    let is_dir = header.name.ends_with(b"/");
    match entry.kind() {
        ZipEntryKind::Link => return Err(ArchiveError::Link { name: name() }),
        ZipEntryKind::Special => return Err(ArchiveError::Special { name: name() }),
        ZipEntryKind::Dir if !is_dir => {
            return Err(ArchiveError::Malformed {
                part: name(),
                reason: "only its mode marks it as a directory",
            });
        }
        ZipEntryKind::Unspecified | ZipEntryKind::File | ZipEntryKind::Dir => {}
    }
    let path = builder.add_name(header.name, is_dir)?;
    builder.check_size(header.name, header.size.into())?;
    let header_length = check_local_header(entry_bytes, header)?;
    let rest = entry_bytes.get(header_length..).unwrap_or_default();
    let Some((packed, after)) = rest.split_at_checked(header.compressed_size as usize) else {
        // The content would extend into the next entry, or into the central directory.
        return Err(ArchiveError::Inconsistent { name: name(), about: Mismatch::Size });
    };
    if header.has_descriptor() {
        check_descriptor(after, header)?;
        // Programs that read from the front search for this signature to find the end.
        if header.method == 0 && packed.windows(4).any(|window| window == b"PK\x07\x08") {
            return Err(ArchiveError::StrayBytes { position: "in an entry that look like its end" });
        }
    } else if !after.is_empty() {
        return Err(ArchiveError::StrayBytes { position: "between two entries" });
    }
    let bytes = unpack(entry, packed)?;
    if crc32fast::hash(&bytes) != header.crc {
        return Err(ArchiveError::Checksum { name: name() });
    }
    match path {
        Some(path) if !is_dir => builder.add_file(path, entry.executable(), bytes),
        _ if bytes.is_empty() => Ok(()),
        _ => Err(ArchiveError::Malformed { part: name(), reason: "it is a directory with content" }),
    }
}

/// Returns the content of an entry, checked against its size.
fn unpack(entry: &CentralEntry<'_>, packed: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    let header = &entry.header;
    let name = || display_name(header.name);
    let wrong_size = || ArchiveError::Inconsistent { name: name(), about: Mismatch::Size };
    if header.method == 0 {
        return if packed.len() == header.size as usize { Ok(packed.to_vec()) } else { Err(wrong_size()) };
    }
    let (bytes, read) = inflate(packed, header.size as usize).map_err(|error| match error {
        InflateError::TooLarge => wrong_size(),
        InflateError::Truncated => ArchiveError::Truncated("the content of an entry"),
        InflateError::Malformed => {
            ArchiveError::Malformed { part: name(), reason: "it is not a deflate stream" }
        }
    })?;
    if bytes.len() == header.size as usize && read == packed.len() { Ok(bytes) } else { Err(wrong_size()) }
}

struct CentralDirectory<'a> {
    records: &'a [u8],
    start: usize,
    count: usize,
}

fn find_directory(bytes: &[u8]) -> Result<CentralDirectory<'_>, ArchiveError> {
    const TRUNCATED: ArchiveError = ArchiveError::Truncated("its end record");
    let malformed = |reason| ArchiveError::Malformed { part: "its end record".to_owned(), reason };
    let end = find_end_record(bytes)?;
    let record = bytes.get(end..).ok_or(TRUNCATED)?;
    let u16_field = |offset| u16_at(record, offset).ok_or(TRUNCATED);
    let size = u32_at(record, 12).ok_or(TRUNCATED)?;
    let start = u32_at(record, 16).ok_or(TRUNCATED)?;
    let count = u16_field(10)?;
    let has_locator =
        end.checked_sub(20).and_then(|offset| bytes.get(offset..offset + 4)) == Some(b"PK\x06\x07");
    if has_locator || count == u16::MAX || size == u32::MAX || start == u32::MAX {
        return Err(ArchiveError::Zip64("its end record".to_owned()));
    }
    if u16_field(4)? != 0 || u16_field(6)? != 0 || u16_field(8)? != count {
        return Err(malformed("it spans more than one disk"));
    }
    let (start, size) = (start as usize, size as usize);
    let after = start.checked_add(size).ok_or(TRUNCATED)?;
    let records = bytes.get(start..after).filter(|_| after <= end);
    let records = records.ok_or_else(|| malformed("its directory is outside the archive"))?;
    if after != end {
        let between = bytes.get(after..).unwrap_or_default();
        let position = "before the end record";
        let is_end_record = between.starts_with(END);
        return Err(if is_end_record {
            ArchiveError::MultipleEndRecords
        } else {
            ArchiveError::StrayBytes { position }
        });
    }
    Ok(CentralDirectory { records, start, count: usize::from(count) })
}

/// Finds the end record: the last one, whose comment ends exactly at the end of the file. There must be no
/// other such record.
fn find_end_record(bytes: &[u8]) -> Result<usize, ArchiveError> {
    let from = bytes.len().saturating_sub(END_SIZE + COMMENT_MAX);
    let tail = bytes.get(from..).unwrap_or_default();
    let record_end =
        |offset: usize| u16_at(tail, offset + 20).map(|comment| offset + END_SIZE + usize::from(comment));
    let mut last = None;
    let mut exact = 0;
    for offset in (0..tail.len().saturating_sub(3)).filter(|offset| tail[*offset..].starts_with(END)) {
        last = Some(offset);
        exact += usize::from(record_end(offset) == Some(tail.len()));
    }
    let Some(last) = last else { return Err(ArchiveError::Truncated("its entries")) };
    match record_end(last) {
        Some(end) if end == tail.len() && exact == 1 => Ok(from + last),
        _ if exact > 0 => Err(ArchiveError::MultipleEndRecords),
        Some(end) if end < tail.len() => Err(ArchiveError::StrayBytes { position: "after its end" }),
        _ => Err(ArchiveError::Truncated("its end record")),
    }
}
