//! Preset `chat`: the rules of document 004 for discovery.

use prowess::{Policy, Preset, SkillStatus};
use prowess_testing::registry_env::{RegistryEnv, names, skill_md};

#[test]
fn s004_01_skills_are_found_at_the_start() {
    let env = RegistryEnv::new(Preset::Chat);
    env.skill(".skills/a");
    let snapshot = env.snapshot();
    env.skill(".skills/b");
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
    let env = RegistryEnv::new(Preset::Chat);
    env.skill("~/.agents/skills/x")
        .skill(".agents/skills/x")
        .skill(".skills/x")
        .skill("~/.remcochat/skills/x");
    let lines = env.skill_lines();
    assert_eq!(lines[0], "x in /project/.skills/x is enabled");
    assert!(
        lines[1..].iter().all(|line| line.ends_with("shadowed by /project/.skills/x/SKILL.md")),
        "{lines:?}"
    );
    assert_eq!(env.codes(), ["SK081"; 3]);
}

#[test]
fn s004_05_nothing_is_found_when_disabled() {
    let mut env = RegistryEnv::new(Preset::Chat);
    env.skill(".skills/a");
    env.policy.enabled = false;
    assert!(env.snapshot().all().is_empty());
    assert_eq!(env.codes(), [] as [&str; 0]);
}

#[test]
fn s004_06_missing_directories_are_reported_and_only_direct_children_count() {
    let env = RegistryEnv::new(Preset::Chat);
    env.skill(".skills/a")
        .skill(".skills/group/nested")
        .file(".skills/lower/skill.md", skill_md("lower", "x"));
    assert_eq!(names(&env.snapshot()), ["a"]);
    assert_eq!(env.codes().iter().filter(|code| **code == "SK071").count(), 3);
    assert_eq!(
        env.skill_lines()[1..],
        [
            "group in /project/.skills/group is invalid: there is no SKILL.md in this directory, and its subdirectories are not searched",
            "lower in /project/.skills/lower is invalid: the file is named skill.md, not SKILL.md",
        ]
    );
}

#[test]
fn s004_07_a_file_starts_with_frontmatter() {
    let env = RegistryEnv::new(Preset::Chat);
    env.file(".skills/a/SKILL.md", format!("\n{}", skill_md("a", "x")));
    env.file(".skills/b/SKILL.md", format!("Hello\n{}", skill_md("b", "x")));
    env.file(".skills/c/SKILL.md", "# Text");
    env.skill(".skills/d");
    assert_eq!(names(&env.snapshot()), ["d"]);
}

#[test]
fn s004_08_unknown_keys_are_ignored_with_a_warning() {
    let env = RegistryEnv::new(Preset::Chat);
    env.file(".skills/a/SKILL.md", "---\nname: a\ndescription: x\ntriggers: {keywords: [a]}\n---\nB");
    let snapshot = env.snapshot();
    let skill = snapshot.get("a").unwrap();
    assert!(skill.is_enabled() && skill.manifest().unwrap().triggers().is_none());
    assert_eq!(skill.diagnostics()[0].code.as_str(), "SK051");
}

#[test]
fn s004_09_names_and_descriptions_are_validated() {
    let env = RegistryEnv::new(Preset::Chat);
    for name in ["good", "Bad", "-a", "a--b", "a_b"] {
        env.file(&format!(".skills/{name}/SKILL.md"), skill_md(name, "x"));
    }
    env.file(".skills/folder/SKILL.md", skill_md("other", "x"));
    env.file(".skills/long/SKILL.md", skill_md("long", &"d".repeat(1025)));
    let snapshot = env.snapshot();
    assert_eq!(names(&snapshot), ["good"]);
    let invalid = snapshot.all().iter().filter(|skill| *skill.status() == SkillStatus::Invalid);
    assert!(invalid.clone().all(|skill| skill.reason().is_some_and(|reason| !reason.is_empty())));
    assert_eq!(invalid.count(), 6);
}

#[test]
fn s004_10_a_record_has_all_fields() {
    let env = RegistryEnv::new(Preset::Chat);
    env.file(
        ".skills/a/SKILL.md",
        "---\nname: a\ndescription: D.\nlicense: MIT\ncompatibility: C\nmetadata: {k: v}\nallowed-tools: Read\n---\nB",
    );
    let snapshot = env.snapshot();
    let skill = snapshot.get("a").unwrap();
    let manifest = skill.manifest().unwrap();
    assert_eq!((manifest.license(), manifest.compatibility()), (Some("MIT"), Some("C")));
    assert_eq!(manifest.metadata().collect::<Vec<_>>(), [("k", "v")]);
    assert_eq!(skill.dir(), env.path(".skills/a"));
    assert_eq!(skill.skill_md_path(), env.path(".skills/a/SKILL.md"));
    assert_eq!(skill.root().path(), env.path(".skills"));
}

#[test]
fn s004_02_more_than_max_skills_are_not_offered() {
    let mut env = RegistryEnv::new(Preset::Chat);
    env.policy.scan.max_skills = Some(2);
    env.skill("~/.agents/skills/a").skill(".skills/b").skill(".skills/c");
    assert_eq!(names(&env.snapshot()), ["b", "c"], "the root with the highest precedence keeps its skills");
    assert!(
        env.skill_lines()[0].ends_with("disabled: over the limit of 2 skills"),
        "{:?}",
        env.skill_lines()
    );
}

#[test]
fn s004_23_allowed_tools_are_parsed() {
    let env = RegistryEnv::new(Preset::Chat);
    env.file(
        ".skills/a/SKILL.md",
        "---\nname: a\ndescription: x\nallowed-tools: Read, Bash(git:*) Write\n---\nB",
    );
    env.file(".skills/b/SKILL.md", "---\nname: b\ndescription: x\nallowed-tools: [Read, Write]\n---\nB");
    let tools =
        |name: &str| env.snapshot().get(name).unwrap().manifest().unwrap().allowed_tools().unwrap().to_vec();
    assert_eq!(tools("a"), ["Read".into(), "Bash(git:*)".into(), "Write".into()]);
    assert_eq!(tools("b"), ["Read".into(), "Write".into()]);
}

#[test]
fn s004_24_the_conformance_fixture_is_found_by_its_frontmatter() {
    let env = RegistryEnv::new(Preset::Chat);
    let fixture = prowess::bundled::BundledSkill::find("skills-system-validation").unwrap();
    for (path, bytes) in fixture.files {
        env.file(&format!(".skills/{}/{path}", fixture.id), bytes);
    }
    assert_eq!(names(&env.snapshot()), ["skills-system-validation"]);
}
