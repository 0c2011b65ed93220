//! Broken input on disk: each case has its diagnostic, nothing hangs, and all other skills are found.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use prowess::check::check;
use prowess::{FileListing, HostEnv, Preset, RootSpec};
use prowess_testing::registry_env::{RegistryEnv, names, repeat_while, skill_md};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// A project with one valid skill, which must always be found.
pub(crate) fn env() -> RegistryEnv {
    with_good_skill(RegistryEnv::new(Preset::Standard))
}

fn with_good_skill(env: RegistryEnv) -> RegistryEnv {
    env.skill("~/.agents/skills/good");
    env
}

/// Returns the status of the skills besides the valid one.
pub(crate) fn others(env: &RegistryEnv) -> Vec<String> {
    let mut lines = env.skill_lines();
    let good = lines.iter().position(|line| line == "good in /home/.agents/skills/good is enabled");
    lines.remove(good.expect("the valid skill is missing"));
    lines
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn special_files_do_not_block() {
    let env = env();
    for name in ["folder", "fifo", "socket", "null"] {
        env.create_dir(&format!("~/.agents/skills/{name}"));
    }
    let file = |name: &str| env.path(&format!("~/.agents/skills/{name}/SKILL.md"));
    fs::create_dir(file("folder")).unwrap();
    fifo(&file("fifo"));
    let _socket = std::os::unix::net::UnixListener::bind(file("socket")).unwrap();
    let device = rustix::fs::makedev(1, 3);
    let null = mknodat(CWD, file("null"), FileType::CharacterDevice, Mode::RUSR, device);
    if null.is_err() {
        println!("no device could be made (not root): that part is skipped");
        fs::remove_dir(env.path("~/.agents/skills/null")).unwrap();
    }
    let mut expected = vec![
        "fifo in /home/.agents/skills/fifo is invalid: SKILL.md is a FIFO",
        "folder in /home/.agents/skills/folder is invalid: SKILL.md is a directory",
        "null in /home/.agents/skills/null is invalid: SKILL.md is a device",
        "socket in /home/.agents/skills/socket is invalid: SKILL.md is a socket",
    ];
    expected.retain(|line| null.is_ok() || !line.starts_with("null"));
    assert_eq!(others(&env), expected);
    for name in ["fifo", "socket", "folder"] {
        let checked =
            check(&file(name).with_file_name(""), &env.policy.manifest, &Default::default()).unwrap();
        assert_eq!(checked[0].diagnostics[0].code.as_str(), "SK003", "{name}");
    }
}

#[test]
fn a_huge_file_is_not_read() {
    let env = env();
    env.file("~/.agents/skills/huge/SKILL.md", skill_md("huge", "Huge."));
    let path = env.path("~/.agents/skills/huge/SKILL.md");
    File::options().write(true).open(&path).unwrap().set_len(1 << 30).unwrap();
    assert_eq!(
        others(&env),
        ["huge in /home/.agents/skills/huge is invalid: the file has 1024 MiB; the limit is 16 MiB"]
    );
    assert_eq!(prowess::read_bounded(&path, 1 << 20), None);
}

#[test]
fn bytes_that_are_not_a_skill() {
    let env = env();
    for (name, bytes, reason) in [
        ("empty", &b""[..], "the file is empty"),
        ("byte", b"x", "the file has no frontmatter"),
        ("fence", b"---", "the frontmatter is not closed"),
        ("fences", b"---\n---\n", "the frontmatter is empty"),
        ("nul", b"\0", "the file contains NUL bytes and is not text"),
        ("bom", b"\xEF\xBB\xBF", "the file has no frontmatter"),
        ("utf16", b"\xFF\xFE-\0-\0-\0\n\0", "the file contains NUL bytes and is not text"),
        ("latin1", b"---\nname: latin1\ndescription: caf\xE9\n---\n", "the frontmatter is not UTF-8"),
        ("list", b"---\n- name\n---\n", "the frontmatter is a list, not a mapping"),
        ("elf", b"\x7fELF\x02\x01\x01\0\0\0", "the file contains NUL bytes and is not text"),
    ] {
        env.file(&format!("~/.agents/skills/{name}/SKILL.md"), bytes);
        let lines = others(&env);
        assert_eq!(lines, [format!("{name} in /home/.agents/skills/{name} is invalid: {reason}")]);
        fs::remove_dir_all(env.path(&format!("~/.agents/skills/{name}"))).unwrap();
    }
}

#[test]
fn exploding_yaml_is_bounded() {
    let bombs = [
        ("aliases", {
            let mut yaml = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
            for (previous, next) in
                ["a", "b", "c", "d", "e", "f", "g"].iter().zip(["b", "c", "d", "e", "f", "g", "h"])
            {
                yaml += &format!("{next}: &{next} [{}]\n", vec![format!("*{previous}"); 9].join(", "));
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
    let env = env();
    for (name, yaml) in bombs {
        let file = format!("---\nname: {name}\ndescription: Explodes.\n{yaml}---\nBody.\n");
        env.file(&format!("~/.agents/skills/{name}/SKILL.md"), file);
        let lines = others(&env);
        assert_eq!(lines.len(), 1, "{name}");
        fs::remove_dir_all(env.path(&format!("~/.agents/skills/{name}"))).unwrap();
    }
}

#[test]
fn ten_thousand_lines_of_frontmatter_are_too_long() {
    let env = env();
    let lines: String = (0..10_000).map(|at| format!("key-{at}: {at}\n")).collect();
    let file = format!("---\nname: long\ndescription: Long.\n{lines}---\nBody.\n");
    env.file("~/.agents/skills/long/SKILL.md", file);
    assert_eq!(
        others(&env),
        ["long in /home/.agents/skills/long is invalid: the frontmatter is longer than 64 KiB"]
    );
}

#[test]
fn names_that_are_paths_do_not_load_in_any_preset() {
    for preset in Preset::ALL {
        let mut env = RegistryEnv::new(preset);
        env.policy.scan.roots = vec![RootSpec::explicit(env.path("/skills"))];
        for (at, name) in
            ["../evil", "a/b", "/etc/passwd", "..", ".", "a\\\\b", "~/x", "..\\\\x"].iter().enumerate()
        {
            env.file(&format!("/skills/s{at}/SKILL.md"), skill_md(&format!("\"{name}\""), "x"));
        }
        env.skill("/skills/good");
        let snapshot = env.snapshot();
        let ids: Vec<_> = snapshot.enabled().map(|skill| skill.id().into_owned()).collect();
        // If the directory's name is the identity, the name is a title and is not used in paths.
        let titles = preset == Preset::App;
        assert_eq!(ids.len(), if titles { 9 } else { 1 }, "{preset}: {ids:?}");
        assert!(ids.contains(&"good".to_owned()));
    }
}

#[test]
fn file_names_that_are_not_unicode_are_reported() {
    let env = env();
    let odd = env.path("~/.agents/skills").join(OsStr::from_bytes(b"odd-\xff"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("SKILL.md"), skill_md("odd", "Odd.")).unwrap();
    fs::write(odd.join(OsStr::from_bytes(b"\xfe.txt")), "x").unwrap();
    fs::write(env.path("~/.agents/skills").join(OsStr::from_bytes(b"\xff")), "x").unwrap();
    assert_eq!(others(&env), ["odd in /home/.agents/skills/odd-\u{fffd} is enabled"]);
    let snapshot = env.snapshot();
    let skill = snapshot.get("odd").unwrap();
    assert!(skill.read_skill_md().is_some());
    let contents = FileListing::for_skill(skill);
    assert_eq!(contents.files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["SKILL.md"]);
    assert_eq!(contents.skipped, ["\u{fffd}.txt"], "it cannot be requested by a Unicode path");
}

#[test]
fn a_missing_home_directory_is_not_an_error() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill(".agents/skills/a");
    let open = |home| {
        let host_env = HostEnv { home, ..env.host_env() };
        prowess::Registry::open_in(env.policy.clone(), host_env, &Default::default()).snapshot()
    };
    let untrusted =
        ["a in /project/.agents/skills/a is untrusted: the project is not trusted; to trust it: prowess \
                      trust /project"];
    for home in [Some(env.path("/no/such/home")), None] {
        let snapshot = open(home);
        assert_eq!(env.skill_lines_in(&snapshot), untrusted);
        assert_eq!(snapshot.general_diagnostics().count(), 0);
    }
}

#[test]
fn overlapping_and_duplicate_roots_find_each_skill_once() {
    let mut env = RegistryEnv::new(Preset::Standard);
    env.skill("/top/a").skill("/top/group/b");
    let roots =
        |paths: &[&str]| paths.iter().map(|path| RootSpec::explicit(env.path(path))).collect::<Vec<_>>();
    let (twice, inner_first, outer_first) = (
        roots(&["/top", "/top", "/top/../top"]),
        roots(&["/top/group", "/top"]),
        roots(&["/top", "/top/group"]),
    );
    env.policy.scan.roots = twice;
    assert_eq!(env.skill_lines(), ["a in /top/a is enabled", "b in /top/group/b is enabled"]);
    env.policy.scan.roots = inner_first;
    assert_eq!(
        env.skill_lines(),
        [
            "a in /top/a is enabled",
            "b in /top/group/b is enabled",
            "b in /top/group/b is shadowed: same directory as /top/group/b/SKILL.md",
        ]
    );
    env.policy.scan.roots = outer_first;
    assert_eq!(env.skill_lines().len(), 3);
    assert_eq!(env.diagnostic_lines(), [] as [&str; 0]);
}

#[test]
fn roots_that_are_not_directories_are_reported() {
    let mut env = env();
    env.file("/file", "x").create_dir("/empty");
    fifo(&env.path("/fifo"));
    for path in ["/file", "/fifo", "/empty", "/missing", "/file/below"] {
        env.policy.scan.roots.push(RootSpec::explicit(env.path(path)));
    }
    assert_eq!(others(&env), [] as [&str; 0]);
    assert_eq!(
        env.diagnostic_lines(),
        [
            "SK072 /file: not a directory",
            "SK072 /fifo: not a directory",
            "SK071 /missing: the directory does not exist",
            "SK071 /file/below: the directory does not exist",
        ]
    );
}

#[test]
fn a_hundred_thousand_entries_are_bounded_and_reported() {
    let mut env = with_good_skill(RegistryEnv::large(Preset::Standard));
    env.create_dir("~/.claude/skills/many");
    let many = env.path("~/.claude/skills/many");
    for at in 0..100_000 {
        File::create(many.join(at.to_string())).unwrap();
    }
    assert_eq!(
        others(&env),
        ["many in /home/.claude/skills/many is invalid: there is no SKILL.md in this directory"]
    );
    env.policy.scan.max_entries = 1_000;
    assert_eq!(
        env.diagnostic_lines(),
        [
            "SK073 /home/.claude/skills: some directories were not read completely: the limit of 1000 entries was reached",
            "SK001 /home/.claude/skills/many/SKILL.md: there is no SKILL.md in this directory",
        ]
    );
    assert_eq!(names(&env.snapshot()), ["good"]);
}

/// One directory with many files, and many symlinks to it. The entry limit covers all of them together.
#[test]
fn entries_are_counted_over_all_directories_of_a_level() {
    let mut env = RegistryEnv::large(Preset::Standard);
    env.create_dir("~/.agents/skills/many");
    for at in 0..2_000 {
        File::create(env.path("~/.agents/skills/many").join(at.to_string())).unwrap();
    }
    for at in 0..2_000 {
        env.symlink(&format!("~/.agents/skills/l{at}"), "./many");
    }
    env.policy.scan.max_entries = 10_000;
    assert_eq!(
        env.diagnostic_lines()[0],
        "SK073 /home/.agents/skills: some directories were not read completely: the limit of 10000 entries was reached"
    );
}

#[test]
fn directories_are_bounded_and_reported() {
    let mut env = RegistryEnv::new(Preset::Standard);
    for at in 0..20 {
        env.skill(&format!("~/.agents/skills/s{at:02}"));
    }
    env.policy.scan.max_directories = 5;
    assert_eq!(names(&env.snapshot()), ["s00", "s01", "s02", "s03", "s04"]);
    assert_eq!(
        env.diagnostic_lines(),
        [
            "SK073 /home/.agents/skills: 15 directories were not searched: the limit of 5 directories was reached"
        ]
    );
    env.policy.scan.max_directories = 0;
    env.policy.scan.max_entries = 0;
    assert_eq!(env.skill_lines(), [] as [&str; 0]);
    assert_eq!(env.codes(), ["SK073"], "without entries there are no directories");
}

/// A regression test for quadratic run time.
#[test]
fn many_directories_without_a_skill_are_all_reported() {
    let env = RegistryEnv::large(Preset::Harness);
    for at in 0..20_000 {
        env.create_dir(&format!(".agent/skills/f{at}/deeper"));
    }
    let lines = env.skill_lines();
    assert_eq!(lines.len(), 20_000);
    assert_eq!(
        lines[0],
        "f0 in /project/.agent/skills/f0 is invalid: there is no SKILL.md in this directory, and its subdirectories are \
         not searched"
    );
}

#[test]
fn a_tree_deeper_than_the_longest_path_is_bounded() {
    let mut env = RegistryEnv::new(Preset::SkillTool);
    env.skill("skills/good");
    let mut dir = File::open(env.path("skills")).map(std::os::fd::OwnedFd::from).unwrap();
    let name = "d".repeat(200);
    for _ in 0..40 {
        rustix::fs::mkdirat(&dir, &*name, Mode::RWXU).unwrap();
        let flags = rustix::fs::OFlags::DIRECTORY;
        dir = rustix::fs::openat(&dir, &*name, flags, Mode::empty()).unwrap();
    }
    assert_eq!(names(&env.snapshot()), ["good"]);
    assert!(env.codes().contains(&"SK072"), "{:?}", env.codes());
    env.policy.scan.depth = 3;
    assert_eq!(names(&env.snapshot()), ["good"]);
    // The path is too long for the temporary directory to delete it.
    drop(dir);
    let status = std::process::Command::new("rm").arg("-rf").arg(env.path("skills")).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_replaced_file_is_read_completely_old_or_new() {
    let env = env();
    let path = env.path("~/.agents/skills/x/SKILL.md");
    let texts = [skill_md("x", &"one ".repeat(200)), skill_md("x", &"two ".repeat(2_000))];
    env.file("~/.agents/skills/x/SKILL.md", &texts[0]);
    let registry = env.registry();
    repeat_while(
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
            let source = snapshot.get("x").unwrap().read_skill_md();
            assert!(source.is_none_or(|source| texts.iter().any(|text| text.as_bytes() == source)));
        },
    );
    assert_eq!(env.skill_lines_in(&registry.refresh()), env.skill_lines());
}

/// Writing in place leaves the file empty or incomplete for a moment. A refresh may see that, but the final
/// refresh sees the final text.
#[test]
fn a_file_rewritten_in_place_is_finally_read_correctly() {
    let env = env();
    let path = env.path("~/.agents/skills/x/SKILL.md");
    let texts = [skill_md("x", &"one ".repeat(500)), skill_md("x", &"two ".repeat(2_000)), String::new()];
    env.file("~/.agents/skills/x/SKILL.md", &texts[0]);
    let registry = env.registry();
    repeat_while(
        |round| fs::write(&path, &texts[round % 3]).unwrap(),
        || {
            let snapshot = registry.refresh();
            assert!(snapshot.get("good").is_some());
            snapshot.all().iter().for_each(|skill| drop(skill.read_skill_md()));
        },
    );
    fs::write(&path, skill_md("x", "The end.")).unwrap();
    assert_eq!(registry.refresh().get("x").unwrap().description(), "The end.");
}

#[test]
fn directories_deleted_during_a_scan_affect_no_other_skill() {
    let env = env();
    let skills = env.path("~/.agents/skills");
    let registry = env.registry();
    repeat_while(
        |_| {
            for at in 0..100 {
                let dir = skills.join(format!("group/x{at}"));
                fs::create_dir_all(&dir).unwrap();
                fs::write(dir.join("SKILL.md"), skill_md("x", "X.")).unwrap();
            }
            fs::remove_dir_all(skills.join("group")).unwrap();
        },
        || {
            let snapshot = registry.refresh();
            assert!(snapshot.get("good").is_some());
            for located in snapshot.general_diagnostics() {
                // They all have the same name.
                assert_eq!(located.diagnostic.code.as_str(), "SK081", "{}", located.diagnostic);
            }
            for skill in snapshot.all() {
                let _ = (skill.read_skill_md(), FileListing::for_skill(skill));
            }
        },
    );
    assert_eq!(others(&env), [] as [&str; 0]);
}

#[test]
fn listing_the_files_of_a_skill_is_bounded() {
    let env = with_good_skill(RegistryEnv::large(Preset::Standard));
    for at in 0..3_000 {
        env.create_dir(&format!("~/.agents/skills/good/f{at}/g"));
    }
    for at in 0..9_000 {
        env.symlink(&format!("~/.agents/skills/good/links/{at}"), "./nowhere");
    }
    let snapshot = env.snapshot();
    let contents = FileListing::for_skill(snapshot.get("good").unwrap());
    assert!(contents.truncated);
    assert!(contents.skipped.len() <= 10_000 && contents.skipped.is_sorted());
}

/// One line of 16 MiB that consists of links.
#[test]
fn checking_a_body_of_links_is_fast() {
    let env = env();
    let body = "[a](b)".repeat(2_000_000);
    env.file("/tree/x/SKILL.md", format!("{}{body}\n", skill_md("x", "X.")));
    let checked = check(&env.path("/tree"), &env.policy.manifest, &Default::default()).unwrap();
    let codes: Vec<_> = checked[0].diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert_eq!(codes, ["SK044", "SK065", "SK063"]);
    let missing = checked[0].diagnostics[2].location.unwrap();
    assert_eq!((missing.line, missing.column), (7, 5));
}
