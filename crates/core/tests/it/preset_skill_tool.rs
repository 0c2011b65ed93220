//! Preset `skill-tool`: the rules of document 001 for discovery.

use prowess::Preset;
use prowess_testing::registry_env::{RegistryEnv, names, skill_md};

#[test]
fn s001_01_skills_are_found_anywhere_below_the_directory() {
    let env = RegistryEnv::new(Preset::SkillTool);
    env.skill("skills/a").skill("skills/deep/er/and/er/and/er/and/er/b").skill("other/c");
    assert_eq!(names(&env.snapshot()), ["a", "b"]);
}

#[test]
fn s001_02_name_and_description_are_required() {
    let env = RegistryEnv::new(Preset::SkillTool);
    env.file("skills/a/SKILL.md", "---\nname: a\n---\n")
        .file("skills/b/SKILL.md", "---\ndescription: b\n---\n")
        .file("skills/c/SKILL.md", "---\nname: c\ndescription: ''\n---\n");
    assert_eq!(
        env.skill_lines(),
        [
            "a in /project/skills/a is invalid: description is missing",
            "b in /project/skills/b is invalid: name is missing",
            "c in /project/skills/c is invalid: description is empty",
        ]
    );
}

#[test]
fn s001_03_names_match_the_pattern_and_may_be_long() {
    let env = RegistryEnv::new(Preset::SkillTool);
    let long = "a".repeat(100);
    for name in ["ok-1", "Bad", "a--b", "-a", "a_b", "ä", long.as_str()] {
        env.file(&format!("skills/{name}/SKILL.md"), skill_md(name, "x"));
    }
    assert_eq!(names(&env.snapshot()), [long.as_str(), "ok-1"]);
}

#[test]
fn s001_04_the_frontmatter_s_name_counts() {
    let env = RegistryEnv::new(Preset::SkillTool);
    env.file("skills/folder/SKILL.md", skill_md("real-name", "x"));
    let snapshot = env.snapshot();
    assert!(
        snapshot.get("real-name").is_some_and(|skill| skill.is_enabled() && skill.diagnostics().is_empty())
    );
}

#[test]
fn s001_05_the_last_duplicate_wins_with_a_warning() {
    let env = RegistryEnv::new(Preset::SkillTool);
    env.file("skills/a/SKILL.md", skill_md("twin", "first"))
        .file("skills/b/SKILL.md", skill_md("twin", "last"));
    assert_eq!(env.snapshot().get("twin").unwrap().description(), "last");
    assert_eq!(env.codes(), ["SK081"]);
}

#[test]
fn s001_06_unparsable_files_are_skipped_with_a_warning() {
    let env = RegistryEnv::new(Preset::SkillTool);
    env.skill("skills/good")
        .file("skills/colon/SKILL.md", "---\nname: colon\ndescription: Use when: asked\n---\n")
        .file("skills/bad/SKILL.md", "---\nname: a\n\tdescription: b\n---\n");
    assert_eq!(names(&env.snapshot()), ["colon", "good"]);
    assert_eq!(env.codes(), ["SK021", "SK022"]);
}

#[test]
fn s001_07_scan_list_get_and_refresh() {
    let env = RegistryEnv::new(Preset::SkillTool);
    env.skill("skills/a");
    let registry = env.registry();
    let snapshot = registry.snapshot();
    let skill = snapshot.get("a").unwrap();
    assert_eq!(skill.skill_md_path(), env.path("skills/a/SKILL.md"));
    assert_eq!(skill.dir(), env.path("skills/a"));
    assert!(snapshot.get("b").is_none());
    env.skill("skills/b");
    assert_eq!(names(&registry.refresh()), ["a", "b"]);
    assert_eq!(names(&snapshot), ["a"], "a snapshot does not change");
}
