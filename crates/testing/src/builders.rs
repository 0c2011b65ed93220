//! Builders of zip and tar archives, byte by byte, so that tests can create inconsistent ones.

#![allow(missing_docs)]

use miniz_oxide::deflate::compress_to_vec;

/// One entry of a zip archive. The fields `local_*` are values of the local header, the others of the central directory.
#[derive(Clone)]
pub struct ZipEntry {
    pub name: Vec<u8>,
    pub local_name: Vec<u8>,
    pub data: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    pub crc: u32,
    pub local_crc: u32,
    pub packed: u32,
    pub local_packed: u32,
    pub size: u32,
    pub local_size: u32,
    pub made_by: u16,
    pub attributes: u32,
    pub extra: Vec<u8>,
    pub local_extra: Vec<u8>,
    pub after: Vec<u8>,
    pub disk: u16,
}

impl ZipEntry {
    pub fn stored(name: &str, bytes: &[u8]) -> Self {
        let (crc, size) = (crc32fast::hash(bytes), bytes.len() as u32);
        Self {
            name: name.into(),
            local_name: name.into(),
            data: bytes.to_vec(),
            method: 0,
            flags: 0,
            crc,
            local_crc: crc,
            packed: size,
            local_packed: size,
            size,
            local_size: size,
            made_by: 3 << 8 | 20,
            attributes: 0o100644 << 16,
            extra: Vec::new(),
            local_extra: Vec::new(),
            after: Vec::new(),
            disk: 0,
        }
    }

    pub fn deflated(name: &str, bytes: &[u8]) -> Self {
        let data = compress_to_vec(bytes, 6);
        let packed = data.len() as u32;
        Self { data, method: 8, packed, local_packed: packed, ..Self::stored(name, bytes) }
    }

    pub fn mode(self, mode: u32) -> Self {
        Self { attributes: mode << 16, ..self }
    }

    /// Moves the checksum and the sizes from the local header into a data descriptor after the data.
    pub fn streamed(self, with_signature: bool) -> Self {
        let mut after = if with_signature { b"PK\x07\x08".to_vec() } else { Vec::new() };
        for number in [self.crc, self.packed, self.size] {
            after.extend(number.to_le_bytes());
        }
        Self { flags: self.flags | 8, local_crc: 0, local_packed: 0, local_size: 0, after, ..self }
    }
}

/// A zip archive, with overrides for the bytes around its entries.
#[derive(Clone, Default)]
pub struct Zip {
    pub entries: Vec<ZipEntry>,
    pub prefix: Vec<u8>,
    pub before_directory: Vec<u8>,
    pub before_end: Vec<u8>,
    pub comment: Vec<u8>,
    pub claimed_comment: Option<u16>,
    pub count: Option<u16>,
    pub trailing: Vec<u8>,
}

pub fn zip(entries: impl IntoIterator<Item = ZipEntry>) -> Zip {
    Zip { entries: entries.into_iter().collect(), ..Zip::default() }
}

impl Zip {
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.prefix.clone();
        let mut directory = Vec::new();
        for entry in &self.entries {
            let offset = bytes.len() as u32;
            bytes.extend(b"PK\x03\x04");
            push_u16(&mut bytes, [20, entry.flags, entry.method, 0, 0x21]);
            push_u32(&mut bytes, [entry.local_crc, entry.local_packed, entry.local_size]);
            push_u16(&mut bytes, [entry.local_name.len() as u16, entry.local_extra.len() as u16]);
            bytes.extend([&entry.local_name[..], &entry.local_extra, &entry.data, &entry.after].concat());
            directory.extend(b"PK\x01\x02");
            push_u16(&mut directory, [entry.made_by, 20, entry.flags, entry.method, 0, 0x21]);
            push_u32(&mut directory, [entry.crc, entry.packed, entry.size]);
            push_u16(&mut directory, [entry.name.len() as u16, entry.extra.len() as u16, 0, entry.disk, 0]);
            push_u32(&mut directory, [entry.attributes, offset]);
            directory.extend([&entry.name[..], &entry.extra].concat());
        }
        bytes.extend(&self.before_directory);
        let start = bytes.len() as u32;
        bytes.extend(&directory);
        bytes.extend(&self.before_end);
        let count = self.count.unwrap_or(self.entries.len() as u16);
        let comment = self.claimed_comment.unwrap_or(self.comment.len() as u16);
        bytes.extend(end_record(count, directory.len() as u32, start, comment));
        bytes.extend([&self.comment[..], &self.trailing].concat());
        bytes
    }
}

pub fn end_record(count: u16, size: u32, start: u32, comment: u16) -> Vec<u8> {
    let mut bytes = b"PK\x05\x06".to_vec();
    push_u16(&mut bytes, [0, 0, count, count]);
    push_u32(&mut bytes, [size, start]);
    push_u16(&mut bytes, [comment]);
    bytes
}

fn push_u16<const N: usize>(bytes: &mut Vec<u8>, numbers: [u16; N]) {
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

fn push_u32<const N: usize>(bytes: &mut Vec<u8>, numbers: [u32; N]) {
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

/// Returns a tar header with its data, padded to whole blocks.
pub fn tar_entry(name: &[u8], kind: u8, bytes: &[u8]) -> Vec<u8> {
    tar_entry_with(name, kind, bytes, bytes.len() as u64, 0o644)
}

/// Returns a [`tar_entry`] with this size in its header, and this mode.
pub fn tar_entry_with(name: &[u8], kind: u8, bytes: &[u8], size: u64, mode: u32) -> Vec<u8> {
    let mut header = [0_u8; 512];
    let name = &name[..name.len().min(100)];
    header[..name.len()].copy_from_slice(name);
    header[100..107].copy_from_slice(format!("{mode:07o}").as_bytes());
    header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    write_checksum(&mut header);
    let mut entry = header.to_vec();
    entry.extend(bytes);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

/// Writes the checksum into a header.
pub fn write_checksum(header: &mut [u8; 512]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// Returns a pax extended header with these records.
pub fn pax(kind: u8, records: &[(&str, &str)]) -> Vec<u8> {
    let mut text = String::new();
    for (key, value) in records {
        let bare = key.len() + value.len() + 3;
        let length = (bare + 1..).find(|length| length.to_string().len() + bare == *length).unwrap();
        text += &format!("{length} {key}={value}\n");
    }
    tar_entry(b"PaxHeaders/x", kind, text.as_bytes())
}

/// Returns a tar archive, including the end marker.
pub fn tar(entries: &[Vec<u8>]) -> Vec<u8> {
    [entries.concat(), vec![0; 1024]].concat()
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    all.extend(compress_to_vec(bytes, 6));
    all.extend(crc32fast::hash(bytes).to_le_bytes());
    all.extend((bytes.len() as u32).to_le_bytes());
    all
}

pub fn tar_gz(entries: &[Vec<u8>]) -> Vec<u8> {
    gz(&tar(entries))
}
