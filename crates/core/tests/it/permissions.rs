//! Files and directories that may not be read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use prowess::check::check;

use crate::bad_input::{env, others};

/// Runs a test as the user `nobody` in a separate process, because root can read everything.
fn as_nobody(test: &str, body: impl FnOnce()) {
    if !rustix::process::getuid().is_root() {
        return body();
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = dir.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let child = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["--exact", &format!("permissions::{test}"), "--nocapture"])
        .current_dir("/")
        .output();
    match child {
        Err(error) => println!("{test} is skipped: setpriv cannot be run ({error})"),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
        }
    }
}

fn forbid(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn unreadable_files_are_reported() {
    as_nobody("unreadable_files_are_reported", || {
        let env = env();
        env.skill("~/.agents/skills/file").skill("~/.agents/skills/closed");
        env.skill("~/.agents/skills/group/inner").skill("~/.claude/skills/x");
        let forbidden = ["~/.agents/skills/file/SKILL.md", "~/.agents/skills/closed", "~/.claude/skills"];
        for path in forbidden {
            forbid(&env.path(path), 0);
        }
        forbid(&env.path("~/.agents/skills/group"), 0o300);
        assert_eq!(
            others(&env),
            ["file in /home/.agents/skills/file is invalid: cannot read the file: permission denied"]
        );
        assert_eq!(
            env.diagnostic_lines(),
            [
                "SK072 /home/.agents/skills/closed: cannot read the directory: permission denied",
                "SK072 /home/.agents/skills/group: cannot read the directory: permission denied",
                "SK072 /home/.claude/skills: cannot read the directory: permission denied",
                "SK004 /home/.agents/skills/file/SKILL.md: cannot read the file: permission denied",
            ]
        );
        let checked = check(&env.path("~/.agents"), &env.policy.manifest, &Default::default()).unwrap();
        let lines: Vec<_> = checked
            .iter()
            .map(|checked| {
                let codes: Vec<_> =
                    checked.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
                format!("{} {codes:?}", env.strip_base(&checked.path.to_string_lossy()))
            })
            .collect();
        assert_eq!(
            lines,
            [
                "/home/.agents/skills/file/SKILL.md [\"SK004\"]",
                "/home/.agents/skills/good/SKILL.md [\"SK044\"]",
                "/home/.agents/skills/closed [\"SK072\"]",
                "/home/.agents/skills/group [\"SK072\"]",
            ]
        );
        for path in forbidden {
            forbid(&env.path(path), 0o700);
        }
        forbid(&env.path("~/.agents/skills/group"), 0o700);
    });
}

#[test]
fn a_root_below_an_unreadable_directory_is_reported() {
    as_nobody("a_root_below_an_unreadable_directory_is_reported", || {
        let env = env();
        env.skill(".agents/skills/x");
        forbid(&env.path(".agents"), 0);
        assert_eq!(others(&env), [] as [&str; 0]);
        assert_eq!(
            env.diagnostic_lines(),
            ["SK072 /project/.agents/skills: cannot read the directory: permission denied"]
        );
        forbid(&env.path(".agents"), 0o700);
    });
}

/// `/home` can often be traversed but not listed.
#[test]
fn directories_that_cannot_be_listed_are_traversed() {
    as_nobody("directories_that_cannot_be_listed_are_traversed", || {
        let env = env();
        forbid(&env.path("~/.agents"), 0o100);
        assert_eq!(others(&env), [] as [&str; 0]);
        assert_eq!(env.diagnostic_lines(), [] as [&str; 0]);
        assert!(env.snapshot().get("good").unwrap().read_skill_md().is_some());
        forbid(&env.path("~/.agents"), 0o700);
    });
}

#[test]
fn a_git_directory_of_another_user_is_no_boundary() {
    let env = env();
    env.create_dir(".git");
    assert!(env.host_env().git_root().is_some());
    match std::os::unix::fs::chown(env.path(".git"), Some(65534), None) {
        Ok(()) => assert_eq!(env.host_env().git_root(), None),
        Err(error) => println!("the rest of the test is skipped: only root can change owners ({error})"),
    }
}
