//! Invalid install targets and lock files: each error has a clear message and a hint,
//! and nothing is changed or left behind.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::TestEnv;
use crate::support::listing::{Listing, changed};
use insta::assert_snapshot;
use rustix::fs::{CWD, Mode, mkfifoat};

const CALLS: [&[&str]; 5] = [
    &["install", "../source/pdf", "--project"],
    &["update", "--project"],
    &["remove", "pdf", "--project"],
    &["verify", "--project"],
    &["install", "--locked", "--project"],
];

/// The name of a case, its environment, and a function that breaks it.
type Case = (&'static str, fn() -> TestEnv, fn(&TestEnv));

/// Returns a project with a skill to install, and files outside that must not change.
fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.skill("../source/pdf")
        .file("../outside/pdf/precious.txt", "precious")
        .file(".git/config", "[core]\n");
    env
}

/// Returns the same project with the skill installed.
fn installed() -> TestEnv {
    let env = env();
    assert_eq!(env.run(CALLS[0]).code, 0);
    env
}

/// Runs each case in its own environment and returns the output and the changed files.
fn run_cases(cases: &[Case], calls: &[&[&str]]) -> String {
    let mut text = String::new();
    for (name, make, spoil) in cases {
        text += &format!("=== {name}\n");
        for call in calls {
            let env = make();
            spoil(&env);
            let before = env.listing();
            text += &env.run(call).transcript();
            for change in changed(&before, &env.listing()) {
                text += &format!("--- {change}\n");
            }
        }
    }
    text
}

fn link(env: &TestEnv, target: &str, path: &str) {
    let path = env.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(target, path).unwrap();
}

fn fifo(env: &TestEnv, path: &str) {
    let path = env.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mkfifoat(CWD, path, Mode::RWXU).unwrap();
}

#[test]
fn destinations() {
    let cases: &[Case] = &[
        ("a file", env, |env| {
            env.file(".agents/skills", "x");
        }),
        ("a FIFO", env, |env| fifo(env, ".agents/skills")),
        ("a link that leads out", env, |env| link(env, "../../outside", ".agents/skills")),
        ("a parent directory is a symlink out of the project", env, |env| link(env, "../outside", ".agents")),
        ("a link into .git", env, |env| link(env, "../.git", ".agents/skills")),
        ("a link that leads nowhere", env, |env| link(env, "../../missing", ".agents/skills")),
        ("the directory is a symlink", env, |env| link(env, "../../../outside/pdf", ".agents/skills/pdf")),
        ("the directory is a file", env, |env| {
            env.file(".agents/skills/pdf", "x");
        }),
        ("the directory is a FIFO", env, |env| fifo(env, ".agents/skills/pdf")),
        ("what is locked is a link", env, |env| link(env, "../outside/x", ".skills.lock.busy")),
        ("the guard file is a directory", env, |env| {
            env.file(".skills.lock.busy/x", "");
        }),
        ("the temporary file is a directory", env, |env| {
            env.file(".skills.lock.prowess-new/x", "");
        }),
    ];
    assert_snapshot!(run_cases(cases, &CALLS[..1]));
}

#[test]
fn unreadable_lock_files() {
    let cases: &[Case] = &[
        ("no JSON", installed, |env| {
            env.file("skills.lock", "{\"schema\": 1,");
        }),
        ("no lock", installed, |env| {
            env.file("skills.lock", "[]");
        }),
        ("a merge", installed, |env| {
            env.file("skills.lock", "{\n<<<<<<< HEAD\n=======\n>>>>>>> x\n}");
        }),
        ("newer", installed, |env| {
            env.file("skills.lock", "{\"schema\": 9, \"skills\": []}");
        }),
        ("not text", installed, |env| {
            env.file("skills.lock", b"\xff\xfe\0");
        }),
        ("deep", installed, |env| {
            env.file("skills.lock", "[".repeat(200_000));
        }),
        ("100 MB", installed, |env| {
            let file = fs::File::create(env.path("skills.lock")).unwrap();
            file.set_len(100_000_000).unwrap();
        }),
        ("a directory", installed, |env| {
            fs::remove_file(env.path("skills.lock")).unwrap();
            env.file("skills.lock/x", "");
        }),
        ("a FIFO", installed, |env| {
            fs::remove_file(env.path("skills.lock")).unwrap();
            fifo(env, "skills.lock");
        }),
        ("a link", installed, |env| {
            fs::rename(env.path("skills.lock"), env.path("../outside/skills.lock")).unwrap();
            link(env, "../outside/skills.lock", "skills.lock");
        }),
    ];
    assert_snapshot!(run_cases(cases, &CALLS));
}

/// Changes name and path of the skill in the lock file.
fn relocate(env: &TestEnv, name: &str, dir: &str) {
    let path = env.path("skills.lock");
    let mut lock: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    lock["skills"][0]["folder"] = dir.into();
    lock["skills"][0]["name"] = name.into();
    fs::write(path, lock.to_string()).unwrap();
}

#[test]
fn lock_files_with_paths_outside_the_target() {
    let cases: &[Case] = &[
        ("upwards", installed, |env| relocate(env, "pdf", "../outside/pdf")),
        ("upwards in the middle", installed, |env| relocate(env, "pdf", ".agents/../../outside/pdf")),
        ("absolute", installed, |env| {
            let outside = env.path("../outside/pdf").canonicalize().unwrap();
            relocate(env, "pdf", outside.to_str().unwrap());
        }),
        ("the home", installed, |env| relocate(env, "pdf", "~/pdf")),
        ("nothing", installed, |env| relocate(env, "pdf", "")),
        ("the project itself", installed, |env| relocate(env, "pdf", ".")),
        ("git's own", installed, |env| relocate(env, "pdf", ".git/pdf")),
        ("git's own in capitals", installed, |env| relocate(env, "pdf", ".GIT/pdf")),
        ("a directory of something else", installed, |env| relocate(env, "pdf", ".agents")),
        ("through a link that leads out", installed, |env| {
            link(env, "../outside", "docs");
            relocate(env, "pdf", "docs/pdf");
        }),
        ("through a link into .git", installed, |env| {
            link(env, ".git", "docs");
            relocate(env, "pdf", "docs/pdf");
        }),
    ];
    assert_snapshot!(run_cases(cases, &CALLS[1..]));
}

/// Returns a forged lock file with a pending change and a staging directory.
fn pending(env: &TestEnv, stage: &Path, dir: &str) {
    let path = env.path("skills.lock");
    let mut lock: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let change = serde_json::json!({"folder": dir, "after": null});
    lock["pending"] = serde_json::json!({"stage": stage, "owner": "1-1.000000001", "changes": [change]});
    fs::write(path, lock.to_string()).unwrap();
}

#[test]
fn a_forged_pending_change_moves_nothing() {
    for call in CALLS {
        for dir in [".git", "docs", ".agents/skills/pdf", "../outside/pdf", "link/pdf"] {
            for stage in [
                ".prowess-staging-1-0",
                ".agents/skills/.prowess-staging-1-0",
                "../outside/.prowess-staging-1-0",
            ] {
                let env = installed();
                env.file("docs/precious.txt", "precious").file(&format!("{stage}/owner"), "");
                link(&env, "../outside", "link");
                pending(&env, &env.path(stage), dir);
                let precious = [
                    "docs/precious.txt",
                    "../outside/pdf/precious.txt",
                    ".git/config",
                    ".agents/skills/pdf/SKILL.md",
                ];
                // Only this command may remove it.
                let removes = |path: &&&str| call[0] != "remove" || !path.starts_with(".agents");
                env.run(call);
                for path in precious.iter().filter(removes) {
                    assert!(env.path(path).exists(), "{call:?}, {dir}, {stage}: {path} is gone");
                }
                assert!(!fs::read_to_string(env.path("skills.lock")).unwrap_or_default().contains("pending"));
            }
        }
    }
}

#[test]
fn forged_staging_directories_are_not_followed() {
    let env = env();
    env.file(".agents/skills/.prowess-staging-1-0/new/x/SKILL.md", "left by somebody who is gone");
    link(&env, "../../../outside", ".agents/skills/.prowess-staging-2-0");
    link(&env, "../../../../outside", ".agents/skills/.prowess-staging-3-0/new");
    link(&env, "../../../../outside/pdf/precious.txt", ".agents/skills/.prowess-staging-4-0/owner");
    let before = env.listing();
    assert_eq!(env.run(CALLS[0]).code, 0);
    let after = env.listing();
    let outside = |listing: &Listing| {
        listing
            .iter()
            .filter(|(path, _)| path.starts_with("outside"))
            .map(|(a, b)| (a.clone(), b.clone()))
            .collect()
    };
    let (before, after): (Vec<_>, Vec<_>) = (outside(&before), outside(&after));
    assert_eq!(before, after);
    assert!(!env.path(".agents/skills/.prowess-staging-1-0").exists());
    assert!(!env.path(".agents/skills/.prowess-staging-3-0").exists());
}

/// The home is always set: otherwise, the real home directory would be used.
#[test]
fn the_home_is_not_a_directory() {
    let calls: &[&[&str]] = &[&["install", "../source/pdf", "--user"]];
    let cases: &[Case] = &[
        ("a file", env, |env| {
            fs::remove_dir(env.path("~/")).unwrap();
            env.file("../home", "x");
        }),
        ("a link that leads nowhere", env, |env| {
            fs::remove_dir(env.path("~/")).unwrap();
            link(env, "missing", "../home");
        }),
        ("its state is a file", env, |env| {
            env.file("~/.prowess", "x");
        }),
    ];
    assert_snapshot!(run_cases(cases, calls));
}
