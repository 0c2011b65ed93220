//! Files of skills, read on demand and never from outside.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use proptest::prelude::*;
use prowess::activation::SkillTiers;
use prowess::resources::{self, ReadResourceError, ResourceKind};
use prowess::{ErrorCode, Preset, Skill, Snapshot};
use prowess_testing::registry_env::{RegistryEnv, skill_md};

const SECRET: &str = "OUTSIDE_MARKER";

/// A skill with files, symlinks and special files, and a secret outside.
fn env() -> RegistryEnv {
    let env = RegistryEnv::new(Preset::Chat);
    env.skill(".skills/a")
        .file(".skills/a/references/Guide.md", "GUIDE")
        .file(".skills/a/references/deep/more.md", "MORE")
        .file(".skills/a/scripts/run.sh", "echo")
        .file(".skills/a/assets/data.json", "{}")
        .file(".skills/secret.md", SECRET)
        .file("~/secret.md", SECRET);
    let inside = |name: &str| env.path(&format!(".skills/a/{name}"));
    symlink("../secret.md", inside("out.md")).unwrap();
    symlink(env.path("~/"), inside("home")).unwrap();
    symlink("references", inside("refs")).unwrap();
    symlink("SKILL.md", inside("same.md")).unwrap();
    env
}

fn read(env: &RegistryEnv, path: &str) -> Result<resources::Resource, ReadResourceError> {
    resources::read_text(env.snapshot().get("a").unwrap(), path, &env.policy.limits)
}

fn code(env: &RegistryEnv, path: &str) -> ErrorCode {
    read(env, path).unwrap_err().code()
}

#[test]
fn s004_16_a_resource_has_name_path_and_content() {
    let env = env();
    let read = read(&env, "./references//Guide.md").unwrap();
    assert_eq!((read.name.as_str(), read.path.as_str()), ("a", "references/Guide.md"));
    assert_eq!((read.content.as_str(), read.truncated, read.bytes), ("GUIDE", None, 5));
}

#[test]
fn s004_16_every_error_message() {
    let env = env();
    env.file(".skills/a/binary.bin", b"a\0b").file(".skills/a/latin.txt", b"caf\xe9");
    Command::new("mkfifo").arg(env.path(".skills/a/fifo")).status().unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(env.path(".skills/a/socket")).unwrap();
    let long = "x".repeat(5000);
    let paths = [
        "",
        ".",
        "references",
        "references/",
        "/etc/passwd",
        "../SKILL.md",
        "a/../b",
        "references/../SKILL.md",
        "references/../../../../etc/passwd",
        "..",
        "out.md",
        "home/secret.md",
        "refs/Guide.md",
        "same.md",
        "missing.md",
        "references/guide.md",
        "references/Giude.md",
        "Guide.md",
        "SKILL.md/x",
        "references\\Guide.md",
        "%2e%2e/secret.md",
        "a\0b",
        "binary.bin",
        "latin.txt",
        "fifo",
        "socket",
        &long,
        "nl\n\x1b[31m",
    ];
    let diagnostics = paths.map(|path| {
        let error = read(&env, path).unwrap_err();
        assert!(!error.to_string().contains("/tmp") && error.to_string().len() < 400, "{error}");
        let path: String = path.chars().take(40).collect();
        format!("{path:?}: {} {error}", error.code())
    });
    insta::assert_snapshot!(diagnostics.join("\n"));
    assert_eq!(read(&env, "references/Guide.md").unwrap().content, "GUIDE", "reading still works");
}

#[test]
fn s004_17_binary_files_are_not_supported() {
    let env = env();
    env.file(".skills/a/late.txt", [vec![b'a'; 100], vec![0]].concat());
    let error = read(&env, "late.txt").unwrap_err();
    assert!(error.code() == ErrorCode::BinaryFile && error.to_string().contains("binary not supported"));
}

#[test]
fn s004_22_long_files_are_truncated_with_a_notice() {
    let mut env = env();
    env.policy.limits.resource_bytes = 10;
    env.file(".skills/a/long.md", "aéééééééé").file(".skills/a/fits.md", "0123456789");
    let long = read(&env, "long.md").unwrap();
    insta::assert_snapshot!(long.content, @r"
    aéééé

    [truncated: 9 of 17 bytes shown]
    ");
    assert_eq!((long.truncated.map(|cut| (cut.shown, cut.total)), long.bytes), (Some((9, 17)), 17));
    assert_eq!(read(&env, "fits.md").unwrap().content, "0123456789");
}

#[test]
fn s004_22_files_above_the_hard_limit_are_not_read() {
    let mut env = env();
    env.policy.limits.resource_bytes = u64::MAX;
    let file = fs::File::create(env.path(".skills/a/huge.txt")).unwrap();
    file.set_len(16 * 1024 * 1024 + 1).unwrap();
    assert_eq!(code(&env, "huge.txt"), ErrorCode::TooLarge);
}

#[test]
fn terminal_escapes_do_not_reach_a_model() {
    let env = env();
    env.file(".skills/a/log.txt", "\x1b[31mred\x1b[0m \x1b]0;evil\x07plain");
    assert_eq!(read(&env, "log.txt").unwrap().content, "red plain");
}

#[test]
fn bytes_have_a_guessed_media_type() {
    let env = env();
    env.file(".skills/a/assets/logo.png", b"\x89PNG\r\n\x1a\n\0\0");
    let snapshot = env.snapshot();
    let skill = snapshot.get("a").unwrap();
    let logo = resources::read_bytes(skill, "assets/logo.png").unwrap();
    assert_eq!((logo.mime, logo.bytes.len()), ("image/png", 10));
    assert_eq!(resources::read_bytes(skill, "out.md").unwrap_err().code(), ErrorCode::AccessDenied);
}

#[test]
fn a_device_is_rejected_and_nothing_blocks() {
    let env = env();
    let mknod = Command::new("mknod").arg(env.path(".skills/a/dev")).args(["c", "1", "5"]).status();
    if mknod.is_ok_and(|status| status.success()) {
        assert_eq!(code(&env, "dev"), ErrorCode::AccessDenied);
    }
}

#[test]
fn s002_17_a_directory_replaced_by_a_symlink_is_not_followed() {
    let env = env();
    let snapshot = env.snapshot();
    let skill = snapshot.get("a").unwrap();
    fs::rename(env.path(".skills/a"), env.path("moved")).unwrap();
    symlink(env.path("~/"), env.path(".skills/a")).unwrap();
    let error = resources::read_text(skill, "secret.md", &env.policy.limits).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    insta::assert_snapshot!(error, @"the directory of a no longer exists");
    fs::rename(env.path(".skills"), env.path("elsewhere")).unwrap();
    assert_eq!(resources::list_files(skill, None).unwrap_err().code(), ErrorCode::NotFound);
}

#[test]
fn files_of_linked_skills_in_known_directories_are_read() {
    let env = RegistryEnv::new(Preset::Harness);
    env.skill("~/.agent/skills/real").file("~/.agent/skills/real/references/r.md", "R");
    env.skill("elsewhere/out").file("elsewhere/out/references/r.md", SECRET);
    env.file("~/.agent/skills/texts/whole.md", skill_md("file", "D."));
    env.file(".agent/skills/file/references/own.md", "OWN");
    fs::create_dir_all(env.path(".agent/skills")).unwrap();
    symlink(env.path("~/.agent/skills/real"), env.path(".agent/skills/real")).unwrap();
    symlink(env.path("elsewhere/out"), env.path(".agent/skills/out")).unwrap();
    symlink(env.path("~/.agent/skills/texts/whole.md"), env.path(".agent/skills/file/SKILL.md")).unwrap();
    let snapshot = env.snapshot();
    let find = |name: &str| {
        snapshot.all().iter().find(|skill| skill.id() == name && skill.link().is_some()).unwrap()
    };
    let limits = &env.policy.limits;
    let text = |skill: &Skill, path: &str| resources::read_text(skill, path, limits).map(|read| read.content);
    let real = snapshot.get("real").unwrap();
    assert_eq!(text(real, "references/r.md").as_deref(), Ok("R"));
    assert!(text(find("file"), "SKILL.md").unwrap().contains("name: file"));
    assert_eq!(text(find("file"), "references/own.md").as_deref(), Ok("OWN"));
    let refused = text(find("out"), "references/r.md").unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Untrusted);
    assert!(!refused.to_string().contains("/tmp"), "{refused}");
}

#[test]
fn files_of_undisclosed_skills_are_not_read() {
    let mut env = RegistryEnv::new(Preset::Standard);
    env.policy.selection.disabled.push("off".to_owned());
    env.skill("~/.agents/skills/off").skill(".agents/skills/project");
    env.file("~/.agents/skills/bad/SKILL.md", "nothing").file("~/.agents/skills/bad/x.md", SECRET);
    env.file(
        "~/.agents/skills/gh2/SKILL.md",
        "---\nname: gh2\ndescription: D.\nmetadata: {prowess-requires: none-such}\n---\nB",
    );
    let snapshot = env.snapshot();
    let read = |name: &str| {
        let skill = snapshot.all().iter().find(|skill| skill.id() == name).unwrap();
        resources::read_text(skill, "SKILL.md", &env.policy.limits)
    };
    let diagnostics = ["off", "project", "bad"].map(|name| {
        let error = read(name).unwrap_err();
        format!("{} {error}", error.code())
    });
    insta::assert_snapshot!(diagnostics.join("\n"));
    assert!(read("gh2").is_ok(), "files of an unavailable skill can be read");
}

#[test]
fn bundled_skills_are_read_like_files_on_disk() {
    let env = RegistryEnv::new(Preset::Standard);
    let snapshot = env.snapshot();
    let skill = snapshot.get("gh").unwrap_or_else(|| snapshot.get("code-review").unwrap());
    let limits = &env.policy.limits;
    assert!(resources::read_text(skill, "SKILL.md", limits).is_ok());
    let code = |path: &str| resources::read_text(skill, path, limits).unwrap_err().code();
    assert_eq!(code("references"), ErrorCode::IsDirectory);
    assert_eq!(code("../gh/SKILL.md"), ErrorCode::AccessDenied);
    assert_eq!(code("skill.md"), ErrorCode::NotFound);
    let listed = resources::list_files(skill, Some(ResourceKind::References)).unwrap();
    assert_eq!(listed.files.len(), 2);
}

#[test]
fn s002_07_the_tiers() {
    let env = RegistryEnv::new(Preset::Harness);
    env.skill(".agent/skills/a").file(".agent/skills/a/references/r.md", "R");
    env.file(".agent/skills/a/scripts/x.py", "X").file(".agent/skills/a/scripts/lib/y.py", "Y");
    let snapshot = env.snapshot();
    let tiers = SkillTiers::new(&snapshot, &env.policy);
    assert!(tiers.skill_names().contains(&"a".to_owned()));
    assert!(tiers.skill("a").is_some() && tiers.skill("none").is_none());
    let whole = fs::read_to_string(env.path(".agent/skills/a/SKILL.md")).unwrap();
    assert_eq!(tiers.tier2_context("a"), Some(whole));
    assert_eq!(tiers.tier2_context("none"), None);
    assert_eq!(tiers.tier3_resource_list("a", ResourceKind::Scripts), ["scripts/lib/y.py", "scripts/x.py"]);
    assert_eq!(tiers.tier3_resource_list("a", ResourceKind::References), ["references/r.md"]);
    assert_eq!(tiers.tier3_resource_list("a", ResourceKind::Assets), [] as [&str; 0]);
    assert_eq!(tiers.tier3_resource_list("none", ResourceKind::Scripts), [] as [&str; 0]);
    assert_eq!(tiers.tier3_resource("a", "references/r.md").as_deref(), Some("R"));
    for path in ["../a/SKILL.md", "/etc/passwd", "none.md"] {
        assert_eq!(tiers.tier3_resource("a", path), None);
    }
}

#[test]
fn a_hundred_thousand_files_are_listed_within_bounds() {
    let env = env();
    let dir = env.path(".skills/a/assets");
    for at in 0..100_000 {
        fs::File::create(dir.join(format!("f{at}"))).unwrap();
    }
    let snapshot = env.snapshot();
    let skill = snapshot.get("a").unwrap();
    let all = resources::list_files(skill, None).unwrap();
    assert!(all.truncated && all.files.len() <= 1_000);
    assert_eq!(resources::list_files(skill, Some(ResourceKind::Scripts)).unwrap().files.len(), 1);
    let activated = prowess::activation::activate(skill, None, &env.policy).unwrap();
    let cut = activated.resources_truncation().unwrap();
    assert!(activated.resources().len() == 100 && cut.or_more, "{cut}");
    assert_eq!(code(&env, "assets/f"), ErrorCode::NotFound);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_path_reads_outside(parts in prop::collection::vec(
        prop::sample::select(vec!["..", ".", "", "/", "a", "home", "out.md", "secret.md", "refs", "references",
            "Guide.md", "SKILL.md", ".skills", "~", "\\", "%2e%2e", "..\\"]), 0..7), absolute in any::<bool>()) {
        thread_local! {
            static FIXTURE: (RegistryEnv, std::sync::Arc<Snapshot>) = { let env = env(); let s = env.snapshot(); (env, s) };
        }
        let path = format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"));
        FIXTURE.with(|(env, snapshot)| {
            let skill = snapshot.get("a").unwrap();
            if let Ok(read) = resources::read_text(skill, &path, &env.policy.limits) {
                assert!(!read.content.contains(SECRET), "{path}");
                assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".."), "{path}");
            }
            let tool = resources::ReadFileTool::new(env.path(".skills/a"));
            assert!(tool.read(&path).map_or(true, |read| !read.content.contains(SECRET)), "{path}");
        });
    }
}
