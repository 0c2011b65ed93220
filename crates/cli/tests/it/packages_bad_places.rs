//! Places that skills cannot be installed into, and locks that cannot be believed: each says what is wrong and what to do,
//! and nothing is changed or left behind.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::world::World;
use crate::world::listing::{Listing, changed};
use insta::assert_snapshot;
use rustix::fs::{CWD, Mode, mkfifoat};

const CALLS: [&[&str]; 5] = [
    &["install", "../source/pdf", "--project"],
    &["update", "--project"],
    &["remove", "pdf", "--project"],
    &["verify", "--project"],
    &["install", "--locked", "--project"],
];

/// What is wrong, the world it is wrong in, and how it becomes so.
type Case = (&'static str, fn() -> World, fn(&World));

/// A project with one skill to install, and something outside that nobody may touch.
fn world() -> World {
    let world = World::bare();
    world
        .skill("../source/pdf")
        .file("../outside/pdf/precious.txt", "precious")
        .file(".git/config", "[core]\n");
    world
}

/// The same with the skill installed.
fn installed() -> World {
    let world = world();
    assert_eq!(world.run(CALLS[0]).code, 0);
    world
}

/// Runs calls, each in a world of its own that was spoilt, and tells what each said and what it changed.
fn told(cases: &[Case], calls: &[&[&str]]) -> String {
    let mut text = String::new();
    for (name, make, spoil) in cases {
        text += &format!("=== {name}\n");
        for call in calls {
            let world = make();
            spoil(&world);
            let before = world.listing();
            text += &world.run(call).whole();
            for change in changed(&before, &world.listing()) {
                text += &format!("--- {change}\n");
            }
        }
    }
    text
}

fn link(world: &World, to: &str, at: &str) {
    let at = world.path(at);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    symlink(to, at).unwrap();
}

fn fifo(world: &World, at: &str) {
    let at = world.path(at);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    mkfifoat(CWD, at, Mode::RWXU).unwrap();
}

#[test]
fn destinations() {
    let cases: &[Case] = &[
        ("a file", world, |world| {
            world.file(".agents/skills", "x");
        }),
        ("a FIFO", world, |world| fifo(world, ".agents/skills")),
        ("a link that leads out", world, |world| link(world, "../../outside", ".agents/skills")),
        ("a folder above is a link that leads out", world, |world| link(world, "../outside", ".agents")),
        ("a link into .git", world, |world| link(world, "../.git", ".agents/skills")),
        ("a link that leads nowhere", world, |world| link(world, "../../missing", ".agents/skills")),
        ("the folder is a link", world, |world| link(world, "../../../outside/pdf", ".agents/skills/pdf")),
        ("the folder is a file", world, |world| {
            world.file(".agents/skills/pdf", "x");
        }),
        ("the folder is a FIFO", world, |world| fifo(world, ".agents/skills/pdf")),
        ("what is locked is a link", world, |world| link(world, "../outside/x", ".skills.lock.busy")),
        ("what is locked is a folder", world, |world| {
            world.file(".skills.lock.busy/x", "");
        }),
        ("what is renamed is a folder", world, |world| {
            world.file(".skills.lock.prowess-new/x", "");
        }),
    ];
    assert_snapshot!(told(cases, &CALLS[..1]));
}

#[test]
fn locks_that_cannot_be_read() {
    let cases: &[Case] = &[
        ("no JSON", installed, |world| {
            world.file("skills.lock", "{\"schema\": 1,");
        }),
        ("no lock", installed, |world| {
            world.file("skills.lock", "[]");
        }),
        ("a merge", installed, |world| {
            world.file("skills.lock", "{\n<<<<<<< HEAD\n=======\n>>>>>>> x\n}");
        }),
        ("newer", installed, |world| {
            world.file("skills.lock", "{\"schema\": 9, \"skills\": []}");
        }),
        ("not text", installed, |world| {
            world.file("skills.lock", b"\xff\xfe\0");
        }),
        ("deep", installed, |world| {
            world.file("skills.lock", "[".repeat(200_000));
        }),
        ("100 MB", installed, |world| {
            let file = fs::File::create(world.path("skills.lock")).unwrap();
            file.set_len(100_000_000).unwrap();
        }),
        ("a folder", installed, |world| {
            fs::remove_file(world.path("skills.lock")).unwrap();
            world.file("skills.lock/x", "");
        }),
        ("a FIFO", installed, |world| {
            fs::remove_file(world.path("skills.lock")).unwrap();
            fifo(world, "skills.lock");
        }),
        ("a link", installed, |world| {
            fs::rename(world.path("skills.lock"), world.path("../outside/skills.lock")).unwrap();
            link(world, "../outside/skills.lock", "skills.lock");
        }),
    ];
    assert_snapshot!(told(cases, &CALLS));
}

/// Says in the lock that the skill lies elsewhere, under whatever name.
fn relocate(world: &World, name: &str, folder: &str) {
    let path = world.path("skills.lock");
    let mut lock: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    lock["skills"][0]["folder"] = folder.into();
    lock["skills"][0]["name"] = name.into();
    fs::write(path, lock.to_string()).unwrap();
}

#[test]
fn locks_that_name_what_is_not_theirs() {
    let cases: &[Case] = &[
        ("upwards", installed, |world| relocate(world, "pdf", "../outside/pdf")),
        ("upwards in the middle", installed, |world| relocate(world, "pdf", ".agents/../../outside/pdf")),
        ("absolute", installed, |world| {
            let outside = world.path("../outside/pdf").canonicalize().unwrap();
            relocate(world, "pdf", outside.to_str().unwrap());
        }),
        ("the home", installed, |world| relocate(world, "pdf", "~/pdf")),
        ("nothing", installed, |world| relocate(world, "pdf", "")),
        ("the project itself", installed, |world| relocate(world, "pdf", ".")),
        ("git's own", installed, |world| relocate(world, "pdf", ".git/pdf")),
        ("git's own in capitals", installed, |world| relocate(world, "pdf", ".GIT/pdf")),
        ("the folder of something else", installed, |world| relocate(world, "pdf", ".agents")),
        ("through a link that leads out", installed, |world| {
            link(world, "../outside", "docs");
            relocate(world, "pdf", "docs/pdf");
        }),
        ("through a link into .git", installed, |world| {
            link(world, ".git", "docs");
            relocate(world, "pdf", "docs/pdf");
        }),
    ];
    assert_snapshot!(told(cases, &CALLS[1..]));
}

/// A lock with a change that had begun, as a stranger would write it: with a stage that came along.
fn pending(world: &World, stage: &Path, folder: &str) {
    let path = world.path("skills.lock");
    let mut lock: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let change = serde_json::json!({"folder": folder, "after": null});
    lock["pending"] = serde_json::json!({"stage": stage, "owner": "1-1.000000001", "changes": [change]});
    fs::write(path, lock.to_string()).unwrap();
}

#[test]
fn a_change_that_a_stranger_began_moves_nothing() {
    for call in CALLS {
        for folder in [".git", "docs", ".agents/skills/pdf", "../outside/pdf", "link/pdf"] {
            for stage in [
                ".prowess-staging-1-0",
                ".agents/skills/.prowess-staging-1-0",
                "../outside/.prowess-staging-1-0",
            ] {
                let world = installed();
                world.file("docs/precious.txt", "precious").file(&format!("{stage}/owner"), "");
                link(&world, "../outside", "link");
                pending(&world, &world.path(stage), folder);
                let precious = [
                    "docs/precious.txt",
                    "../outside/pdf/precious.txt",
                    ".git/config",
                    ".agents/skills/pdf/SKILL.md",
                ];
                // The one call that is meant to remove it.
                let removes = |path: &&&str| call[0] != "remove" || !path.starts_with(".agents");
                world.run(call);
                for path in precious.iter().filter(removes) {
                    assert!(world.path(path).exists(), "{call:?}, {folder}, {stage}: {path} is gone");
                }
                assert!(
                    !fs::read_to_string(world.path("skills.lock")).unwrap_or_default().contains("pending")
                );
            }
        }
    }
}

#[test]
fn stages_of_others_are_no_way_out() {
    let world = world();
    world.file(".agents/skills/.prowess-staging-1-0/new/x/SKILL.md", "left by somebody who is gone");
    link(&world, "../../../outside", ".agents/skills/.prowess-staging-2-0");
    link(&world, "../../../../outside", ".agents/skills/.prowess-staging-3-0/new");
    link(&world, "../../../../outside/pdf/precious.txt", ".agents/skills/.prowess-staging-4-0/owner");
    let before = world.listing();
    assert_eq!(world.run(CALLS[0]).code, 0);
    let after = world.listing();
    let outside = |listing: &Listing| {
        listing
            .iter()
            .filter(|(path, _)| path.starts_with("outside"))
            .map(|(a, b)| (a.clone(), b.clone()))
            .collect()
    };
    let (before, after): (Vec<_>, Vec<_>) = (outside(&before), outside(&after));
    assert_eq!(before, after);
    assert!(!world.path(".agents/skills/.prowess-staging-1-0").exists());
    assert!(!world.path(".agents/skills/.prowess-staging-3-0").exists());
}

/// The home is always named here: without one, the system's own record of the user would name the real one.
#[test]
fn a_home_that_is_no_folder() {
    let calls: &[&[&str]] = &[&["install", "../source/pdf", "--user"]];
    let cases: &[Case] = &[
        ("a file", world, |world| {
            fs::remove_dir(world.path("~/")).unwrap();
            world.file("../home", "x");
        }),
        ("a link that leads nowhere", world, |world| {
            fs::remove_dir(world.path("~/")).unwrap();
            link(world, "missing", "../home");
        }),
        ("its state is a file", world, |world| {
            world.file("~/.prowess", "x");
        }),
    ];
    assert_snapshot!(told(cases, calls));
}
