//! Sources of strangers, end to end: each attack gets a clear error, changes nothing, leaves nothing and runs nothing.

use std::fs;
use std::os::unix::fs::symlink;

use crate::world::listing::changed;
use crate::world::{World, skill_md};
use insta::assert_snapshot;
use prowess_testing::builders::{ZipEntry, gz, tar_entry, tar_gz, zip};
use rustix::fs::{CWD, Mode, mkfifoat};

/// What an attack is called, how it is made, and what is typed after `prowess install`.
type Attack = (&'static str, fn(&World), &'static [&'static str]);

/// Carries out attacks, each in a world of its own, and tells what each was told and whatever it changed.
fn told(attacks: &[Attack]) -> String {
    let mut text = String::new();
    for (name, make, words) in attacks {
        let world = World::bare();
        make(&world);
        let before = world.listing();
        let told = world.run(&[&["install", "--project"], *words].concat());
        let err: String = told.err.chars().take(600).collect();
        text += &format!("=== {name}\n{}{err}--- exit {}\n", told.out, told.code);
        for change in changed(&before, &world.listing()) {
            text += &format!("--- {change}\n");
        }
        assert_ne!(told.code, 0, "{name}: {}", told.whole());
        assert!(!world.path("canary").exists() && !world.path("../canary").exists(), "{name}: something ran");
    }
    text
}

fn manifest() -> ZipEntry {
    ZipEntry::deflated("pdf/SKILL.md", skill_md("pdf", "Reads.").as_bytes())
}

fn zipped(world: &World, entries: impl IntoIterator<Item = ZipEntry>) {
    world.file("../a.zip", zip(std::iter::once(manifest()).chain(entries)).bytes());
}

fn tarred(world: &World, entries: &[Vec<u8>]) {
    let manifest = tar_entry(b"pdf/SKILL.md", b'0', skill_md("pdf", "Reads.").as_bytes());
    world.file("../a.tar.gz", tar_gz(&[&[manifest], entries].concat()));
}

/// A header of a link: its bytes are a name.
fn tar_link(kind: u8, to: &str) -> Vec<u8> {
    let mut header: [u8; 512] = tar_entry(b"pdf/link", kind, b"")[..512].try_into().unwrap();
    header[157..157 + to.len()].copy_from_slice(to.as_bytes());
    prowess_testing::builders::seal(&mut header);
    header.to_vec()
}

#[test]
fn archives() {
    const ZIP: &[&str] = &["../a.zip"];
    const TAR: &[&str] = &["../a.tar.gz"];
    let attacks: &[Attack] = &[
        ("upwards", |world| zipped(world, [ZipEntry::stored("../../canary", b"x")]), ZIP),
        ("upwards, tar", |world| tarred(world, &[tar_entry(b"../../canary", b'0', b"x")]), TAR),
        ("absolute", |world| zipped(world, [ZipEntry::stored("/canary", b"x")]), ZIP),
        ("absolute, tar", |world| tarred(world, &[tar_entry(b"/canary", b'0', b"x")]), TAR),
        ("a backslash", |world| zipped(world, [ZipEntry::stored("pdf\\..\\..\\canary", b"x")]), ZIP),
        ("a link", |world| zipped(world, [ZipEntry::stored("pdf/link", b"/etc/passwd").mode(0o120777)]), ZIP),
        ("a link, tar", |world| tarred(world, &[tar_link(b'2', "/etc/passwd")]), TAR),
        ("a hard link", |world| tarred(world, &[tar_link(b'1', "/etc/passwd")]), TAR),
        ("a device", |world| tarred(world, &[tar_entry(b"pdf/null", b'3', b"")]), TAR),
        ("a FIFO", |world| tarred(world, &[tar_entry(b"pdf/fifo", b'6', b"")]), TAR),
        ("one name twice", |world| zipped(world, [manifest()]), ZIP),
        (
            "one name twice, tar",
            |world| tarred(world, &[tar_entry(b"pdf/x", b'0', b"1"), tar_entry(b"pdf/x", b'0', b"2")]),
            TAR,
        ),
        (
            "names that are one elsewhere",
            |world| zipped(world, ["pdf/a", "pdf/A"].map(|name| ZipEntry::stored(name, b"x"))),
            ZIP,
        ),
        ("a bomb", |world| zipped(world, [ZipEntry::deflated("pdf/big", &vec![0; 80 << 20])]), ZIP),
        (
            "many files that are a bomb together",
            |world| {
                zipped(world, (0..6).map(|at| ZipEntry::deflated(&format!("pdf/{at}"), &vec![0; 15 << 20])))
            },
            ZIP,
        ),
        ("a bomb in a bomb", |world| drop_file(world, "../a.tar.gz", &gz(&gz(&vec![0; 80 << 20]))), TAR),
        (
            "10,000 files",
            |world| zipped(world, (0..10_000).map(|at| ZipEntry::stored(&format!("pdf/{at}"), b""))),
            ZIP,
        ),
        ("a wrong checksum", |world| zipped(world, [ZipEntry { crc: 1, local_crc: 1, ..stored() }]), ZIP),
        ("a size that lies", |world| zipped(world, [ZipEntry { size: 9, local_size: 9, ..stored() }]), ZIP),
        (
            "headers that differ",
            |world| zipped(world, [ZipEntry { local_name: b"pdf/y".to_vec(), ..stored() }]),
            ZIP,
        ),
        ("a password", |world| zipped(world, [ZipEntry { flags: 1, ..stored() }]), ZIP),
        ("git's own", |world| zipped(world, [ZipEntry::stored("pdf/.git/hooks/post-checkout", b"x")]), ZIP),
        ("escapes in a name", |world| zipped(world, [ZipEntry::stored("pdf/a\u{1b}[2J\u{202e}", b"x")]), ZIP),
        ("cut short", |world| drop_file(world, "../a.zip", &zip([manifest()]).bytes()[..60]), ZIP),
        ("no archive", |world| drop_file(world, "../a.zip", b"#!/bin/sh\ntouch canary\n"), ZIP),
        ("empty", |world| drop_file(world, "../a.zip", b""), ZIP),
        ("nothing in it", |world| drop_file(world, "../a.zip", &zip([]).bytes()), ZIP),
        ("a folder with that name", |world| drop_file(world, "../a.zip/x", b"x"), ZIP),
    ];
    assert_snapshot!(told(attacks));
}

fn stored() -> ZipEntry {
    ZipEntry::stored("pdf/x", b"x")
}

fn drop_file(world: &World, at: &str, bytes: &[u8]) {
    world.file(at, bytes);
}

fn named(world: &World, name: &str) {
    world.file("../a/pdf/SKILL.md", format!("---\nname: {name}\ndescription: Reads.\n---\n\nDo it.\n"));
}

#[test]
fn folders() {
    const A: &[&str] = &["../a"];
    const ALL: &[&str] = &["../a", "--all"];
    let attacks: &[Attack] = &[
        ("a link to a secret", |world| linked(world, "../../secret", "../a/pdf/link"), A),
        ("a linked folder", |world| linked(world, "../..", "../a/pdf/references"), A),
        ("a linked manifest", |world| linked_manifest(world), A),
        ("a FIFO", |world| special(world, "../a/pdf/fifo"), A),
        ("a FIFO for a manifest", |world| special(world, "../a/other/SKILL.md"), &["../a/other"]),
        ("a name upwards", |world| named(world, "../x"), A),
        ("a name of one point", |world| named(world, "."), A),
        ("an absolute name", |world| named(world, "/etc/x"), A),
        ("a hidden name", |world| named(world, ".git"), A),
        ("a name like an option", |world| named(world, "--yes"), A),
        ("a name with escapes", |world| named(world, "\"a\\e[31m\\u202Eb\""), A),
        ("no name", |world| named(world, "\"\""), A),
        ("--name upwards", |world| named(world, "pdf"), &["../a", "--name", "../x"]),
        ("--name of nothing", |world| named(world, "pdf"), &["../a", "--name", ""]),
        ("no manifest", |world| drop_file(world, "../a/README.md", b"x"), A),
        ("a broken manifest", |world| drop_file(world, "../a/SKILL.md", crate::world::BROKEN.as_bytes()), A),
        ("no text for a manifest", |world| drop_file(world, "../a/SKILL.md", b"\xff\xfe\0\0"), A),
        (
            "two manifests in one folder",
            |world| {
                named(world, "pdf");
                drop_file(world, "../a/pdf/skill.md", skill_md("pdf", "Another.").as_bytes());
            },
            A,
        ),
        (
            "two skills of one name",
            |world| {
                world.file("../a/one/SKILL.md", skill_md("same", "One."));
                world.file("../a/two/SKILL.md", skill_md("same", "Two."));
            },
            ALL,
        ),
        (
            "a manifest of 20 MB",
            |world| {
                drop_file(
                    world,
                    "../a/SKILL.md",
                    &[skill_md("pdf", "Reads.").as_bytes(), &vec![b'x'; 20 << 20]].concat(),
                )
            },
            A,
        ),
        (
            "YAML without an end",
            |world| {
                drop_file(
                    world,
                    "../a/SKILL.md",
                    format!("---\nname: {}\n---\n", "[".repeat(50_000)).as_bytes(),
                )
            },
            A,
        ),
        (
            "100,000 files",
            |world| {
                named(world, "pdf");
                (0..100_000).for_each(|at| fs::write(world.path(&format!("../a/pdf/{at}")), b"").unwrap());
            },
            A,
        ),
        ("the file itself", |world| special(world, "../a"), A),
        ("nothing", |_| {}, A),
    ];
    assert_snapshot!(told(attacks));
}

fn linked(world: &World, to: &str, at: &str) {
    named(world, "pdf");
    world.file("../secret", "secret");
    symlink(to, world.path(at)).unwrap();
}

fn linked_manifest(world: &World) {
    world.file("../secret", skill_md("pdf", "Reads.")).file("../a/pdf/x", "");
    symlink("../../secret", world.path("../a/pdf/SKILL.md")).unwrap();
}

fn special(world: &World, at: &str) {
    let path = world.path(at);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mkfifoat(CWD, &path, Mode::RWXU).unwrap();
    if at.starts_with("../a/pdf") {
        named(world, "pdf");
    }
}

#[test]
fn addresses() {
    let none: fn(&World) = |_| {};
    let attacks: &[Attack] = &[
        ("an option", none, &["--", "--upload-pack=touch canary"]),
        ("a short option", none, &["--", "-x"]),
        ("a host like an option", none, &["ssh://-oProxyCommand=touch${IFS}canary/x"]),
        ("a user like an option", none, &["--", "-oProxyCommand=touch canary@host:x"]),
        ("a command", none, &["ext::sh -c touch% canary"]),
        ("a descriptor", none, &["fd::17"]),
        ("no encryption", none, &["http://127.0.0.1:1/x.git"]),
        ("git's own protocol", none, &["git://127.0.0.1:1/x.git"]),
        ("another protocol", none, &["ftp://127.0.0.1:1/x.zip"]),
        ("a file without permission", none, &["file:///nowhere/x.git"]),
        ("escapes", none, &["https://127.0.0.1:1/\u{1b}[2J\u{202e}x.git"]),
        ("a line break", none, &["https://127.0.0.1:1/x\nHost: other"]),
        ("a name and a password", none, &["https://ada:secret@127.0.0.1:1/x.git"]),
        ("nothing", none, &[""]),
        ("a ref like an option", none, &["https://127.0.0.1:1/x.git", "--ref=--upload-pack=touch canary"]),
        ("a ref upwards", none, &["https://127.0.0.1:1/x.git", "--ref", "../../x"]),
        ("a ref with escapes", none, &["https://127.0.0.1:1/x.git", "--ref", "a\u{1b}[2J"]),
        ("a path upwards", none, &["ada/skills/../../x"]),
    ];
    assert_snapshot!(told(attacks));
}
