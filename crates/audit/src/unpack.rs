//! Archives inside a skill, detected by content instead of name, and unpacked within limits.

use prowess_archive::{self as archive, ArchiveError, MemoryTree};

/// The maximum nesting depth of archives.
pub(super) const DEPTH_MAX: usize = 4;

/// After this many bytes, no further archive of a skill is unpacked.
pub(super) const TOTAL_MAX: u64 = 64 * 1024 * 1024;

/// The format of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveFormat {
    /// Zip, including documents and programs in that format.
    Zip,
    /// A zip archive appended to other content, at this offset: some programs only look at the end.
    Appended(usize),
    Gzip,
    Tar,
    /// A format that is not unpacked.
    Unsupported(&'static str),
}

/// A file from an archive.
pub(super) struct UnpackedFile {
    /// The path, prefixed with that of the archive.
    pub(super) path: String,
    pub(super) executable: bool,
    pub(super) bytes: Vec<u8>,
}

/// Detects the format, if the bytes are an archive.
pub(super) fn detect_format(bytes: &[u8]) -> Option<ArchiveFormat> {
    match bytes {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(ArchiveFormat::Zip),
        [0x1F, 0x8B, 8, ..] => Some(ArchiveFormat::Gzip),
        [b'7', b'z', 0xBC, 0xAF, ..] => Some(ArchiveFormat::Unsupported("7z")),
        [b'R', b'a', b'r', b'!', ..] => Some(ArchiveFormat::Unsupported("rar")),
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(ArchiveFormat::Unsupported("xz")),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Some(ArchiveFormat::Unsupported("bzip2")),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(ArchiveFormat::Unsupported("zstd")),
        [0x1F, 0x9D | 0xA0, ..] => Some(ArchiveFormat::Unsupported("compress")),
        [b'L', b'Z', b'I', b'P', 1, ..] => Some(ArchiveFormat::Unsupported("lzip")),
        [0x5D, 0, 0, ..] => Some(ArchiveFormat::Unsupported("lzma")),
        [b'M', b'S', b'C', b'F', 0, 0, 0, 0, ..] => Some(ArchiveFormat::Unsupported("cab")),
        [b'!', b'<', b'a', b'r', b'c', b'h', b'>', b'\n', ..] => Some(ArchiveFormat::Unsupported("ar")),
        [b'0', b'7', b'0', b'7', b'0', b'1' | b'2' | b'7', b'0'..=b'9', ..] | [0xC7, 0x71, ..] => {
            Some(ArchiveFormat::Unsupported("cpio"))
        }
        _ if bytes.get(257..262) == Some(b"ustar") => Some(ArchiveFormat::Tar),
        _ => find_appended_zip(bytes).map(ArchiveFormat::Appended),
    }
}

/// Returns the start of a zip archive at the end of other content.
fn find_appended_zip(bytes: &[u8]) -> Option<usize> {
    const END: usize = 22 + u16::MAX as usize;
    let tail = bytes.get(bytes.len().saturating_sub(END)..)?;
    // Searching forward is many times faster, and most files have no match.
    let is_end = |start: usize| tail.len() - start >= 22;
    memchr::memmem::find_iter(tail, b"PK\x05\x06").find(|start| is_end(*start))?;
    memchr::memmem::find(bytes, b"PK\x01\x02")?;
    memchr::memmem::find(bytes, b"PK\x03\x04")
}

/// Returns the files in an archive, or the reason why it was not unpacked.
pub(super) fn unpack_archive(
    format: ArchiveFormat,
    path: &str,
    bytes: &[u8],
) -> Result<Vec<UnpackedFile>, String> {
    let tree = match format {
        ArchiveFormat::Zip => archive::read_archive(bytes),
        ArchiveFormat::Appended(start) => archive::read_archive(bytes.get(start..).unwrap_or_default()),
        ArchiveFormat::Tar => archive::read_tar(bytes),
        ArchiveFormat::Gzip => match archive::gunzip(bytes) {
            Ok(inner) if inner.get(257..262) == Some(b"ustar") => archive::read_tar(&inner),
            Ok(inner) => return Ok(vec![single_file(path, inner)]),
            Err(error) => Err(error),
        },
        ArchiveFormat::Unsupported(name) => Err(ArchiveError::UnsupportedFormat(name)),
    };
    let tree = tree.map_err(|error| error.to_string())?;
    Ok(tree_files(path, &tree))
}

fn tree_files(path: &str, tree: &MemoryTree) -> Vec<UnpackedFile> {
    let files = tree.files().iter().map(|file| UnpackedFile {
        path: format!("{path}/{}", file.path),
        executable: file.executable,
        bytes: file.bytes.clone(),
    });
    files.collect()
}

/// Returns the content of a compressed file under its name without `.gz`.
fn single_file(path: &str, bytes: Vec<u8>) -> UnpackedFile {
    let name = path.rsplit('/').next().unwrap_or(path);
    let bare = name.strip_suffix(".gz").unwrap_or(name);
    UnpackedFile { path: format!("{path}/{bare}"), executable: false, bytes }
}
