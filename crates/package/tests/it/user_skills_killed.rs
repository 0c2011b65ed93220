//! A process that is killed while it writes, imports, creates or deletes leaves either the old or the new state.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::user_skills_support::{TestHome, files, skill_md};
use prowess::Preset;
use prowess::lock::LockFile;
use prowess_package::user_skills::ExpectedContent;
use prowess_package::{ImportRequest, verify_skills};

const HOME_VARIABLE: &str = "PROWESS_TEST_WORLD";

fn skill_text(version: u32) -> String {
    format!("{}{}\n", skill_md("pdf", &format!("Is {version}.")), format!("{version} ").repeat(20_000))
}

fn import_version(home: &TestHome, version: u32) {
    let upload = files(&[("pdf/SKILL.md", &skill_text(version)), ("pdf/more.md", &skill_text(version))]);
    home.plan(&upload, |import| ImportRequest { overwrite: true, ..import }).unwrap().commit().unwrap();
}

/// The child process, which changes skills until it is killed.
#[test]
fn changes_until_killed() {
    let Some(dir) = std::env::var_os(HOME_VARIABLE) else { return };
    let home = TestHome::open(Path::new(&dir), Preset::Standard);
    for round in 0.. {
        let version = round % 2 + 1;
        match round % 3 {
            0 => import_version(&home, version),
            1 => drop(
                home.write("pdf", "SKILL.md", skill_text(version).as_bytes(), ExpectedContent::Any).unwrap(),
            ),
            _ => {
                if home.snapshot().get("own").is_some() {
                    home.delete("own").unwrap();
                } else {
                    home.create("own", "own", "Is made.").unwrap();
                }
            }
        }
    }
}

#[test]
fn a_killed_process_leaves_the_old_or_the_new_state() {
    let home = TestHome::new(Preset::Standard);
    import_version(&home, 1);
    let mut interrupted = 0;
    for round in 0..40 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "user_skills_killed::changes_until_killed", "--nocapture"])
            .env(HOME_VARIABLE, home.root())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(15 + round * 7 % 60));
        assert!(child.try_wait().unwrap().is_none(), "round {round}: the child failed before it was killed");
        child.kill().unwrap();
        child.wait().unwrap();
        // Each file is complete, and the skill is valid.
        let is_complete = |inner: &str| (1..=2).any(|version| home.read_text(inner) == skill_text(version));
        assert!(is_complete("~/.agents/skills/pdf/SKILL.md"), "round {round}");
        assert!(is_complete("~/.agents/skills/pdf/more.md"), "round {round}");
        let created = home.read_text("~/.agents/skills/own/SKILL.md");
        assert!(created.is_empty() || created.ends_with("should do.\n"), "round {round}: {created}");
        interrupted +=
            u32::from(home.list_files("~/.agents").iter().any(|path| path.contains(".prowess-staging-")));
        // The installed files match the lock file or are accepted, so that the skill stays usable.
        let verified = verify_skills(&home.target()).unwrap();
        let pdf = verified.iter().find(|skill| skill.name == "pdf").unwrap();
        assert!(pdf.status.as_str() == "ok" || pdf.accepted, "round {round}: {pdf:?}");
        assert!(LockFile::read(&home.target().lock_path).unwrap().pending.is_none());
        let leftover = home.list_files("~/.agents").into_iter().find(|path| path.contains("/.prowess"));
        assert_eq!(leftover, None, "round {round}");
    }
    assert!(interrupted > 0, "no process was killed during a change");
}
