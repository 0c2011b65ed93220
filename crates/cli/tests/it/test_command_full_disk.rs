//! `prowess test` on full and read-only disks: errors name the file, and nothing is half written.
//!
//! Without namespaces, no disk can be mounted, and these tests check nothing.

use prowess_testing::model::BlockingModelServer;

use crate::packages_full_disk::{can_mount, mounted};
use crate::support::TestEnv;
use crate::test_command::{env, server};

/// Runs a script that writes to standard output.
fn transcript(env: &TestEnv, script: &str, free: u32) -> String {
    let output = mounted(env, script, 0, free);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{script}");
    env.redact(&String::from_utf8(output.stdout).unwrap())
}

/// Compares with a snapshot, without the keys of results.
macro_rules! assert_transcript {
    ($name:expr, $text:expr) => {
        insta::with_settings!({filters => vec![("[0-9a-f]{64}", "[KEY]")]}, { insta::assert_snapshot!($name, $text) })
    };
}

fn fixture() -> Option<(BlockingModelServer, TestEnv)> {
    let server = server();
    let env = env(&server);
    can_mount().then_some((server, env))
}

const READ_ONLY: &str = r#"
mkdir -p project/ro home/.prowess/state/tests
for dir in project/ro home/.prowess/state/tests; do
    mount --bind $dir $dir && mount -o remount,bind,ro $dir || exit 90
done
cd project
for option in "--out ro" "--record ro" "--out ro/new" "--json"; do
    "$BIN" test totals --case sum --no-baseline --runs 1 $option 2>&1; echo "exit $?"
done
find ro ../home/.prowess/state/tests -type f"#;

/// Nothing is sent if the user's files cannot be written.
#[test]
fn a_read_only_disk() {
    let Some((server, env)) = fixture() else { return };
    assert_transcript!("test_on_a_read_only_disk", transcript(&env, READ_ONLY, 0));
    assert_eq!(server.requests().len(), 0);
}

/// The files that the user asked for are on a disk with a few free KiB.
const FULL: &str = r#"
mkdir -p project/full && mount -t tmpfs -o size=256k tmpfs project/full && cd project || exit 90
dd if=/dev/zero of=full/fill bs=1k 2>/dev/null
truncate -s -"$FREE"k full/fill
for option in --out --record; do
    "$BIN" test totals --case sum --no-baseline --runs 1 $option full >out 2>&1; echo "$option: exit $?"
    grep -E '^(error|hint)|  ok' out
done
find full -type f; find full -name '.*'"#;

#[test]
fn a_full_disk_for_requested_files() {
    for free in [0, 8] {
        let Some((_server, env)) = fixture() else { return };
        let text = transcript(&env, FULL, free);
        assert_transcript!(format!("test_with_{free}_kib_for_requested_files"), text);
    }
}

/// The state of Prowess is on a disk with a few free KiB.
const FULL_STATE: &str = r#"
state=../home/.prowess/state/tests
cd project && mkdir -p $state && mount -t tmpfs -o size=256k tmpfs $state || exit 90
dd if=/dev/zero of=$state/fill bs=1k 2>/dev/null
truncate -s -"$FREE"k $state/fill
"$BIN" test totals --case sum --no-baseline --runs 1 --jobs 1 >out 2>&1; echo "exit $?"
grep -vE 'seconds|with the skill|^spent' out
find $state -type f; find $state -name '.*'"#;

#[test]
fn a_full_disk_for_results() {
    // Without the spending on disk, nothing is sent; without a stored result, the test is still useful.
    for (free, requests) in [(0, 0), (8, 3)] {
        let Some((server, env)) = fixture() else { return };
        let text = transcript(&env, FULL_STATE, free);
        assert_transcript!(format!("test_with_{free}_kib_for_results"), &text);
        assert_eq!(server.requests().len(), requests, "{text}");
    }
}
