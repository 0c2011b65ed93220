//! Refreshing: whatever changed on disk is seen, and where nothing did, nothing is done.

use std::fs;
use std::sync::Arc;

use prowess::{Difference, Preset, Registry, Snapshot};
use prowess_testing::library::{World, names, skill_md};

/// A world of the user's own skills, old enough for the file system's times to be believed.
fn settled() -> World {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/a").skill("~/.agents/skills/group/b").skill("~/.claude/skills/c").settle();
    world
}

fn difference(added: &[&str], removed: &[&str], changed: &[&str]) -> Difference {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Difference { added: own(added), removed: own(removed), changed: own(changed) }
}

/// What a refresh sees.
fn seen(registry: &Registry) -> Difference {
    let before = registry.snapshot();
    registry.refresh().since(&before)
}

#[test]
fn nothing_changed_is_the_same_snapshot() {
    let world = settled();
    let registry = world.registry();
    let first = registry.snapshot();
    for _ in 0..3 {
        assert!(Arc::ptr_eq(&first, &registry.refresh()));
    }
    // Touching changes the times and not the text; what a model was told stays true, and it is looked at again.
    let file = fs::File::options().append(true).open(world.path("~/.agents/skills/a/SKILL.md")).unwrap();
    file.set_modified(std::time::SystemTime::now()).unwrap();
    assert_eq!(names(&registry.refresh()), ["a", "b", "c"]);
}

#[test]
fn growing_old_is_no_change() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/a").skill("~/.agents/skills/b");
    let registry = world.registry();
    let young = registry.snapshot();
    assert!(Arc::ptr_eq(&young, &registry.refresh()));
    world.settle();
    assert!(Arc::ptr_eq(&young, &registry.refresh()));
    assert!(Arc::ptr_eq(&young, &registry.refresh()));
    world.file("~/.agents/skills/b/SKILL.md", skill_md("b", "Another."));
    assert_eq!(seen(&registry), difference(&[], &[], &["b"]), "and a is not said to have changed");
}

#[test]
fn skills_that_come_go_move_and_change() {
    let world = settled();
    let registry = world.registry();
    world.skill("~/.agents/skills/new");
    assert_eq!(seen(&registry), difference(&["new"], &[], &[]));
    world.file("~/.agents/skills/a/SKILL.md", skill_md("a", "Another text."));
    assert_eq!(seen(&registry), difference(&[], &[], &["a"]));
    fs::rename(world.path("~/.agents/skills/a"), world.path("~/.agents/skills/group/a")).unwrap();
    assert_eq!(seen(&registry), difference(&[], &[], &["a"]), "it is elsewhere now");
    world.file("~/.agents/skills/group/a/SKILL.md", skill_md("z", "Another name."));
    assert_eq!(seen(&registry), difference(&["z"], &["a"], &[]));
    fs::remove_dir_all(world.path("~/.agents/skills/group")).unwrap();
    assert_eq!(seen(&registry), difference(&[], &["b", "z"], &[]));
    world.file("~/.agents/skills/new/SKILL.md", "broken");
    assert_eq!(seen(&registry), difference(&[], &["new"], &[]));
    fs::remove_file(world.path("~/.claude/skills/c/SKILL.md")).unwrap();
    assert_eq!(seen(&registry), difference(&[], &["c"], &[]));
    fs::remove_dir_all(world.path("~/.agents")).unwrap();
    assert_eq!(registry.refresh().all().len(), world.snapshot().all().len());
}

#[test]
fn what_lies_deep_in_groups_is_seen_too() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/1/2/3/x").folder("~/.agents/skills/1/2/3/empty").settle();
    let registry = world.registry();
    world.skill("~/.agents/skills/1/2/3/y");
    assert_eq!(seen(&registry), difference(&["y"], &[], &[]));
    world.skill("~/.agents/skills/1/2/3/empty/z");
    assert_eq!(seen(&registry), difference(&["z"], &[], &[]));
    world.file("~/.agents/skills/1/2/SKILL.md", skill_md("two", "All of it."));
    assert_eq!(seen(&registry), difference(&["two"], &["x", "y", "z"], &[]), "all below is its own now");
}

/// Editors save twice within a second, and the size may well be the same.
#[test]
fn an_edit_at_once_and_of_the_same_size_is_seen() {
    let world = World::new(Preset::Standard);
    let path = world.path("~/.agents/skills/a/SKILL.md");
    world.skill("~/.agents/skills/a");
    let registry = world.registry();
    for round in 0..200 {
        let text = format!("Text number {round:03}.");
        fs::write(&path, skill_md("a", &text)).unwrap();
        assert_eq!(registry.refresh().get("a").unwrap().description(), text);
    }
}

/// Whoever sets the times back cannot set back when he did.
#[test]
fn an_edit_whose_times_are_set_back_is_seen() {
    let world = settled();
    let registry = world.registry();
    let path = world.path("~/.agents/skills/a/SKILL.md");
    let old = fs::metadata(&path).unwrap().modified().unwrap();
    let text = fs::read_to_string(&path).unwrap().replace("Does", "Sees");
    fs::write(&path, text).unwrap();
    fs::File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), old);
    assert_eq!(seen(&registry), difference(&[], &[], &["a"]));
}

#[test]
fn a_file_put_in_the_place_of_another_is_seen() {
    let world = settled();
    world.file("~/aside", skill_md("a", "From aside.")).settle();
    let registry = world.registry();
    fs::rename(world.path("~/aside"), world.path("~/.agents/skills/a/SKILL.md")).unwrap();
    assert_eq!(seen(&registry), difference(&[], &[], &["a"]));
}

#[test]
fn roots_that_come_later_and_go_are_seen() {
    let world = settled();
    let registry = world.registry();
    world.skill("~/.prowess/skills/late");
    assert_eq!(seen(&registry), difference(&["late"], &[], &[]));
    fs::rename(world.path("~/.prowess/skills"), world.path("~/.prowess/aside")).unwrap();
    assert_eq!(seen(&registry), difference(&[], &["late"], &[]));
    world.link("~/.prowess/skills", "~/.prowess/aside");
    assert_eq!(seen(&registry), difference(&["late"], &[], &[]));
    fs::remove_dir_all(world.path("~/.claude/skills")).unwrap();
    world.skill("~/.claude/skills/d");
    assert_eq!(seen(&registry), difference(&["d"], &["c"], &[]), "another folder of the same name");
}

#[test]
fn a_git_root_that_appears_is_seen() {
    let world = settled();
    world.skill("/.agents/skills/top").trust("/");
    let registry = world.registry();
    world.folder("/.git");
    assert_eq!(seen(&registry), difference(&["top"], &[], &[]));
}

#[test]
fn commands_that_appear_and_disappear_are_seen() {
    let world = World::new(Preset::Standard);
    world.file(
        "~/.agents/skills/x/SKILL.md",
        "---\nname: x\ndescription: X.\nmetadata: {prowess-requires: tool}\n---\nDo.\n",
    );
    world.settle();
    let registry = world.registry();
    let first = registry.snapshot();
    assert!(Arc::ptr_eq(&first, &registry.refresh()));
    world.command("tool");
    assert_eq!(seen(&registry), difference(&["x"], &[], &[]));
    fs::remove_file(world.path("/bin/tool")).unwrap();
    assert_eq!(seen(&registry), difference(&[], &["x"], &[]));
}

/// The specification leaves `metadata` to everyone; only our own key is looked up.
#[test]
fn requires_of_others_makes_no_skill_unavailable() {
    let world = World::new(Preset::Standard);
    let metadata = "metadata: {requires: Python 3.11+ and uv}";
    world.file(
        "~/.agents/skills/x/SKILL.md",
        format!("---\nname: x\ndescription: X.\n{metadata}\n---\nDo.\n"),
    );
    assert!(world.snapshot().get("x").is_some_and(prowess::Skill::is_enabled));
}

#[test]
fn trust_that_changes_elsewhere_is_seen() {
    let world = settled();
    world.skill(".agents/skills/p").settle();
    let registry = world.registry();
    world.trust("");
    assert_eq!(seen(&registry), difference(&["p"], &[], &[]));
    world.file("~/.prowess/state/trust.json", "broken");
    assert_eq!(seen(&registry), difference(&[], &["p"], &[]));
    fs::remove_file(world.path("~/.prowess/state/trust.json")).unwrap();
    world.trust_pinned("");
    assert_eq!(seen(&registry), difference(&["p"], &[], &[]));
    world.file(".agents/skills/p/run.sh", "echo");
    assert_eq!(seen(&registry), difference(&[], &["p"], &[]), "a file beside SKILL.md, in no listing");
}

#[test]
fn what_links_lead_to_is_seen() {
    let world = World::new(Preset::Standard);
    world.skill("/store/x").skill("/store/group/y").trust("/store");
    world.link("~/.agents/skills/x", "/store/x").link("~/.agents/skills/group", "/store/group").settle();
    let registry = world.registry();
    let first = registry.snapshot();
    assert!(Arc::ptr_eq(&first, &registry.refresh()));
    world.file("/store/x/SKILL.md", skill_md("x", "Another."));
    assert_eq!(seen(&registry), difference(&[], &[], &["x"]));
    world.skill("/store/group/z");
    assert_eq!(seen(&registry), difference(&["z"], &[], &[]));
    fs::remove_file(world.path("~/.agents/skills/group")).unwrap();
    world.skill("/store/other/w").link("~/.agents/skills/group", "/store/other");
    assert_eq!(seen(&registry), difference(&["w"], &["y", "z"], &[]));
}

#[test]
fn a_link_to_a_file_that_becomes_a_folder_is_seen() {
    let world = settled();
    world.file("~/.prowess/skills/notes", "x").link("~/.agents/skills/n", "~/.prowess/skills/notes").settle();
    let registry = world.registry();
    fs::remove_file(world.path("~/.prowess/skills/notes")).unwrap();
    world.skill("~/.prowess/skills/notes");
    assert_eq!(seen(&registry), difference(&["notes"], &[], &[]));
}

/// In presets whose skills are called by their folders, the name is a title.
#[test]
fn differences_are_told_by_what_skills_are_called_by() {
    let world = World::new(Preset::App);
    world.file(".agents/skills/weekly/SKILL.md", skill_md("Weekly Report", "Writes."));
    let registry = world.registry();
    assert_eq!(registry.refresh().since(&registry.snapshot()), Difference::default());
    world.file(".agents/skills/daily/SKILL.md", skill_md("Daily Report", "Writes."));
    assert_eq!(seen(&registry), difference(&["daily"], &[], &[]));
    fs::remove_dir_all(world.path(".agents/skills/weekly")).unwrap();
    assert_eq!(seen(&registry), difference(&[], &["weekly"], &[]));
}

#[test]
fn many_threads_refresh_and_read_at_once() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/always");
    let registry = world.registry();
    let check = |snapshot: &Snapshot| {
        assert!(snapshot.get("always").is_some());
        // Whatever is in a snapshot belongs together.
        for skill in snapshot.enabled() {
            assert_eq!(snapshot.get(&skill.name()).unwrap().location(), skill.location());
        }
    };
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (world, registry) = (&world, &registry);
            scope.spawn(move || {
                for round in 0..30 {
                    let folder = format!("~/.agents/skills/s{part}-{round}");
                    world.skill(&folder);
                    check(&registry.refresh());
                    check(&registry.snapshot());
                    assert!(registry.refresh().get(&format!("s{part}-{round}")).is_some());
                    fs::remove_dir_all(world.path(&folder)).unwrap();
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

    fn watcher(world: &World) -> Watcher {
        Watcher::new(Arc::new(world.registry())).unwrap()
    }

    #[test]
    fn a_watcher_tells_what_changed() {
        let world = World::new(Preset::Standard);
        world.skill("~/.agents/skills/a");
        let mut watcher = watcher(&world);
        assert_eq!(watcher.next(SHORT), None, "nothing yet");
        world.skill("~/.agents/skills/b");
        assert_eq!(watcher.next(LONG), Some(difference(&["b"], &[], &[])));
        world.file("~/.agents/skills/a/SKILL.md", skill_md("a", "Another."));
        assert_eq!(watcher.next(LONG), Some(difference(&[], &[], &["a"])));
        fs::remove_dir_all(world.path("~/.agents/skills/b")).unwrap();
        assert_eq!(watcher.next(LONG), Some(difference(&[], &["b"], &[])));
    }

    fn spent() -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
    }

    /// A refresh opens files, and opening files makes events.
    #[test]
    fn a_watcher_does_not_wake_itself() {
        let world = World::large(Preset::Standard);
        for at in 0..2_000 {
            world.skill(&format!("~/.agents/skills/s{at}"));
        }
        let mut watcher = watcher(&world);
        assert_eq!(watcher.next(SHORT), None);
        let before = spent();
        world.registry();
        let once = spent() - before;
        world.file("~/.agents/skills/s1/note", "y");
        let before = spent();
        assert_eq!(watcher.next(Duration::from_secs(4)), None, "a note is no skill");
        let spent = spent() - before;
        assert!(spent < 4 * once, "{spent:?} for one note, where a whole scan takes {once:?}");
    }

    #[test]
    fn a_watcher_sees_roots_come_step_by_step_go_and_come_again() {
        let world = World::new(Preset::Standard);
        let registry = Arc::new(world.registry());
        let mut watcher = Watcher::new(Arc::clone(&registry)).unwrap();
        assert_eq!(watcher.next(SHORT), None);
        world.folder("~/.agents");
        assert_eq!(watcher.next(SHORT), None);
        world.folder("~/.agents/skills");
        assert_eq!(watcher.next(SHORT), None);
        world.skill("~/.agents/skills/a");
        assert_eq!(watcher.next(LONG), Some(difference(&["a"], &[], &[])));
        fs::remove_dir_all(world.path("~/.agents")).unwrap();
        assert_eq!(watcher.next(LONG), Some(difference(&[], &["a"], &[])));
        world.skill("~/.agents/skills/b");
        assert_eq!(watcher.next(LONG), Some(difference(&["b"], &[], &[])));
        // All at once, as a version control system does it.
        fs::remove_dir_all(world.path("~/.agents/skills")).unwrap();
        world.skill("~/.agents/skills/c");
        while names(&registry.snapshot()) != ["c"] {
            watcher.next(LONG).unwrap();
        }
        world.skill("~/.agents/skills/d");
        assert_eq!(watcher.next(LONG), Some(difference(&["d"], &[], &[])));
    }

    #[test]
    fn a_watcher_sees_what_links_lead_to_and_trust() {
        let world = World::new(Preset::Standard);
        world
            .skill("/store/x")
            .skill(".agents/skills/p")
            .trust("/store")
            .link("~/.agents/skills/x", "/store/x");
        let mut watcher = watcher(&world);
        assert_eq!(watcher.next(SHORT), None);
        world.file("/store/x/SKILL.md", skill_md("x", "Another."));
        assert_eq!(watcher.next(LONG), Some(difference(&[], &[], &["x"])));
        world.trust("");
        assert_eq!(watcher.next(LONG), Some(difference(&["p"], &[], &[])));
    }

    #[test]
    fn a_watcher_tells_of_changes_before_it_began() {
        let world = World::new(Preset::Standard);
        let registry = Arc::new(world.registry());
        world.skill("~/.agents/skills/a");
        let mut watcher = Watcher::new(registry).unwrap();
        assert_eq!(watcher.next(LONG), Some(difference(&["a"], &[], &[])));
    }

    /// What comes and goes while changes are gathered makes no event in the end; but another change may have made us look
    /// in between.
    #[test]
    fn a_watcher_sees_that_something_went_which_it_saw_before_it_was_told() {
        let world = World::new(Preset::Standard);
        world.skill("~/.agents/skills/a");
        let registry = Arc::new(world.registry());
        let mut watcher = Watcher::new(Arc::clone(&registry)).unwrap();
        assert_eq!(watcher.next(SHORT), None);
        for round in 0..3 {
            world.file("~/.agents/skills/a/SKILL.md", skill_md("a", &format!("Round {round}.")));
            std::thread::sleep(Duration::from_millis(150));
            world.skill("~/.agents/skills/b");
            watcher.next(LONG).unwrap();
            fs::remove_dir_all(world.path("~/.agents/skills/b")).unwrap();
            while names(&registry.snapshot()) != ["a"] {
                assert!(watcher.next(LONG).is_some(), "b is still there in round {round}");
            }
        }
    }

    /// A link to the whole disk would take a watch for each folder on it.
    #[test]
    fn a_watcher_follows_no_link() {
        let world = World::new(Preset::Standard);
        world.skill("~/.agents/skills/a").link_out("~/.agents/skills/all", "/");
        let mut watcher = watcher(&world);
        world.skill("~/.agents/skills/b");
        assert_eq!(watcher.next(LONG), Some(difference(&["b"], &[], &[])));
    }

    #[test]
    fn a_watcher_can_wait_for_ever() {
        let world = World::new(Preset::Standard);
        world.folder("~/.agents/skills");
        let mut watcher = watcher(&world);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(SHORT);
                world.skill("~/.agents/skills/a");
            });
            assert_eq!(watcher.next(Duration::MAX), Some(difference(&["a"], &[], &[])));
        });
    }
}
