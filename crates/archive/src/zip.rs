//! Zip, read strictly: the directory at the end and the headers before the bytes must tell one story, and entries lie
//! one after the other without a gap.

use super::gather::{Gather, shown};
use super::headers::{Central, Kind, descriptor, local, u16_at, u32_at};
use super::inflate::{InflateError, inflate};
use super::{ArchiveError, Liar};
use crate::MemoryTree;

const END: &[u8] = b"PK\x05\x06";
const END_SIZE: usize = 22;
const COMMENT_MAX: usize = u16::MAX as usize;

pub(crate) fn read(bytes: &[u8]) -> Result<MemoryTree, ArchiveError> {
    let directory = directory(bytes)?;
    let start = directory.start;
    let mut rest = directory.records;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (entry, after) = Central::parse(rest)?;
        entries.push(entry);
        rest = after;
    }
    if entries.len() != directory.count {
        let why = "it does not have as many entries as it says";
        return Err(ArchiveError::Malformed { what: "its directory".to_owned(), why });
    }
    entries.sort_by_key(|entry| entry.offset);
    let place = |entry: Option<&Central<'_>>| entry.map_or(start, |entry| entry.offset as usize);
    if place(entries.first()) != 0 {
        return Err(ArchiveError::Outside { what: "before the first entry" });
    }
    let mut gather = Gather::default();
    for (at, entry) in entries.iter().enumerate() {
        let end = place(entries.get(at + 1));
        if end == entry.offset as usize {
            return Err(ArchiveError::Overlap { name: shown(entry.claims.name) });
        }
        let Some(whole) = bytes.get(entry.offset as usize..end.min(start)) else {
            let why = "it lies outside of the entries";
            return Err(ArchiveError::Malformed { what: shown(entry.claims.name), why });
        };
        add(&mut gather, entry, whole)?;
    }
    Ok(gather.tree())
}

/// Whether a zip archive ends here, whatever it begins with.
pub(crate) fn has_end(bytes: &[u8]) -> bool {
    directory(bytes).is_ok()
}

/// Adds one entry, whose header, bytes and descriptor fill `whole`.
fn add(gather: &mut Gather, entry: &Central<'_>, whole: &[u8]) -> Result<(), ArchiveError> {
    let claims = &entry.claims;
    let name = || shown(claims.name);
    let is_folder = claims.name.ends_with(b"/");
    match entry.kind() {
        Kind::Link => return Err(ArchiveError::Link { name: name() }),
        Kind::Special => return Err(ArchiveError::Special { name: name() }),
        Kind::Folder if !is_folder => {
            return Err(ArchiveError::Malformed { what: name(), why: "it is a folder by its mode only" });
        }
        Kind::Unsaid | Kind::File | Kind::Folder => {}
    }
    let path = gather.name(claims.name, is_folder)?;
    gather.announce(claims.name, claims.bytes.into())?;
    let header = local(whole, claims)?;
    let rest = whole.get(header..).unwrap_or_default();
    let Some((packed, after)) = rest.split_at_checked(claims.packed as usize) else {
        // It would reach into the next entry, or into the directory.
        return Err(ArchiveError::Lies { name: name(), about: Liar::Size });
    };
    if claims.has_descriptor() {
        descriptor(after, claims)?;
        // Whoever reads from the front looks for this mark to find the end.
        if claims.method == 0 && packed.windows(4).any(|mark| mark == b"PK\x07\x08") {
            return Err(ArchiveError::Outside { what: "in an entry that could be its end" });
        }
    } else if !after.is_empty() {
        return Err(ArchiveError::Outside { what: "between two entries" });
    }
    let bytes = unpack(entry, packed)?;
    if crc32fast::hash(&bytes) != claims.crc {
        return Err(ArchiveError::Checksum { name: name() });
    }
    match path {
        Some(path) if !is_folder => gather.file(path, entry.executable(), bytes),
        _ if bytes.is_empty() => Ok(()),
        _ => Err(ArchiveError::Malformed { what: name(), why: "it is a folder with bytes of its own" }),
    }
}

/// The bytes of an entry, as many as it says there are.
fn unpack(entry: &Central<'_>, packed: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    let claims = &entry.claims;
    let name = || shown(claims.name);
    let lie = || ArchiveError::Lies { name: name(), about: Liar::Size };
    if claims.method == 0 {
        return if packed.len() == claims.bytes as usize { Ok(packed.to_vec()) } else { Err(lie()) };
    }
    let (bytes, read) = inflate(packed, claims.bytes as usize).map_err(|error| match error {
        InflateError::TooMuch => lie(),
        InflateError::Truncated => ArchiveError::Truncated("an entry's bytes"),
        InflateError::Malformed => ArchiveError::Malformed { what: name(), why: "it is not deflated" },
    })?;
    if bytes.len() == claims.bytes as usize && read == packed.len() { Ok(bytes) } else { Err(lie()) }
}

/// The directory at the end.
struct Directory<'a> {
    records: &'a [u8],
    start: usize,
    count: usize,
}

fn directory(bytes: &[u8]) -> Result<Directory<'_>, ArchiveError> {
    const CUT: ArchiveError = ArchiveError::Truncated("its end record");
    let malformed = |why| ArchiveError::Malformed { what: "its end record".to_owned(), why };
    let end = end_record(bytes)?;
    let record = bytes.get(end..).ok_or(CUT)?;
    let short = |at| u16_at(record, at).ok_or(CUT);
    let size = u32_at(record, 12).ok_or(CUT)?;
    let start = u32_at(record, 16).ok_or(CUT)?;
    let count = short(10)?;
    let locator = end.checked_sub(20).and_then(|at| bytes.get(at..at + 4)) == Some(b"PK\x06\x07");
    if locator || count == u16::MAX || size == u32::MAX || start == u32::MAX {
        return Err(ArchiveError::Zip64("its end record".to_owned()));
    }
    if short(4)? != 0 || short(6)? != 0 || short(8)? != count {
        return Err(malformed("it speaks of more than one disk"));
    }
    let (start, size) = (start as usize, size as usize);
    let after = start.checked_add(size).ok_or(CUT)?;
    let records = bytes.get(start..after).filter(|_| after <= end);
    let records = records.ok_or_else(|| malformed("its directory lies outside of the archive"))?;
    if after != end {
        let between = bytes.get(after..).unwrap_or_default();
        let what = "before the end record";
        let two = between.starts_with(END);
        return Err(if two { ArchiveError::TwoEnds } else { ArchiveError::Outside { what } });
    }
    Ok(Directory { records, start, count: usize::from(count) })
}

/// Where the end record is: the last one, with a comment that reaches exactly to the end, and no other like it.
fn end_record(bytes: &[u8]) -> Result<usize, ArchiveError> {
    let from = bytes.len().saturating_sub(END_SIZE + COMMENT_MAX);
    let tail = bytes.get(from..).unwrap_or_default();
    let reaches = |at: usize| u16_at(tail, at + 20).map(|comment| at + END_SIZE + usize::from(comment));
    let mut last = None;
    let mut exact = 0;
    for at in (0..tail.len().saturating_sub(3)).filter(|at| tail[*at..].starts_with(END)) {
        last = Some(at);
        exact += usize::from(reaches(at) == Some(tail.len()));
    }
    let Some(last) = last else { return Err(ArchiveError::Truncated("its entries")) };
    match reaches(last) {
        Some(end) if end == tail.len() && exact == 1 => Ok(from + last),
        _ if exact > 0 => Err(ArchiveError::TwoEnds),
        Some(end) if end < tail.len() => Err(ArchiveError::Outside { what: "after its end" }),
        _ => Err(ArchiveError::Truncated("its end record")),
    }
}
