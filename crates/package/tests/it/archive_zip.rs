//! Malicious zip archives.

use prowess::ErrorCode;
use prowess_package::archive::{ArchiveError, Mismatch, read_archive};
use prowess_package::limits::{FILE_MAX, FILES_MAX};
use prowess_package::{InnerPathError, MemoryTree, SourceTree};
use prowess_testing::builders::{Zip, ZipEntry, end_record, zip};

fn skill() -> ZipEntry {
    ZipEntry::deflated("pdf/SKILL.md", b"---\nname: pdf\n---\n")
}

fn read_error(zip: Zip) -> ArchiveError {
    read_archive(&zip.bytes()).unwrap_err()
}

fn entry_error(entry: ZipEntry) -> ArchiveError {
    read_error(zip([skill(), entry]))
}

fn paths(tree: &MemoryTree) -> Vec<&str> {
    tree.files().iter().map(|file| file.path.as_str()).collect()
}

fn name(name: &str) -> String {
    name.to_owned()
}

fn mismatch(name: &str, about: Mismatch) -> ArchiveError {
    ArchiveError::Inconsistent { name: name.to_owned(), about }
}

#[test]
fn files_are_read_with_contents_and_modes() {
    let entries = [
        ZipEntry::stored("pdf/", b"").mode(0o040755),
        ZipEntry::stored("pdf/scripts/run.sh", b"echo").mode(0o100755),
        skill(),
        ZipEntry { made_by: 20, attributes: 0o100755 << 16, ..ZipEntry::stored("pdf/dos", b"") },
    ];
    let tree = read_archive(&zip(entries).bytes()).unwrap();
    let files: Vec<_> =
        tree.files().iter().map(|file| (file.path.as_str(), file.executable, &*file.bytes)).collect();
    let text: &[u8] = b"---\nname: pdf\n---\n";
    assert_eq!(
        files,
        [("pdf/SKILL.md", false, text), ("pdf/dos", false, b""), ("pdf/scripts/run.sh", true, b"echo")]
    );
    assert_eq!(tree.read_entry(2).unwrap(), b"echo");
    assert_eq!(read_archive(&zip([]).bytes()), Ok(MemoryTree::default()));
}

#[test]
fn invalid_paths_are_rejected() {
    let cases = [
        ("../x", InnerPathError::BadComponent),
        ("a/../../x", InnerPathError::BadComponent),
        ("a//x", InnerPathError::BadComponent),
        ("/etc/passwd", InnerPathError::Absolute),
        ("/", InnerPathError::Absolute),
        ("..\\x", InnerPathError::SpecialChar),
        ("C:/x", InnerPathError::SpecialChar),
        ("a\0b", InnerPathError::Hidden),
        ("a\u{1b}[2J", InnerPathError::Hidden),
        ("a\u{202e}b", InnerPathError::Hidden),
        ("pdf/.git/hooks/post-checkout", InnerPathError::Git),
        (".GIT/config", InnerPathError::Git),
        ("", InnerPathError::Empty),
        ("a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", InnerPathError::TooDeep),
    ];
    for (text, reason) in cases {
        match entry_error(ZipEntry::stored(text, b"")) {
            ArchiveError::InvalidPath { reason: found, name } => {
                assert_eq!(found, reason, "{text:?}");
                assert!(!name.contains(['\0', '\u{1b}', '\u{202e}']), "{name:?}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
    assert_eq!(entry_error(ZipEntry::stored("../x", b"")).code(), ErrorCode::AccessDenied);
    let latin =
        ZipEntry { name: b"a\xe4".to_vec(), local_name: b"a\xe4".to_vec(), ..ZipEntry::stored("", b"") };
    assert!(matches!(
        entry_error(latin),
        ArchiveError::InvalidPath { reason: InnerPathError::NotUnicode, .. }
    ));
}

#[test]
fn links_and_special_files_of_all_systems_are_rejected() {
    for made_by in [3 << 8 | 20, 20, 19 << 8] {
        let with =
            |mode| entry_error(ZipEntry { made_by, ..ZipEntry::stored("x", b"/etc/passwd").mode(mode) });
        assert_eq!(with(0o120777), ArchiveError::Link { name: name("x") });
        for mode in [0o010644, 0o020644, 0o060644, 0o140644] {
            assert_eq!(with(mode), ArchiveError::Special { name: name("x") });
        }
    }
    let dir = entry_error(ZipEntry::stored("x", b"").mode(0o040755));
    assert!(matches!(dir, ArchiveError::Malformed { .. }), "{dir:?}");
    let dir = entry_error(ZipEntry::stored("x/", b"bytes").mode(0o040755));
    assert!(matches!(dir, ArchiveError::Malformed { .. }), "{dir:?}");
}

#[test]
fn duplicate_paths_are_rejected() {
    let duplicate_error =
        |a: &str, b: &str| read_error(zip([ZipEntry::stored(a, b"1"), ZipEntry::stored(b, b"2")]));
    assert_eq!(duplicate_error("a/x", "a/x"), ArchiveError::DuplicatePath { name: name("a/x") });
    assert_eq!(duplicate_error("./a", "a"), ArchiveError::DuplicatePath { name: name("a") });
    for (a, b) in [("a/X", "a/x"), ("\u{e9}", "e\u{301}")] {
        assert_eq!(duplicate_error(a, b), ArchiveError::CaseCollision { name: name(b), other: name(a) });
    }
    assert_eq!(duplicate_error("a", "a/x"), ArchiveError::FileDirConflict { name: name("a") });
    assert_eq!(duplicate_error("a/x", "a"), ArchiveError::FileDirConflict { name: name("a") });
    let dir = zip([ZipEntry::stored("a", b""), ZipEntry::stored("a/", b"").mode(0o040755)]);
    assert_eq!(read_error(dir), ArchiveError::FileDirConflict { name: name("a") });
}

#[test]
fn encryption_and_unsupported_methods_have_their_own_errors() {
    for flags in [1, 1 << 6, 1 << 13] {
        let entry = ZipEntry { flags, ..ZipEntry::stored("x", b"") };
        assert_eq!(entry_error(entry), ArchiveError::Encrypted { name: name("x") });
    }
    let aes = ZipEntry { extra: b"\x01\x99\x02\0xx".to_vec(), ..ZipEntry::stored("x", b"") };
    assert_eq!(entry_error(aes), ArchiveError::Encrypted { name: name("x") });
    for method in [1, 6, 9, 12, 14, 93, 95, 98, 99] {
        let entry = ZipEntry { method, ..ZipEntry::stored("x", b"") };
        assert_eq!(entry_error(entry), ArchiveError::CompressionMethod { name: name("x"), method });
    }
    let patch = ZipEntry { flags: 1 << 5, ..ZipEntry::stored("x", b"") };
    assert!(matches!(entry_error(patch), ArchiveError::Malformed { .. }));
}

#[test]
fn a_wrong_checksum_is_detected() {
    let entry = ZipEntry { crc: 1, local_crc: 1, ..ZipEntry::stored("x", b"bytes") };
    assert_eq!(entry_error(entry), ArchiveError::Checksum { name: name("x") });
    let entry = ZipEntry { crc: 1, local_crc: 1, ..ZipEntry::deflated("x", b"bytes") };
    assert_eq!(entry_error(entry), ArchiveError::Checksum { name: name("x") });
}

#[test]
fn contradictory_headers_are_rejected() {
    let x = || ZipEntry::deflated("x", b"some bytes");
    assert_eq!(entry_error(ZipEntry { local_name: b"y".to_vec(), ..x() }), mismatch("x", Mismatch::Name));
    assert_eq!(entry_error(ZipEntry { local_crc: 1, ..x() }), mismatch("x", Mismatch::Checksum));
    assert_eq!(entry_error(ZipEntry { local_size: 1, ..x() }), mismatch("x", Mismatch::Size));
    assert_eq!(entry_error(ZipEntry { local_packed: 1, ..x() }), mismatch("x", Mismatch::Size));
    let mut bytes = zip([x()]).bytes();
    bytes[8] = 0;
    assert_eq!(read_archive(&bytes), Err(mismatch("x", Mismatch::Method)));
    let other = [&b"\x75\x70\x06\0\x01\0\0\0\0y"[..]].concat();
    assert_eq!(entry_error(ZipEntry { extra: other.clone(), ..x() }), mismatch("x", Mismatch::Name));
    assert_eq!(entry_error(ZipEntry { local_extra: other, ..x() }), mismatch("x", Mismatch::Name));
}

#[test]
fn false_sizes_are_detected_when_inflating() {
    let size = |size| ZipEntry { size, local_size: size, ..ZipEntry::deflated("x", &[7; 5000]) };
    assert_eq!(entry_error(size(4999)), mismatch("x", Mismatch::Size));
    assert_eq!(entry_error(size(5001)), mismatch("x", Mismatch::Size));
    let stored = ZipEntry { size: 3, local_size: 3, ..ZipEntry::stored("x", b"1234") };
    assert_eq!(entry_error(stored), mismatch("x", Mismatch::Size));
    let packed = |more: i64| {
        let entry = ZipEntry::deflated("x", b"bytes");
        let packed = (i64::from(entry.packed) + more) as u32;
        ZipEntry { packed, local_packed: packed, ..entry }
    };
    // It would extend into the next entry.
    assert_eq!(read_error(zip([packed(4), skill()])), mismatch("x", Mismatch::Size));
    assert_eq!(
        read_error(zip([packed(-1), skill()])),
        ArchiveError::StrayBytes { position: "between two entries" }
    );
    // Bytes after the end of the compressed data.
    let mut more = packed(3);
    more.data.extend(b"abc");
    assert_eq!(entry_error(more), mismatch("x", Mismatch::Size));
    let mut cut = packed(-1);
    cut.data.pop();
    assert_eq!(entry_error(cut), ArchiveError::Truncated("the content of an entry"));
    let broken =
        ZipEntry { data: vec![0xff; 5], packed: 5, local_packed: 5, ..ZipEntry::deflated("x", b"y") };
    assert!(matches!(entry_error(broken), ArchiveError::Malformed { .. }));
}

#[test]
fn limits_apply_while_inflating() {
    let zeros = vec![0; FILE_MAX as usize];
    let full = ZipEntry::deflated("x", &zeros);
    let too_large = ZipEntry { size: FILE_MAX as u32 + 1, ..full.clone() };
    assert_eq!(entry_error(too_large), ArchiveError::FileTooLarge { name: name("x") });
    // A small claimed size with large contents.
    let bomb = ZipEntry { size: 10, local_size: 10, ..full.clone() };
    assert_eq!(entry_error(bomb), mismatch("x", Mismatch::Size));
    let named = |text: &str| ZipEntry { name: text.into(), local_name: text.into(), ..full.clone() };
    let four = zip(["a", "b", "c", "d"].map(named));
    assert_eq!(read_archive(&four.bytes()).unwrap().files().len(), 4);
    let five = zip(["a", "b", "c", "d"].map(named).into_iter().chain([ZipEntry::stored("e", b"1")]));
    assert_eq!(read_error(five), ArchiveError::TooLarge);
}

#[test]
fn overlapping_entries_are_rejected() {
    // Two records of the directory for one entry, as in the most effective zip bombs.
    let mut bytes = zip([ZipEntry::stored("a", b"1"), ZipEntry::stored("b", b"1")]).bytes();
    let second = bytes.windows(4).rposition(|signature| signature == b"PK\x01\x02").unwrap();
    bytes[second + 42..second + 46].fill(0);
    assert_eq!(read_archive(&bytes), Err(ArchiveError::Overlap { name: name("a") }));
}

#[test]
fn a_nested_archive_is_a_file() {
    let inner = zip([ZipEntry::stored("../../x", b"evil")]).bytes();
    let tree = read_archive(&zip([skill(), ZipEntry::deflated("pdf/inner.zip", &inner)]).bytes()).unwrap();
    assert_eq!(paths(&tree), ["pdf/SKILL.md", "pdf/inner.zip"]);
    assert_eq!(tree.files()[1].bytes, inner);
    let stored = read_archive(&zip([skill(), ZipEntry::stored("pdf/inner.zip", &inner)]).bytes()).unwrap();
    assert_eq!(stored.files()[1].bytes, inner);
}

#[test]
fn the_number_of_files_and_directories_is_limited() {
    let files = |count: usize| zip((0..count).map(|at| ZipEntry::stored(&format!("f{at}"), b"")));
    assert_eq!(read_archive(&files(FILES_MAX).bytes()).unwrap().files().len(), FILES_MAX);
    assert_eq!(read_error(files(FILES_MAX + 1)), ArchiveError::TooManyEntries);
    let dir = |at: usize| ZipEntry::stored(&format!("f{at}/"), b"").mode(0o040755);
    assert_eq!(read_error(zip((0..5 * FILES_MAX).map(dir))), ArchiveError::TooManyEntries);
    let long =
        |at: usize| ZipEntry::stored(&format!("{}{at}", format!("{}/", "d".repeat(250)).repeat(4)), b"");
    assert_eq!(read_error(zip((0..3 * FILES_MAX / 4).map(long))), ArchiveError::TooManyEntries);
}

#[test]
fn stray_bytes_are_rejected() {
    let plain = || zip([skill()]);
    let outside = |position| ArchiveError::StrayBytes { position };
    let before = outside("before the first entry");
    assert_eq!(read_error(Zip { prefix: b"#!/bin/sh\n".to_vec(), ..plain() }), before);
    assert_eq!(read_error(Zip { prefix: b"PK\x03\x04 not mine".to_vec(), ..plain() }), before);
    assert_eq!(
        read_error(Zip { before_directory: b"x".to_vec(), ..plain() }),
        outside("between two entries")
    );
    assert_eq!(read_error(Zip { before_end: b"x".to_vec(), ..plain() }), outside("before the end record"));
    assert_eq!(read_error(Zip { trailing: b"x".to_vec(), ..plain() }), outside("after its end"));
    let entry = ZipEntry { after: b"hidden".to_vec(), ..skill() };
    assert_eq!(read_error(zip([entry])), outside("between two entries"));
    // A hidden archive that another reader might find first.
    let hidden = zip([ZipEntry::stored("evil", b"1")]).bytes();
    assert_eq!(read_error(Zip { prefix: hidden, ..plain() }), before);
}

#[test]
fn two_end_records_are_rejected() {
    let plain = || zip([skill()]);
    // In the comment of the first one.
    let mut comment = b"comment ".to_vec();
    comment.extend(end_record(0, 0, 0, 0));
    assert_eq!(read_error(Zip { comment, ..plain() }), ArchiveError::MultipleEndRecords);
    // One directly after the other.
    let first = end_record(1, 10, 0, 0);
    assert_eq!(read_error(Zip { before_end: first, ..plain() }), ArchiveError::MultipleEndRecords);
    // A normal comment is allowed.
    let commented = Zip { comment: b"1f0a2c".to_vec(), ..plain() };
    assert_eq!(paths(&read_archive(&commented.bytes()).unwrap()), ["pdf/SKILL.md"]);
}

#[test]
fn truncated_archives_are_rejected() {
    let bytes = zip([skill()]).bytes();
    for length in 4..bytes.len() {
        assert!(read_archive(&bytes[..length]).is_err(), "{length}");
    }
    assert_eq!(read_archive(&bytes[..60]), Err(ArchiveError::Truncated("its entries")));
    assert_eq!(read_archive(&bytes[..bytes.len() - 1]), Err(ArchiveError::Truncated("its end record")));
    let comment = Zip { claimed_comment: Some(5), ..zip([skill()]) };
    assert_eq!(read_error(comment), ArchiveError::Truncated("its end record"));
    let count = read_error(Zip { count: Some(2), ..zip([skill()]) });
    assert!(matches!(count, ArchiveError::Malformed { .. }), "{count:?}");
}

#[test]
fn zip64_is_rejected() {
    let x = || ZipEntry::stored("x", b"");
    let extra = || [&b"\x01\0\x10\0"[..], &[0; 16]].concat();
    let entry = ArchiveError::Zip64("“x”".to_owned());
    assert_eq!(entry_error(ZipEntry { extra: extra(), ..x() }), entry);
    assert_eq!(entry_error(ZipEntry { local_extra: extra(), ..x() }), entry);
    assert_eq!(entry_error(ZipEntry { size: u32::MAX, ..x() }), entry);
    let after = vec![0; 24];
    assert_eq!(entry_error(ZipEntry { after, flags: 8, ..x() }), entry);
    let end = ArchiveError::Zip64("its end record".to_owned());
    assert_eq!(read_error(Zip { count: Some(u16::MAX), ..zip([skill()]) }), end);
    let locator = [&b"PK\x06\x07"[..], &[0; 16]].concat();
    assert_eq!(read_error(Zip { before_end: locator, ..zip([skill()]) }), end);
    assert_eq!(end.code(), ErrorCode::TooLarge);
}

#[test]
fn multi_disk_archives_are_rejected() {
    let error = entry_error(ZipEntry { disk: 1, ..ZipEntry::stored("x", b"") });
    assert!(matches!(error, ArchiveError::Malformed { .. }), "{error:?}");
    assert_eq!(
        read_archive(b"PK\x07\x08PK\x03\x04"),
        Err(ArchiveError::UnsupportedFormat("a multi-part zip"))
    );
}

#[test]
fn data_descriptors_are_read_and_verified() {
    for with_signature in [true, false] {
        let streamed = skill().streamed(with_signature);
        let tree = read_archive(&zip([streamed.clone(), ZipEntry::stored("a", b"")]).bytes()).unwrap();
        assert_eq!(paths(&tree), ["a", "pdf/SKILL.md"]);
        let at = if with_signature { 4 } else { 0 };
        let mut damaged = streamed.clone();
        damaged.after[at] ^= 1;
        assert_eq!(read_error(zip([damaged])), mismatch("pdf/SKILL.md", Mismatch::Checksum));
        let mut damaged = streamed;
        damaged.after[at + 4] ^= 1;
        assert_eq!(read_error(zip([damaged])), mismatch("pdf/SKILL.md", Mismatch::Size));
    }
    let ambiguous = ZipEntry::stored("x", b"..PK\x07\x08..").streamed(true);
    assert!(matches!(entry_error(ambiguous), ArchiveError::StrayBytes { .. }));
}

#[test]
fn files_of_macos_are_dropped() {
    let entries = [
        skill(),
        ZipEntry::stored("__MACOSX/pdf/._SKILL.md", b"x"),
        ZipEntry::stored("pdf/.DS_Store", b"x"),
        ZipEntry::stored("pdf/._SKILL.md", b"\0\x05\x16\x07\0\x02"),
        ZipEntry::stored("pdf/._mine", b"x"),
    ];
    assert_eq!(paths(&read_archive(&zip(entries).bytes()).unwrap()), ["pdf/._mine", "pdf/SKILL.md"]);
}

#[test]
fn unsupported_formats_are_reported() {
    assert_eq!(read_archive(b""), Err(ArchiveError::NotAnArchive));
    assert_eq!(read_archive(b"---\nname: pdf\n"), Err(ArchiveError::NotAnArchive));
    assert_eq!(read_archive(b"BZh91AY"), Err(ArchiveError::UnsupportedFormat("bzip2")));
    assert_eq!(read_archive(b"\xfd7zXZ\0"), Err(ArchiveError::UnsupportedFormat("xz")));
    assert_eq!(read_archive(b"\x28\xb5\x2f\xfd"), Err(ArchiveError::UnsupportedFormat("zstd")));
    assert!(ArchiveError::NotAnArchive.hint().unwrap().contains(".skill"));
}
