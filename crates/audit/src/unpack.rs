//! Archives inside a skill, told by their bytes and not by their names, and opened within bounds.

use prowess_archive::{self as archive, ArchiveError, MemoryTree};

/// How many archives may lie in one another.
pub(super) const DEPTH_MAX: usize = 4;

/// The most bytes that are unpacked from the archives of one skill.
pub(super) const TOTAL_MAX: u64 = 64 * 1024 * 1024;

/// What kind of archive the bytes of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Zip, or documents and programs that are one.
    Zip,
    /// Zip behind something else, at this place: some programs look for the end of it only.
    Appended(usize),
    Gzip,
    Tar,
    /// One that is never opened.
    Foreign(&'static str),
}

/// A file from an archive.
pub(super) struct Unpacked {
    /// Its path, with that of the archive in front.
    pub(super) path: String,
    pub(super) executable: bool,
    pub(super) bytes: Vec<u8>,
}

/// What kind of archive this is, if it is one.
pub(super) fn format(bytes: &[u8]) -> Option<Format> {
    match bytes {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Format::Zip),
        [0x1F, 0x8B, 8, ..] => Some(Format::Gzip),
        [b'7', b'z', 0xBC, 0xAF, ..] => Some(Format::Foreign("7z")),
        [b'R', b'a', b'r', b'!', ..] => Some(Format::Foreign("rar")),
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Format::Foreign("xz")),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Some(Format::Foreign("bzip2")),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Format::Foreign("zstd")),
        _ if bytes.get(257..262) == Some(b"ustar") => Some(Format::Tar),
        _ => appended(bytes).map(Format::Appended),
    }
}

/// Where a zip archive begins that stands at the end of something else.
fn appended(bytes: &[u8]) -> Option<usize> {
    const END: usize = 22 + u16::MAX as usize;
    let tail = bytes.get(bytes.len().saturating_sub(END)..)?;
    // Searching forward is many times faster, and most files have none.
    let end = memchr::memmem::find_iter(tail, b"PK\x05\x06").last()?;
    if tail.len() - end < 22 {
        return None;
    }
    memchr::memmem::find(bytes, b"PK\x01\x02")?;
    memchr::memmem::find(bytes, b"PK\x03\x04")
}

/// The files in an archive, or why it was not opened.
pub(super) fn open(format: Format, path: &str, bytes: &[u8]) -> Result<Vec<Unpacked>, String> {
    let tree = match format {
        Format::Zip => archive::read(bytes),
        Format::Appended(start) => archive::read(bytes.get(start..).unwrap_or_default()),
        Format::Tar => archive::read_tar(bytes),
        Format::Gzip => match archive::gunzip(bytes) {
            Ok(inner) if inner.get(257..262) == Some(b"ustar") => archive::read_tar(&inner),
            Ok(inner) => return Ok(vec![single(path, inner)]),
            Err(error) => Err(error),
        },
        Format::Foreign(what) => Err(ArchiveError::Foreign(what)),
    };
    let tree = tree.map_err(|error| error.to_string())?;
    Ok(files(path, &tree))
}

fn files(path: &str, tree: &MemoryTree) -> Vec<Unpacked> {
    let files = tree.files().iter().map(|file| Unpacked {
        path: format!("{path}/{}", file.path),
        executable: file.executable,
        bytes: file.bytes.clone(),
    });
    files.collect()
}

/// What a compressed file is called when it is unpacked.
fn single(path: &str, bytes: Vec<u8>) -> Unpacked {
    let name = path.rsplit('/').next().unwrap_or(path);
    let bare = name.strip_suffix(".gz").unwrap_or(name);
    Unpacked { path: format!("{path}/{bare}"), executable: false, bytes }
}
