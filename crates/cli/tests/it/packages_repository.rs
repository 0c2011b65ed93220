//! A repository of a stranger: nothing in it is run, and nothing but a skill's files comes out of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::world::listing::changed;
use crate::world::{World, skill_md};
use insta::assert_snapshot;

/// A repository in which everything is set up to run something, or to lead elsewhere.
fn repository(world: &World) {
    let path = world.path("../repository");
    world.file("../repository/pdf/SKILL.md", skill_md("pdf", "Reads."));
    world.file("../repository/.gitattributes", "* filter=run diff=run merge=run\n");
    world.file(
        "../repository/.gitmodules",
        "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c touch% canary\n",
    );
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.com",
            "-c",
            "init.defaultBranch=main",
        ]);
        let output =
            git.args(words).current_dir(&path).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "x"]);
    symlink("/etc/passwd", path.join("pdf/link")).unwrap();
    git(&["checkout", "-q", "-b", "linked"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "x"]);
    git(&["checkout", "-q", "main"]);
    for (key, value) in [
        ("filter.run.smudge", "touch ../canary"),
        ("filter.run.clean", "touch ../canary"),
        ("core.fsmonitor", "touch ../canary"),
        ("uploadpack.packObjectsHook", "touch ../canary"),
    ] {
        git(&["config", key, value]);
    }
    for hook in ["post-checkout", "pre-commit", "post-merge"] {
        world.file(&format!("../repository/.git/hooks/{hook}"), "#!/bin/sh\ntouch ../canary\n");
        let run = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        fs::set_permissions(path.join(".git/hooks").join(hook), run).unwrap();
    }
}

#[test]
fn a_repository_runs_nothing() {
    let world = World::bare().variable("PROWESS_ALLOW_FILE_URLS", "1");
    repository(&world);
    let url = format!("file://{}", world.path("../repository").canonicalize().unwrap().display());
    let before = world.listing();
    let linked = world.run(&["install", "--project", &url, "--ref", "linked"]);
    assert_eq!(changed(&before, &world.listing()), Vec::<String>::new());
    assert_snapshot!(linked.err, @"error: link is a link; a skill is made of regular files only");
    assert_eq!(world.run(&["install", "--project", &url]).code, 0);
    let came: Vec<_> = world.listing().into_keys().filter(|path| path.contains("skills/pdf")).collect();
    assert_eq!(came, ["project/.agents/skills/pdf", "project/.agents/skills/pdf/SKILL.md"]);
    assert!(!world.path("canary").exists() && !world.path("../canary").exists());
}
