//! The records of a zip archive.

use super::gather::shown;
use super::{ArchiveError, Liar};

const ZIP64_EXTRA: u16 = 0x0001;
const UNICODE_NAME_EXTRA: u16 = 0x7075;
const AES_EXTRA: u16 = 0x9901;

/// Encrypted, strongly encrypted, or with its headers hidden.
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const DESCRIPTOR: u16 = 1 << 3;
const PATCHED: u16 = 1 << 5;

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// What both headers of an entry say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claims<'a> {
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) packed: u32,
    pub(crate) bytes: u32,
    pub(crate) name: &'a [u8],
}

impl Claims<'_> {
    /// Whether checksum and sizes follow the bytes instead of standing before them.
    pub(crate) fn has_descriptor(&self) -> bool {
        self.flags & DESCRIPTOR != 0
    }

    /// Refuses what is not read at all.
    fn readable(&self) -> Result<(), ArchiveError> {
        let name = || shown(self.name);
        if self.flags & ENCRYPTED != 0 {
            return Err(ArchiveError::Encrypted { name: name() });
        }
        if !matches!(self.method, 0 | 8) {
            return Err(ArchiveError::Method { name: name(), method: self.method });
        }
        if self.flags & PATCHED != 0 {
            return Err(ArchiveError::Malformed { what: name(), why: "it is a patch to another file" });
        }
        Ok(())
    }
}

/// A record of the directory at the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Central<'a> {
    pub(crate) claims: Claims<'a>,
    pub(crate) offset: u32,
    /// The program's system, which says what the attributes mean.
    system: u8,
    attributes: u32,
}

/// What an entry is by its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Unsaid,
    File,
    Folder,
    Link,
    Special,
}

impl<'a> Central<'a> {
    /// The record at the beginning of `bytes`, and what follows it.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), ArchiveError> {
        const CUT: ArchiveError = ArchiveError::Truncated("its directory");
        if !bytes.starts_with(b"PK\x01\x02") {
            let why = "it holds something that is no entry";
            return Err(ArchiveError::Malformed { what: "its directory".to_owned(), why });
        }
        let short = |at| u16_at(bytes, at).ok_or(CUT);
        let long = |at| u32_at(bytes, at).ok_or(CUT);
        let offset = long(42)?;
        let (name, extra) = (usize::from(short(28)?), usize::from(short(30)?));
        let comment = usize::from(short(32)?);
        let end = 46 + name + extra + comment;
        let rest = bytes.get(end..).ok_or(CUT)?;
        let name = bytes.get(46..46 + name).ok_or(CUT)?;
        let claims = Claims {
            flags: short(8)?,
            method: short(10)?,
            crc: long(16)?,
            packed: long(20)?,
            bytes: long(24)?,
            name,
        };
        extras(bytes.get(46 + name.len()..end - comment).ok_or(CUT)?, name)?;
        if [claims.packed, claims.bytes, offset].contains(&u32::MAX) {
            return Err(ArchiveError::Zip64(format!("“{}”", shown(name))));
        }
        claims.readable()?;
        if short(34)? != 0 {
            let why = "it is on another disk";
            return Err(ArchiveError::Malformed { what: shown(name), why });
        }
        let system = bytes.get(5).copied().ok_or(CUT)?;
        Ok((Self { claims, offset, system, attributes: long(38)? }, rest))
    }

    /// What it is. The type is looked for whatever system is named: others may look there, too.
    pub(crate) fn kind(&self) -> Kind {
        match (self.attributes >> 16) & 0o170000 {
            0 => Kind::Unsaid,
            0o100000 => Kind::File,
            0o040000 => Kind::Folder,
            0o120000 => Kind::Link,
            _ => Kind::Special,
        }
    }

    pub(crate) fn executable(&self) -> bool {
        const UNIX: u8 = 3;
        const MACOS: u8 = 19;
        matches!(self.system, UNIX | MACOS) && (self.attributes >> 16) & 0o111 != 0
    }
}

/// The header that stands before the bytes, which must say the same. Gives its length.
pub(crate) fn local(bytes: &[u8], central: &Claims<'_>) -> Result<usize, ArchiveError> {
    const CUT: ArchiveError = ArchiveError::Truncated("an entry's header");
    let name = || shown(central.name);
    if !bytes.starts_with(b"PK\x03\x04") {
        let why = "its directory points to something that is no entry";
        return Err(ArchiveError::Malformed { what: name(), why });
    }
    let short = |at| u16_at(bytes, at).ok_or(CUT);
    let long = |at| u32_at(bytes, at).ok_or(CUT);
    let names = usize::from(short(26)?);
    let end = 30 + names + usize::from(short(28)?);
    let own = bytes.get(30..30 + names).ok_or(CUT)?;
    let lie = |about| Err(ArchiveError::Lies { name: name(), about });
    if own != central.name {
        return lie(Liar::Name);
    }
    extras(bytes.get(30 + names..end).ok_or(CUT)?, own)?;
    // How hard it was compressed is nobody's business.
    const HOW_HARD: u16 = 6;
    if short(8)? != central.method || short(6)? & !HOW_HARD != central.flags & !HOW_HARD {
        return lie(Liar::Method);
    }
    let (crc, packed, size) = (long(14)?, long(18)?, long(22)?);
    // Where they follow the bytes, programs write here what they know, or nothing.
    let differs = |own, other| own != other && !(own == 0 && central.has_descriptor());
    if differs(crc, central.crc) {
        return lie(Liar::Checksum);
    }
    if differs(packed, central.packed) || differs(size, central.bytes) {
        return lie(Liar::Size);
    }
    Ok(end)
}

/// What follows the bytes of an entry that has its checksum and sizes there.
pub(crate) fn descriptor(bytes: &[u8], central: &Claims<'_>) -> Result<(), ArchiveError> {
    let name = || shown(central.name);
    let record = match bytes.len() {
        12 => bytes,
        16 if bytes.starts_with(b"PK\x07\x08") => &bytes[4..],
        20 | 24 => return Err(ArchiveError::Zip64(format!("“{}”", name()))),
        _ => return Err(ArchiveError::Outside { what: "between two entries" }),
    };
    let said = (u32_at(record, 0), u32_at(record, 4), u32_at(record, 8));
    if said.0 != Some(central.crc) {
        return Err(ArchiveError::Lies { name: name(), about: Liar::Checksum });
    }
    if (said.1, said.2) != (Some(central.packed), Some(central.bytes)) {
        return Err(ArchiveError::Lies { name: name(), about: Liar::Size });
    }
    Ok(())
}

/// Looks for what changes the meaning of a header: larger sizes, another name, encryption. The rest are times and the
/// like.
fn extras(mut bytes: &[u8], name: &[u8]) -> Result<(), ArchiveError> {
    while let (Some(id), Some(length)) = (u16_at(bytes, 0), u16_at(bytes, 2)) {
        let Some((field, rest)) = bytes[4..].split_at_checked(usize::from(length)) else {
            let why = "an extra field is longer than all of them";
            return Err(ArchiveError::Malformed { what: shown(name), why });
        };
        match id {
            ZIP64_EXTRA => return Err(ArchiveError::Zip64(format!("“{}”", shown(name)))),
            AES_EXTRA => return Err(ArchiveError::Encrypted { name: shown(name) }),
            // A version, the checksum of the other name, and this name.
            UNICODE_NAME_EXTRA if field.get(5..) != Some(name) => {
                return Err(ArchiveError::Lies { name: shown(name), about: Liar::Name });
            }
            _ => {}
        }
        bytes = rest;
    }
    Ok(())
}
