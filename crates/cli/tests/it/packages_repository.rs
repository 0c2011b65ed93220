//! Untrusted repositories: nothing is run, and only the files of the skill are installed.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::listing::changed;
use crate::support::{TestEnv, skill_md};
use insta::assert_snapshot;

/// A repository with hooks, filters and links that try to run commands or escape.
fn repository(env: &TestEnv) {
    let path = env.path("../repository");
    env.file("../repository/pdf/SKILL.md", skill_md("pdf", "Reads."));
    env.file("../repository/.gitattributes", "* filter=run diff=run merge=run\n");
    env.file(
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
        env.file(&format!("../repository/.git/hooks/{hook}"), "#!/bin/sh\ntouch ../canary\n");
        let run = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        fs::set_permissions(path.join(".git/hooks").join(hook), run).unwrap();
    }
}

#[test]
fn a_repository_cannot_run_anything() {
    let env = TestEnv::bare().variable("PROWESS_ALLOW_FILE_URLS", "1");
    repository(&env);
    let url = format!("file://{}", env.path("../repository").canonicalize().unwrap().display());
    let before = env.listing();
    let linked = env.run(&["install", "--project", &url, "--ref", "linked"]);
    assert_eq!(changed(&before, &env.listing()), Vec::<String>::new());
    assert_snapshot!(linked.err, @"error: link is a symlink; a skill may only contain regular files");
    assert_eq!(env.run(&["install", "--project", &url]).code, 0);
    let came: Vec<_> = env.listing().into_keys().filter(|path| path.contains("skills/pdf")).collect();
    assert_eq!(came, ["project/.agents/skills/pdf", "project/.agents/skills/pdf/SKILL.md"]);
    assert!(!env.path("canary").exists() && !env.path("../canary").exists());
}
