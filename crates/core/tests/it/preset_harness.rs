//! Preset `harness`: the rules of document 002 for discovery.

use prowess::{Preset, SkillStatus};
use prowess_testing::library::{World, names, skill_md};

fn manifest(extra: &str) -> String {
    format!("---\nname: x\ndescription: Does x.\n{extra}---\nBody.\n")
}

#[test]
fn s002_01_a_skill_may_have_scripts_references_and_assets() {
    let world = World::new(Preset::Harness);
    world
        .skill(".agent/skills/x")
        .file(".agent/skills/x/scripts/run.sh", "echo")
        .file(".agent/skills/x/references/a.md", "a")
        .file(".agent/skills/x/assets/b.json", "{}");
    let snapshot = world.snapshot();
    let files = prowess::FileListing::for_skill(snapshot.get("x").unwrap()).files;
    let files: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["SKILL.md", "assets/b.json", "references/a.md", "scripts/run.sh"]);
}

#[test]
fn s002_02_the_name_is_valid_and_equals_the_directory_name() {
    let world = World::new(Preset::Harness);
    let long = "a".repeat(65);
    for name in ["good-1", "Bad", "a--b", long.as_str()] {
        world.file(&format!(".agent/skills/{name}/SKILL.md"), skill_md(name, "x"));
    }
    world.file(".agent/skills/folder/SKILL.md", skill_md("other", "x"));
    assert_eq!(names(&world.snapshot()), ["good-1"]);
    let invalid =
        world.snapshot().all().iter().filter(|skill| *skill.status() == SkillStatus::Invalid).count();
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
        let world = World::new(Preset::Harness);
        world.file(".agent/skills/x/SKILL.md", manifest(extra));
        assert_eq!(world.snapshot().get("x").is_some(), valid, "{extra}");
    }
    let world = World::new(Preset::Harness);
    world.file(".agent/skills/x/SKILL.md", skill_md("x", &"d".repeat(1025)));
    world.file(".agent/skills/y/SKILL.md", skill_md("y", &"d".repeat(1024)));
    assert_eq!(names(&world.snapshot()), ["y"]);
}

#[test]
fn s002_04_unknown_and_reserved_keys_are_rejected() {
    for extra in ["toolsets: [a:B]\n", "triggers: {keywords: [a]}\n", "model: opus\n"] {
        let world = World::new(Preset::Harness);
        world.file(".agent/skills/x/SKILL.md", manifest(extra));
        assert_eq!(world.codes(), ["SK051"], "{extra}");
        assert!(world.snapshot().get("x").is_none());
    }
}

#[test]
fn s002_05_metadata_has_author_version_tags_and_requires() {
    let world = World::new(Preset::Harness);
    world.command("git").command("gh").file(
        ".agent/skills/x/SKILL.md",
        manifest("metadata:\n  author: Ada\n  version: 1.0.0\n  tags: one two\n  requires: git gh\n"),
    );
    let snapshot = world.snapshot();
    let manifest = snapshot.get("x").unwrap().manifest().unwrap();
    assert_eq!((manifest.metadata_value("author"), manifest.version()), (Some("Ada"), Some("1.0.0")));
    assert_eq!(manifest.tags().collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(manifest.requires().collect::<Vec<_>>(), ["git", "gh"]);
}

#[test]
fn s002_09_s002_10_five_sources_and_their_precedence() {
    let world = World::new(Preset::Harness);
    let places = ["~/.agent/plugins/gh", ".agent/skills/gh", ".claude/skills/gh", "~/.agent/skills/gh"];
    for place in places {
        world.skill(place);
    }
    let mut winners = Vec::new();
    for place in places {
        let snapshot = world.snapshot();
        winners.push(snapshot.get("gh").unwrap().root().label());
        std::fs::remove_dir_all(world.path(place)).unwrap();
    }
    winners.push(world.snapshot().get("gh").unwrap().root().label());
    assert_eq!(winners, ["Plugin", "Project", "Claude", "User", "Bundled"]);
}

#[test]
fn s002_11_a_missing_claude_directory_is_ignored_and_its_symlinks_are_checked() {
    let world = World::new(Preset::Harness);
    assert_eq!(world.codes(), [] as [&str; 0]);
    world.skill("elsewhere/evil").file(".claude/skills/keep", "");
    std::os::unix::fs::symlink("../../elsewhere/evil", world.path(".claude/skills/evil")).unwrap();
    assert_eq!(names(&world.snapshot()), [] as [&str; 0]);
    assert_eq!(world.codes(), ["SK074"]);
}

#[test]
fn s002_18_missing_commands_make_a_skill_unavailable() {
    let world = World::new(Preset::Harness);
    world.command("git").file(".agent/skills/x/SKILL.md", manifest("metadata: {requires: git gh docker}\n"));
    assert_eq!(world.told(), ["x in /project/.agent/skills/x is unavailable: missing commands: gh, docker"]);
    world.command("gh").command("docker");
    assert_eq!(names(&world.snapshot()), ["x"]);
}

#[test]
fn an_unavailable_skill_still_shadows_others() {
    let world = World::new(Preset::Harness);
    world
        .file(".agent/skills/x/SKILL.md", manifest("metadata: {requires: none}\n"))
        .skill("~/.agent/skills/x");
    assert_eq!(
        world.told(),
        [
            "x in /project/.agent/skills/x is unavailable: missing commands: none",
            "x in /home/.agent/skills/x is shadowed: shadowed by /project/.agent/skills/x/SKILL.md",
        ]
    );
}

#[test]
fn s002_16_bundled_skills_are_enabled_and_disabled_by_name() {
    let mut world = World::new(Preset::Harness);
    world.command("gh");
    let enabled =
        |world: &World| world.snapshot().enabled().map(|skill| skill.name().into_owned()).collect::<Vec<_>>();
    assert!(enabled(&world).contains(&"gh".to_owned()));
    world.policy.selection.disabled_bundled = vec!["gh".to_owned()];
    assert!(!enabled(&world).contains(&"gh".to_owned()));
    world.policy.selection.enabled_bundled = vec!["hello-world".to_owned()];
    assert_eq!(enabled(&world), ["hello-world"]);
    world.skill(".agent/skills/gh");
    assert_eq!(enabled(&world), ["gh", "hello-world"], "only the bundled skill was disabled");
}

#[test]
fn s002_20_disabled_and_unavailable_skills_are_not_offered() {
    let mut world = World::new(Preset::Harness);
    world.skill(".agent/skills/on").skill(".agent/skills/off");
    world.file(".agent/skills/x/SKILL.md", manifest("metadata: {requires: none}\n"));
    world.policy.selection.disabled = vec!["off".to_owned()];
    assert_eq!(names(&world.snapshot()), ["on"]);
    let all: Vec<_> =
        world.told().into_iter().map(|told| told.split(" is ").last().unwrap().to_owned()).collect();
    assert_eq!(
        all,
        ["disabled: turned off in the configuration", "enabled", "unavailable: missing commands: none"]
    );
}
