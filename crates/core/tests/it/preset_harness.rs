//! Preset `harness`: the rules of document 002 for discovery.

use prowess::{Preset, SkillStatus};
use prowess_testing::registry_env::{RegistryEnv, names, skill_md};

fn manifest(extra: &str) -> String {
    format!("---\nname: x\ndescription: Does x.\n{extra}---\nBody.\n")
}

#[test]
fn s002_01_a_skill_may_have_scripts_references_and_assets() {
    let env = RegistryEnv::new(Preset::Harness);
    env.skill(".agent/skills/x")
        .file(".agent/skills/x/scripts/run.sh", "echo")
        .file(".agent/skills/x/references/a.md", "a")
        .file(".agent/skills/x/assets/b.json", "{}");
    let snapshot = env.snapshot();
    let files = prowess::FileListing::for_skill(snapshot.get("x").unwrap()).files;
    let files: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["SKILL.md", "assets/b.json", "references/a.md", "scripts/run.sh"]);
}

#[test]
fn s002_02_the_name_is_valid_and_equals_the_directory_name() {
    let env = RegistryEnv::new(Preset::Harness);
    let long = "a".repeat(65);
    for name in ["good-1", "Bad", "a--b", long.as_str()] {
        env.file(&format!(".agent/skills/{name}/SKILL.md"), skill_md(name, "x"));
    }
    env.file(".agent/skills/folder/SKILL.md", skill_md("other", "x"));
    assert_eq!(names(&env.snapshot()), ["good-1"]);
    let invalid = env.snapshot().all().iter().filter(|skill| *skill.status() == SkillStatus::Invalid).count();
    assert_eq!(invalid, 4);
}

#[test]
fn s002_03_the_fields_and_their_limits() {
    for (extra, valid) in [
        (
            "license: MIT\ncompatibility: Node 18\nmetadata: {author: A}\nallowed-tools: \"Bash(git:*) Read\"\n",
            true,
        ),
        ("compatibility: ''\n", false),
        (&format!("compatibility: {}\n", "c".repeat(501)), false),
        ("metadata: text\n", false),
    ] {
        let env = RegistryEnv::new(Preset::Harness);
        env.file(".agent/skills/x/SKILL.md", manifest(extra));
        assert_eq!(env.snapshot().get("x").is_some(), valid, "{extra}");
    }
    let env = RegistryEnv::new(Preset::Harness);
    env.file(".agent/skills/x/SKILL.md", skill_md("x", &"d".repeat(1025)));
    env.file(".agent/skills/y/SKILL.md", skill_md("y", &"d".repeat(1024)));
    assert_eq!(names(&env.snapshot()), ["y"]);
}

#[test]
fn s002_04_unknown_and_reserved_keys_are_rejected() {
    for extra in ["toolsets: [a:B]\n", "triggers: {keywords: [a]}\n", "model: opus\n"] {
        let env = RegistryEnv::new(Preset::Harness);
        env.file(".agent/skills/x/SKILL.md", manifest(extra));
        assert_eq!(env.codes(), ["SK051"], "{extra}");
        assert!(env.snapshot().get("x").is_none());
    }
}

#[test]
fn s002_05_metadata_has_author_version_tags_and_requires() {
    let env = RegistryEnv::new(Preset::Harness);
    env.add_command("git").add_command("gh").file(
        ".agent/skills/x/SKILL.md",
        manifest("metadata:\n  author: Ada\n  version: 1.0.0\n  tags: one two\n  requires: git gh\n"),
    );
    let snapshot = env.snapshot();
    let manifest = snapshot.get("x").unwrap().manifest().unwrap();
    assert_eq!((manifest.metadata_value("author"), manifest.version()), (Some("Ada"), Some("1.0.0")));
    assert_eq!(manifest.tags().collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(manifest.requires().collect::<Vec<_>>(), ["git", "gh"]);
}

#[test]
fn s002_09_s002_10_five_sources_and_their_precedence() {
    let env = RegistryEnv::new(Preset::Harness);
    let dirs = ["~/.agent/plugins/gh", ".agent/skills/gh", ".claude/skills/gh", "~/.agent/skills/gh"];
    for dir in dirs {
        env.skill(dir);
    }
    let mut winners = Vec::new();
    for dir in dirs {
        let snapshot = env.snapshot();
        winners.push(snapshot.get("gh").unwrap().root().label());
        std::fs::remove_dir_all(env.path(dir)).unwrap();
    }
    winners.push(env.snapshot().get("gh").unwrap().root().label());
    assert_eq!(winners, ["Plugin", "Project", "Claude", "User", "Bundled"]);
}

#[test]
fn s002_11_a_missing_claude_directory_is_ignored_and_its_symlinks_are_checked() {
    let env = RegistryEnv::new(Preset::Harness);
    assert_eq!(env.codes(), [] as [&str; 0]);
    env.skill("elsewhere/evil").file(".claude/skills/keep", "");
    std::os::unix::fs::symlink("../../elsewhere/evil", env.path(".claude/skills/evil")).unwrap();
    assert_eq!(names(&env.snapshot()), [] as [&str; 0]);
    assert_eq!(env.codes(), ["SK074"]);
}

#[test]
fn s002_18_missing_commands_make_a_skill_unavailable() {
    let env = RegistryEnv::new(Preset::Harness);
    env.add_command("git")
        .file(".agent/skills/x/SKILL.md", manifest("metadata: {requires: git gh docker}\n"));
    assert_eq!(
        env.skill_lines(),
        ["x in /project/.agent/skills/x is unavailable: missing commands: gh, docker"]
    );
    env.add_command("gh").add_command("docker");
    assert_eq!(names(&env.snapshot()), ["x"]);
}

#[test]
fn an_unavailable_skill_still_shadows_others() {
    let env = RegistryEnv::new(Preset::Harness);
    env.file(".agent/skills/x/SKILL.md", manifest("metadata: {requires: none}\n")).skill("~/.agent/skills/x");
    assert_eq!(
        env.skill_lines(),
        [
            "x in /project/.agent/skills/x is unavailable: missing commands: none",
            "x in /home/.agent/skills/x is shadowed: shadowed by /project/.agent/skills/x/SKILL.md",
        ]
    );
}

#[test]
fn s002_16_bundled_skills_are_enabled_and_disabled_by_name() {
    let mut env = RegistryEnv::new(Preset::Harness);
    env.add_command("gh");
    let enabled = |env: &RegistryEnv| {
        env.snapshot().enabled().map(|skill| skill.name().into_owned()).collect::<Vec<_>>()
    };
    assert!(enabled(&env).contains(&"gh".to_owned()));
    env.policy.selection.disabled_bundled = vec!["gh".to_owned()];
    assert!(!enabled(&env).contains(&"gh".to_owned()));
    env.policy.selection.enabled_bundled = vec!["hello-world".to_owned()];
    assert_eq!(enabled(&env), ["hello-world"]);
    env.skill(".agent/skills/gh");
    assert_eq!(enabled(&env), ["gh", "hello-world"], "only the bundled skill was disabled");
}

#[test]
fn s002_20_disabled_and_unavailable_skills_are_not_offered() {
    let mut env = RegistryEnv::new(Preset::Harness);
    env.skill(".agent/skills/on").skill(".agent/skills/off");
    env.file(".agent/skills/x/SKILL.md", manifest("metadata: {requires: none}\n"));
    env.policy.selection.disabled = vec!["off".to_owned()];
    assert_eq!(names(&env.snapshot()), ["on"]);
    let all: Vec<_> =
        env.skill_lines().into_iter().map(|line| line.split(" is ").last().unwrap().to_owned()).collect();
    assert_eq!(
        all,
        ["disabled: turned off in the configuration", "enabled", "unavailable: missing commands: none"]
    );
}
