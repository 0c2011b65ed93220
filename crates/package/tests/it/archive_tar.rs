//! Tar archives of strangers, one lie at a time.

use prowess::ErrorCode;
use prowess_package::archive::{ArchiveError, Liar, open, read};
use prowess_package::limits::{FILE_MAX, FILES_MAX};
use prowess_package::{MemoryTree, PathError};
use prowess_testing::builders::{gz, pax, seal, tar, tar_entry, tar_gz, tar_sized};

fn skill() -> Vec<u8> {
    tar_entry(b"pdf/SKILL.md", b'0', b"---\nname: pdf\n---\n")
}

fn refused(entries: &[Vec<u8>]) -> ArchiveError {
    read(&tar_gz(entries)).unwrap_err()
}

fn alone(name: &[u8], kind: u8, bytes: &[u8]) -> ArchiveError {
    refused(&[skill(), tar_entry(name, kind, bytes)])
}

fn names(tree: &MemoryTree) -> Vec<&str> {
    tree.files().iter().map(|file| file.path.as_str()).collect()
}

fn name(name: &str) -> String {
    name.to_owned()
}

#[test]
fn files_come_out_with_their_bytes_and_modes() {
    let entries = [
        tar_entry(b"./", b'5', b""),
        tar_entry(b"./pdf/", b'5', b""),
        tar_sized(b"./pdf/run.sh", b'0', b"echo", 4, 0o755),
        tar_entry(b"./pdf/SKILL.md", b'0', &[b'x'; 600]),
        tar_entry(b"pdf/old/", 0, b""),
        tar_entry(b"pdf/old/file", 0, b"1"),
    ];
    let tree = read(&tar_gz(&entries)).unwrap();
    let seen: Vec<_> =
        tree.files().iter().map(|file| (file.path.as_str(), file.executable, file.bytes.len())).collect();
    assert_eq!(seen, [("pdf/SKILL.md", false, 600), ("pdf/old/file", false, 1), ("pdf/run.sh", true, 4)]);
    assert_eq!(read(&tar_gz(&[])), Ok(MemoryTree::default()));
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let cases: [(&[u8], PathError); 9] = [
        (b"../x", PathError::Step),
        (b"a/../../x", PathError::Step),
        (b"/etc/passwd", PathError::Absolute),
        (b"a\\x", PathError::Foreign),
        (b"a\x1b[2J", PathError::Hidden),
        ("a\u{200b}".as_bytes(), PathError::Hidden),
        (b"pdf/.git/config", PathError::Git),
        (b"a\xff", PathError::NotUnicode),
        (b"", PathError::Empty),
    ];
    for (text, why) in cases {
        match alone(text, b'0', b"") {
            ArchiveError::Name { why: found, .. } => assert_eq!(found, why, "{text:?}"),
            other => panic!("{text:?}: {other:?}"),
        }
    }
    // The same through records that lengthen names.
    let long = refused(&[pax(b'x', &[("path", "../x")]), skill()]);
    assert_eq!(long, ArchiveError::Name { name: name("../x"), why: PathError::Step });
    let long = refused(&[tar_entry(b"././@LongLink", b'L', b"/abs\0"), skill()]);
    assert_eq!(long, ArchiveError::Name { name: name("/abs"), why: PathError::Absolute });
    let nul = refused(&[pax(b'x', &[("path", "a\0b")]), skill()]);
    assert!(matches!(nul, ArchiveError::Name { why: PathError::Hidden, .. }), "{nul:?}");
}

#[test]
fn links_devices_and_sparse_files_are_refused() {
    for kind in [b'1', b'2'] {
        assert_eq!(alone(b"x", kind, b""), ArchiveError::Link { name: name("x") });
    }
    for kind in [b'3', b'4', b'6', b'7', b'D', b'M', b'N', b'V', b'X', b'?'] {
        assert_eq!(alone(b"x", kind, b""), ArchiveError::Special { name: name("x") }, "{kind}");
    }
    assert_eq!(alone(b"x", b'S', b""), ArchiveError::Sparse { name: name("x") });
    let sparse = [pax(b'x', &[("GNU.sparse.major", "1")]), tar_entry(b"x", b'0', b"")];
    assert_eq!(refused(&sparse), ArchiveError::Sparse { name: name("x") });
    let long_link = [tar_entry(b"././@LongLink", b'K', b"/etc/passwd\0"), tar_entry(b"x", b'0', b"")];
    assert_eq!(refused(&long_link), ArchiveError::Link { name: name("x") });
    // A link that claims bytes does not hide the entry after it.
    let claims = [tar_sized(b"x", b'2', b"", 512, 0o644), skill()];
    assert_eq!(refused(&claims), ArchiveError::Link { name: name("x") });
}

#[test]
fn long_names_are_read_in_every_way_they_are_written() {
    let long = format!("pdf/{}/{}", "d".repeat(120), "f".repeat(120));
    let entries = |before: Vec<u8>| read(&tar_gz(&[before, tar_entry(b"cut", b'0', b"1")]));
    assert_eq!(names(&entries(pax(b'x', &[("path", &long), ("mtime", "1.5")])).unwrap()), [&*long]);
    let gnu = tar_entry(b"././@LongLink", b'L', format!("{long}\0").as_bytes());
    assert_eq!(names(&entries(gnu.clone()).unwrap()), [&*long]);
    let mut prefixed: [u8; 512] = *tar_entry(b"name", b'0', b"").first_chunk().unwrap();
    prefixed[345..350].copy_from_slice(b"pdf/a");
    seal(&mut prefixed);
    assert_eq!(names(&read(&tar_gz(&[prefixed.to_vec()])).unwrap()), ["pdf/a/name"]);
    // In GNU's format something else stands there.
    prefixed[257..265].copy_from_slice(b"ustar  \0");
    seal(&mut prefixed);
    assert_eq!(names(&read(&tar_gz(&[prefixed.to_vec()])).unwrap()), ["name"]);
    // Two names for one entry.
    let both = refused(&[pax(b'x', &[("path", "a")]), gnu.clone(), skill()]);
    assert!(matches!(both, ArchiveError::Malformed { .. }), "{both:?}");
    let twice = refused(&[gnu.clone(), gnu, skill()]);
    assert!(matches!(twice, ArchiveError::Malformed { .. }), "{twice:?}");
    let endless = refused(&[tar_entry(b"././@LongLink", b'L', &[b'a'; 2000]), skill()]);
    assert!(matches!(endless, ArchiveError::Malformed { .. }), "{endless:?}");
}

#[test]
fn headers_for_all_entries_may_comment_but_not_rename() {
    let commented = [pax(b'g', &[("comment", "1f0a2c")]), skill()];
    assert_eq!(names(&read(&tar_gz(&commented)).unwrap()), ["pdf/SKILL.md"]);
    for (key, value) in [("path", "x"), ("size", "0"), ("GNU.sparse.name", "x")] {
        let error = refused(&[pax(b'g', &[(key, value)]), skill()]);
        assert!(matches!(error, ArchiveError::Malformed { .. }), "{error:?}");
    }
}

#[test]
fn a_size_that_is_said_twice_must_be_the_same() {
    let with = |size: &str| [pax(b'x', &[("size", size)]), tar_entry(b"x", b'0', b"1234")];
    assert_eq!(names(&read(&tar_gz(&with("4"))).unwrap()), ["x"]);
    assert_eq!(refused(&with("0")), ArchiveError::Lies { name: name("x"), about: Liar::Size });
    assert_eq!(refused(&with("1024")), ArchiveError::Lies { name: name("x"), about: Liar::Size });
}

#[test]
fn one_path_has_one_entry() {
    let twice = |a: &[u8], b: &[u8]| refused(&[tar_entry(a, b'0', b"1"), tar_entry(b, b'0', b"2")]);
    assert_eq!(twice(b"a", b"./a"), ArchiveError::Twice { name: name("a"), other: name("a") });
    assert_eq!(twice(b"A", b"a"), ArchiveError::Twice { name: name("a"), other: name("A") });
    assert_eq!(twice(b"a", b"a/x"), ArchiveError::FileAndFolder { name: name("a") });
}

#[test]
fn limits_are_counted_on_what_inflates() {
    let zeros = vec![0; FILE_MAX as usize];
    let large = tar_sized(b"x", b'0', &[&zeros[..], b"1"].concat(), FILE_MAX + 1, 0o644);
    assert_eq!(refused(&[large]), ArchiveError::FileTooLarge { name: name("x") });
    let full = |at: u8| tar_entry(&[at], b'0', &zeros);
    let four: Vec<_> = (b'a'..b'e').map(full).collect();
    assert_eq!(read(&tar_gz(&four)).unwrap().files().len(), 4);
    let five = [four, vec![tar_entry(b"e", b'0', b"1")]].concat();
    assert_eq!(refused(&five), ArchiveError::TooLarge);
    // Far more than any archive may hold, in a few hundred kilobytes.
    assert_eq!(read(&gz(&vec![0; 100 << 20])), Err(ArchiveError::TooLarge));
    let many: Vec<_> = (0..=FILES_MAX).map(|at| tar_entry(format!("f{at}").as_bytes(), b'0', b"")).collect();
    assert_eq!(refused(&many), ArchiveError::TooMany);
}

#[test]
fn what_is_cut_is_told() {
    let whole = tar(&[skill()]);
    assert_eq!(read(&gz(&whole[..512])), Err(ArchiveError::Truncated("an entry's bytes")));
    assert_eq!(read(&gz(&whole[..1024])), Err(ArchiveError::Truncated("its entries")));
    assert_eq!(read(&gz(&whole[..1536])), Err(ArchiveError::Truncated("its end")));
    assert_eq!(read(&gz(b"")), Err(ArchiveError::Truncated("its entries")));
    let dangling = tar(&[skill(), pax(b'x', &[("path", "a")])]);
    assert_eq!(read(&gz(&dangling)), Err(ArchiveError::Truncated("its end")));
    let packed = gz(&whole);
    for length in 2..packed.len() {
        assert!(read(&packed[..length]).is_err(), "{length}");
    }
    assert_eq!(read(&packed[..packed.len() - 9]), Err(ArchiveError::Truncated("its compressed bytes")));
    assert_eq!(read(&packed[..packed.len() - 1]), Err(ArchiveError::Truncated("its checksum")));
}

#[test]
fn bytes_after_the_end_are_refused() {
    let outside = ArchiveError::Outside { what: "after its end" };
    let whole = tar(&[skill()]);
    let evil = [whole.clone(), tar_entry(b"evil", b'0', b"")].concat();
    assert_eq!(read(&gz(&evil)), Err(outside.clone()));
    // A second stream, which some programs read on into.
    assert_eq!(read(&[gz(&whole), gz(&whole)].concat()), Err(outside.clone()));
    assert_eq!(read(&[gz(&whole), b"x".to_vec()].concat()), Err(outside));
    // Tapes are filled up with zeros.
    assert!(read(&gz(&[whole, vec![0; 10240]].concat())).is_ok());
}

#[test]
fn damage_is_found() {
    let mut wrong = gz(&tar(&[skill()]));
    let at = wrong.len() - 5;
    wrong[at] ^= 1;
    assert_eq!(read(&wrong), Err(ArchiveError::Checksum { name: name("the archive") }));
    let mut wrong = gz(&tar(&[skill()]));
    *wrong.last_mut().unwrap() ^= 1;
    assert_eq!(read(&wrong), Err(ArchiveError::Lies { name: name("the archive"), about: Liar::Size }));
    let mut header = tar(&[skill()]);
    header[0] ^= 1;
    assert!(matches!(read(&gz(&header)), Err(ArchiveError::Malformed { .. })));
    let mut size: [u8; 512] = *skill().first_chunk().unwrap();
    size[124] = 0x80;
    seal(&mut size);
    assert!(matches!(refused(&[size.to_vec()]), ArchiveError::Malformed { .. }));
    assert!(matches!(read(&gz(&[b'x'; 2048])), Err(ArchiveError::Malformed { .. })));
    assert!(matches!(read(b"\x1f\x8b\x07\0aaaaaaaaaaaaa"), Err(ArchiveError::Malformed { .. })));
    assert_eq!(read(&tar(&[skill()])), Err(ArchiveError::Foreign("tar without compression")));
}

#[test]
fn headers_of_gzip_may_carry_names() {
    let plain = gz(&tar(&[skill()]));
    let fields =
        [&[0x1f, 0x8b, 8, 2 | 4 | 8 | 16][..], &plain[4..10], b"\x03\0abc", b"a.tar\0", b"hi\0", b"cc"];
    let named = [&fields.concat()[..], &plain[10..]].concat();
    assert_eq!(read(&named), read(&plain));
}

#[test]
fn only_regular_files_are_opened() {
    let world = tempfile::tempdir().unwrap();
    let at = |inner: &str| world.path().join(inner);
    std::fs::write(at("a.skill"), tar_gz(&[skill()])).unwrap();
    assert_eq!(names(&open(&at("a.skill")).unwrap()), ["pdf/SKILL.md"]);
    std::os::unix::fs::symlink("a.skill", at("link.zip")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo.zip"), 0o600.into()).unwrap();
    std::fs::create_dir(at("folder.zip")).unwrap();
    let refused = [
        ("link.zip", ErrorCode::AccessDenied),
        ("fifo.zip", ErrorCode::AccessDenied),
        ("folder.zip", ErrorCode::AccessDenied),
        ("none.zip", ErrorCode::NotFound),
        ("..", ErrorCode::IsDirectory),
    ];
    for (inner, code) in refused {
        let error = open(&at(inner)).unwrap_err();
        assert!(matches!(error, ArchiveError::Unreadable { .. }), "{inner}: {error:?}");
        assert_eq!(error.code(), code, "{inner}");
    }
    let big = std::fs::File::create(at("big.zip")).unwrap();
    big.set_len(prowess_package::archive::ARCHIVE_MAX + 1).unwrap();
    assert_eq!(open(&at("big.zip")), Err(ArchiveError::Oversized));
}
