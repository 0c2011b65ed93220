//! `prowess why`: every reason why a skill is not available.

use crate::support::{BROKEN, TestEnv, keys, needing, skill_md};
use insta::assert_snapshot;

fn why(env: &TestEnv, names: &[&str]) -> String {
    names.iter().map(|name| env.run(&["why", name]).transcript()).collect::<Vec<_>>().join("\n")
}

/// A snapshot, the skills, and the names to explain.
type Case = (&'static str, fn(&TestEnv), &'static [&'static str]);

#[test]
fn every_reason() {
    let cases: [Case; 16] = [
        ("available", |env| _ = env.skill("~/.agents/skills/pdf"), &["pdf"]),
        (
            "available_but_not_offered_to_models",
            |env| {
                let hidden =
                    "---\nname: hidden\ndescription: D.\ndisable-model-invocation: true\n---\nDo it.\n";
                env.skill("~/.agents/skills/manual").file("~/.agents/skills/hidden/SKILL.md", hidden);
                env.file("~/.prowess/config.toml", "skills.manual = [\"manual\"]\n");
            },
            &["manual", "hidden"],
        ),
        (
            "shadowed",
            |env| {
                env.skill("~/.agents/skills/pdf").skill(".agents/skills/pdf").skill(".claude/skills/pdf");
                env.run(&["trust"]);
            },
            &["pdf"],
        ),
        ("untrusted", |env| _ = env.skill(".agents/skills/pdf"), &["pdf"]),
        (
            "changed_since_pinned",
            |env| {
                env.skill(".agents/skills/pdf").run(&["trust", "--pinned"]);
                env.skill_with_description(".agents/skills/pdf", "Something else.")
                    .skill(".agents/skills/added");
            },
            &["pdf", "added"],
        ),
        ("invalid_yaml", |env| _ = env.file("~/.agents/skills/broken/SKILL.md", BROKEN), &["broken"]),
        ("too_deep", |env| _ = env.skill("~/.agents/skills/1/2/3/4/5/6/deep"), &["deep"]),
        ("under_node_modules", |env| _ = env.skill("~/.agents/skills/node_modules/pdf"), &["pdf"]),
        (
            "below_another_skill",
            |env| _ = env.skill("~/.agents/skills/outer").skill("~/.agents/skills/outer/inner"),
            &["inner"],
        ),
        (
            "in_directories_of_other_agents",
            |env| {
                let other = skill_md("pdf", "The name is in the frontmatter.");
                env.skill(".codex/skills/pdf").skill("~/.gemini/skills/pdf");
                env.file(".cursor/skills/other-folder/SKILL.md", other);
            },
            &["pdf"],
        ),
        ("misspelt", |env| _ = env.skill("~/.agents/skills/hello-world"), &["helo-world", "Hello_World"]),
        ("misspelt_and_unavailable", |env| _ = env.skill(".agents/skills/hello-world"), &["helo-world"]),
        (
            "wrong_file_name",
            |env| {
                env.file("~/.agents/skills/plural/SKILLS.md", skill_md("plural", "Almost."))
                    .file("~/.agents/skills/readme/README.md", skill_md("readme", "Hardly."))
                    .file("~/.agents/skills/empty/data.csv", "");
            },
            &["plural", "readme", "empty"],
        ),
        (
            "disabled",
            |env| {
                env.skill("~/.agents/skills/off");
                env.file("~/.prowess/config.toml", "skills.disabled = [\"off\"]\n");
            },
            &["off"],
        ),
        (
            "unavailable",
            |env| _ = env.file("~/.agents/skills/needy/SKILL.md", needing("needy", "frobnicate gizmo")),
            &["needy"],
        ),
        ("not_found_anywhere", |_| {}, &["nothing"]),
    ];
    for (snapshot, setup, names) in cases {
        let env = TestEnv::bare();
        setup(&env);
        assert_snapshot!(snapshot, why(&env, names));
    }
}

#[test]
fn every_reason_in_preset_chat() {
    let cases: [Case; 3] = [
        ("too_deep_in_another_preset", |env| _ = env.skill(".skills/group/deep"), &["deep"]),
        (
            "lower_case_file_name",
            |env| _ = env.file(".skills/lower/skill.md", skill_md("lower", "Almost.")),
            &["lower"],
        ),
        (
            "name_differs_from_directory",
            |env| _ = env.file(".skills/folder/SKILL.md", skill_md("named", "Both find it.")),
            &["folder", "named"],
        ),
    ];
    for (snapshot, setup, names) in cases {
        let env =
            TestEnv::new().variable("PROWESS_PRESET", "chat").variable("PROWESS_SKILLS_ENABLED", "true");
        setup(&env);
        assert_snapshot!(snapshot, why(&env, names));
    }
}

#[test]
fn all_skills_disabled() {
    let env = TestEnv::bare().variable("PROWESS_SKILLS_ENABLED", "false");
    env.skill("~/.agents/skills/pdf");
    assert_snapshot!(why(&env, &["pdf"]));
}

#[test]
fn a_symlink_that_points_outside() {
    let env = TestEnv::bare();
    env.skill("~/elsewhere/linked").skill("~/.agents/skills/pdf");
    std::os::unix::fs::symlink(env.path("~/elsewhere/linked"), env.path("~/.agents/skills/linked")).unwrap();
    assert_snapshot!(why(&env, &["linked"]));
    let target = env.path("~/elsewhere/linked");
    assert_eq!(env.run(&["trust", target.to_str().unwrap()]).code, 0);
    assert_eq!(env.run(&["why", "linked"]).code, 0);
}

#[test]
fn as_json() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/pdf").skill(".agents/skills/pdf").skill(".codex/skills/other");
    assert_snapshot!(env.runs(&[&["why", "pdf", "--json"], &["why", "other", "--json"]]));
    let json = env.run(&["why", "pdf", "--json"]).json();
    let fields = ["copies", "elsewhere", "name", "not_scanned", "offered", "scanned", "schema", "winner"];
    assert_eq!(keys(&json), fields);
}
