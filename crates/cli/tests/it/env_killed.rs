//! Builds that are killed or run out of space: nothing half built is used, and the next command works.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use prowess_testing::package_index::{LocalIndex, wheel};

use crate::env_build::test_env;
use crate::support::TestEnv;

/// A package with many files, so that copying it takes long enough to be interrupted.
fn large_wheel() -> (String, Vec<u8>) {
    let names: Vec<String> = (0..1_500).map(|number| format!("openpyxl/data/file{number}.txt")).collect();
    let text = "x".repeat(600);
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    files.push(("openpyxl/__init__.py", "VALUE = 'complete'\n"));
    wheel("openpyxl", "1.0", &[], &files)
}

fn env() -> (TestEnv, LocalIndex) {
    let index = LocalIndex::start_slow(vec![large_wheel()], Duration::from_millis(400));
    let env = test_env(&index).variable("PROWESS_ALLOW_SCRIPTS", "1");
    env.skill("~/.agents/skills/s")
        .file("~/.agents/skills/s/x.py", "import openpyxl\nprint(openpyxl.VALUE)\n");
    (env, index)
}

/// The moment at which a build is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// While the index is asked.
    Resolving,
    /// As soon as the packages are known.
    Resolved,
    /// While packages are fetched.
    Installing,
    /// While files are copied into the environment.
    Copying,
    /// When all files are copied.
    Copied,
}

fn has_resolution(dir: &Path) -> bool {
    std::fs::read_dir(dir.join("resolutions")).is_ok_and(|mut entries| entries.next().is_some())
}

impl Moment {
    fn is_reached(self, dir: &Path, started: Instant) -> bool {
        match self {
            Self::Resolving => {
                dir.join("interpreters.json").exists() && started.elapsed() > Duration::from_millis(300)
            }
            Self::Resolved | Self::Installing => has_resolution(dir),
            Self::Copying => dir.join(".building/site-packages/openpyxl/data").is_dir(),
            Self::Copied => dir.join(".building/contents.json").exists(),
        }
    }
}

#[test]
fn a_killed_build_is_never_used() {
    for moment in [Moment::Resolving, Moment::Resolved, Moment::Installing, Moment::Copying, Moment::Copied] {
        let (env, _index) = env();
        let dir = env.path("~/environments");
        let mut child = env.spawn(&["env", "build", "s", "--yes"]);
        let started = Instant::now();
        while !moment.is_reached(&dir, started) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if moment == Moment::Installing {
            std::thread::sleep(Duration::from_millis(200));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let state = env.run(&["run", "s", "x.py"]);
        // A build that was complete before it was killed may be used.
        let is_complete = state.code == 0 && state.out == "complete\n";
        assert!(
            is_complete || state.err.contains("run `prowess env build s`"),
            "{moment:?}: {}",
            state.transcript()
        );
        assert!(moment == Moment::Copied || !is_complete, "{moment:?} was not reached in time");
        let listed = env.run(&["env", "list", "--verify", "--json"]);
        assert_eq!(listed.code, 0, "{moment:?}: {}", listed.transcript());
        let count = listed.json()["environments"].as_array().unwrap().len();
        assert_eq!(count, usize::from(is_complete), "{moment:?}: {}", listed.transcript());
        let rebuilt = env.run(&["env", "build", "s", "--yes"]);
        assert_eq!(rebuilt.code, 0, "{moment:?}: {}", rebuilt.transcript());
        assert_eq!(env.run(&["run", "s", "x.py"]).out, "complete\n", "{moment:?}");
        assert!(!dir.join(".building").exists(), "{moment:?}");
    }
}

/// The environments are on a small disk of their own, which only root can mount.
#[test]
fn a_full_disk_is_explained_and_leaves_nothing() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (env, _index) = env();
    let dir = env.path("~/environments");
    std::fs::create_dir(&dir).unwrap();
    const SCRIPT: &str = r#"
mount -t tmpfs -o size=1m,mode=755 tmpfs "$DIR" || exit 90
"$BIN" env build s --yes; code=$?
"$BIN" env list --json
mount -o remount,size=64m "$DIR" || exit 91
"$BIN" env build s --yes >/dev/null 2>&1 || exit 92
"$BIN" run s x.py 2>/dev/null
exit $code"#;
    let binary = env.command(&[]);
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", SCRIPT]).current_dir(env.path("")).env_clear();
    command.envs(binary.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("BIN", binary.get_program()).env("DIR", &dir);
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(90) {
        // Not even root can mount in some containers.
        return;
    }
    assert_eq!(output.status.code(), Some(2), "{out}\n{err}");
    assert!(err.contains("error: no space left for the environment in "), "{err}");
    assert!(err.contains("hint: free some space, or run `prowess env prune`"), "{err}");
    assert!(out.contains("\"environments\":[]") && out.ends_with("complete\n"), "{out}\n{err}");
}
