//! Preset `chat`: the rules of document 004 for discovery.

use prowess::{Policy, Preset, SkillStatus};
use prowess_testing::library::{World, names, skill_md};

#[test]
fn s004_01_skills_are_found_at_the_start() {
    let world = World::new(Preset::Chat);
    world.skill(".skills/a");
    let snapshot = world.snapshot();
    world.skill(".skills/b");
    assert_eq!(names(&snapshot), ["a"]);
    assert_eq!(Policy::from_preset(Preset::Chat).refresh, prowess::policy::RefreshPolicy::AtStart);
}

#[test]
fn s004_02_the_defaults() {
    let policy = Policy::from_preset(Preset::Chat);
    assert!(!policy.enabled);
    let roots: Vec<_> = policy.scan.roots.iter().map(ToString::to_string).collect();
    assert_eq!(roots, [".skills", ".agents/skills", "~/.agents/skills", "~/.remcochat/skills"]);
    assert_eq!(policy.scan.max_skills, Some(200));
    assert_eq!((policy.limits.skill_md_bytes, policy.limits.resource_bytes), (200_000, 2_000_000));
}

#[test]
fn s004_04_the_earliest_directory_wins_and_collisions_are_recorded() {
    let world = World::new(Preset::Chat);
    world
        .skill("~/.agents/skills/x")
        .skill(".agents/skills/x")
        .skill(".skills/x")
        .skill("~/.remcochat/skills/x");
    let told = world.told();
    assert_eq!(told[0], "x in /project/.skills/x is enabled");
    assert!(
        told[1..].iter().all(|told| told.ends_with("shadowed by /project/.skills/x/SKILL.md")),
        "{told:?}"
    );
    assert_eq!(world.codes(), ["SK081"; 3]);
}

#[test]
fn s004_05_nothing_is_found_when_disabled() {
    let mut world = World::new(Preset::Chat);
    world.skill(".skills/a");
    world.policy.enabled = false;
    assert!(world.snapshot().all().is_empty());
    assert_eq!(world.codes(), [] as [&str; 0]);
}

#[test]
fn s004_06_missing_directories_are_reported_and_only_direct_children_count() {
    let world = World::new(Preset::Chat);
    world
        .skill(".skills/a")
        .skill(".skills/group/nested")
        .file(".skills/lower/skill.md", skill_md("lower", "x"));
    assert_eq!(names(&world.snapshot()), ["a"]);
    assert_eq!(world.codes().iter().filter(|code| **code == "SK071").count(), 3);
    assert_eq!(
        world.told()[1..],
        [
            "group in /project/.skills/group is invalid: there is no SKILL.md in this directory, and its subdirectories are not searched",
            "lower in /project/.skills/lower is invalid: the file is named skill.md, not SKILL.md",
        ]
    );
}

#[test]
fn s004_07_a_file_starts_with_frontmatter() {
    let world = World::new(Preset::Chat);
    world.file(".skills/a/SKILL.md", format!("\n{}", skill_md("a", "x")));
    world.file(".skills/b/SKILL.md", format!("Hello\n{}", skill_md("b", "x")));
    world.file(".skills/c/SKILL.md", "# Text");
    world.skill(".skills/d");
    assert_eq!(names(&world.snapshot()), ["d"]);
}

#[test]
fn s004_08_unknown_keys_are_ignored_with_a_warning() {
    let world = World::new(Preset::Chat);
    world.file(".skills/a/SKILL.md", "---\nname: a\ndescription: x\ntriggers: {keywords: [a]}\n---\nB");
    let snapshot = world.snapshot();
    let skill = snapshot.get("a").unwrap();
    assert!(skill.is_enabled() && skill.manifest().unwrap().triggers().is_none());
    assert_eq!(skill.diagnostics()[0].code.as_str(), "SK051");
}

#[test]
fn s004_09_names_and_descriptions_are_validated() {
    let world = World::new(Preset::Chat);
    for name in ["good", "Bad", "-a", "a--b", "a_b"] {
        world.file(&format!(".skills/{name}/SKILL.md"), skill_md(name, "x"));
    }
    world.file(".skills/folder/SKILL.md", skill_md("other", "x"));
    world.file(".skills/long/SKILL.md", skill_md("long", &"d".repeat(1025)));
    let snapshot = world.snapshot();
    assert_eq!(names(&snapshot), ["good"]);
    let invalid = snapshot.all().iter().filter(|skill| *skill.status() == SkillStatus::Invalid);
    assert!(invalid.clone().all(|skill| skill.reason().is_some_and(|reason| !reason.is_empty())));
    assert_eq!(invalid.count(), 6);
}

#[test]
fn s004_10_a_record_has_all_fields() {
    let world = World::new(Preset::Chat);
    world.file(
        ".skills/a/SKILL.md",
        "---\nname: a\ndescription: D.\nlicense: MIT\ncompatibility: C\nmetadata: {k: v}\nallowed-tools: Read\n---\nB",
    );
    let snapshot = world.snapshot();
    let skill = snapshot.get("a").unwrap();
    let manifest = skill.manifest().unwrap();
    assert_eq!((manifest.license(), manifest.compatibility()), (Some("MIT"), Some("C")));
    assert_eq!(manifest.metadata().collect::<Vec<_>>(), [("k", "v")]);
    assert_eq!(skill.dir(), world.path(".skills/a"));
    assert_eq!(skill.skill_md_path(), world.path(".skills/a/SKILL.md"));
    assert_eq!(skill.root().path(), world.path(".skills"));
}

#[test]
fn s004_02_more_than_max_skills_are_not_offered() {
    let mut world = World::new(Preset::Chat);
    world.policy.scan.max_skills = Some(2);
    world.skill("~/.agents/skills/a").skill(".skills/b").skill(".skills/c");
    assert_eq!(names(&world.snapshot()), ["b", "c"], "the root with the highest precedence keeps its skills");
    assert!(world.told()[0].ends_with("disabled: over the limit of 2 skills"), "{:?}", world.told());
}

#[test]
fn s004_23_allowed_tools_are_parsed() {
    let world = World::new(Preset::Chat);
    world.file(
        ".skills/a/SKILL.md",
        "---\nname: a\ndescription: x\nallowed-tools: Read, Bash(git:*) Write\n---\nB",
    );
    world.file(".skills/b/SKILL.md", "---\nname: b\ndescription: x\nallowed-tools: [Read, Write]\n---\nB");
    let tools = |name: &str| {
        world.snapshot().get(name).unwrap().manifest().unwrap().allowed_tools().unwrap().to_vec()
    };
    assert_eq!(tools("a"), ["Read".into(), "Bash(git:*)".into(), "Write".into()]);
    assert_eq!(tools("b"), ["Read".into(), "Write".into()]);
}

#[test]
fn s004_24_the_conformance_fixture_is_found_by_its_frontmatter() {
    let world = World::new(Preset::Chat);
    let fixture =
        prowess::bundled::BUNDLED.iter().find(|skill| skill.id == "skills-system-validation").unwrap();
    for (path, bytes) in fixture.files {
        world.file(&format!(".skills/{}/{path}", fixture.id), bytes);
    }
    assert_eq!(names(&world.snapshot()), ["skills-system-validation"]);
}
