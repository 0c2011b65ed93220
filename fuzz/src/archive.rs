//! Untrusted zip and tar archives.

use std::collections::HashSet;

use prowess_package::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};
use prowess_package::{InnerPath, SourceEntryKind, SourceTree, archive as package};

/// Checks that nothing panics, that all files are within the limits, and that their paths are unique and stay inside. The
/// bytes are read as an archive, and as a tar archive whose checksums are corrected first.
pub fn archive(bytes: &[u8]) {
    check_archive(bytes);
    check_archive(&stored_gzip(&with_checksums(bytes)));
}

fn check_archive(bytes: &[u8]) {
    let tree = match package::read_archive(bytes) {
        Ok(tree) => tree,
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty() && !text.chars().any(char::is_control), "{text:?}");
            return;
        }
    };
    let mut names = HashSet::new();
    let mut total = 0;
    for (at, entry) in tree.entries().iter().enumerate() {
        let SourceEntryKind::File { bytes, .. } = entry.kind else { panic!("{entry:?} is not a file") };
        let path = InnerPath::parse(&entry.path).expect("a path that stays inside");
        assert!(names.insert(path.as_str().to_lowercase()), "duplicate path {path}");
        assert!(bytes <= FILE_MAX && tree.read_entry(at).expect("bytes in memory").len() as u64 == bytes);
        total += bytes;
    }
    for name in &names {
        let parents = name.match_indices('/').map(|(at, _)| &name[..at]);
        assert!(parents.into_iter().all(|parent| !names.contains(parent)), "{name} is below a file");
    }
    assert!(total <= TOTAL_MAX && names.len() <= FILES_MAX);
}

/// Writes the correct checksum into every block that could be a tar header, because a fuzzer would not find it.
fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    for block in bytes.chunks_exact_mut(512).filter(|block| block[257..262] == *b"ustar") {
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn stored_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    for chunk in bytes.chunks(0xffff) {
        let length = chunk.len() as u16;
        all.push(0);
        all.extend(length.to_le_bytes());
        all.extend((!length).to_le_bytes());
        all.extend(chunk);
    }
    // An empty last block.
    all.extend([1, 0, 0, 0xff, 0xff]);
    all.extend(crc32fast::hash(bytes).to_le_bytes());
    all.extend((bytes.len() as u32).to_le_bytes());
    all
}
