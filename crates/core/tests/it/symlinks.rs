//! Symlinks: users keep skills in one directory and link to them from others, and attackers link to files of
//! other users.

use std::path::Path;

use prowess::{FileListing, Preset};
use prowess_testing::registry_env::{RegistryEnv, names, skill_md};

/// A trusted project.
pub(crate) fn trusted() -> RegistryEnv {
    let env = RegistryEnv::new(Preset::Standard);
    env.trust("");
    env
}

#[test]
fn a_linked_directory_inside_a_known_root_is_a_skill() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.prowess/skills/store/pdf").file("~/.prowess/skills/store/pdf/a.txt", "a");
    env.symlink("~/.agents/skills/pdf", "~/.prowess/skills/store/pdf");
    assert_eq!(
        env.skill_lines(),
        [
            "pdf in /home/.agents/skills/pdf is enabled",
            "pdf in /home/.prowess/skills/store/pdf is shadowed: same directory as /home/.agents/skills/pdf/SKILL.md",
        ]
    );
    let snapshot = env.snapshot();
    let pdf = snapshot.get("pdf").unwrap();
    assert_eq!(pdf.canonical_dir(), env.path("~/.prowess/skills/store/pdf"));
    assert!(pdf.read_skill_md().is_some());
    let files: Vec<_> = FileListing::for_skill(pdf).files.into_iter().map(|file| file.path).collect();
    assert_eq!(files, ["SKILL.md", "a.txt"]);
}

#[test]
fn a_linked_file_inside_a_known_root_is_a_skill() {
    let env = RegistryEnv::new(Preset::Standard);
    env.file("~/.prowess/skills/store/shared.md", skill_md("pdf", "Reads."));
    env.file("~/.agents/skills/pdf/a.txt", "a");
    env.symlink("~/.agents/skills/pdf/SKILL.md", "~/.prowess/skills/store/shared.md");
    let snapshot = env.snapshot();
    let pdf = snapshot.get("pdf").unwrap();
    assert_eq!(env.skill_line(pdf), "pdf in /home/.agents/skills/pdf is enabled");
    assert_eq!(pdf.canonical_dir(), env.path("~/.agents/skills/pdf"));
    assert_eq!(pdf.read_skill_md(), Some(skill_md("pdf", "Reads.").into_bytes()));
    let contents = FileListing::for_skill(pdf);
    let files: Vec<_> = contents.files.iter().map(|file| (file.path.as_str(), file.bytes)).collect();
    assert_eq!(files, [("SKILL.md", pdf.skill_md_size()), ("a.txt", 1)]);
    assert_eq!(contents.skipped, [] as [&str; 0]);
}

#[test]
fn a_linked_file_in_a_linked_directory_is_resolved() {
    let env = RegistryEnv::new(Preset::Standard);
    env.file("~/.prowess/skills/store/shared.md", skill_md("pdf", "Reads."));
    env.symlink("~/.prowess/skills/store/pdf/SKILL.md", "../shared.md");
    env.symlink("~/.agents/skills/pdf", "~/.prowess/skills/store/pdf");
    let snapshot = env.snapshot();
    let pdf = snapshot.get("pdf").unwrap();
    assert_eq!(env.skill_line(pdf), "pdf in /home/.agents/skills/pdf is enabled");
    assert_eq!(pdf.canonical_dir(), env.path("~/.prowess/skills/store/pdf"));
    assert_eq!(pdf.read_skill_md(), Some(skill_md("pdf", "Reads.").into_bytes()));
}

#[test]
fn symlinks_to_outside_are_reported_and_never_read() {
    let env = trusted();
    env.skill("/elsewhere/evil").file("/elsewhere/evil/secret", "s").skill(".agents/skills/good");
    env.symlink(".agents/skills/evil", "/elsewhere/evil");
    env.symlink(".agents/skills/odd/SKILL.md", "/elsewhere/evil/SKILL.md");
    assert_eq!(
        env.skill_lines(),
        [
            "evil in /project/.agents/skills/evil is untrusted: a symlink to outside the known directories: \
             /elsewhere/evil",
            "good in /project/.agents/skills/good is enabled",
            "odd in /project/.agents/skills/odd is untrusted: a symlink to outside the known directories: \
             /elsewhere/evil/SKILL.md",
        ]
    );
    assert_eq!(
        env.diagnostic_lines(),
        [
            "SK074 /project/.agents/skills/evil/SKILL.md: the symlink points outside the known directories: \
             /elsewhere/evil",
            "SK074 /project/.agents/skills/odd/SKILL.md: SKILL.md is a symlink to outside the known directories: \
             /elsewhere/evil/SKILL.md",
        ]
    );
    for skill in env.snapshot().all().iter().filter(|skill| skill.is_outside_known_dirs()) {
        assert_eq!((skill.read_skill_md(), FileListing::for_skill(skill)), (None, FileListing::default()));
        assert_eq!((skill.manifest(), skill.skill_md_size()), (None, 0));
    }
}

#[test]
fn a_symlink_in_a_user_root_to_outside_is_reported_too() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("/elsewhere/x").symlink("~/.agents/skills/x", "/elsewhere/x");
    assert_eq!(
        env.skill_lines(),
        [
            "x in /home/.agents/skills/x is untrusted: a symlink to outside the known directories: /elsewhere/x"
        ]
    );
}

#[test]
fn a_trusted_directory_is_known() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("/dotfiles/x").skill("/dotfiles/group/y");
    env.symlink("~/.agents/skills/x", "/dotfiles/x").symlink("~/.agents/skills/group", "/dotfiles/group");
    env.trust("/dotfiles");
    assert_eq!(
        env.skill_lines(),
        ["x in /home/.agents/skills/x is enabled", "y in /home/.agents/skills/group/y is enabled"]
    );
    let snapshot = env.snapshot();
    assert_eq!(snapshot.get("y").unwrap().canonical_dir(), env.path("/dotfiles/group/y"));
    assert!(snapshot.get("y").unwrap().read_skill_md().is_some());
}

#[test]
fn a_directory_excluded_from_trust_is_not_known() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("/dotfiles/x").skill("/dotfiles/bad/y");
    env.symlink("~/.agents/skills/x", "/dotfiles/x").symlink("~/.agents/skills/y", "/dotfiles/bad/y");
    env.trust("/dotfiles").untrust("/dotfiles/bad");
    assert_eq!(
        env.skill_lines(),
        [
            "x in /home/.agents/skills/x is enabled",
            "y in /home/.agents/skills/y is untrusted: the project is not trusted; to trust it: prowess trust \
             /dotfiles/bad",
        ]
    );
}

#[test]
fn the_configuration_can_list_known_directories() {
    let mut env = RegistryEnv::new(Preset::Standard);
    env.skill("/nix/store/abc/x").symlink("~/.agents/skills/x", "/nix/store/abc/x");
    env.policy.scan.links = vec![env.path("/nix/store")];
    assert_eq!(env.skill_lines(), ["x in /home/.agents/skills/x is enabled"]);
    env.policy.scan.links = vec!["~/../nix".into()];
    assert_eq!(env.skill_lines(), ["x in /home/.agents/skills/x is enabled"], "with a tilde, too");
}

/// Otherwise a trusted project could bring in skills that the user does not trust.
#[test]
fn the_target_of_a_symlink_must_be_trusted_itself() {
    let env = RegistryEnv::new(Preset::Standard);
    env.create_dir("/.git").trust("").skill("/.agents/skills/top");
    env.symlink(".agents/skills/up", "/.agents/skills/top")
        .symlink("~/.agents/skills/up", "/.agents/skills/top");
    let untrusted = "is untrusted: the project is not trusted; to trust it: prowess trust ";
    assert_eq!(
        env.skill_lines(),
        [
            format!("top in /project/.agents/skills/up {untrusted}"),
            format!("top in /.agents/skills/top {untrusted}"),
            format!("top in /home/.agents/skills/up {untrusted}"),
        ]
    );
    env.trust("/");
    assert_eq!(names(&env.snapshot()), ["top"]);
}

#[test]
fn broken_symlinks_and_loops_are_reported_and_other_skills_are_found() {
    let env = trusted();
    env.skill(".agents/skills/good").symlink(".agents/skills/gone", "./nowhere");
    env.symlink(".agents/skills/self", "./self");
    env.symlink(".agents/skills/one", "./two").symlink(".agents/skills/two", "./one");
    env.symlink(".agents/skills/up", "..").symlink(".agents/skills/here", ".");
    env.symlink(".agents/skills/file/SKILL.md", "./nowhere");
    env.symlink(".agents/skills/round/SKILL.md", "./SKILL.md");
    assert_eq!(
        env.skill_lines(),
        [
            "file in /project/.agents/skills/file is invalid: SKILL.md is a broken symlink",
            "gone in /project/.agents/skills/gone is invalid: broken symlink",
            "good in /project/.agents/skills/good is enabled",
            "here in /project/.agents/skills/here is invalid: the symlink points to a directory above it",
            "one in /project/.agents/skills/one is invalid: broken symlink",
            "round in /project/.agents/skills/round is invalid: SKILL.md is a broken symlink",
            "self in /project/.agents/skills/self is invalid: broken symlink",
            "two in /project/.agents/skills/two is invalid: broken symlink",
            "up in /project/.agents/skills/up is invalid: the symlink points to a directory above it",
        ]
    );
    assert_eq!(env.codes(), ["SK075"; 8]);
}

#[test]
fn groups_that_link_to_each_other_are_visited_once() {
    let env = trusted();
    env.skill(".agents/skills/a/x").skill(".agents/skills/b/y");
    env.symlink(".agents/skills/a/to-b", "../b").symlink(".agents/skills/b/to-a", "../a");
    assert_eq!(
        env.skill_lines(),
        [
            "to-a in /project/.agents/skills/a/to-b/to-a is invalid: the symlink points to a directory above it",
            "to-b in /project/.agents/skills/b/to-a/to-b is invalid: the symlink points to a directory above it",
            "x in /project/.agents/skills/a/x is enabled",
            "x in /project/.agents/skills/b/to-a/x is shadowed: same directory as \
             /project/.agents/skills/a/x/SKILL.md",
            "y in /project/.agents/skills/a/to-b/y is enabled",
            "y in /project/.agents/skills/b/y is shadowed: same directory as \
             /project/.agents/skills/a/to-b/y/SKILL.md",
        ]
    );
}

/// Thirty directories that all link to each other: the number of paths through them is exponential.
#[test]
fn a_maze_of_symlinks_is_scanned_quickly() {
    let env = trusted();
    for source in 0..30 {
        env.skill(&format!(".agents/skills/g{source}/s{source}"));
        for target in 0..30 {
            env.symlink(&format!(".agents/skills/g{source}/to{target}"), &format!("../g{target}"));
        }
    }
    let snapshot = env.snapshot();
    assert_eq!(names(&snapshot).len(), 30);
    assert!(snapshot.all().len() < 3000, "{}", snapshot.all().len());
}

/// Target directories must not stay open: there are more symlinks than a process may have open files.
#[test]
fn thousands_of_linked_groups_do_not_exhaust_file_descriptors() {
    let env = RegistryEnv::large(Preset::Standard);
    for at in 0..2000 {
        env.skill(&format!("/store/{at}/s{at}"));
        env.symlink(&format!("~/.agents/skills/g{at}"), &format!("/store/{at}"));
    }
    env.trust("/store");
    let (soft, hard) = (Some(256), rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum);
    let limit = rustix::process::Rlimit { current: soft, maximum: hard };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    let snapshot = env.snapshot();
    assert_eq!(names(&snapshot).len(), 2000);
    assert_eq!(snapshot.diagnostics().count(), 0);
}

#[test]
fn a_chain_of_links_is_one_link() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.prowess/skills/real")
        .symlink("/hop/1", "~/.prowess/skills/real")
        .symlink("/hop/2", "/hop/1");
    env.symlink("~/.agents/skills/real", "/hop/2");
    let snapshot = env.snapshot();
    let real = snapshot.get("real").unwrap();
    assert_eq!(env.skill_line(real), "real in /home/.agents/skills/real is enabled");
    assert_eq!(real.canonical_dir(), env.path("~/.prowess/skills/real"));
}

#[test]
fn nested_linked_groups_are_followed_four_times() {
    let env = RegistryEnv::new(Preset::Standard);
    for (at, next) in [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)] {
        env.skill(&format!("/store/{at}/s{at}"));
        env.symlink(&format!("/store/{at}/n"), &format!("/store/{next}"));
    }
    env.skill("/store/6/s6").symlink("~/.agents/skills/n", "/store/1").trust("/store");
    assert_eq!(
        env.skill_lines(),
        [
            "n in /home/.agents/skills/n/n/n/n/n is invalid: there are more than 4 symlinks on the path to it",
            "s1 in /home/.agents/skills/n/s1 is enabled",
            "s2 in /home/.agents/skills/n/n/s2 is enabled",
            "s3 in /home/.agents/skills/n/n/n/s3 is enabled",
            "s4 in /home/.agents/skills/n/n/n/n/s4 is enabled",
        ]
    );
}

#[test]
fn a_linked_root_may_only_point_into_the_project() {
    let env = trusted();
    env.skill("vendor/skills/in").skill("/elsewhere/out").skill("~/.ssh/key");
    env.symlink(".agents/skills", "../vendor/skills");
    env.symlink(".prowess/skills", "/elsewhere").symlink(".claude/skills", "~/.ssh");
    assert_eq!(env.skill_lines(), ["in in /project/.agents/skills/in is enabled"]);
    assert_eq!(
        env.diagnostic_lines(),
        [
            "SK074 /project/.prowess/skills: the directory is a symlink to outside the project: /elsewhere",
            "SK074 /project/.claude/skills: the directory is a symlink to outside the project: /home/.ssh",
        ]
    );
    env.trust("/elsewhere");
    assert_eq!(names(&env.snapshot()), ["in", "out"]);
}

#[test]
fn a_linked_root_of_an_untrusted_project_stays_untrusted() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("/elsewhere/out").symlink(".agents/skills", "/elsewhere").trust("/elsewhere");
    assert_eq!(
        env.skill_lines(),
        [
            "out in /project/.agents/skills/out is untrusted: the project is not trusted; to trust it: prowess trust \
             /project"
        ]
    );
}

/// Otherwise an untrusted directory could claim a trusted root and hide it.
#[test]
fn a_root_that_links_to_another_does_not_replace_it() {
    let env = RegistryEnv::new(Preset::Standard);
    env.create_dir("/.git").skill("/.agents/skills/top").trust("/").untrust("");
    env.symlink(".agents/skills", "/.agents/skills");
    assert_eq!(env.skill_lines(), ["top in /.agents/skills/top is enabled"]);
}

#[test]
fn a_root_that_is_a_broken_symlink_is_reported() {
    let env = trusted();
    env.symlink(".agents/skills", "./nowhere").symlink(".claude/skills", "./skills");
    assert_eq!(
        env.diagnostic_lines(),
        [
            "SK072 /project/.agents/skills: cannot read the directory: broken symlink",
            "SK072 /project/.claude/skills: cannot read the directory: symlink loop",
        ]
    );
}

#[test]
fn symlinks_in_proc_are_not_followed() {
    let env = trusted();
    env.skill(".agents/skills/good").skill("~/.agents/skills/mine");
    env.symlink_to(".agents/skills/root", "/proc/self/root");
    env.symlink_to(".agents/skills/cwd", "/proc/self/cwd");
    env.symlink_to(".agents/skills/etc", "/etc");
    env.symlink_to(".agents/skills/fd/SKILL.md", "/proc/self/fd/0");
    env.symlink_to(".agents/skills/passwd/SKILL.md", "/etc/passwd");
    env.symlink_to(".agents/skills/zero/SKILL.md", "/dev/zero");
    env.symlink_to(".agents/skills/device", "/dev/zero");
    let mine = format!("/proc/self/root{}", env.path("~/.agents/skills/mine").display());
    env.symlink_to(".agents/skills/mine", mine);
    let lines = env.skill_lines();
    let lines: Vec<_> =
        lines.iter().map(|line| line.split_once(": ").map_or(&**line, |(line, _)| line)).collect();
    assert_eq!(
        lines,
        [
            "cwd in /project/.agents/skills/cwd is untrusted",
            "etc in /project/.agents/skills/etc is untrusted",
            "fd in /project/.agents/skills/fd is untrusted",
            "good in /project/.agents/skills/good is enabled",
            "mine in /project/.agents/skills/mine is enabled",
            "mine in /home/.agents/skills/mine is shadowed",
            "passwd in /project/.agents/skills/passwd is untrusted",
            "root in /project/.agents/skills/root is untrusted",
            "zero in /project/.agents/skills/zero is untrusted",
        ]
    );
}

#[test]
fn symlinks_to_plain_files_are_not_skills() {
    let env = trusted();
    env.file("/elsewhere/README.md", "x").file(".agents/skills/notes/real.md", "x");
    env.symlink(".agents/skills/README.md", "/elsewhere/README.md");
    env.symlink(".agents/skills/NOTES.md", "./notes/real.md");
    env.skill(".agents/skills/good").skill(".agents/skills/notes/deep");
    assert_eq!(names(&env.snapshot()), ["deep", "good"]);
    assert_eq!(env.diagnostic_lines(), [] as [&str; 0]);
}

/// With the directory's name as identity, a symlink has a name of its own; one directory must still not take
/// two names.
#[test]
fn a_symlink_with_another_name_does_not_shadow_it() {
    let mut env = RegistryEnv::new(Preset::App);
    env.skill(".agents/skills/a").symlink(".agents/skills/b", "./a");
    env.policy.scan.roots.push(prowess::RootSpec::explicit(env.path("/more")));
    env.skill("/more/b");
    assert_eq!(
        env.skill_lines(),
        [
            "a in /project/.agents/skills/a is enabled",
            "a in /project/.agents/skills/b is shadowed: same directory as /project/.agents/skills/a/SKILL.md",
            "b in /more/b is enabled",
        ]
    );
}

/// Checking a symlink that was passed explicitly works, and checking an untrusted tree reveals no other files.
#[test]
fn checking_follows_explicit_symlinks_but_none_out_of_the_tree() {
    use prowess::check::check;
    let rules = prowess::format::Rules::strict();
    let env = RegistryEnv::new(Preset::Standard);
    env.file("/store/shared.md", skill_md("pdf", "Reads.")).symlink("/tree/pdf/SKILL.md", "/store/shared.md");
    env.skill("/tree/store/a").symlink("/tree/b/SKILL.md", "../store/a/SKILL.md");
    env.symlink("/tree/gone/SKILL.md", "./nowhere");
    let lines = |path: &Path| {
        let checked = check(path, &rules, &Default::default()).unwrap();
        let lines = checked.iter().map(|checked| {
            let codes: Vec<_> =
                checked.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
            let name = checked.name.as_deref().unwrap_or("-");
            format!("{} {name} {codes:?}", env.strip_base(&checked.path.to_string_lossy()))
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(lines(&env.path("/tree/pdf/SKILL.md")), ["/tree/pdf/SKILL.md pdf [\"SK044\"]"]);
    assert_eq!(
        lines(&env.path("/tree")),
        [
            "/tree/b/SKILL.md - [\"SK036\"]",
            "/tree/gone/SKILL.md - [\"SK075\"]",
            "/tree/pdf/SKILL.md - [\"SK074\"]",
            "/tree/store/a/SKILL.md a [\"SK044\"]",
        ]
    );
}
