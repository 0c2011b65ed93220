//! Whatever lies on the disk: each has its diagnostic, nothing hangs, and every other skill is found all the same.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use prowess::check::check;
use prowess::{Contents, Preset, RootSpec, Surroundings};
use prowess_testing::library::{World, disturbed, names, skill_md};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// A world with one good skill, which has to be there after everything.
fn world() -> World {
    with_good_skill(World::new(Preset::Standard))
}

fn with_good_skill(world: World) -> World {
    world.skill("~/.agents/skills/good");
    world
}

/// What became of the skills besides the good one.
fn others(world: &World) -> Vec<String> {
    let mut told = world.told();
    let good = told.iter().position(|told| told == "good in /home/.agents/skills/good is enabled");
    told.remove(good.expect("the good skill is lost"));
    told
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn what_is_not_a_regular_file_is_not_waited_for() {
    let world = world();
    for name in ["folder", "fifo", "socket", "null"] {
        world.folder(&format!("~/.agents/skills/{name}"));
    }
    let file = |name: &str| world.path(&format!("~/.agents/skills/{name}/SKILL.md"));
    fs::create_dir(file("folder")).unwrap();
    fifo(&file("fifo"));
    let _socket = std::os::unix::net::UnixListener::bind(file("socket")).unwrap();
    let device = rustix::fs::makedev(1, 3);
    let null = mknodat(CWD, file("null"), FileType::CharacterDevice, Mode::RUSR, device);
    if null.is_err() {
        println!("no device could be made (not root): that part is skipped");
        fs::remove_dir(world.path("~/.agents/skills/null")).unwrap();
    }
    let mut expected = vec![
        "fifo in /home/.agents/skills/fifo is invalid: SKILL.md is a FIFO",
        "folder in /home/.agents/skills/folder is invalid: SKILL.md is a folder",
        "null in /home/.agents/skills/null is invalid: SKILL.md is a device",
        "socket in /home/.agents/skills/socket is invalid: SKILL.md is a socket",
    ];
    expected.retain(|told| null.is_ok() || !told.starts_with("null"));
    assert_eq!(others(&world), expected);
    for name in ["fifo", "socket", "folder"] {
        let checked =
            check(&file(name).with_file_name(""), &world.policy.manifest, &Default::default()).unwrap();
        assert_eq!(checked[0].diagnostics[0].code.as_str(), "SK003", "{name}");
    }
}

#[test]
fn a_huge_file_is_not_read() {
    let world = world();
    world.file("~/.agents/skills/huge/SKILL.md", skill_md("huge", "Huge."));
    let path = world.path("~/.agents/skills/huge/SKILL.md");
    File::options().write(true).open(&path).unwrap().set_len(1 << 30).unwrap();
    assert_eq!(
        others(&world),
        ["huge in /home/.agents/skills/huge is invalid: the file has 1024 MiB; at most 16 are read"]
    );
    assert_eq!(prowess::read_bounded(&path, 1 << 20), None);
}

#[test]
fn bytes_that_are_no_skill() {
    let world = world();
    for (name, bytes, reason) in [
        ("empty", &b""[..], "the file is empty"),
        ("byte", b"x", "there is no frontmatter"),
        ("fence", b"---", "the frontmatter is not closed"),
        ("fences", b"---\n---\n", "the frontmatter is empty"),
        ("nul", b"\0", "the file has NUL bytes and is not text"),
        ("bom", b"\xEF\xBB\xBF", "there is no frontmatter"),
        ("utf16", b"\xFF\xFE-\0-\0-\0\n\0", "the file has NUL bytes and is not text"),
        ("latin1", b"---\nname: latin1\ndescription: caf\xE9\n---\n", "the frontmatter is not UTF-8"),
        ("list", b"---\n- name\n---\n", "the frontmatter is a list, not fields"),
        ("elf", b"\x7fELF\x02\x01\x01\0\0\0", "the file has NUL bytes and is not text"),
    ] {
        world.file(&format!("~/.agents/skills/{name}/SKILL.md"), bytes);
        let told = others(&world);
        assert_eq!(told, [format!("{name} in /home/.agents/skills/{name} is invalid: {reason}")]);
        fs::remove_dir_all(world.path(&format!("~/.agents/skills/{name}"))).unwrap();
    }
}

#[test]
fn yaml_that_explodes_is_cut_short() {
    let bombs = [
        ("aliases", {
            let mut yaml = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
            for (one, next) in
                ["a", "b", "c", "d", "e", "f", "g"].iter().zip(["b", "c", "d", "e", "f", "g", "h"])
            {
                yaml += &format!("{next}: &{next} [{}]\n", vec![format!("*{one}"); 9].join(", "));
            }
            yaml
        }),
        ("nesting", format!("a: {}\n", "[".repeat(40_000))),
        ("braces", format!("a: {}\n", "{a: ".repeat(9_000))),
        ("indents", (0..350).map(|at| format!("{}a:\n", " ".repeat(at))).collect()),
        ("questions", "? ".repeat(30_000) + "\n"),
        ("anchors", (0..4_000).map(|at| format!("a{at}: &a{at}\n")).collect()),
        ("lines", (0..10_000).map(|at| format!("key-{at}: {at}\n")).collect()),
        ("fewer", (0..5_000).map(|at| format!("k{at}: {at}\n")).collect()),
        ("quotes", format!("a: \"{}\n", "\\\"".repeat(30_000))),
        ("tags", "!a ".repeat(20_000) + "\n"),
    ];
    let world = world();
    for (name, yaml) in bombs {
        let file = format!("---\nname: {name}\ndescription: Explodes.\n{yaml}---\nBody.\n");
        world.file(&format!("~/.agents/skills/{name}/SKILL.md"), file);
        let told = others(&world);
        assert_eq!(told.len(), 1, "{name}");
        fs::remove_dir_all(world.path(&format!("~/.agents/skills/{name}"))).unwrap();
    }
}

#[test]
fn ten_thousand_lines_of_frontmatter_are_more_than_are_read() {
    let world = world();
    let lines: String = (0..10_000).map(|at| format!("key-{at}: {at}\n")).collect();
    let file = format!("---\nname: long\ndescription: Long.\n{lines}---\nBody.\n");
    world.file("~/.agents/skills/long/SKILL.md", file);
    assert_eq!(
        others(&world),
        ["long in /home/.agents/skills/long is invalid: the frontmatter is longer than 64 KiB"]
    );
}

#[test]
fn names_that_are_paths_do_not_load_in_any_preset() {
    for preset in Preset::ALL {
        let mut world = World::new(preset);
        world.policy.scan.roots = vec![RootSpec::given(world.path("/skills"))];
        for (at, name) in
            ["../evil", "a/b", "/etc/passwd", "..", ".", "a\\\\b", "~/x", "..\\\\x"].iter().enumerate()
        {
            world.file(&format!("/skills/s{at}/SKILL.md"), skill_md(&format!("\"{name}\""), "x"));
        }
        world.skill("/skills/good");
        let snapshot = world.snapshot();
        let ids: Vec<_> = snapshot.enabled().map(|skill| skill.id().into_owned()).collect();
        // Where the folder's name is the identity, the name is a title and goes into no path.
        let titles = preset == Preset::App;
        assert_eq!(ids.len(), if titles { 9 } else { 1 }, "{preset}: {ids:?}");
        assert!(ids.contains(&"good".to_owned()));
    }
}

#[test]
fn file_names_that_are_not_unicode_are_shown_and_not_lost() {
    let world = world();
    let odd = world.path("~/.agents/skills").join(OsStr::from_bytes(b"odd-\xff"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("SKILL.md"), skill_md("odd", "Odd.")).unwrap();
    fs::write(odd.join(OsStr::from_bytes(b"\xfe.txt")), "x").unwrap();
    fs::write(world.path("~/.agents/skills").join(OsStr::from_bytes(b"\xff")), "x").unwrap();
    assert_eq!(others(&world), ["odd in /home/.agents/skills/odd-\u{fffd} is enabled"]);
    let snapshot = world.snapshot();
    let skill = snapshot.get("odd").unwrap();
    assert!(skill.read_source().is_some());
    let contents = Contents::of(skill);
    assert_eq!(contents.files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["SKILL.md"]);
    assert_eq!(contents.refused, ["\u{fffd}.txt"], "nobody could ask for it by a name that is text");
}

#[test]
fn a_home_that_does_not_exist_or_none_at_all() {
    let world = World::new(Preset::Standard);
    world.skill(".agents/skills/a");
    let open = |home| {
        let surroundings = Surroundings { home, ..world.surroundings() };
        prowess::Registry::open_in(world.policy.clone(), surroundings, &Default::default()).snapshot()
    };
    let untrusted =
        ["a in /project/.agents/skills/a is untrusted: the project is not trusted; to trust it: prowess \
                      trust /project"];
    for home in [Some(world.path("/no/such/home")), None] {
        let snapshot = open(home);
        assert_eq!(world.told_of(&snapshot), untrusted);
        assert_eq!(snapshot.general_diagnostics().count(), 0);
    }
}

#[test]
fn roots_that_overlap_or_are_named_twice_find_each_skill_once() {
    let mut world = World::new(Preset::Standard);
    world.skill("/top/a").skill("/top/group/b");
    let roots =
        |paths: &[&str]| paths.iter().map(|path| RootSpec::given(world.path(path))).collect::<Vec<_>>();
    let (twice, inner_first, outer_first) = (
        roots(&["/top", "/top", "/top/../top"]),
        roots(&["/top/group", "/top"]),
        roots(&["/top", "/top/group"]),
    );
    world.policy.scan.roots = twice;
    assert_eq!(world.told(), ["a in /top/a is enabled", "b in /top/group/b is enabled"]);
    world.policy.scan.roots = inner_first;
    assert_eq!(
        world.told(),
        [
            "a in /top/a is enabled",
            "b in /top/group/b is enabled",
            "b in /top/group/b is shadowed: the same folder as /top/group/b/SKILL.md",
        ]
    );
    world.policy.scan.roots = outer_first;
    assert_eq!(world.told().len(), 3);
    assert_eq!(world.said(), [] as [&str; 0]);
}

#[test]
fn roots_that_are_no_directories_are_said() {
    let mut world = world();
    world.file("/file", "x").folder("/empty");
    fifo(&world.path("/fifo"));
    for path in ["/file", "/fifo", "/empty", "/missing", "/file/below"] {
        world.policy.scan.roots.push(RootSpec::given(world.path(path)));
    }
    assert_eq!(others(&world), [] as [&str; 0]);
    assert_eq!(
        world.said(),
        [
            "SK072 /file: this is not a directory",
            "SK072 /fifo: this is not a directory",
            "SK071 /missing: the directory does not exist",
            "SK071 /file/below: the directory does not exist",
        ]
    );
}

#[test]
fn a_hundred_thousand_entries_are_bounded_and_the_cut_is_said() {
    let mut world = with_good_skill(World::large(Preset::Standard));
    world.folder("~/.claude/skills/many");
    let many = world.path("~/.claude/skills/many");
    for at in 0..100_000 {
        File::create(many.join(at.to_string())).unwrap();
    }
    assert_eq!(
        others(&world),
        ["many in /home/.claude/skills/many is invalid: there is no SKILL.md in this folder"]
    );
    world.policy.scan.max_entries = 1_000;
    assert_eq!(
        world.said(),
        [
            "SK073 /home/.claude/skills: some folders were not read to the end: the bound of 1000 entries was reached",
            "SK001 /home/.claude/skills/many/SKILL.md: there is no SKILL.md in this folder",
        ]
    );
    assert_eq!(names(&world.snapshot()), ["good"]);
}

/// One folder of many files, and many links to it: each used to be listed for itself.
#[test]
fn entries_are_counted_over_all_folders_of_a_level() {
    let mut world = World::large(Preset::Standard);
    world.folder("~/.agents/skills/many");
    for at in 0..2_000 {
        File::create(world.path("~/.agents/skills/many").join(at.to_string())).unwrap();
    }
    for at in 0..2_000 {
        world.link(&format!("~/.agents/skills/l{at}"), "./many");
    }
    world.policy.scan.max_entries = 10_000;
    assert_eq!(
        world.said()[0],
        "SK073 /home/.agents/skills: some folders were not read to the end: the bound of 10000 entries was reached"
    );
}

#[test]
fn directories_are_bounded_and_the_cut_is_said() {
    let mut world = World::new(Preset::Standard);
    for at in 0..20 {
        world.skill(&format!("~/.agents/skills/s{at:02}"));
    }
    world.policy.scan.max_directories = 5;
    assert_eq!(names(&world.snapshot()), ["s00", "s01", "s02", "s03", "s04"]);
    assert_eq!(
        world.said(),
        ["SK073 /home/.agents/skills: 15 folders were not looked at: the bound of 5 directories was reached"]
    );
    world.policy.scan.max_directories = 0;
    world.policy.scan.max_entries = 0;
    assert_eq!(world.told(), [] as [&str; 0]);
    assert_eq!(world.codes(), ["SK073"], "with no entries there are no directories either");
}

/// Each of them used to be looked for among all the others.
#[test]
fn many_folders_without_a_skill_are_each_told() {
    let world = World::large(Preset::Harness);
    for at in 0..20_000 {
        world.folder(&format!(".agent/skills/f{at}/deeper"));
    }
    let told = world.told();
    assert_eq!(told.len(), 20_000);
    assert_eq!(
        told[0],
        "f0 in /project/.agent/skills/f0 is invalid: there is no SKILL.md in this folder, and folders in it are not \
         looked into"
    );
}

#[test]
fn a_tree_deeper_than_any_path_is_left_at_its_end() {
    let mut world = World::new(Preset::SkillTool);
    world.skill("skills/good");
    let mut folder = File::open(world.path("skills")).map(std::os::fd::OwnedFd::from).unwrap();
    let name = "d".repeat(200);
    for _ in 0..40 {
        rustix::fs::mkdirat(&folder, &*name, Mode::RWXU).unwrap();
        let flags = rustix::fs::OFlags::DIRECTORY;
        folder = rustix::fs::openat(&folder, &*name, flags, Mode::empty()).unwrap();
    }
    assert_eq!(names(&world.snapshot()), ["good"]);
    assert!(world.codes().contains(&"SK072"), "{:?}", world.codes());
    world.policy.scan.depth = 3;
    assert_eq!(names(&world.snapshot()), ["good"]);
    // The folder that holds the world could not delete it by its path.
    drop(folder);
    let status = std::process::Command::new("rm").arg("-rf").arg(world.path("skills")).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_file_that_is_replaced_is_the_old_one_or_the_new_one() {
    let world = world();
    let path = world.path("~/.agents/skills/x/SKILL.md");
    let texts = [skill_md("x", &"one ".repeat(200)), skill_md("x", &"two ".repeat(2_000))];
    world.file("~/.agents/skills/x/SKILL.md", &texts[0]);
    let registry = world.registry();
    disturbed(
        |round| {
            fs::write(path.with_extension("new"), &texts[round % 2]).unwrap();
            fs::rename(path.with_extension("new"), &path).unwrap();
        },
        || {
            let snapshot = registry.refresh();
            assert!(snapshot.get("good").is_some());
            let description = snapshot.get("x").unwrap().description();
            assert!(
                ["one ", "two "].iter().any(|word| description.replace(word, "").len() < 4),
                "{description}"
            );
            let source = snapshot.get("x").unwrap().read_source();
            assert!(source.is_none_or(|source| texts.iter().any(|text| text.as_bytes() == source)));
        },
    );
    assert_eq!(world.told_of(&registry.refresh()), world.told());
}

/// Whoever writes in place leaves the file empty for a moment, and half of it for another. What is seen then is seen;
/// what is seen afterwards is what is there.
#[test]
fn a_file_that_is_rewritten_in_place_is_seen_as_it_is_in_the_end() {
    let world = world();
    let path = world.path("~/.agents/skills/x/SKILL.md");
    let texts = [skill_md("x", &"one ".repeat(500)), skill_md("x", &"two ".repeat(2_000)), String::new()];
    world.file("~/.agents/skills/x/SKILL.md", &texts[0]);
    let registry = world.registry();
    disturbed(
        |round| fs::write(&path, &texts[round % 3]).unwrap(),
        || {
            let snapshot = registry.refresh();
            assert!(snapshot.get("good").is_some());
            snapshot.all().iter().for_each(|skill| drop(skill.read_source()));
        },
    );
    fs::write(&path, skill_md("x", "The end.")).unwrap();
    assert_eq!(registry.refresh().get("x").unwrap().description(), "The end.");
}

#[test]
fn folders_that_vanish_half_way_take_nothing_with_them() {
    let world = world();
    let skills = world.path("~/.agents/skills");
    let registry = world.registry();
    disturbed(
        |_| {
            for at in 0..100 {
                let folder = skills.join(format!("group/x{at}"));
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join("SKILL.md"), skill_md("x", "X.")).unwrap();
            }
            fs::remove_dir_all(skills.join("group")).unwrap();
        },
        || {
            let snapshot = registry.refresh();
            assert!(snapshot.get("good").is_some());
            for located in snapshot.general_diagnostics() {
                // They all have one name.
                assert_eq!(located.diagnostic.code.as_str(), "SK081", "{}", located.diagnostic);
            }
            for skill in snapshot.all() {
                let _ = (skill.read_source(), Contents::of(skill));
            }
        },
    );
    assert_eq!(others(&world), [] as [&str; 0]);
}

#[test]
fn listing_the_files_of_a_skill_is_bounded() {
    let world = with_good_skill(World::large(Preset::Standard));
    for at in 0..3_000 {
        world.folder(&format!("~/.agents/skills/good/f{at}/g"));
    }
    for at in 0..9_000 {
        world.link(&format!("~/.agents/skills/good/links/{at}"), "./nowhere");
    }
    let snapshot = world.snapshot();
    let contents = Contents::of(snapshot.get("good").unwrap());
    assert!(contents.cut);
    assert!(contents.refused.len() <= 10_000 && contents.refused.is_sorted());
}

/// One line of sixteen mebibytes, all of it links.
#[test]
fn checking_a_body_of_nothing_but_links_takes_no_time() {
    let world = world();
    let body = "[a](b)".repeat(2_000_000);
    world.file("/tree/x/SKILL.md", format!("{}{body}\n", skill_md("x", "X.")));
    let checked = check(&world.path("/tree"), &world.policy.manifest, &Default::default()).unwrap();
    let codes: Vec<_> = checked[0].diagnostics.iter().map(|said| said.code.as_str()).collect();
    assert_eq!(codes, ["SK044", "SK065", "SK063"]);
    let missing = checked[0].diagnostics[2].at.unwrap();
    assert_eq!((missing.line, missing.column), (7, 5));
}

/// Root may read everything, so that these run as nobody, in a process of their own.
fn as_nobody(test: &str, body: impl FnOnce()) {
    if !rustix::process::getuid().is_root() {
        return body();
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let child = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["--exact", &format!("bad_input::{test}"), "--nocapture"])
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
fn what_may_not_be_read_is_said() {
    as_nobody("what_may_not_be_read_is_said", || {
        let world = world();
        world.skill("~/.agents/skills/file").skill("~/.agents/skills/closed");
        world.skill("~/.agents/skills/group/inner").skill("~/.claude/skills/x");
        let forbidden = ["~/.agents/skills/file/SKILL.md", "~/.agents/skills/closed", "~/.claude/skills"];
        for path in forbidden {
            forbid(&world.path(path), 0);
        }
        forbid(&world.path("~/.agents/skills/group"), 0o300);
        assert_eq!(
            others(&world),
            ["file in /home/.agents/skills/file is invalid: the file cannot be read: permission denied"]
        );
        assert_eq!(
            world.said(),
            [
                "SK072 /home/.agents/skills/closed: the folder cannot be read: permission denied",
                "SK072 /home/.agents/skills/group: the folder cannot be read: permission denied",
                "SK072 /home/.claude/skills: the directory cannot be read: permission denied",
                "SK004 /home/.agents/skills/file/SKILL.md: the file cannot be read: permission denied",
            ]
        );
        let checked = check(&world.path("~/.agents"), &world.policy.manifest, &Default::default()).unwrap();
        let told: Vec<_> = checked
            .iter()
            .map(|checked| {
                let codes: Vec<_> = checked.diagnostics.iter().map(|said| said.code.as_str()).collect();
                format!("{} {codes:?}", world.short(&checked.path.to_string_lossy()))
            })
            .collect();
        assert_eq!(
            told,
            [
                "/home/.agents/skills/file/SKILL.md [\"SK004\"]",
                "/home/.agents/skills/good/SKILL.md [\"SK044\"]",
                "/home/.agents/skills/closed [\"SK072\"]",
                "/home/.agents/skills/group [\"SK072\"]",
            ]
        );
        for path in forbidden {
            forbid(&world.path(path), 0o700);
        }
        forbid(&world.path("~/.agents/skills/group"), 0o700);
    });
}

#[test]
fn a_root_below_a_closed_folder_is_said() {
    as_nobody("a_root_below_a_closed_folder_is_said", || {
        let world = world();
        world.skill(".agents/skills/x");
        forbid(&world.path(".agents"), 0);
        assert_eq!(others(&world), [] as [&str; 0]);
        assert_eq!(
            world.said(),
            ["SK072 /project/.agents/skills: the directory cannot be read: permission denied"]
        );
        forbid(&world.path(".agents"), 0o700);
    });
}

/// `/home` often may be passed through and not listed.
#[test]
fn folders_that_may_only_be_passed_through_are_passed_through() {
    as_nobody("folders_that_may_only_be_passed_through_are_passed_through", || {
        let world = world();
        forbid(&world.path("~/.agents"), 0o100);
        assert_eq!(others(&world), [] as [&str; 0]);
        assert_eq!(world.said(), [] as [&str; 0]);
        assert!(world.snapshot().get("good").unwrap().read_source().is_some());
        forbid(&world.path("~/.agents"), 0o700);
    });
}
