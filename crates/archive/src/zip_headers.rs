//! The records of a zip archive.

use super::tree_builder::display_name;
use super::{ArchiveError, Mismatch};

const ZIP64_EXTRA: u16 = 0x0001;
const UNICODE_NAME_EXTRA: u16 = 0x7075;
const AES_EXTRA: u16 = 0x9901;

/// Encrypted, strongly encrypted, or with masked headers.
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const DESCRIPTOR: u16 = 1 << 3;
const PATCHED: u16 = 1 << 5;

pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// The fields that both headers of an entry contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryHeader<'a> {
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) compressed_size: u32,
    pub(crate) size: u32,
    pub(crate) name: &'a [u8],
}

impl EntryHeader<'_> {
    /// Returns `true` if checksum and sizes follow the content instead of preceding it.
    pub(crate) fn has_descriptor(&self) -> bool {
        self.flags & DESCRIPTOR != 0
    }

    /// Fails if the entry uses an unsupported feature.
    fn ensure_supported(&self) -> Result<(), ArchiveError> {
        let name = || display_name(self.name);
        if self.flags & ENCRYPTED != 0 {
            return Err(ArchiveError::Encrypted { name: name() });
        }
        if !matches!(self.method, 0 | 8) {
            return Err(ArchiveError::CompressionMethod { name: name(), method: self.method });
        }
        if self.flags & PATCHED != 0 {
            return Err(ArchiveError::Malformed { part: name(), reason: "it is a patch to another file" });
        }
        Ok(())
    }
}

/// A record of the central directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CentralEntry<'a> {
    pub(crate) header: EntryHeader<'a>,
    pub(crate) offset: u32,
    /// The system of the program that wrote the entry; it defines the meaning of the attributes.
    system: u8,
    attributes: u32,
}

/// The kind of an entry according to its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZipEntryKind {
    Unspecified,
    File,
    Dir,
    Link,
    Special,
}

impl<'a> CentralEntry<'a> {
    /// Parses the record at the beginning of `bytes`, and returns the rest.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), ArchiveError> {
        const TRUNCATED: ArchiveError = ArchiveError::Truncated("its directory");
        if !bytes.starts_with(b"PK\x01\x02") {
            let reason = "it contains an invalid entry";
            return Err(ArchiveError::Malformed { part: "its directory".to_owned(), reason });
        }
        let u16_field = |field_offset| u16_at(bytes, field_offset).ok_or(TRUNCATED);
        let u32_field = |field_offset| u32_at(bytes, field_offset).ok_or(TRUNCATED);
        let offset = u32_field(42)?;
        let (name, extra) = (usize::from(u16_field(28)?), usize::from(u16_field(30)?));
        let comment = usize::from(u16_field(32)?);
        let end = 46 + name + extra + comment;
        let rest = bytes.get(end..).ok_or(TRUNCATED)?;
        let name = bytes.get(46..46 + name).ok_or(TRUNCATED)?;
        let header = EntryHeader {
            flags: u16_field(8)?,
            method: u16_field(10)?,
            crc: u32_field(16)?,
            compressed_size: u32_field(20)?,
            size: u32_field(24)?,
            name,
        };
        check_extra_fields(bytes.get(46 + name.len()..end - comment).ok_or(TRUNCATED)?, name)?;
        if [header.compressed_size, header.size, offset].contains(&u32::MAX) {
            return Err(ArchiveError::Zip64(format!("“{}”", display_name(name))));
        }
        header.ensure_supported()?;
        if u16_field(34)? != 0 {
            let reason = "it is on another disk";
            return Err(ArchiveError::Malformed { part: display_name(name), reason });
        }
        let system = bytes.get(5).copied().ok_or(TRUNCATED)?;
        Ok((Self { header, offset, system, attributes: u32_field(38)? }, rest))
    }

    /// Returns the kind of the entry. The Unix mode is checked for every system, because other programs may use
    /// it.
    pub(crate) fn kind(&self) -> ZipEntryKind {
        match (self.attributes >> 16) & 0o170000 {
            0 => ZipEntryKind::Unspecified,
            0o100000 => ZipEntryKind::File,
            0o040000 => ZipEntryKind::Dir,
            0o120000 => ZipEntryKind::Link,
            _ => ZipEntryKind::Special,
        }
    }

    pub(crate) fn executable(&self) -> bool {
        const UNIX: u8 = 3;
        const MACOS: u8 = 19;
        matches!(self.system, UNIX | MACOS) && (self.attributes >> 16) & 0o111 != 0
    }
}

/// Checks the local header against the central one, and returns its length.
pub(crate) fn check_local_header(bytes: &[u8], central: &EntryHeader<'_>) -> Result<usize, ArchiveError> {
    const TRUNCATED: ArchiveError = ArchiveError::Truncated("an entry's header");
    let name = || display_name(central.name);
    if !bytes.starts_with(b"PK\x03\x04") {
        let reason = "the directory points to something that is not an entry";
        return Err(ArchiveError::Malformed { part: name(), reason });
    }
    let u16_field = |field_offset| u16_at(bytes, field_offset).ok_or(TRUNCATED);
    let u32_field = |field_offset| u32_at(bytes, field_offset).ok_or(TRUNCATED);
    let name_length = usize::from(u16_field(26)?);
    let end = 30 + name_length + usize::from(u16_field(28)?);
    let local_name = bytes.get(30..30 + name_length).ok_or(TRUNCATED)?;
    let inconsistent = |about| Err(ArchiveError::Inconsistent { name: name(), about });
    if local_name != central.name {
        return inconsistent(Mismatch::Name);
    }
    check_extra_fields(bytes.get(30 + name_length..end).ok_or(TRUNCATED)?, local_name)?;
    if u16_field(8)? != central.method {
        return inconsistent(Mismatch::Method);
    }
    // The flags for the compression level may differ.
    const LEVEL_FLAGS: u16 = 6;
    if u16_field(6)? & !LEVEL_FLAGS != central.flags & !LEVEL_FLAGS {
        return inconsistent(Mismatch::Flags);
    }
    let (crc, compressed_size, size) = (u32_field(14)?, u32_field(18)?, u32_field(22)?);
    // With a data descriptor, programs write the known values here, or zero.
    let differs = |local, central_value| local != central_value && !(local == 0 && central.has_descriptor());
    if differs(crc, central.crc) {
        return inconsistent(Mismatch::Checksum);
    }
    if differs(compressed_size, central.compressed_size) || differs(size, central.size) {
        return inconsistent(Mismatch::Size);
    }
    Ok(end)
}

/// Checks the data descriptor, which follows the content and contains its checksum and sizes.
pub(crate) fn check_descriptor(bytes: &[u8], central: &EntryHeader<'_>) -> Result<(), ArchiveError> {
    let name = || display_name(central.name);
    let record = match bytes.len() {
        12 => bytes,
        16 if bytes.starts_with(b"PK\x07\x08") => &bytes[4..],
        20 | 24 => return Err(ArchiveError::Zip64(format!("“{}”", name()))),
        _ => return Err(ArchiveError::StrayBytes { position: "between two entries" }),
    };
    let fields = (u32_at(record, 0), u32_at(record, 4), u32_at(record, 8));
    if fields.0 != Some(central.crc) {
        return Err(ArchiveError::Inconsistent { name: name(), about: Mismatch::Checksum });
    }
    if (fields.1, fields.2) != (Some(central.compressed_size), Some(central.size)) {
        return Err(ArchiveError::Inconsistent { name: name(), about: Mismatch::Size });
    }
    Ok(())
}

/// Rejects extra fields that change the meaning of a header: larger sizes, another name, encryption. Others,
/// such as times, are ignored.
fn check_extra_fields(mut bytes: &[u8], name: &[u8]) -> Result<(), ArchiveError> {
    while let (Some(id), Some(length)) = (u16_at(bytes, 0), u16_at(bytes, 2)) {
        let Some((field, rest)) = bytes[4..].split_at_checked(usize::from(length)) else {
            let reason = "an extra field is longer than the record";
            return Err(ArchiveError::Malformed { part: display_name(name), reason });
        };
        match id {
            ZIP64_EXTRA => return Err(ArchiveError::Zip64(format!("“{}”", display_name(name)))),
            AES_EXTRA => return Err(ArchiveError::Encrypted { name: display_name(name) }),
            // The field contains a version, the checksum of the other name, and this name.
            UNICODE_NAME_EXTRA if field.get(5..) != Some(name) => {
                return Err(ArchiveError::Inconsistent { name: display_name(name), about: Mismatch::Name });
            }
            _ => {}
        }
        bytes = rest;
    }
    Ok(())
}
