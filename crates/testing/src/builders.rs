//! Archives made by hand, byte by byte, so that each can lie in its own way.

#![allow(missing_docs)]

use miniz_oxide::deflate::compress_to_vec;

/// One entry of a zip, with what each of its headers says.
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

    /// With checksum and sizes after the bytes, and zeros before them.
    pub fn streamed(self, with_mark: bool) -> Self {
        let mut after = if with_mark { b"PK\x07\x08".to_vec() } else { Vec::new() };
        for number in [self.crc, self.packed, self.size] {
            after.extend(number.to_le_bytes());
        }
        Self { flags: self.flags | 8, local_crc: 0, local_packed: 0, local_size: 0, after, ..self }
    }
}

/// A whole zip, and how to spoil what stands around its entries.
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
            short(&mut bytes, [20, entry.flags, entry.method, 0, 0x21]);
            long(&mut bytes, [entry.local_crc, entry.local_packed, entry.local_size]);
            short(&mut bytes, [entry.local_name.len() as u16, entry.local_extra.len() as u16]);
            bytes.extend([&entry.local_name[..], &entry.local_extra, &entry.data, &entry.after].concat());
            directory.extend(b"PK\x01\x02");
            short(&mut directory, [entry.made_by, 20, entry.flags, entry.method, 0, 0x21]);
            long(&mut directory, [entry.crc, entry.packed, entry.size]);
            short(&mut directory, [entry.name.len() as u16, entry.extra.len() as u16, 0, entry.disk, 0]);
            long(&mut directory, [entry.attributes, offset]);
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
    short(&mut bytes, [0, 0, count, count]);
    long(&mut bytes, [size, start]);
    short(&mut bytes, [comment]);
    bytes
}

fn short<const N: usize>(bytes: &mut Vec<u8>, numbers: [u16; N]) {
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

fn long<const N: usize>(bytes: &mut Vec<u8>, numbers: [u32; N]) {
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

/// A tar header with its bytes, filled up to whole blocks.
pub fn tar_entry(name: &[u8], kind: u8, bytes: &[u8]) -> Vec<u8> {
    tar_sized(name, kind, bytes, bytes.len() as u64, 0o644)
}

pub fn tar_sized(name: &[u8], kind: u8, bytes: &[u8], size: u64, mode: u32) -> Vec<u8> {
    let mut header = [0_u8; 512];
    let name = &name[..name.len().min(100)];
    header[..name.len()].copy_from_slice(name);
    header[100..107].copy_from_slice(format!("{mode:07o}").as_bytes());
    header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    seal(&mut header);
    let mut entry = header.to_vec();
    entry.extend(bytes);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

/// Puts the right checksum into a header.
pub fn seal(header: &mut [u8; 512]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// An extended header with these records.
pub fn pax(kind: u8, records: &[(&str, &str)]) -> Vec<u8> {
    let mut text = String::new();
    for (key, value) in records {
        let bare = key.len() + value.len() + 3;
        let length = (bare + 1..).find(|length| length.to_string().len() + bare == *length).unwrap();
        text += &format!("{length} {key}={value}\n");
    }
    tar_entry(b"PaxHeaders/x", kind, text.as_bytes())
}

/// A tar with its end.
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
