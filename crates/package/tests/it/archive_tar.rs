//! Malicious tar archives.

use prowess::ErrorCode;
use prowess_package::archive::{ArchiveError, Mismatch, open_archive, read_archive};
use prowess_package::limits::{FILE_MAX, FILES_MAX};
use prowess_package::{InnerPathError, MemoryTree};
use prowess_testing::builders::{gz, pax, tar, tar_entry, tar_entry_with, tar_gz, write_checksum};

fn skill() -> Vec<u8> {
    tar_entry(b"pdf/SKILL.md", b'0', b"---\nname: pdf\n---\n")
}

fn read_error(entries: &[Vec<u8>]) -> ArchiveError {
    read_archive(&tar_gz(entries)).unwrap_err()
}

fn entry_error(name: &[u8], kind: u8, bytes: &[u8]) -> ArchiveError {
    read_error(&[skill(), tar_entry(name, kind, bytes)])
}

fn paths(tree: &MemoryTree) -> Vec<&str> {
    tree.files().iter().map(|file| file.path.as_str()).collect()
}

fn name(name: &str) -> String {
    name.to_owned()
}

#[test]
fn files_are_read_with_contents_and_modes() {
    let entries = [
        tar_entry(b"./", b'5', b""),
        tar_entry(b"./pdf/", b'5', b""),
        tar_entry_with(b"./pdf/run.sh", b'0', b"echo", 4, 0o755),
        tar_entry(b"./pdf/SKILL.md", b'0', &[b'x'; 600]),
        tar_entry(b"pdf/old/", 0, b""),
        tar_entry(b"pdf/old/file", 0, b"1"),
    ];
    let tree = read_archive(&tar_gz(&entries)).unwrap();
    let files: Vec<_> =
        tree.files().iter().map(|file| (file.path.as_str(), file.executable, file.bytes.len())).collect();
    assert_eq!(files, [("pdf/SKILL.md", false, 600), ("pdf/old/file", false, 1), ("pdf/run.sh", true, 4)]);
    assert_eq!(read_archive(&tar_gz(&[])), Ok(MemoryTree::default()));
}

#[test]
fn invalid_paths_are_rejected() {
    let cases: [(&[u8], InnerPathError); 9] = [
        (b"../x", InnerPathError::BadComponent),
        (b"a/../../x", InnerPathError::BadComponent),
        (b"/etc/passwd", InnerPathError::Absolute),
        (b"a\\x", InnerPathError::SpecialChar),
        (b"a\x1b[2J", InnerPathError::Hidden),
        ("a\u{200b}".as_bytes(), InnerPathError::Hidden),
        (b"pdf/.git/config", InnerPathError::Git),
        (b"a\xff", InnerPathError::NotUnicode),
        (b"", InnerPathError::Empty),
    ];
    for (text, reason) in cases {
        match entry_error(text, b'0', b"") {
            ArchiveError::InvalidPath { reason: found, .. } => assert_eq!(found, reason, "{text:?}"),
            other => panic!("{text:?}: {other:?}"),
        }
    }
    // Long names have the same rules.
    let long = read_error(&[pax(b'x', &[("path", "../x")]), skill()]);
    assert_eq!(long, ArchiveError::InvalidPath { name: name("../x"), reason: InnerPathError::BadComponent });
    let long = read_error(&[tar_entry(b"././@LongLink", b'L', b"/abs\0"), skill()]);
    assert_eq!(long, ArchiveError::InvalidPath { name: name("/abs"), reason: InnerPathError::Absolute });
    let nul = read_error(&[pax(b'x', &[("path", "a\0b")]), skill()]);
    assert!(matches!(nul, ArchiveError::InvalidPath { reason: InnerPathError::Hidden, .. }), "{nul:?}");
}

#[test]
fn links_devices_and_sparse_files_are_rejected() {
    for kind in [b'1', b'2'] {
        assert_eq!(entry_error(b"x", kind, b""), ArchiveError::Link { name: name("x") });
    }
    for kind in [b'3', b'4', b'6', b'7', b'D', b'M', b'N', b'V', b'X', b'?'] {
        assert_eq!(entry_error(b"x", kind, b""), ArchiveError::Special { name: name("x") }, "{kind}");
    }
    assert_eq!(entry_error(b"x", b'S', b""), ArchiveError::Sparse { name: name("x") });
    let sparse = [pax(b'x', &[("GNU.sparse.major", "1")]), tar_entry(b"x", b'0', b"")];
    assert_eq!(read_error(&sparse), ArchiveError::Sparse { name: name("x") });
    let long_link = [tar_entry(b"././@LongLink", b'K', b"/etc/passwd\0"), tar_entry(b"x", b'0', b"")];
    assert_eq!(read_error(&long_link), ArchiveError::Link { name: name("x") });
    // A link with a size does not hide the next entry.
    let claims = [tar_entry_with(b"x", b'2', b"", 512, 0o644), skill()];
    assert_eq!(read_error(&claims), ArchiveError::Link { name: name("x") });
}

#[test]
fn all_formats_of_long_names_are_read() {
    let long = format!("pdf/{}/{}", "d".repeat(120), "f".repeat(120));
    let entries = |before: Vec<u8>| read_archive(&tar_gz(&[before, tar_entry(b"cut", b'0', b"1")]));
    assert_eq!(paths(&entries(pax(b'x', &[("path", &long), ("mtime", "1.5")])).unwrap()), [&*long]);
    let gnu = tar_entry(b"././@LongLink", b'L', format!("{long}\0").as_bytes());
    assert_eq!(paths(&entries(gnu.clone()).unwrap()), [&*long]);
    let mut prefixed: [u8; 512] = *tar_entry(b"name", b'0', b"").first_chunk().unwrap();
    prefixed[345..350].copy_from_slice(b"pdf/a");
    write_checksum(&mut prefixed);
    assert_eq!(paths(&read_archive(&tar_gz(&[prefixed.to_vec()])).unwrap()), ["pdf/a/name"]);
    // In the GNU format, these bytes have another meaning.
    prefixed[257..265].copy_from_slice(b"ustar  \0");
    write_checksum(&mut prefixed);
    assert_eq!(paths(&read_archive(&tar_gz(&[prefixed.to_vec()])).unwrap()), ["name"]);
    // Two names for the same entry.
    let both = read_error(&[pax(b'x', &[("path", "a")]), gnu.clone(), skill()]);
    assert!(matches!(both, ArchiveError::Malformed { .. }), "{both:?}");
    let twice = read_error(&[gnu.clone(), gnu, skill()]);
    assert!(matches!(twice, ArchiveError::Malformed { .. }), "{twice:?}");
    let endless = read_error(&[tar_entry(b"././@LongLink", b'L', &[b'a'; 2000]), skill()]);
    assert!(matches!(endless, ArchiveError::Malformed { .. }), "{endless:?}");
}

#[test]
fn global_headers_may_comment_but_not_rename() {
    let commented = [pax(b'g', &[("comment", "1f0a2c")]), skill()];
    assert_eq!(paths(&read_archive(&tar_gz(&commented)).unwrap()), ["pdf/SKILL.md"]);
    for (key, value) in [("path", "x"), ("size", "0"), ("GNU.sparse.name", "x")] {
        let error = read_error(&[pax(b'g', &[(key, value)]), skill()]);
        assert!(matches!(error, ArchiveError::Malformed { .. }), "{error:?}");
    }
}

#[test]
fn contradictory_sizes_are_rejected() {
    let with = |size: &str| [pax(b'x', &[("size", size)]), tar_entry(b"x", b'0', b"1234")];
    assert_eq!(paths(&read_archive(&tar_gz(&with("4"))).unwrap()), ["x"]);
    assert_eq!(read_error(&with("0")), ArchiveError::Inconsistent { name: name("x"), about: Mismatch::Size });
    assert_eq!(
        read_error(&with("1024")),
        ArchiveError::Inconsistent { name: name("x"), about: Mismatch::Size }
    );
}

#[test]
fn duplicate_paths_are_rejected() {
    let duplicate_error =
        |a: &[u8], b: &[u8]| read_error(&[tar_entry(a, b'0', b"1"), tar_entry(b, b'0', b"2")]);
    assert_eq!(duplicate_error(b"a", b"./a"), ArchiveError::DuplicatePath { name: name("a") });
    assert_eq!(
        duplicate_error(b"A", b"a"),
        ArchiveError::CaseCollision { name: name("a"), other: name("A") }
    );
    assert_eq!(duplicate_error(b"a", b"a/x"), ArchiveError::FileDirConflict { name: name("a") });
}

#[test]
fn limits_apply_to_the_inflated_size() {
    let zeros = vec![0; FILE_MAX as usize];
    let large = tar_entry_with(b"x", b'0', &[&zeros[..], b"1"].concat(), FILE_MAX + 1, 0o644);
    assert_eq!(read_error(&[large]), ArchiveError::FileTooLarge { name: name("x") });
    let full = |at: u8| tar_entry(&[at], b'0', &zeros);
    let four: Vec<_> = (b'a'..b'e').map(full).collect();
    assert_eq!(read_archive(&tar_gz(&four)).unwrap().files().len(), 4);
    let five = [four, vec![tar_entry(b"e", b'0', b"1")]].concat();
    assert_eq!(read_error(&five), ArchiveError::TooLarge);
    // Far more than the limit, compressed to a few hundred kilobytes.
    assert_eq!(read_archive(&gz(&vec![0; 100 << 20])), Err(ArchiveError::TooLarge));
    let many: Vec<_> = (0..=FILES_MAX).map(|at| tar_entry(format!("f{at}").as_bytes(), b'0', b"")).collect();
    assert_eq!(read_error(&many), ArchiveError::TooManyEntries);
}

#[test]
fn truncated_archives_are_rejected() {
    let archive = tar(&[skill()]);
    assert_eq!(read_archive(&gz(&archive[..512])), Err(ArchiveError::Truncated("the content of an entry")));
    assert_eq!(read_archive(&gz(&archive[..1024])), Err(ArchiveError::Truncated("its entries")));
    assert_eq!(read_archive(&gz(&archive[..1536])), Err(ArchiveError::Truncated("its end")));
    assert_eq!(read_archive(&gz(b"")), Err(ArchiveError::Truncated("its entries")));
    let dangling = tar(&[skill(), pax(b'x', &[("path", "a")])]);
    assert_eq!(read_archive(&gz(&dangling)), Err(ArchiveError::Truncated("its end")));
    let compressed = gz(&archive);
    for length in 2..compressed.len() {
        assert!(read_archive(&compressed[..length]).is_err(), "{length}");
    }
    assert_eq!(
        read_archive(&compressed[..compressed.len() - 9]),
        Err(ArchiveError::Truncated("its compressed data"))
    );
    assert_eq!(
        read_archive(&compressed[..compressed.len() - 1]),
        Err(ArchiveError::Truncated("its checksum"))
    );
}

#[test]
fn trailing_bytes_are_rejected() {
    let outside = ArchiveError::StrayBytes { position: "after its end" };
    let archive = tar(&[skill()]);
    let evil = [archive.clone(), tar_entry(b"evil", b'0', b"")].concat();
    assert_eq!(read_archive(&gz(&evil)), Err(outside.clone()));
    // A second gzip stream, which some programs read.
    assert_eq!(read_archive(&[gz(&archive), gz(&archive)].concat()), Err(outside.clone()));
    assert_eq!(read_archive(&[gz(&archive), b"x".to_vec()].concat()), Err(outside));
    // Padding with zeros is allowed.
    assert!(read_archive(&gz(&[archive, vec![0; 10240]].concat())).is_ok());
}

#[test]
fn damage_is_detected() {
    let mut damaged = gz(&tar(&[skill()]));
    let at = damaged.len() - 5;
    damaged[at] ^= 1;
    assert_eq!(read_archive(&damaged), Err(ArchiveError::Checksum { name: name("the archive") }));
    let mut damaged = gz(&tar(&[skill()]));
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(
        read_archive(&damaged),
        Err(ArchiveError::Inconsistent { name: name("the archive"), about: Mismatch::Size })
    );
    let mut header = tar(&[skill()]);
    header[0] ^= 1;
    assert!(matches!(read_archive(&gz(&header)), Err(ArchiveError::Malformed { .. })));
    let mut size: [u8; 512] = *skill().first_chunk().unwrap();
    size[124] = 0x80;
    write_checksum(&mut size);
    assert!(matches!(read_error(&[size.to_vec()]), ArchiveError::Malformed { .. }));
    assert!(matches!(read_archive(&gz(&[b'x'; 2048])), Err(ArchiveError::Malformed { .. })));
    assert!(matches!(read_archive(b"\x1f\x8b\x07\0aaaaaaaaaaaaa"), Err(ArchiveError::Malformed { .. })));
    assert_eq!(read_archive(&tar(&[skill()])), Err(ArchiveError::UnsupportedFormat("an uncompressed tar")));
}

#[test]
fn gzip_headers_may_contain_names() {
    let plain = gz(&tar(&[skill()]));
    let fields =
        [&[0x1f, 0x8b, 8, 2 | 4 | 8 | 16][..], &plain[4..10], b"\x03\0abc", b"a.tar\0", b"hi\0", b"cc"];
    let named = [&fields.concat()[..], &plain[10..]].concat();
    assert_eq!(read_archive(&named), read_archive(&plain));
}

#[test]
fn only_regular_files_are_opened() {
    let temp = tempfile::tempdir().unwrap();
    let at = |inner: &str| temp.path().join(inner);
    std::fs::write(at("a.skill"), tar_gz(&[skill()])).unwrap();
    assert_eq!(paths(&open_archive(&at("a.skill")).unwrap()), ["pdf/SKILL.md"]);
    std::os::unix::fs::symlink("a.skill", at("link.zip")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo.zip"), 0o600.into()).unwrap();
    std::fs::create_dir(at("folder.zip")).unwrap();
    let cases = [
        ("link.zip", ErrorCode::AccessDenied),
        ("fifo.zip", ErrorCode::AccessDenied),
        ("folder.zip", ErrorCode::AccessDenied),
        ("none.zip", ErrorCode::NotFound),
        ("..", ErrorCode::IsDirectory),
    ];
    for (inner, code) in cases {
        let error = open_archive(&at(inner)).unwrap_err();
        assert!(matches!(error, ArchiveError::Unreadable { .. }), "{inner}: {error:?}");
        assert_eq!(error.code(), code, "{inner}");
    }
    let big = std::fs::File::create(at("big.zip")).unwrap();
    big.set_len(prowess_package::archive::ARCHIVE_MAX + 1).unwrap();
    assert_eq!(open_archive(&at("big.zip")), Err(ArchiveError::ArchiveTooLarge));
}
