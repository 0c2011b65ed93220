//! Symlinks that appear, disappear or change while skills are found and read.

use std::fs;

use prowess::{FileListing, Preset};
use prowess_testing::registry_env::{RegistryEnv, repeat_while, skill_md};

use crate::symlinks::trusted;

#[test]
fn a_directory_that_becomes_a_symlink_and_back_is_detected() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.agents/skills/x")
        .skill("/elsewhere/y")
        .create_dir("~/.prowess/skills")
        .wait_for_timestamps();
    let registry = env.registry();
    let lines = || env.skill_lines_in(&registry.refresh());
    assert_eq!(lines(), ["x in /home/.agents/skills/x is enabled"]);

    // The file keeps its identity and timestamps when its directory is moved.
    fs::rename(env.path("~/.agents/skills/x"), env.path("~/.prowess/skills/x")).unwrap();
    env.symlink("~/.agents/skills/x", "~/.prowess/skills/x");
    assert_eq!(
        lines(),
        [
            "x in /home/.agents/skills/x is enabled",
            "x in /home/.prowess/skills/x is shadowed: same directory as /home/.agents/skills/x/SKILL.md",
        ]
    );

    fs::remove_file(env.path("~/.agents/skills/x")).unwrap();
    env.symlink("~/.agents/skills/x", "/elsewhere/y");
    assert_eq!(
        lines(),
        [
            "x in /home/.prowess/skills/x is enabled",
            "x in /home/.agents/skills/x is untrusted: a symlink to outside the known directories: /elsewhere/y",
        ]
    );

    fs::remove_file(env.path("~/.agents/skills/x")).unwrap();
    fs::rename(env.path("~/.prowess/skills/x"), env.path("~/.agents/skills/x")).unwrap();
    assert_eq!(lines(), ["x in /home/.agents/skills/x is enabled"]);
}

/// Activation happens long after the checks during discovery.
#[test]
fn a_directory_replaced_by_a_symlink_after_the_scan_is_not_read() {
    let env = trusted();
    env.skill(".agents/skills/group/x").skill("/secret/x").skill("/secret/group/x");
    env.symlink(".claude/skills/l", "../../.agents/skills/group/x");
    for (swapped, target) in [
        (".agents/skills/group/x/SKILL.md", "/secret/x/SKILL.md"),
        (".agents/skills/group/x", "/secret/x"),
        (".agents/skills/group", "/secret/group"),
    ] {
        let snapshot = env.snapshot();
        assert_eq!(snapshot.all().iter().filter(|skill| skill.name() == "x").count(), 2);
        fs::rename(env.path(swapped), env.path("/aside")).unwrap();
        env.symlink(swapped, target);
        for skill in snapshot.all().iter().filter(|skill| skill.name() == "x") {
            assert_eq!(skill.read_skill_md(), None, "{swapped}");
            let read = FileListing::for_skill(skill).files;
            assert!(read.is_empty(), "{swapped}: {read:?}");
        }
        fs::remove_file(env.path(swapped)).unwrap();
        fs::rename(env.path("/aside"), env.path(swapped)).unwrap();
    }
}

/// Replaces a directory with a symlink as fast as possible while it is scanned.
#[test]
fn a_race_with_a_symlink_never_reads_outside() {
    let env = trusted();
    env.file("/secret/x/SKILL.md", skill_md("stolen", "Stolen.")).skill(".agents/skills/y");
    env.skill("/real/x");
    let (dir, aside) = (env.path(".agents/skills/x"), env.path(".agents/aside"));
    let (real, secret) = (env.path("/real/x"), env.path("/secret/x"));
    repeat_while(
        |_| {
            fs::rename(&real, &dir).unwrap();
            fs::rename(&dir, &real).unwrap();
            std::os::unix::fs::symlink(&secret, &aside).unwrap();
            fs::rename(&aside, &dir).unwrap();
            fs::remove_file(&dir).unwrap();
        },
        || {
            let snapshot = env.snapshot();
            assert!(snapshot.get("y").is_some());
            for skill in snapshot.all() {
                assert_ne!(skill.name(), "stolen");
                let source = skill.read_skill_md().unwrap_or_default();
                assert!(!String::from_utf8_lossy(&source).contains("stolen"));
            }
        },
    );
}
