//! Full and read-only disks: nothing is changed, and nothing is left behind.
//!
//! The disk is a small tmpfs in its own namespace. If namespaces are not available, a file size limit replaces
//! it, and permissions replace a read-only disk.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use crate::install_fixture::{InstallFixture, Kind};
use crate::support::TestEnv;

/// Runs a script with the project on its own file system. `$BIN` is the binary.
pub(crate) fn mounted(env: &TestEnv, script: &str, size: u32, free: u32) -> Output {
    let binary = env.command(&[]);
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script]).current_dir(env.path(".."));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("BIN", binary.get_program());
    command.env("SIZE", size.to_string()).env("FREE", free.to_string());
    command.envs(
        binary
            .get_envs()
            .filter(|(name, _)| *name != "PATH")
            .filter_map(|(name, value)| Some((name, value?))),
    );
    command.output().unwrap()
}

pub(crate) fn can_mount() -> bool {
    let mount = "mount -t tmpfs -o size=64k tmpfs /mnt";
    Command::new("unshare")
        .args(["-rm", "sh", "-c", mount])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Installs a version, fills the disk except for a few blocks, and updates to another version.
const FILL: &str = r#"
mount -t tmpfs -o size="$SIZE"k tmpfs project && cd project && mkdir .agents || exit 90
"$BIN" install ../source --all --project >/dev/null 2>&1 || exit 91
mv ../source ../v1 && mv ../v2 ../source
dd if=/dev/zero of=fill bs=1k count="$SIZE" 2>/dev/null
truncate -s -"$FREE"k fill
"$BIN" update --yes --project >/dev/null; code=$?
rm fill
"$BIN" verify --project >/dev/null || exit 92
grep -h 'Do [12]' .agents/skills/*/SKILL.md | sort -u
find . -name '.*' ! -name . ! -name .agents
exit $code"#;

#[test]
fn the_disk_fills_up_during_an_update() {
    if !can_mount() {
        return limited();
    }
    let (mut full, mut done) = (0, 0);
    for free in (0..=80).step_by(4) {
        let fixture = InstallFixture::new(Kind::Project);
        fixture.offer(1);
        let output = mounted(&fixture.env, FILL, 400, free);
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        match output.status.code() {
            Some(0) => {
                assert_eq!(out, "Do 2.\n", "{free}: {err}");
                done += 1;
            }
            Some(2) => {
                assert_eq!(out, "Do 1.\n", "{free}: {err}");
                assert!(
                    err.contains("the disk is full") && err.contains("hint: free some disk space"),
                    "{free}: {err}"
                );
                full += 1;
            }
            code => panic!("{free}: {code:?} {out} {err}"),
        }
    }
    assert!(full > 0 && done > 0, "{full} were full, {done} were not");
}

/// The size of files is limited to a few blocks.
fn limited() {
    for blocks in 0..8 {
        let fixture = InstallFixture::new(Kind::Project);
        fixture.offer(1);
        assert_eq!(fixture.env.run(&fixture.call(&["install", "../source", "--all"])).code, 0);
        fixture.offer(2);
        let run = fixture.env.command(&fixture.call(&["update", "--yes"]));
        let mut limited = Command::new("/bin/sh");
        limited.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""), "sh"]);
        limited.arg(run.get_program()).args(run.get_args()).current_dir(run.get_current_dir().unwrap());
        limited.env_clear().envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let code = limited.output().unwrap().status.code();
        let state = fixture.verify_and_check().unwrap_or_else(|error| panic!("{blocks}: {error}"));
        assert_eq!(state, if code == Some(0) { [2; 3] } else { [1; 3] }, "{blocks}: {code:?}");
    }
}

#[test]
fn file_size_limit() {
    limited();
}

/// Without namespaces, permissions make the directory read-only. They do not apply to root.
fn by_modes() {
    assert!(
        !rustix::process::geteuid().is_root(),
        "root has to be able to mount a file system for this test"
    );
    let fixture = InstallFixture::new(Kind::Project);
    fixture.offer(1);
    assert_eq!(fixture.env.run(&fixture.call(&["install", "../source", "--all"])).code, 0);
    fixture.offer(2);
    let dirs = [fixture.root(), fixture.env.path("")];
    let set =
        |mode| dirs.iter().for_each(|path| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap());
    set(0o555);
    let result = fixture.env.run(&fixture.call(&["update", "--yes"]));
    set(0o755);
    assert_eq!((result.code, fixture.verify_and_check()), (2, Ok([1; 3])), "{}", result.transcript());
}

const READ_ONLY: &str = r#"
"$BIN" --project project install source --all --project >/dev/null 2>&1 || exit 90
mv source v1 && mv v2 source
mount --bind project project && mount -o remount,bind,ro project && cd project || exit 91
for call in "install ../source --all --yes --on-conflict overwrite" "update --yes" "remove alpha --yes" \
    "install ../v1 --skill beta --name other"; do
    "$BIN" $call --project 2>&1; echo "exit $?"
done
"$BIN" verify --project; echo "exit $?"
find . | sort"#;

#[test]
fn read_only_disk() {
    if !can_mount() {
        return by_modes();
    }
    let fixture = InstallFixture::new(Kind::Project);
    fixture.offer(1);
    let output = mounted(&fixture.env, READ_ONLY, 0, 0);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    insta::assert_snapshot!(fixture.env.redact(&String::from_utf8(output.stdout).unwrap()));
}
