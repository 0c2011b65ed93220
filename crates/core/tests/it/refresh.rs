//! Refreshing: every change on disk is detected, and nothing is done if nothing changed.

use std::fs;
use std::sync::Arc;

use prowess::{Preset, Registry, Snapshot, SnapshotDiff};
use prowess_testing::registry_env::{RegistryEnv, names, skill_md};

/// A home directory with user skills, old enough for their timestamps to count as settled.
fn env_with_old_timestamps() -> RegistryEnv {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.agents/skills/a")
        .skill("~/.agents/skills/group/b")
        .skill("~/.claude/skills/c")
        .wait_for_timestamps();
    env
}

/// The keys of the added, removed and changed skills.
type Difference = [Vec<String>; 3];

fn difference(added: &[&str], removed: &[&str], changed: &[&str]) -> Difference {
    [added, removed, changed].map(|keys| keys.iter().map(|key| (*key).to_owned()).collect())
}

fn keys(diff: &SnapshotDiff) -> Difference {
    [&diff.added, &diff.removed, &diff.changed].map(|keys| keys.iter().map(String::from).collect())
}

fn refresh_diff(registry: &Registry) -> Difference {
    let before = registry.snapshot();
    keys(&registry.refresh().diff_from(&before))
}

#[test]
fn nothing_changed_is_the_same_snapshot() {
    let env = env_with_old_timestamps();
    let registry = env.registry();
    let first = registry.snapshot();
    for _ in 0..3 {
        assert!(Arc::ptr_eq(&first, &registry.refresh()));
    }
    // Touching a file changes its timestamps but not its text, so the file is read again and the snapshot stays
    // the same.
    let file = fs::File::options().append(true).open(env.path("~/.agents/skills/a/SKILL.md")).unwrap();
    file.set_modified(std::time::SystemTime::now()).unwrap();
    assert_eq!(names(&registry.refresh()), ["a", "b", "c"]);
}

#[test]
fn aging_is_not_a_change() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.agents/skills/a").skill("~/.agents/skills/b");
    let registry = env.registry();
    let young = registry.snapshot();
    assert!(Arc::ptr_eq(&young, &registry.refresh()));
    env.wait_for_timestamps();
    assert!(Arc::ptr_eq(&young, &registry.refresh()));
    assert!(Arc::ptr_eq(&young, &registry.refresh()));
    env.file("~/.agents/skills/b/SKILL.md", skill_md("b", "Another."));
    assert_eq!(refresh_diff(&registry), difference(&[], &[], &["b"]), "and a is not reported as changed");
}

#[test]
fn added_removed_moved_and_changed_skills_are_detected() {
    let env = env_with_old_timestamps();
    let registry = env.registry();
    env.skill("~/.agents/skills/new");
    assert_eq!(refresh_diff(&registry), difference(&["new"], &[], &[]));
    env.file("~/.agents/skills/a/SKILL.md", skill_md("a", "Another text."));
    assert_eq!(refresh_diff(&registry), difference(&[], &[], &["a"]));
    fs::rename(env.path("~/.agents/skills/a"), env.path("~/.agents/skills/group/a")).unwrap();
    assert_eq!(refresh_diff(&registry), difference(&[], &[], &["a"]), "its location changed");
    env.file("~/.agents/skills/group/a/SKILL.md", skill_md("z", "Another name."));
    assert_eq!(refresh_diff(&registry), difference(&["z"], &["a"], &[]));
    fs::remove_dir_all(env.path("~/.agents/skills/group")).unwrap();
    assert_eq!(refresh_diff(&registry), difference(&[], &["b", "z"], &[]));
    env.file("~/.agents/skills/new/SKILL.md", "broken");
    assert_eq!(refresh_diff(&registry), difference(&[], &["new"], &[]));
    fs::remove_file(env.path("~/.claude/skills/c/SKILL.md")).unwrap();
    assert_eq!(refresh_diff(&registry), difference(&[], &["c"], &[]));
    fs::remove_dir_all(env.path("~/.agents")).unwrap();
    assert_eq!(registry.refresh().all().len(), env.snapshot().all().len());
}

#[test]
fn changes_deep_in_groups_are_detected() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.agents/skills/1/2/3/x").create_dir("~/.agents/skills/1/2/3/empty").wait_for_timestamps();
    let registry = env.registry();
    env.skill("~/.agents/skills/1/2/3/y");
    assert_eq!(refresh_diff(&registry), difference(&["y"], &[], &[]));
    env.skill("~/.agents/skills/1/2/3/empty/z");
    assert_eq!(refresh_diff(&registry), difference(&["z"], &[], &[]));
    env.file("~/.agents/skills/1/2/SKILL.md", skill_md("two", "All of it."));
    assert_eq!(
        refresh_diff(&registry),
        difference(&["two"], &["x", "y", "z"], &[]),
        "everything below belongs to the new skill"
    );
}

/// Editors may save twice within a second, with the same size.
#[test]
fn an_immediate_edit_of_the_same_size_is_detected() {
    let env = RegistryEnv::new(Preset::Standard);
    let path = env.path("~/.agents/skills/a/SKILL.md");
    env.skill("~/.agents/skills/a");
    let registry = env.registry();
    for round in 0..200 {
        let text = format!("Text number {round:03}.");
        fs::write(&path, skill_md("a", &text)).unwrap();
        assert_eq!(registry.refresh().get("a").unwrap().description(), text);
    }
}

/// The mtime can be set back, but not the ctime.
#[test]
fn an_edit_with_a_reset_mtime_is_detected() {
    let env = env_with_old_timestamps();
    let registry = env.registry();
    let path = env.path("~/.agents/skills/a/SKILL.md");
    let old = fs::metadata(&path).unwrap().modified().unwrap();
    let text = fs::read_to_string(&path).unwrap().replace("Does", "Sees");
    fs::write(&path, text).unwrap();
    fs::File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), old);
    assert_eq!(refresh_diff(&registry), difference(&[], &[], &["a"]));
}

#[test]
fn a_replaced_file_is_detected() {
    let env = env_with_old_timestamps();
    env.file("~/aside", skill_md("a", "From aside.")).wait_for_timestamps();
    let registry = env.registry();
    fs::rename(env.path("~/aside"), env.path("~/.agents/skills/a/SKILL.md")).unwrap();
    assert_eq!(refresh_diff(&registry), difference(&[], &[], &["a"]));
}

#[test]
fn added_and_removed_roots_are_detected() {
    let env = env_with_old_timestamps();
    let registry = env.registry();
    env.skill("~/.prowess/skills/late");
    assert_eq!(refresh_diff(&registry), difference(&["late"], &[], &[]));
    fs::rename(env.path("~/.prowess/skills"), env.path("~/.prowess/aside")).unwrap();
    assert_eq!(refresh_diff(&registry), difference(&[], &["late"], &[]));
    env.symlink("~/.prowess/skills", "~/.prowess/aside");
    assert_eq!(refresh_diff(&registry), difference(&["late"], &[], &[]));
    fs::remove_dir_all(env.path("~/.claude/skills")).unwrap();
    env.skill("~/.claude/skills/d");
    assert_eq!(
        refresh_diff(&registry),
        difference(&["d"], &["c"], &[]),
        "another directory of the same name"
    );
}

#[test]
fn a_new_git_root_is_detected() {
    let env = env_with_old_timestamps();
    env.skill("/.agents/skills/top").trust("/");
    let registry = env.registry();
    env.create_dir("/.git");
    assert_eq!(refresh_diff(&registry), difference(&["top"], &[], &[]));
}

#[test]
fn added_and_removed_commands_are_detected() {
    let env = RegistryEnv::new(Preset::Standard);
    env.file(
        "~/.agents/skills/x/SKILL.md",
        "---\nname: x\ndescription: X.\nmetadata: {prowess-requires: tool}\n---\nDo.\n",
    );
    env.wait_for_timestamps();
    let registry = env.registry();
    let first = registry.snapshot();
    assert!(Arc::ptr_eq(&first, &registry.refresh()));
    env.add_command("tool");
    assert_eq!(refresh_diff(&registry), difference(&["x"], &[], &[]));
    fs::remove_file(env.path("/bin/tool")).unwrap();
    assert_eq!(refresh_diff(&registry), difference(&[], &["x"], &[]));
}

/// The specification does not define the keys of `metadata`; only `prowess-requires` is checked.
#[test]
fn the_generic_requires_key_is_ignored() {
    let env = RegistryEnv::new(Preset::Standard);
    let metadata = "metadata: {requires: Python 3.11+ and uv}";
    env.file("~/.agents/skills/x/SKILL.md", format!("---\nname: x\ndescription: X.\n{metadata}\n---\nDo.\n"));
    assert!(env.snapshot().get("x").is_some_and(prowess::Skill::is_enabled));
}

#[test]
fn changed_trust_is_detected() {
    let env = env_with_old_timestamps();
    env.skill(".agents/skills/p").wait_for_timestamps();
    let registry = env.registry();
    env.trust("");
    assert_eq!(refresh_diff(&registry), difference(&["p"], &[], &[]));
    env.file("~/.prowess/state/trust.json", "broken");
    assert_eq!(refresh_diff(&registry), difference(&[], &["p"], &[]));
    fs::remove_file(env.path("~/.prowess/state/trust.json")).unwrap();
    env.trust_pinned("");
    assert_eq!(refresh_diff(&registry), difference(&["p"], &[], &[]));
    env.file(".agents/skills/p/run.sh", "echo");
    assert_eq!(refresh_diff(&registry), difference(&[], &["p"], &[]), "another file of a pinned skill");
}

#[test]
fn changes_behind_symlinks_are_detected() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("/store/x").skill("/store/group/y").trust("/store");
    env.symlink("~/.agents/skills/x", "/store/x")
        .symlink("~/.agents/skills/group", "/store/group")
        .wait_for_timestamps();
    let registry = env.registry();
    let first = registry.snapshot();
    assert!(Arc::ptr_eq(&first, &registry.refresh()));
    env.file("/store/x/SKILL.md", skill_md("x", "Another."));
    assert_eq!(refresh_diff(&registry), difference(&[], &[], &["x"]));
    env.skill("/store/group/z");
    assert_eq!(refresh_diff(&registry), difference(&["z"], &[], &[]));
    fs::remove_file(env.path("~/.agents/skills/group")).unwrap();
    env.skill("/store/other/w").symlink("~/.agents/skills/group", "/store/other");
    assert_eq!(refresh_diff(&registry), difference(&["w"], &["y", "z"], &[]));
}

#[test]
fn a_linked_file_that_becomes_a_directory_is_detected() {
    let env = env_with_old_timestamps();
    env.file("~/.prowess/skills/notes", "x")
        .symlink("~/.agents/skills/n", "~/.prowess/skills/notes")
        .wait_for_timestamps();
    let registry = env.registry();
    fs::remove_file(env.path("~/.prowess/skills/notes")).unwrap();
    env.skill("~/.prowess/skills/notes");
    assert_eq!(refresh_diff(&registry), difference(&["notes"], &[], &[]));
}

/// In presets that identify skills by directory, the name is a title.
#[test]
fn differences_use_the_identity_of_skills() {
    let env = RegistryEnv::new(Preset::App);
    env.file(".agents/skills/weekly/SKILL.md", skill_md("Weekly Report", "Writes."));
    let registry = env.registry();
    assert_eq!(registry.refresh().diff_from(&registry.snapshot()), SnapshotDiff::default());
    env.file(".agents/skills/daily/SKILL.md", skill_md("Daily Report", "Writes."));
    assert_eq!(refresh_diff(&registry), difference(&["daily"], &[], &[]));
    fs::remove_dir_all(env.path(".agents/skills/weekly")).unwrap();
    assert_eq!(refresh_diff(&registry), difference(&[], &["weekly"], &[]));
}

#[test]
fn many_threads_refresh_and_read_concurrently() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.agents/skills/always");
    let registry = env.registry();
    let check = |snapshot: &Snapshot| {
        assert!(snapshot.get("always").is_some());
        // A snapshot is always consistent.
        for skill in snapshot.enabled() {
            assert_eq!(snapshot.get(&skill.name()).unwrap().skill_md_path(), skill.skill_md_path());
        }
    };
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (env, registry) = (&env, &registry);
            scope.spawn(move || {
                for round in 0..30 {
                    let dir = format!("~/.agents/skills/s{part}-{round}");
                    env.skill(&dir);
                    check(&registry.refresh());
                    check(&registry.snapshot());
                    assert!(registry.refresh().get(&format!("s{part}-{round}")).is_some());
                    fs::remove_dir_all(env.path(&dir)).unwrap();
                }
            });
        }
    });
    assert_eq!(names(&registry.refresh()), ["always"]);
}

#[cfg(feature = "watch")]
mod watching {
    use super::*;
    use prowess::registry::Watcher;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(700);

    fn watcher(env: &RegistryEnv) -> Watcher {
        Watcher::new(Arc::new(env.registry())).unwrap()
    }

    #[test]
    fn a_watcher_reports_changes() {
        let env = RegistryEnv::new(Preset::Standard);
        env.skill("~/.agents/skills/a");
        let mut watcher = watcher(&env);
        assert_eq!(watcher.wait_for_change(SHORT), None, "nothing yet");
        env.skill("~/.agents/skills/b");
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&["b"], &[], &[])));
        env.file("~/.agents/skills/a/SKILL.md", skill_md("a", "Another."));
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&[], &[], &["a"])));
        fs::remove_dir_all(env.path("~/.agents/skills/b")).unwrap();
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&[], &["b"], &[])));
    }

    fn spent() -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
    }

    /// A refresh opens files, which causes events.
    #[test]
    fn a_watcher_does_not_trigger_itself() {
        let env = RegistryEnv::large(Preset::Standard);
        for at in 0..2_000 {
            env.skill(&format!("~/.agents/skills/s{at}"));
        }
        let mut watcher = watcher(&env);
        assert_eq!(watcher.wait_for_change(SHORT), None);
        let before = spent();
        env.registry();
        let once = spent() - before;
        env.file("~/.agents/skills/s1/note", "y");
        let before = spent();
        assert_eq!(watcher.wait_for_change(Duration::from_secs(4)), None, "a note is not a skill");
        let spent = spent() - before;
        assert!(spent < 4 * once, "{spent:?} for one note, where a whole scan takes {once:?}");
    }

    #[test]
    fn a_watcher_detects_roots_that_are_created_deleted_and_recreated() {
        let env = RegistryEnv::new(Preset::Standard);
        let registry = Arc::new(env.registry());
        let mut watcher = Watcher::new(Arc::clone(&registry)).unwrap();
        assert_eq!(watcher.wait_for_change(SHORT), None);
        env.create_dir("~/.agents");
        assert_eq!(watcher.wait_for_change(SHORT), None);
        env.create_dir("~/.agents/skills");
        assert_eq!(watcher.wait_for_change(SHORT), None);
        env.skill("~/.agents/skills/a");
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&["a"], &[], &[])));
        fs::remove_dir_all(env.path("~/.agents")).unwrap();
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&[], &["a"], &[])));
        env.skill("~/.agents/skills/b");
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&["b"], &[], &[])));
        // All at once, like a version control system.
        fs::remove_dir_all(env.path("~/.agents/skills")).unwrap();
        env.skill("~/.agents/skills/c");
        while names(&registry.snapshot()) != ["c"] {
            watcher.wait_for_change(LONG).unwrap();
        }
        env.skill("~/.agents/skills/d");
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&["d"], &[], &[])));
    }

    #[test]
    fn a_watcher_detects_changes_behind_symlinks_and_of_trust() {
        let env = RegistryEnv::new(Preset::Standard);
        env.skill("/store/x")
            .skill(".agents/skills/p")
            .trust("/store")
            .symlink("~/.agents/skills/x", "/store/x");
        let mut watcher = watcher(&env);
        assert_eq!(watcher.wait_for_change(SHORT), None);
        env.file("/store/x/SKILL.md", skill_md("x", "Another."));
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&[], &[], &["x"])));
        env.trust("");
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&["p"], &[], &[])));
    }

    #[test]
    fn a_watcher_reports_changes_before_its_start() {
        let env = RegistryEnv::new(Preset::Standard);
        let registry = Arc::new(env.registry());
        env.skill("~/.agents/skills/a");
        let mut watcher = Watcher::new(registry).unwrap();
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&["a"], &[], &[])));
    }

    /// A file that is created and deleted within the debounce interval causes no event, but another change may
    /// cause a refresh in between.
    #[test]
    fn a_watcher_detects_a_short_lived_skill_is_gone() {
        let env = RegistryEnv::new(Preset::Standard);
        env.skill("~/.agents/skills/a");
        let registry = Arc::new(env.registry());
        let mut watcher = Watcher::new(Arc::clone(&registry)).unwrap();
        assert_eq!(watcher.wait_for_change(SHORT), None);
        for round in 0..3 {
            env.file("~/.agents/skills/a/SKILL.md", skill_md("a", &format!("Round {round}.")));
            std::thread::sleep(Duration::from_millis(150));
            env.skill("~/.agents/skills/b");
            watcher.wait_for_change(LONG).unwrap();
            fs::remove_dir_all(env.path("~/.agents/skills/b")).unwrap();
            while names(&registry.snapshot()) != ["a"] {
                assert!(watcher.wait_for_change(LONG).is_some(), "b still exists in round {round}");
            }
        }
    }

    /// A symlink to the whole disk would need a watch for each directory on it.
    #[test]
    fn a_watcher_does_not_follow_symlinks() {
        let env = RegistryEnv::new(Preset::Standard);
        env.skill("~/.agents/skills/a").symlink_to("~/.agents/skills/all", "/");
        let mut watcher = watcher(&env);
        env.skill("~/.agents/skills/b");
        assert_eq!(watcher.wait_for_change(LONG).map(|diff| keys(&diff)), Some(difference(&["b"], &[], &[])));
    }

    #[test]
    fn a_watcher_can_wait_without_a_timeout() {
        let env = RegistryEnv::new(Preset::Standard);
        env.create_dir("~/.agents/skills");
        let mut watcher = watcher(&env);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(SHORT);
                env.skill("~/.agents/skills/a");
            });
            assert_eq!(
                watcher.wait_for_change(Duration::MAX).map(|diff| keys(&diff)),
                Some(difference(&["a"], &[], &[]))
            );
        });
    }
}
