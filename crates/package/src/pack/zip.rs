//! A zip that is the same everywhere: sorted, without times, owners or anything of the machine.

use miniz_oxide::deflate::compress_to_vec;

use crate::MemoryFile;

/// Fixed, like all else: another level would be other bytes.
const LEVEL: u8 = 9;
/// 1980-01-01, the first day that a zip knows.
const DAY_ONE: u16 = 0x21;
/// A system with modes, and version 2.0 of the format.
const MADE_BY: u16 = 3 << 8 | 20;
const UTF8: u16 = 1 << 11;

/// The files, by path, each name with `top` before it. They are within the limits, so that no number can be too large.
pub(super) fn write(files: &[MemoryFile], top: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for file in files {
        let name = format!("{top}{}", file.path);
        let packed = compress_to_vec(&file.bytes, LEVEL);
        let (method, data) =
            if packed.len() < file.bytes.len() { (8_u16, &packed) } else { (0, &file.bytes) };
        let offset = bytes.len();
        let mut common = Vec::new();
        let flags = if name.is_ascii() { 0 } else { UTF8 };
        for short in [20, flags, method, 0, DAY_ONE] {
            common.extend(u16::to_le_bytes(short));
        }
        for long in [crc32fast::hash(&file.bytes), long(data.len()), long(file.bytes.len())] {
            common.extend(long.to_le_bytes());
        }
        common.extend(short(name.len()).to_le_bytes());
        // No extra fields.
        common.extend([0, 0]);

        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(name.as_bytes());
        bytes.extend(data);

        directory.extend(b"PK\x01\x02");
        directory.extend(MADE_BY.to_le_bytes());
        directory.extend(&common);
        // No comment, the first disk, no attributes of DOS.
        directory.extend([0; 6]);
        let mode: u32 = if file.executable { 0o100755 } else { 0o100644 };
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(long(offset).to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, size) = (bytes.len(), directory.len());
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    for count in [files.len(); 2] {
        bytes.extend(short(count).to_le_bytes());
    }
    bytes.extend(long(size).to_le_bytes());
    bytes.extend(long(start).to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

fn long(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
