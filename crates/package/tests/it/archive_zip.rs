//! Zip archives of strangers, one lie at a time.

use prowess::ErrorCode;
use prowess_package::archive::{ArchiveError, Liar, read};
use prowess_package::limits::{FILE_MAX, FILES_MAX};
use prowess_package::{MemoryTree, PathError, Tree};
use prowess_testing::builders::{Zip, ZipEntry, end_record, zip};

fn skill() -> ZipEntry {
    ZipEntry::deflated("pdf/SKILL.md", b"---\nname: pdf\n---\n")
}

fn refused(zip: Zip) -> ArchiveError {
    read(&zip.bytes()).unwrap_err()
}

fn alone(entry: ZipEntry) -> ArchiveError {
    refused(zip([skill(), entry]))
}

fn names(tree: &MemoryTree) -> Vec<&str> {
    tree.files().iter().map(|file| file.path.as_str()).collect()
}

fn name(name: &str) -> String {
    name.to_owned()
}

fn lies(name: &str, about: Liar) -> ArchiveError {
    ArchiveError::Lies { name: name.to_owned(), about }
}

#[test]
fn files_come_out_with_their_bytes_and_modes() {
    let entries = [
        ZipEntry::stored("pdf/", b"").mode(0o040755),
        ZipEntry::stored("pdf/scripts/run.sh", b"echo").mode(0o100755),
        skill(),
        ZipEntry { made_by: 20, attributes: 0o100755 << 16, ..ZipEntry::stored("pdf/dos", b"") },
    ];
    let tree = read(&zip(entries).bytes()).unwrap();
    let seen: Vec<_> =
        tree.files().iter().map(|file| (file.path.as_str(), file.executable, &*file.bytes)).collect();
    let text: &[u8] = b"---\nname: pdf\n---\n";
    assert_eq!(
        seen,
        [("pdf/SKILL.md", false, text), ("pdf/dos", false, b""), ("pdf/scripts/run.sh", true, b"echo")]
    );
    assert_eq!(tree.read(2).unwrap(), b"echo");
    assert_eq!(read(&zip([]).bytes()), Ok(MemoryTree::default()));
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let cases = [
        ("../x", PathError::Step),
        ("a/../../x", PathError::Step),
        ("a//x", PathError::Step),
        ("/etc/passwd", PathError::Absolute),
        ("/", PathError::Absolute),
        ("..\\x", PathError::Foreign),
        ("C:/x", PathError::Foreign),
        ("a\0b", PathError::Hidden),
        ("a\u{1b}[2J", PathError::Hidden),
        ("a\u{202e}b", PathError::Hidden),
        ("pdf/.git/hooks/post-checkout", PathError::Git),
        (".GIT/config", PathError::Git),
        ("", PathError::Empty),
        ("a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", PathError::Deep),
    ];
    for (text, why) in cases {
        match alone(ZipEntry::stored(text, b"")) {
            ArchiveError::Name { why: found, name } => {
                assert_eq!(found, why, "{text:?}");
                assert!(!name.contains(['\0', '\u{1b}', '\u{202e}']), "{name:?}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
    assert_eq!(alone(ZipEntry::stored("../x", b"")).code(), ErrorCode::AccessDenied);
    let latin =
        ZipEntry { name: b"a\xe4".to_vec(), local_name: b"a\xe4".to_vec(), ..ZipEntry::stored("", b"") };
    assert!(matches!(alone(latin), ArchiveError::Name { why: PathError::NotUnicode, .. }));
}

#[test]
fn links_and_special_files_are_refused_whatever_system_made_them() {
    for made_by in [3 << 8 | 20, 20, 19 << 8] {
        let with = |mode| alone(ZipEntry { made_by, ..ZipEntry::stored("x", b"/etc/passwd").mode(mode) });
        assert_eq!(with(0o120777), ArchiveError::Link { name: name("x") });
        for mode in [0o010644, 0o020644, 0o060644, 0o140644] {
            assert_eq!(with(mode), ArchiveError::Special { name: name("x") });
        }
    }
    let folder = alone(ZipEntry::stored("x", b"").mode(0o040755));
    assert!(matches!(folder, ArchiveError::Malformed { .. }), "{folder:?}");
    let folder = alone(ZipEntry::stored("x/", b"bytes").mode(0o040755));
    assert!(matches!(folder, ArchiveError::Malformed { .. }), "{folder:?}");
}

#[test]
fn one_path_has_one_entry() {
    let twice = |a: &str, b: &str| refused(zip([ZipEntry::stored(a, b"1"), ZipEntry::stored(b, b"2")]));
    let error = |a: &str, b: &str| ArchiveError::Twice { name: name(b), other: name(a) };
    for (a, b) in [("a/x", "a/x"), ("a/X", "a/x"), ("./a", "a"), ("\u{e9}", "e\u{301}")] {
        assert_eq!(twice(a, b), error(a.trim_start_matches("./"), b));
    }
    assert_eq!(twice("a", "a/x"), ArchiveError::FileAndFolder { name: name("a") });
    assert_eq!(twice("a/x", "a"), ArchiveError::FileAndFolder { name: name("a") });
    let folder = zip([ZipEntry::stored("a", b""), ZipEntry::stored("a/", b"").mode(0o040755)]);
    assert_eq!(refused(folder), ArchiveError::FileAndFolder { name: name("a") });
}

#[test]
fn encryption_and_other_methods_have_their_own_words() {
    for flags in [1, 1 << 6, 1 << 13] {
        let entry = ZipEntry { flags, ..ZipEntry::stored("x", b"") };
        assert_eq!(alone(entry), ArchiveError::Encrypted { name: name("x") });
    }
    let aes = ZipEntry { extra: b"\x01\x99\x02\0xx".to_vec(), ..ZipEntry::stored("x", b"") };
    assert_eq!(alone(aes), ArchiveError::Encrypted { name: name("x") });
    for method in [1, 6, 9, 12, 14, 93, 95, 98, 99] {
        let entry = ZipEntry { method, ..ZipEntry::stored("x", b"") };
        assert_eq!(alone(entry), ArchiveError::Method { name: name("x"), method });
    }
    let patch = ZipEntry { flags: 1 << 5, ..ZipEntry::stored("x", b"") };
    assert!(matches!(alone(patch), ArchiveError::Malformed { .. }));
}

#[test]
fn a_wrong_checksum_is_found() {
    let entry = ZipEntry { crc: 1, local_crc: 1, ..ZipEntry::stored("x", b"bytes") };
    assert_eq!(alone(entry), ArchiveError::Checksum { name: name("x") });
    let entry = ZipEntry { crc: 1, local_crc: 1, ..ZipEntry::deflated("x", b"bytes") };
    assert_eq!(alone(entry), ArchiveError::Checksum { name: name("x") });
}

#[test]
fn headers_that_disagree_are_refused() {
    let x = || ZipEntry::deflated("x", b"some bytes");
    assert_eq!(alone(ZipEntry { local_name: b"y".to_vec(), ..x() }), lies("x", Liar::Name));
    assert_eq!(alone(ZipEntry { local_crc: 1, ..x() }), lies("x", Liar::Checksum));
    assert_eq!(alone(ZipEntry { local_size: 1, ..x() }), lies("x", Liar::Size));
    assert_eq!(alone(ZipEntry { local_packed: 1, ..x() }), lies("x", Liar::Size));
    let mut bytes = zip([x()]).bytes();
    bytes[8] = 0;
    assert_eq!(read(&bytes), Err(lies("x", Liar::Method)));
    let other = [&b"\x75\x70\x06\0\x01\0\0\0\0y"[..]].concat();
    assert_eq!(alone(ZipEntry { extra: other.clone(), ..x() }), lies("x", Liar::Name));
    assert_eq!(alone(ZipEntry { local_extra: other, ..x() }), lies("x", Liar::Name));
}

#[test]
fn sizes_that_lie_are_found_by_inflating() {
    let size = |size| ZipEntry { size, local_size: size, ..ZipEntry::deflated("x", &[7; 5000]) };
    assert_eq!(alone(size(4999)), lies("x", Liar::Size));
    assert_eq!(alone(size(5001)), lies("x", Liar::Size));
    let stored = ZipEntry { size: 3, local_size: 3, ..ZipEntry::stored("x", b"1234") };
    assert_eq!(alone(stored), lies("x", Liar::Size));
    let packed = |more: i64| {
        let entry = ZipEntry::deflated("x", b"bytes");
        let packed = (i64::from(entry.packed) + more) as u32;
        ZipEntry { packed, local_packed: packed, ..entry }
    };
    // It would reach into the next entry.
    assert_eq!(refused(zip([packed(4), skill()])), lies("x", Liar::Size));
    assert_eq!(refused(zip([packed(-1), skill()])), ArchiveError::Outside { what: "between two entries" });
    // Bytes after the end of the compressed ones.
    let mut more = packed(3);
    more.data.extend(b"abc");
    assert_eq!(alone(more), lies("x", Liar::Size));
    let mut cut = packed(-1);
    cut.data.pop();
    assert_eq!(alone(cut), ArchiveError::Truncated("an entry's bytes"));
    let broken =
        ZipEntry { data: vec![0xff; 5], packed: 5, local_packed: 5, ..ZipEntry::deflated("x", b"y") };
    assert!(matches!(alone(broken), ArchiveError::Malformed { .. }));
}

#[test]
fn bombs_are_counted_as_they_inflate() {
    let zeros = vec![0; FILE_MAX as usize];
    let full = ZipEntry::deflated("x", &zeros);
    let too_large = ZipEntry { size: FILE_MAX as u32 + 1, ..full.clone() };
    assert_eq!(alone(too_large), ArchiveError::FileTooLarge { name: name("x") });
    // It claims little and holds much.
    let bomb = ZipEntry { size: 10, local_size: 10, ..full.clone() };
    assert_eq!(alone(bomb), lies("x", Liar::Size));
    let named = |text: &str| ZipEntry { name: text.into(), local_name: text.into(), ..full.clone() };
    let four = zip(["a", "b", "c", "d"].map(named));
    assert_eq!(read(&four.bytes()).unwrap().files().len(), 4);
    let five = zip(["a", "b", "c", "d"].map(named).into_iter().chain([ZipEntry::stored("e", b"1")]));
    assert_eq!(refused(five), ArchiveError::TooLarge);
}

#[test]
fn entries_that_share_bytes_are_refused() {
    // Two records of the directory for one entry: the way of the best bombs.
    let mut bytes = zip([ZipEntry::stored("a", b"1"), ZipEntry::stored("b", b"1")]).bytes();
    let second = bytes.windows(4).rposition(|mark| mark == b"PK\x01\x02").unwrap();
    bytes[second + 42..second + 46].fill(0);
    assert_eq!(read(&bytes), Err(ArchiveError::Overlap { name: name("a") }));
}

#[test]
fn an_archive_inside_is_a_file() {
    let inner = zip([ZipEntry::stored("../../x", b"evil")]).bytes();
    let tree = read(&zip([skill(), ZipEntry::deflated("pdf/inner.zip", &inner)]).bytes()).unwrap();
    assert_eq!(names(&tree), ["pdf/SKILL.md", "pdf/inner.zip"]);
    assert_eq!(tree.files()[1].bytes, inner);
    let stored = read(&zip([skill(), ZipEntry::stored("pdf/inner.zip", &inner)]).bytes()).unwrap();
    assert_eq!(stored.files()[1].bytes, inner);
}

#[test]
fn there_is_a_limit_to_files_and_folders() {
    let files = |count: usize| zip((0..count).map(|at| ZipEntry::stored(&format!("f{at}"), b"")));
    assert_eq!(read(&files(FILES_MAX).bytes()).unwrap().files().len(), FILES_MAX);
    assert_eq!(refused(files(FILES_MAX + 1)), ArchiveError::TooMany);
    let folder = |at: usize| ZipEntry::stored(&format!("f{at}/"), b"").mode(0o040755);
    assert_eq!(refused(zip((0..5 * FILES_MAX).map(folder))), ArchiveError::TooMany);
    let long =
        |at: usize| ZipEntry::stored(&format!("{}{at}", format!("{}/", "d".repeat(250)).repeat(4)), b"");
    assert_eq!(refused(zip((0..3 * FILES_MAX / 4).map(long))), ArchiveError::TooMany);
}

#[test]
fn bytes_that_belong_to_nothing_are_refused() {
    let plain = || zip([skill()]);
    let outside = |what| ArchiveError::Outside { what };
    let before = outside("before the first entry");
    assert_eq!(refused(Zip { prefix: b"#!/bin/sh\n".to_vec(), ..plain() }), before);
    assert_eq!(refused(Zip { prefix: b"PK\x03\x04 not mine".to_vec(), ..plain() }), before);
    assert_eq!(refused(Zip { before_directory: b"x".to_vec(), ..plain() }), outside("between two entries"));
    assert_eq!(refused(Zip { before_end: b"x".to_vec(), ..plain() }), outside("before the end record"));
    assert_eq!(refused(Zip { trailing: b"x".to_vec(), ..plain() }), outside("after its end"));
    let entry = ZipEntry { after: b"hidden".to_vec(), ..skill() };
    assert_eq!(refused(zip([entry])), outside("between two entries"));
    // What another zip's reader could find first.
    let hidden = zip([ZipEntry::stored("evil", b"1")]).bytes();
    assert_eq!(refused(Zip { prefix: hidden, ..plain() }), before);
}

#[test]
fn two_end_records_are_refused() {
    let plain = || zip([skill()]);
    // In the comment of the first.
    let mut comment = b"comment ".to_vec();
    comment.extend(end_record(0, 0, 0, 0));
    assert_eq!(refused(Zip { comment, ..plain() }), ArchiveError::TwoEnds);
    // One right after the other.
    let first = end_record(1, 10, 0, 0);
    assert_eq!(refused(Zip { before_end: first, ..plain() }), ArchiveError::TwoEnds);
    // A comment that anybody may write is none.
    let commented = Zip { comment: b"1f0a2c".to_vec(), ..plain() };
    assert_eq!(names(&read(&commented.bytes()).unwrap()), ["pdf/SKILL.md"]);
}

#[test]
fn what_is_cut_is_told() {
    let bytes = zip([skill()]).bytes();
    for length in 4..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length}");
    }
    assert_eq!(read(&bytes[..60]), Err(ArchiveError::Truncated("its entries")));
    assert_eq!(read(&bytes[..bytes.len() - 1]), Err(ArchiveError::Truncated("its end record")));
    let comment = Zip { claimed_comment: Some(5), ..zip([skill()]) };
    assert_eq!(refused(comment), ArchiveError::Truncated("its end record"));
    let count = refused(Zip { count: Some(2), ..zip([skill()]) });
    assert!(matches!(count, ArchiveError::Malformed { .. }), "{count:?}");
}

#[test]
fn zip64_is_refused_wherever_it_shows() {
    let x = || ZipEntry::stored("x", b"");
    let extra = || [&b"\x01\0\x10\0"[..], &[0; 16]].concat();
    let entry = ArchiveError::Zip64("“x”".to_owned());
    assert_eq!(alone(ZipEntry { extra: extra(), ..x() }), entry);
    assert_eq!(alone(ZipEntry { local_extra: extra(), ..x() }), entry);
    assert_eq!(alone(ZipEntry { size: u32::MAX, ..x() }), entry);
    let after = vec![0; 24];
    assert_eq!(alone(ZipEntry { after, flags: 8, ..x() }), entry);
    let end = ArchiveError::Zip64("its end record".to_owned());
    assert_eq!(refused(Zip { count: Some(u16::MAX), ..zip([skill()]) }), end);
    let locator = [&b"PK\x06\x07"[..], &[0; 16]].concat();
    assert_eq!(refused(Zip { before_end: locator, ..zip([skill()]) }), end);
    assert_eq!(end.code(), ErrorCode::TooLarge);
}

#[test]
fn an_archive_on_several_disks_is_refused() {
    let error = alone(ZipEntry { disk: 1, ..ZipEntry::stored("x", b"") });
    assert!(matches!(error, ArchiveError::Malformed { .. }), "{error:?}");
    assert_eq!(read(b"PK\x07\x08PK\x03\x04"), Err(ArchiveError::Foreign("zip in several parts")));
}

#[test]
fn sizes_after_the_bytes_are_read_and_checked() {
    for with_mark in [true, false] {
        let streamed = skill().streamed(with_mark);
        let tree = read(&zip([streamed.clone(), ZipEntry::stored("a", b"")]).bytes()).unwrap();
        assert_eq!(names(&tree), ["a", "pdf/SKILL.md"]);
        let at = if with_mark { 4 } else { 0 };
        let mut wrong = streamed.clone();
        wrong.after[at] ^= 1;
        assert_eq!(refused(zip([wrong])), lies("pdf/SKILL.md", Liar::Checksum));
        let mut wrong = streamed;
        wrong.after[at + 4] ^= 1;
        assert_eq!(refused(zip([wrong])), lies("pdf/SKILL.md", Liar::Size));
    }
    let two_ways = ZipEntry::stored("x", b"..PK\x07\x08..").streamed(true);
    assert!(matches!(alone(two_ways), ArchiveError::Outside { .. }));
}

#[test]
fn what_macos_adds_is_dropped() {
    let entries = [
        skill(),
        ZipEntry::stored("__MACOSX/pdf/._SKILL.md", b"x"),
        ZipEntry::stored("pdf/.DS_Store", b"x"),
        ZipEntry::stored("pdf/._SKILL.md", b"\0\x05\x16\x07\0\x02"),
        ZipEntry::stored("pdf/._mine", b"x"),
    ];
    assert_eq!(names(&read(&zip(entries).bytes()).unwrap()), ["pdf/._mine", "pdf/SKILL.md"]);
}

#[test]
fn what_is_no_archive_is_named_where_it_can_be() {
    assert_eq!(read(b""), Err(ArchiveError::NotAnArchive));
    assert_eq!(read(b"---\nname: pdf\n"), Err(ArchiveError::NotAnArchive));
    assert_eq!(read(b"BZh91AY"), Err(ArchiveError::Foreign("bzip2")));
    assert_eq!(read(b"\xfd7zXZ\0"), Err(ArchiveError::Foreign("xz")));
    assert_eq!(read(b"\x28\xb5\x2f\xfd"), Err(ArchiveError::Foreign("zstd")));
    assert!(ArchiveError::NotAnArchive.hint().unwrap().contains(".skill"));
}
