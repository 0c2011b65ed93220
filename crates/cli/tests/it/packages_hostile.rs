//! Untrusted sources: each attack gets a clear error, changes nothing, leaves nothing behind and runs nothing.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::listing::changed;
use crate::support::{TestEnv, skill_md};
use insta::assert_snapshot;
use prowess_testing::builders::{ZipEntry, gz, tar_entry, tar_gz, zip};
use rustix::fs::{CWD, Mode, mkfifoat};

/// The name of an attack, its setup, and the arguments of `prowess install`.
type Attack = (&'static str, fn(&TestEnv), &'static [&'static str]);

/// Runs each attack in its own environment and returns the output and the changed files.
fn run_attacks(attacks: &[Attack]) -> String {
    let mut text = String::new();
    for (name, make, words) in attacks {
        let env = TestEnv::bare();
        make(&env);
        let before = env.listing();
        let result = env.run(&[&["install", "--project"], *words].concat());
        let err: String = result.err.chars().take(600).collect();
        text += &format!("=== {name}\n{}{err}--- exit {}\n", result.out, result.code);
        for change in changed(&before, &env.listing()) {
            text += &format!("--- {change}\n");
        }
        assert_ne!(result.code, 0, "{name}: {}", result.transcript());
        assert!(!env.path("canary").exists() && !env.path("../canary").exists(), "{name}: something ran");
    }
    text
}

fn manifest() -> ZipEntry {
    ZipEntry::deflated("pdf/SKILL.md", skill_md("pdf", "Reads.").as_bytes())
}

fn zipped(env: &TestEnv, entries: impl IntoIterator<Item = ZipEntry>) {
    env.file("../a.zip", zip(std::iter::once(manifest()).chain(entries)).bytes());
}

fn tarred(env: &TestEnv, entries: &[Vec<u8>]) {
    let manifest = tar_entry(b"pdf/SKILL.md", b'0', skill_md("pdf", "Reads.").as_bytes());
    env.file("../a.tar.gz", tar_gz(&[&[manifest], entries].concat()));
}

/// Returns a symlink entry, whose contents are the target.
fn tar_link(kind: u8, target: &str) -> Vec<u8> {
    let mut header: [u8; 512] = tar_entry(b"pdf/link", kind, b"")[..512].try_into().unwrap();
    header[157..157 + target.len()].copy_from_slice(target.as_bytes());
    prowess_testing::builders::write_checksum(&mut header);
    header.to_vec()
}

#[test]
fn archives() {
    const ZIP: &[&str] = &["../a.zip"];
    const TAR: &[&str] = &["../a.tar.gz"];
    let attacks: &[Attack] = &[
        ("upwards", |env| zipped(env, [ZipEntry::stored("../../canary", b"x")]), ZIP),
        ("upwards, tar", |env| tarred(env, &[tar_entry(b"../../canary", b'0', b"x")]), TAR),
        ("absolute", |env| zipped(env, [ZipEntry::stored("/canary", b"x")]), ZIP),
        ("absolute, tar", |env| tarred(env, &[tar_entry(b"/canary", b'0', b"x")]), TAR),
        ("a backslash", |env| zipped(env, [ZipEntry::stored("pdf\\..\\..\\canary", b"x")]), ZIP),
        ("a link", |env| zipped(env, [ZipEntry::stored("pdf/link", b"/etc/passwd").mode(0o120777)]), ZIP),
        ("a link, tar", |env| tarred(env, &[tar_link(b'2', "/etc/passwd")]), TAR),
        ("a hard link", |env| tarred(env, &[tar_link(b'1', "/etc/passwd")]), TAR),
        ("a device", |env| tarred(env, &[tar_entry(b"pdf/null", b'3', b"")]), TAR),
        ("a FIFO", |env| tarred(env, &[tar_entry(b"pdf/fifo", b'6', b"")]), TAR),
        ("one name twice", |env| zipped(env, [manifest()]), ZIP),
        (
            "one name twice, tar",
            |env| tarred(env, &[tar_entry(b"pdf/x", b'0', b"1"), tar_entry(b"pdf/x", b'0', b"2")]),
            TAR,
        ),
        (
            "names that are one elsewhere",
            |env| zipped(env, ["pdf/a", "pdf/A"].map(|name| ZipEntry::stored(name, b"x"))),
            ZIP,
        ),
        ("a bomb", |env| zipped(env, [ZipEntry::deflated("pdf/big", &vec![0; 80 << 20])]), ZIP),
        (
            "many files that are a bomb together",
            |env| zipped(env, (0..6).map(|at| ZipEntry::deflated(&format!("pdf/{at}"), &vec![0; 15 << 20]))),
            ZIP,
        ),
        ("a bomb in a bomb", |env| drop_file(env, "../a.tar.gz", &gz(&gz(&vec![0; 80 << 20]))), TAR),
        (
            "10,000 files",
            |env| zipped(env, (0..10_000).map(|at| ZipEntry::stored(&format!("pdf/{at}"), b""))),
            ZIP,
        ),
        ("a wrong checksum", |env| zipped(env, [ZipEntry { crc: 1, local_crc: 1, ..stored() }]), ZIP),
        ("a wrong size", |env| zipped(env, [ZipEntry { size: 9, local_size: 9, ..stored() }]), ZIP),
        (
            "headers that differ",
            |env| zipped(env, [ZipEntry { local_name: b"pdf/y".to_vec(), ..stored() }]),
            ZIP,
        ),
        ("a password", |env| zipped(env, [ZipEntry { flags: 1, ..stored() }]), ZIP),
        ("git's own", |env| zipped(env, [ZipEntry::stored("pdf/.git/hooks/post-checkout", b"x")]), ZIP),
        ("escapes in a name", |env| zipped(env, [ZipEntry::stored("pdf/a\u{1b}[2J\u{202e}", b"x")]), ZIP),
        ("cut short", |env| drop_file(env, "../a.zip", &zip([manifest()]).bytes()[..60]), ZIP),
        ("no archive", |env| drop_file(env, "../a.zip", b"#!/bin/sh\ntouch canary\n"), ZIP),
        ("empty", |env| drop_file(env, "../a.zip", b""), ZIP),
        ("nothing in it", |env| drop_file(env, "../a.zip", &zip([]).bytes()), ZIP),
        ("a directory with that name", |env| drop_file(env, "../a.zip/x", b"x"), ZIP),
    ];
    assert_snapshot!(run_attacks(attacks));
}

fn stored() -> ZipEntry {
    ZipEntry::stored("pdf/x", b"x")
}

fn drop_file(env: &TestEnv, path: &str, bytes: &[u8]) {
    env.file(path, bytes);
}

fn named(env: &TestEnv, name: &str) {
    env.file("../a/pdf/SKILL.md", format!("---\nname: {name}\ndescription: Reads.\n---\n\nDo it.\n"));
}

#[test]
fn directories() {
    const A: &[&str] = &["../a"];
    const ALL: &[&str] = &["../a", "--all"];
    let attacks: &[Attack] = &[
        ("a link to a secret", |env| linked(env, "../../secret", "../a/pdf/link"), A),
        ("a symlinked directory", |env| linked(env, "../..", "../a/pdf/references"), A),
        ("a linked manifest", |env| linked_manifest(env), A),
        ("a FIFO", |env| special(env, "../a/pdf/fifo"), A),
        ("a FIFO for a manifest", |env| special(env, "../a/other/SKILL.md"), &["../a/other"]),
        ("a name upwards", |env| named(env, "../x"), A),
        ("a name of one point", |env| named(env, "."), A),
        ("an absolute name", |env| named(env, "/etc/x"), A),
        ("a hidden name", |env| named(env, ".git"), A),
        ("a name like an option", |env| named(env, "--yes"), A),
        ("a name with escapes", |env| named(env, "\"a\\e[31m\\u202Eb\""), A),
        ("no name", |env| named(env, "\"\""), A),
        ("--name upwards", |env| named(env, "pdf"), &["../a", "--name", "../x"]),
        ("--name of nothing", |env| named(env, "pdf"), &["../a", "--name", ""]),
        ("no manifest", |env| drop_file(env, "../a/README.md", b"x"), A),
        ("a broken manifest", |env| drop_file(env, "../a/SKILL.md", crate::support::BROKEN.as_bytes()), A),
        ("no text for a manifest", |env| drop_file(env, "../a/SKILL.md", b"\xff\xfe\0\0"), A),
        (
            "two manifests in one directory",
            |env| {
                named(env, "pdf");
                drop_file(env, "../a/pdf/skill.md", skill_md("pdf", "Another.").as_bytes());
            },
            A,
        ),
        (
            "two skills of one name",
            |env| {
                env.file("../a/one/SKILL.md", skill_md("same", "One."));
                env.file("../a/two/SKILL.md", skill_md("same", "Two."));
            },
            ALL,
        ),
        (
            "a manifest of 20 MB",
            |env| {
                drop_file(
                    env,
                    "../a/SKILL.md",
                    &[skill_md("pdf", "Reads.").as_bytes(), &vec![b'x'; 20 << 20]].concat(),
                )
            },
            A,
        ),
        (
            "YAML without an end",
            |env| {
                drop_file(
                    env,
                    "../a/SKILL.md",
                    format!("---\nname: {}\n---\n", "[".repeat(50_000)).as_bytes(),
                )
            },
            A,
        ),
        (
            "100,000 files",
            |env| {
                named(env, "pdf");
                (0..100_000)
                    .for_each(|number| fs::write(env.path(&format!("../a/pdf/{number}")), b"").unwrap());
            },
            A,
        ),
        ("the file itself", |env| special(env, "../a"), A),
        ("nothing", |_| {}, A),
    ];
    assert_snapshot!(run_attacks(attacks));
}

fn linked(env: &TestEnv, target: &str, path: &str) {
    named(env, "pdf");
    env.file("../secret", "secret");
    symlink(target, env.path(path)).unwrap();
}

fn linked_manifest(env: &TestEnv) {
    env.file("../secret", skill_md("pdf", "Reads.")).file("../a/pdf/x", "");
    symlink("../../secret", env.path("../a/pdf/SKILL.md")).unwrap();
}

fn special(env: &TestEnv, path: &str) {
    let fifo = env.path(path);
    fs::create_dir_all(fifo.parent().unwrap()).unwrap();
    mkfifoat(CWD, &fifo, Mode::RWXU).unwrap();
    if path.starts_with("../a/pdf") {
        named(env, "pdf");
    }
}

#[test]
fn addresses() {
    let none: fn(&TestEnv) = |_| {};
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
    assert_snapshot!(run_attacks(attacks));
}
