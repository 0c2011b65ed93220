//! Killed at any instant while it writes, imports, makes or deletes, a process leaves the old state or the new one.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::own_world::{World, files, skill_md};
use prowess::Preset;
use prowess::lock::Lock;
use prowess_package::own::Expected;
use prowess_package::{Import, verify};

const WORLD: &str = "PROWESS_TEST_WORLD";

fn text(version: u32) -> String {
    format!("{}{}\n", skill_md("pdf", &format!("Is {version}.")), format!("{version} ").repeat(20_000))
}

fn import(world: &World, version: u32) {
    let upload = files(&[("pdf/SKILL.md", &text(version)), ("pdf/more.md", &text(version))]);
    world.plan(&upload, |import| Import { overwrite: true, ..import }).unwrap().commit().unwrap();
}

/// What is killed: it changes one skill for ever.
#[test]
fn changes_for_ever() {
    let Some(folder) = std::env::var_os(WORLD) else { return };
    let world = World::at(Path::new(&folder), Preset::Standard);
    for round in 0.. {
        let version = round % 2 + 1;
        match round % 3 {
            0 => import(&world, version),
            1 => drop(world.write("pdf", "SKILL.md", text(version).as_bytes(), Expected::Any).unwrap()),
            _ => {
                if world.snapshot().get("own").is_some() {
                    world.delete("own").unwrap();
                } else {
                    world.make("own", "own", "Is made.").unwrap();
                }
            }
        }
    }
}

#[test]
fn killed_at_any_instant_old_or_new() {
    let world = World::new(Preset::Standard);
    import(&world, 1);
    let mut staged = 0;
    for round in 0..40 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "own_killed::changes_for_ever", "--nocapture"])
            .env(WORLD, world.top())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(15 + round * 7 % 60));
        assert!(child.try_wait().unwrap().is_none(), "round {round}: it failed before it was killed");
        child.kill().unwrap();
        child.wait().unwrap();
        // Each file is whole, and the skill loads.
        let is_whole = |inner: &str| (1..=2).any(|version| world.text(inner) == text(version));
        assert!(is_whole("~/.agents/skills/pdf/SKILL.md"), "round {round}");
        assert!(is_whole("~/.agents/skills/pdf/more.md"), "round {round}");
        let made = world.text("~/.agents/skills/own/SKILL.md");
        assert!(made.is_empty() || made.ends_with("to do.\n"), "round {round}: {made}");
        staged += u32::from(world.tree("~/.agents").iter().any(|path| path.contains(".prowess-staging-")));
        // What was installed is what the lock says, or was accepted: nobody is kept from using it.
        let verified = verify(&world.place()).unwrap();
        let pdf = verified.iter().find(|one| one.name == "pdf").unwrap();
        assert!(pdf.status.as_str() == "ok" || pdf.accepted, "round {round}: {pdf:?}");
        assert!(Lock::read(&world.place().lock).unwrap().pending.is_none());
        let left = world.tree("~/.agents").into_iter().find(|path| path.contains("/.prowess"));
        assert_eq!(left, None, "round {round}");
    }
    assert!(staged > 0, "nothing was ever killed in the middle");
}
