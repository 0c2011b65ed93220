//! Preset `app`: the rules of document 000 for discovery.

use prowess::{Preset, Scope};
use prowess_testing::registry_env::{RegistryEnv, names, skill_md};

#[test]
fn s000_01_only_directories_with_name_and_description_are_skills() {
    let env = RegistryEnv::new(Preset::App);
    env.skill(".agents/skills/good")
        .file(".agents/skills/no-file/readme.md", "x")
        .file(".agents/skills/no-frontmatter/SKILL.md", "# Text\n")
        .file(".agents/skills/no-name/SKILL.md", "---\ndescription: x\n---\n")
        .file(".agents/skills/broken/SKILL.md", "---\nname: [\n---\n");
    assert_eq!(names(&env.snapshot()), ["good"]);
    assert_eq!(env.snapshot().all().len(), 5, "the others are listed with a reason");
}

#[test]
fn s000_02_system_and_user_skills_are_in_the_run_directory() {
    let env = RegistryEnv::new(Preset::App);
    env.skill(".agents/sys.skills/report").skill(".agents/skills/mine").skill("~/.agents/skills/other");
    let scopes: Vec<_> =
        env.snapshot().all().iter().map(|skill| (skill.id().into_owned(), skill.root().scope())).collect();
    assert_eq!(scopes, [("mine".to_owned(), Scope::User), ("report".to_owned(), Scope::Bundled)]);
}

#[test]
fn s000_03_the_id_is_the_directory_name_and_the_name_is_a_title() {
    let env = RegistryEnv::new(Preset::App);
    env.file(".agents/skills/weekly-report/SKILL.md", skill_md("Weekly Report / 2026", "Writes."));
    let snapshot = env.snapshot();
    let skill = snapshot.get("weekly-report").unwrap();
    assert_eq!((skill.id().as_ref(), skill.name().as_ref()), ("weekly-report", "Weekly Report / 2026"));
    assert!(skill.is_enabled() && skill.diagnostics().is_empty());
}

#[test]
fn s000_04_listing_reads_no_body() {
    let env = RegistryEnv::new(Preset::App);
    let mut file = skill_md("big", "Big.").into_bytes();
    file.extend([0xff; 100_000]);
    env.file(".agents/skills/big/SKILL.md", file);
    assert_eq!(names(&env.snapshot()), ["big"], "binary data in the body does not matter");
}

#[test]
fn s000_11_a_list_has_id_name_description_and_scope() {
    let env = RegistryEnv::new(Preset::App);
    env.skill(".agents/sys.skills/report");
    let snapshot = env.snapshot();
    let skill = snapshot.enabled().next().unwrap();
    assert_eq!(skill.id(), "report");
    assert_eq!(skill.name(), "report");
    assert_eq!(skill.description(), "Does report from .agents/sys.skills/report.");
    assert_eq!(skill.root().scope(), Scope::Bundled);
}

#[test]
fn s000_12_all_valid_skills_are_offered() {
    let env = RegistryEnv::new(Preset::App);
    let needs =
        "---\nname: a\ndescription: A.\nmetadata: {requires: no-such-command}\ndefault_enabled: false\n---\n";
    env.file(".agents/skills/a/SKILL.md", needs).skill(".agents/skills/b");
    assert_eq!(names(&env.snapshot()), ["a", "b"]);
}

#[test]
fn s000_22_missing_roots_are_an_empty_list() {
    let env = RegistryEnv::new(Preset::App);
    assert_eq!(env.skill_lines(), [] as [&str; 0]);
    assert_eq!(env.codes(), [] as [&str; 0]);
}

#[test]
fn s000_23_the_system_skill_wins_if_ids_are_equal() {
    let env = RegistryEnv::new(Preset::App);
    env.skill(".agents/skills/report").skill(".agents/sys.skills/report");
    assert_eq!(
        env.skill_lines(),
        [
            "report in /project/.agents/sys.skills/report is enabled",
            "report in /project/.agents/skills/report is shadowed: shadowed by /project/.agents/sys.skills/report/SKILL.md",
        ]
    );
}
