//! Trust: whom the user trusts decides what counts, and nothing in a project can decide it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use prowess::trust::{self, TrustError};
use prowess::{Difference, Preset, Surroundings};
use prowess_testing::library::{World, names, skill_md};

const STATE: &str = "~/.prowess/state/trust.json";

fn world() -> World {
    let world = World::new(Preset::Standard);
    world.skill(".agents/skills/a").skill(".agents/skills/b");
    world
}

/// What became of each skill, without where it is.
fn statuses(world: &World) -> Vec<String> {
    let short = |told: String| {
        let (skill, status) = told.split_once(" is ").unwrap();
        format!("{} {status}", skill.split(' ').next().unwrap())
    };
    world.told().into_iter().map(short).collect()
}

/// What changed in the project since it was trusted, from the top of the world.
fn changes(world: &World) -> Difference {
    let record = trust::record_for(&world.path(""), &world.surroundings()).unwrap();
    let difference = trust::changes_since(&record, &world.policy, &world.surroundings());
    let short = |paths: Vec<String>| paths.iter().map(|path| world.short(path)).collect();
    Difference {
        added: short(difference.added),
        removed: short(difference.removed),
        changed: short(difference.changed),
    }
}

#[test]
fn nothing_is_trusted_until_the_user_says_so() {
    let world = world();
    assert_eq!(names(&world.snapshot()), [] as [&str; 0]);
    world.trust("");
    assert_eq!(names(&world.snapshot()), ["a", "b"]);
    world.untrust("");
    assert_eq!(names(&world.snapshot()), [] as [&str; 0]);
}

#[test]
fn a_record_says_what_was_decided_when_and_about_which_skills() {
    let world = world();
    let (record, before) =
        trust::trust(&world.path(""), false, &world.policy, &world.surroundings()).unwrap();
    assert_eq!(before, None);
    assert_eq!((record.path.as_path(), record.trusted, record.pinned), (&*world.path(""), true, false));
    assert!(record.at > 1_700_000_000);
    let skills: Vec<_> = record.skills.keys().map(|path| world.short(&path.to_string_lossy())).collect();
    assert_eq!(skills, ["/project/.agents/skills/a", "/project/.agents/skills/b"]);
    assert!(record.skills.values().all(|hash| hash.starts_with("sha256-tree-v1:")));
    assert_eq!(trust::record_for(&world.path(".agents"), &world.surroundings()), Some(record.clone()));
    let (_, before) = trust::trust(&world.path(""), true, &world.policy, &world.surroundings()).unwrap();
    assert_eq!(before, Some(record));
    let mode = fs::metadata(world.path(STATE)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "nobody else reads whom the user trusts");
}

#[test]
fn trust_covers_what_lies_below_and_nothing_beside() {
    let world = world();
    world.skill("/projector/.agents/skills/p").trust("/project");
    assert_eq!(names(&world.snapshot()), ["a", "b"]);
    let surroundings = Surroundings { project: world.path("/projector"), ..world.surroundings() };
    let registry = prowess::Registry::open_in(world.policy.clone(), surroundings, &Default::default());
    assert_eq!(names(&registry.snapshot()), [] as [&str; 0], "the path begins alike and is another one");
    world.untrust("/project").trust("/");
    assert_eq!(names(&world.snapshot()), ["a", "b"], "from further up, too");
}

#[test]
fn the_nearest_decision_wins() {
    let world = world();
    world.trust("/").untrust("/project");
    assert_eq!(names(&world.snapshot()), [] as [&str; 0], "excepted");
    world.trust("/project");
    assert_eq!(names(&world.snapshot()), ["a", "b"], "and trusted again");
    world.untrust("/");
    assert_eq!(names(&world.snapshot()), ["a", "b"], "whatever becomes of the folder above");
    world.untrust("/project/.agents/skills/b");
    assert_eq!(
        statuses(&world),
        [
            "a enabled",
            "b untrusted: the project is not trusted; to trust it: prowess trust /project/.agents/skills/b"
        ],
        "down to a single skill"
    );
    world.untrust("/project").trust("/project/.agents/skills/a");
    assert_eq!(names(&world.snapshot()), ["a"]);
}

#[test]
fn trust_ends_at_a_nested_git_repository() {
    let world = world();
    world.skill("vendor/evil/.agents/skills/nested").skill(".agents/skills/cloned").trust("");
    fs::create_dir_all(world.path(".git")).unwrap();
    fs::create_dir_all(world.path("vendor/evil/.git")).unwrap();
    // A worktree or a submodule has a file of that name.
    fs::write(world.path(".agents/skills/cloned/.git"), "gitdir: /elsewhere").unwrap();
    assert_eq!(names(&world.snapshot()), ["a", "b"]);
    let snapshot = world.snapshot();
    let cloned = snapshot.all().iter().find(|skill| skill.name() == "cloned").unwrap();
    let reason = world.short(&cloned.reason().unwrap());
    assert_eq!(
        reason,
        "in a git repository of its own, which is not trusted; to trust it: prowess trust /project/.agents/skills/cloned"
    );

    let inside = Surroundings { project: world.path("vendor/evil"), ..world.surroundings() };
    let open = || prowess::Registry::open_in(world.policy.clone(), inside.clone(), &Default::default());
    assert_eq!(names(&open().snapshot()), [] as [&str; 0], "cloned into a trusted project");
    assert_eq!(trust::record_for(&inside.project, &inside), None);
    world.trust("vendor/evil").trust(".agents/skills/cloned");
    assert_eq!(names(&open().snapshot()), ["nested"]);
    assert_eq!(names(&world.snapshot()), ["a", "b", "cloned"]);
}

#[test]
fn untrusting_says_what_was_trusted() {
    let world = world();
    let untrust = |path: &str| trust::untrust(&world.path(path), &world.surroundings()).unwrap();
    assert_eq!(untrust(""), None);
    world.trust("/");
    assert_eq!(
        untrust("").unwrap().path,
        world.path("/").components().collect::<PathBuf>(),
        "by the folder above"
    );
    assert_eq!(untrust(""), None, "it is excepted already");
    world.trust("");
    assert_eq!(untrust("").unwrap().path, world.path("").components().collect::<PathBuf>());
}

#[test]
fn a_folder_that_is_gone_can_be_forgotten() {
    let world = world();
    world.folder("/gone/deep").link("/alias", "/gone").trust("/alias/deep");
    fs::remove_dir(world.path("/gone/deep")).unwrap();
    let forgotten = trust::untrust(&world.path("/alias/deep"), &world.surroundings()).unwrap();
    assert_eq!(forgotten.unwrap().path, world.path("/gone/deep"));
    assert!(matches!(
        trust::trust(&world.path("/gone/deep"), false, &world.policy, &world.surroundings()),
        Err(TrustError::Missing(_))
    ));
}

#[test]
fn trust_is_about_the_folder_and_not_the_way_to_it() {
    let world = world();
    world.link("/alias", "/project").trust("/alias");
    assert_eq!(names(&world.snapshot()), ["a", "b"]);
    let surroundings = Surroundings { project: world.path("/alias"), ..world.surroundings() };
    let open = || prowess::Registry::open_in(world.policy.clone(), surroundings.clone(), &Default::default());
    assert_eq!(names(&open().snapshot()), ["a", "b"]);
    // Whoever moves the link moves no trust.
    world.skill("/evil/.agents/skills/evil");
    fs::remove_file(world.path("/alias")).unwrap();
    world.link("/alias", "/evil");
    assert_eq!(names(&open().snapshot()), [] as [&str; 0]);
}

#[test]
fn an_authors_own_edits_do_not_ask_again_and_are_shown() {
    let world = world();
    world.trust("");
    assert_eq!(changes(&world), Difference::default());
    world.file(".agents/skills/a/SKILL.md", skill_md("a", "Another text."));
    world.file(".agents/skills/b/scripts/run.sh", "echo").skill(".agents/skills/c");
    assert_eq!(names(&world.snapshot()), ["a", "b", "c"]);
    assert_eq!(
        changes(&world),
        Difference {
            added: vec!["/project/.agents/skills/c".to_owned()],
            removed: vec![],
            changed: vec!["/project/.agents/skills/a".to_owned(), "/project/.agents/skills/b".to_owned()],
        }
    );
    fs::remove_dir_all(world.path(".agents/skills/a")).unwrap();
    assert_eq!(changes(&world).removed, ["/project/.agents/skills/a"]);
}

#[test]
fn pinned_trust_asks_again_for_what_changed_or_came_and_not_for_what_went() {
    let world = world();
    world.skill(".agents/skills/c").skill(".agents/skills/d").trust_pinned("");
    assert_eq!(names(&world.snapshot()), ["a", "b", "c", "d"]);
    fs::remove_dir_all(world.path(".agents/skills/d")).unwrap();
    world.file(".agents/skills/a/SKILL.md", skill_md("a", "Another text."));
    world.file(".agents/skills/b/scripts/run.sh", "echo").skill(".agents/skills/e");
    let again = "to trust it again: prowess trust --pinned /project";
    assert_eq!(
        statuses(&world),
        [
            format!("a untrusted: changed since it was trusted; {again}"),
            format!("b untrusted: changed since it was trusted; {again}"),
            "c enabled".to_owned(),
            "e untrusted: added since the project was trusted; to trust it: prowess trust --pinned /project"
                .to_owned(),
        ]
    );
    world.trust_pinned("");
    assert_eq!(names(&world.snapshot()), ["a", "b", "c", "e"]);
}

#[test]
fn pinned_trust_covers_every_byte_mode_and_name() {
    for change in ["chmod", "rename", "add", "link", "fifo"] {
        let world = world();
        world.file(".agents/skills/a/run.sh", "echo").trust_pinned("");
        let file = world.path(".agents/skills/a/run.sh");
        match change {
            "chmod" => fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap(),
            "rename" => fs::rename(&file, file.with_file_name("run2.sh")).unwrap(),
            "add" => fs::write(file.with_file_name("empty"), "").unwrap(),
            "link" => std::os::unix::fs::symlink("run.sh", file.with_file_name("link")).unwrap(),
            _ => rustix::fs::mknodat(
                rustix::fs::CWD,
                file.with_file_name("fifo"),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::RUSR,
                0,
            )
            .unwrap(),
        }
        assert_eq!(names(&world.snapshot()), ["b"], "{change}");
    }
}

/// A hash over only some of the folders would let anybody change the others.
#[test]
fn a_folder_with_too_much_in_it_to_be_hashed_is_not_trusted_when_pinned() {
    let world = World::large(Preset::Standard);
    world.skill(".agents/skills/a");
    for at in 0..8_200 {
        world.folder(&format!(".agents/skills/a/f{at}"));
    }
    world.trust_pinned("");
    assert_eq!(names(&world.snapshot()), [] as [&str; 0]);
    assert!(prowess::tree_hash(&world.path(".agents/skills/a")).is_err());
}

#[test]
fn pinned_trust_holds_for_what_links_lead_to() {
    let world = World::new(Preset::Standard);
    world.skill("/dotfiles/x").link("~/.agents/skills/x", "/dotfiles/x").trust_pinned("/dotfiles");
    assert_eq!(statuses(&world), ["x enabled"]);
    world.file("/dotfiles/x/run.sh", "echo");
    assert_eq!(
        statuses(&world),
        ["x untrusted: changed since it was trusted; to trust it again: prowess trust --pinned /dotfiles"]
    );
    world.trust_pinned("/dotfiles");
    assert_eq!(statuses(&world), ["x enabled"]);
}

#[test]
fn the_users_own_skills_are_never_asked_about() {
    let world = world();
    world.skill("~/.agents/skills/mine").trust_pinned("/home").skill("~/.agents/skills/new");
    assert_eq!(names(&world.snapshot()), ["mine", "new"]);
    world.untrust("/home");
    assert_eq!(names(&world.snapshot()), ["mine", "new"]);
}

#[test]
fn a_state_that_cannot_be_understood_trusts_nobody_and_is_not_overwritten() {
    let far = "/".repeat(100);
    let huge = format!("{{\"schema\":1,\"folders\":[]{}}}", " ".repeat(17 << 20));
    let deep = format!("{{\"schema\":1,\"folders\":{}", "[".repeat(100_000));
    let everything = |schema: u32| {
        format!("{{\"schema\":{schema},\"folders\":[{{\"path\":\"{far}\",\"trusted\":true}}]}}").into_bytes()
    };
    for (bytes, why) in [
        (b"".to_vec(), "EOF while parsing"),
        (b"{".to_vec(), "EOF while parsing"),
        (b"\0\xff\xfe".to_vec(), "expected value"),
        (b"null".to_vec(), "invalid type: null"),
        (b"{}".to_vec(), "missing field"),
        (everything(2), "written by a newer version"),
        (everything(4_000_000_000), "written by a newer version"),
        (huge.into_bytes(), "bytes are more than are read"),
        (deep.into_bytes(), ""),
        (br#"{"schema":1,"folders":[{"path":"/","trusted":"yes"}]}"#.to_vec(), "invalid type"),
    ] {
        let world = world();
        world.skill("~/.agents/skills/mine").file(STATE, &bytes);
        assert_eq!(names(&world.snapshot()), ["mine"]);
        let said = world.said();
        let line = said.iter().find(|said| said.starts_with("SK096")).unwrap();
        assert!(
            line.starts_with("SK096 /home/.prowess/state/trust.json: the state of trust cannot be read (")
        );
        assert!(line.contains(why) && line.ends_with("nothing is trusted"), "{line}");
        let refused = trust::trust(&world.path(""), false, &world.policy, &world.surroundings());
        assert!(matches!(refused, Err(TrustError::State(_))));
        assert!(matches!(trust::untrust(&world.path(""), &world.surroundings()), Err(TrustError::State(_))));
        assert!(fs::read(world.path(STATE)).unwrap() == bytes, "it is as it was");
    }
}

#[test]
fn a_state_that_is_no_file_trusts_nobody_and_nobody_waits_for_it() {
    type Make = fn(&std::path::Path);
    let makes: [(Make, &str); 4] = [
        (|path| fs::create_dir(path).unwrap(), "it is not a regular file"),
        (fifo, "it is not a regular file"),
        (|path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(), "it is a link"),
        (|path| std::os::unix::fs::symlink("trust.json", path).unwrap(), "it is a link"),
    ];
    for (make, why) in makes {
        let world = world();
        world.folder("~/.prowess/state");
        make(&world.path(STATE));
        assert_eq!(
            world.said(),
            [format!(
                "SK096 /home/.prowess/state/trust.json: the state of trust cannot be read ({why}); nothing is trusted"
            )]
        );
        assert_eq!(names(&world.snapshot()), [] as [&str; 0]);
        let refused = trust::trust(&world.path(""), false, &world.policy, &world.surroundings());
        assert!(matches!(refused, Err(TrustError::State(_))));
    }
}

fn fifo(path: &std::path::Path) {
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
}

#[test]
fn a_lock_that_is_a_fifo_is_not_waited_for() {
    let world = world();
    world.folder("~/.prowess/state");
    fifo(&world.path("~/.prowess/state/trust.lock"));
    let refused = trust::trust(&world.path(""), false, &world.policy, &world.surroundings());
    assert!(matches!(refused, Err(TrustError::Write { .. })));
}

#[test]
fn without_a_home_there_is_no_trust() {
    let world = world();
    let nowhere = Surroundings { home: None, ..world.surroundings() };
    let refused = trust::trust(&world.path(""), false, &world.policy, &nowhere);
    assert!(matches!(refused, Err(TrustError::NoHome)));
    assert_eq!(trust::record_for(&world.path(""), &nowhere), None);
}

/// It would be all a project needs.
#[test]
fn a_project_that_brings_a_state_of_its_own_gains_nothing() {
    let world = world();
    let everything = "{\"schema\":1,\"folders\":[{\"path\":\"/\",\"trusted\":true}]}";
    for place in
        [".prowess/state", ".prowess", "state", ".agents/skills/.prowess/state", "home/.prowess/state"]
    {
        world.file(&format!("{place}/trust.json"), everything);
    }
    assert_eq!(names(&world.snapshot()), [] as [&str; 0]);
    assert_eq!(trust::record_for(&world.path(""), &world.surroundings()), None);
}

#[test]
fn what_was_left_by_a_killed_process_is_harmless() {
    let world = world();
    world.trust("/home");
    for name in ["trust.json.new", "trust.lock"] {
        world.file(&format!("~/.prowess/state/{name}"), "{\"schema\":1,\"folders\":[{\"path\":\"/\",\"trus");
    }
    world.file("~/.prowess/state/.trust.json.prowess-new", "half");
    assert_eq!(names(&world.snapshot()), [] as [&str; 0]);
    world.trust("");
    assert_eq!(names(&world.snapshot()), ["a", "b"]);
    assert!(trust::record_for(&world.path("/home"), &world.surroundings()).is_some(), "nothing was lost");
    assert!(!world.path("~/.prowess/state/.trust.json.prowess-new").exists());
}

#[test]
fn many_who_trust_at_once_lose_nothing() {
    let world = World::new(Preset::Standard);
    for at in 0..40 {
        world.folder(&format!("/p{at}"));
    }
    std::thread::scope(|scope| {
        for part in 0..4 {
            let world = &world;
            scope.spawn(move || {
                for at in (part..40).step_by(4) {
                    world.trust(&format!("/p{at}"));
                }
                for at in (part..40).step_by(8) {
                    world.untrust(&format!("/p{at}"));
                }
            });
        }
    });
    let trusted =
        |at: usize| trust::record_for(&world.path(&format!("/p{at}")), &world.surroundings()).is_some();
    let expected: Vec<_> = (0..40).filter(|at| at % 8 >= 4).collect();
    assert_eq!((0..40).filter(|at| trusted(*at)).collect::<Vec<_>>(), expected);
}

/// The same between processes: this test runs itself.
#[test]
fn many_processes_that_trust_at_once_lose_nothing() {
    const NAME: &str = "trust::many_processes_that_trust_at_once_lose_nothing";
    if let (Ok(top), Ok(part)) = (std::env::var("PROWESS_TEST_TOP"), std::env::var("PROWESS_TEST_PART")) {
        let top = PathBuf::from(top);
        let surroundings =
            Surroundings { project: top.clone(), home: Some(top.join("home")), path: "".into() };
        for at in 0..10 {
            let folder = top.join(format!("p{part}-{at}"));
            fs::create_dir(&folder).unwrap();
            trust::trust(&folder, false, &prowess::Policy::default(), &surroundings).unwrap();
        }
        return;
    }
    let world = World::new(Preset::Standard);
    let program = std::env::current_exe().unwrap();
    let start = |part: usize| {
        std::process::Command::new(&program)
            .args(["--exact", NAME])
            .env("PROWESS_TEST_TOP", world.path("/").canonicalize().unwrap())
            .env("PROWESS_TEST_PART", part.to_string())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..4).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let state: serde_json::Value = serde_json::from_slice(&fs::read(world.path(STATE)).unwrap()).unwrap();
    assert_eq!(state["folders"].as_array().unwrap().len(), 40);
}

/// Whoever sends a process away in the middle leaves the old state or the new one.
#[test]
fn a_process_killed_while_it_trusts_leaves_a_whole_state() {
    const NAME: &str = "trust::a_process_killed_while_it_trusts_leaves_a_whole_state";
    if let Ok(top) = std::env::var("PROWESS_TEST_TOP") {
        let top = PathBuf::from(top);
        let surroundings =
            Surroundings { project: top.clone(), home: Some(top.join("home")), path: "".into() };
        loop {
            trust::trust(&top.join("project"), false, &prowess::Policy::default(), &surroundings).unwrap();
            trust::untrust(&top.join("project"), &surroundings).unwrap();
        }
    }
    let world = world();
    world.trust("/home");
    for round in 0..20 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME])
            .env("PROWESS_TEST_TOP", world.path("/").canonicalize().unwrap())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30 + 3 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!world.codes().contains(&"SK096"), "{:?}", world.said());
        assert!(trust::record_for(&world.path("/home"), &world.surroundings()).is_some());
    }
}

/// One link per skill to a folder of gigabytes must not make a decision take hours.
#[test]
fn deciding_reads_nothing_behind_links_that_lead_elsewhere() {
    let world = world();
    world.file("/elsewhere/x/SKILL.md", skill_md("x", "X."));
    world.link(".agents/skills/x", "/elsewhere/x").link_out(".agents/skills/root", "/");
    let (record, _) = trust::trust(&world.path(""), true, &world.policy, &world.surroundings()).unwrap();
    let skills: Vec<_> = record.skills.keys().map(|path| world.short(&path.to_string_lossy())).collect();
    assert_eq!(skills, ["/project/.agents/skills/a", "/project/.agents/skills/b"]);
}

#[test]
fn a_skill_whose_name_is_not_unicode_stops_nobody_from_trusting() {
    use std::os::unix::ffi::OsStrExt;
    let world = world();
    let odd = world.path(".agents/skills").join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("SKILL.md"), skill_md("odd", "Odd.")).unwrap();
    world.trust("");
    assert_eq!(names(&world.snapshot()), ["a", "b", "odd"]);
    world.trust_pinned("");
    assert_eq!(names(&world.snapshot()), ["a", "b"], "what cannot be written down cannot be compared");
}

#[test]
fn what_is_trusted_from_a_subfolder_is_the_whole_folder() {
    let world = World::new(Preset::Standard);
    world
        .folder(".git")
        .skill(".agents/skills/top")
        .skill("sub/.agents/skills/inner")
        .link("/alias", "/project");
    let sub = Surroundings { project: world.path("/alias/sub"), ..world.surroundings() };
    let (record, _) = trust::trust(&world.path("/project"), true, &world.policy, &sub).unwrap();
    let skills: Vec<_> = record.skills.keys().map(|path| world.short(&path.to_string_lossy())).collect();
    assert_eq!(skills, ["/project/.agents/skills/top", "/project/sub/.agents/skills/inner"]);
    // Seen from the top the inner one is not looked for, and that is no change.
    assert_eq!(changes(&world), Difference::default());
}

#[test]
fn presets_without_trust_ask_for_none() {
    let world = World::new(Preset::Harness);
    world.skill(".agent/skills/x").untrust("");
    assert_eq!(names(&world.snapshot()), ["x"]);
}
