//! Writes reproducible zip archives: sorted, without times, owners or other data of the machine.

use miniz_oxide::deflate::compress_to_vec;

use crate::MemoryFile;

/// The compression level. It is fixed, because another level would result in other bytes.
const LEVEL: u8 = 9;
/// 1980-01-01, the earliest date in a zip.
const EARLIEST_DATE: u16 = 0x21;
/// Unix as the creating system, and version 2.0 of the format.
const MADE_BY: u16 = 3 << 8 | 20;
const UTF8: u16 = 1 << 11;

/// Writes a zip of the files, each path prefixed with `prefix`. The limits of skills ensure that no number overflows.
pub(super) fn write_zip(files: &[MemoryFile], prefix: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for file in files {
        let name = format!("{prefix}{}", file.path);
        let compressed = compress_to_vec(&file.bytes, LEVEL);
        let (method, data) =
            if compressed.len() < file.bytes.len() { (8_u16, &compressed) } else { (0, &file.bytes) };
        let offset = bytes.len();
        let mut common = Vec::new();
        let flags = if name.is_ascii() { 0 } else { UTF8 };
        for value in [20, flags, method, 0, EARLIEST_DATE] {
            common.extend(u16::to_le_bytes(value));
        }
        for value in [crc32fast::hash(&file.bytes), to_u32(data.len()), to_u32(file.bytes.len())] {
            common.extend(value.to_le_bytes());
        }
        common.extend(to_u16(name.len()).to_le_bytes());
        // No extra fields.
        common.extend([0, 0]);

        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(name.as_bytes());
        bytes.extend(data);

        directory.extend(b"PK\x01\x02");
        directory.extend(MADE_BY.to_le_bytes());
        directory.extend(&common);
        // No comment, first disk, no DOS attributes.
        directory.extend([0; 6]);
        let mode: u32 = if file.executable { 0o100755 } else { 0o100644 };
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(to_u32(offset).to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, size) = (bytes.len(), directory.len());
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    for count in [files.len(); 2] {
        bytes.extend(to_u16(count).to_le_bytes());
    }
    bytes.extend(to_u32(size).to_le_bytes());
    bytes.extend(to_u32(start).to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

fn to_u16(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
