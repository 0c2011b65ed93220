//! `prowess why`: every reason why a skill is not available.

use crate::support::{BROKEN, TestEnv, keys, needing, skill_md};
use insta::assert_snapshot;

fn why(env: &TestEnv, name: &str) -> String {
    env.run(&["why", name]).transcript()
}

#[test]
fn available() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/pdf");
    assert_snapshot!(why(&env, "pdf"));
}

#[test]
fn shadowed() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/pdf").skill(".agents/skills/pdf").skill(".claude/skills/pdf");
    env.run(&["trust"]);
    assert_snapshot!(why(&env, "pdf"));
}

#[test]
fn untrusted() {
    let env = TestEnv::bare();
    env.skill(".agents/skills/pdf");
    assert_snapshot!(why(&env, "pdf"));
}

#[test]
fn changed_since_pinned() {
    let env = TestEnv::bare();
    env.skill(".agents/skills/pdf");
    env.run(&["trust", "--pinned"]);
    env.described(".agents/skills/pdf", "Something else.").skill(".agents/skills/added");
    assert_snapshot!(env.runs(&[&["why", "pdf"], &["why", "added"]]));
}

#[test]
fn invalid_yaml() {
    let env = TestEnv::bare();
    env.file("~/.agents/skills/broken/SKILL.md", BROKEN);
    assert_snapshot!(why(&env, "broken"));
}

#[test]
fn too_deep() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/1/2/3/4/5/6/deep");
    assert_snapshot!(why(&env, "deep"));
}

#[test]
fn too_deep_in_another_preset() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "chat").variable("PROWESS_SKILLS_ENABLED", "true");
    env.skill(".skills/group/deep");
    assert_snapshot!(why(&env, "deep"));
}

#[test]
fn under_node_modules() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/node_modules/pdf");
    assert_snapshot!(why(&env, "pdf"));
}

#[test]
fn below_another_skill() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/outer").skill("~/.agents/skills/outer/inner");
    assert_snapshot!(why(&env, "inner"));
}

#[test]
fn in_directories_of_other_agents() {
    let env = TestEnv::bare();
    env.skill(".codex/skills/pdf").skill("~/.gemini/skills/pdf");
    env.file(".cursor/skills/other-folder/SKILL.md", skill_md("pdf", "The name is in the frontmatter."));
    assert_snapshot!(why(&env, "pdf"));
}

#[test]
fn misspelt() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/hello-world");
    assert_snapshot!(env.runs(&[&["why", "helo-world"], &["why", "Hello_World"]]));
}

#[test]
fn misspelt_and_unavailable() {
    let env = TestEnv::bare();
    env.skill(".agents/skills/hello-world");
    assert_snapshot!(why(&env, "helo-world"));
}

#[test]
fn wrong_file_name() {
    let env = TestEnv::bare();
    env.file("~/.agents/skills/plural/SKILLS.md", skill_md("plural", "Almost."))
        .file("~/.agents/skills/readme/README.md", skill_md("readme", "Hardly."))
        .file("~/.agents/skills/empty/data.csv", "");
    assert_snapshot!(env.runs(&[&["why", "plural"], &["why", "readme"], &["why", "empty"]]));
}

#[test]
fn lower_case_file_name() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "chat").variable("PROWESS_SKILLS_ENABLED", "true");
    env.file(".skills/lower/skill.md", skill_md("lower", "Almost."));
    assert_snapshot!(why(&env, "lower"));
}

#[test]
fn disabled() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/off").file("~/.prowess/config.toml", "skills.disabled = [\"off\"]\n");
    assert_snapshot!(why(&env, "off"));
}

#[test]
fn all_skills_disabled() {
    let env = TestEnv::bare().variable("PROWESS_SKILLS_ENABLED", "false");
    env.skill("~/.agents/skills/pdf");
    assert_snapshot!(why(&env, "pdf"));
}

#[test]
fn unavailable() {
    let env = TestEnv::bare();
    env.file("~/.agents/skills/needy/SKILL.md", needing("needy", "frobnicate gizmo"));
    assert_snapshot!(why(&env, "needy"));
}

#[test]
fn a_symlink_that_points_outside() {
    let env = TestEnv::bare();
    env.skill("~/elsewhere/linked").skill("~/.agents/skills/pdf");
    std::os::unix::fs::symlink(env.path("~/elsewhere/linked"), env.path("~/.agents/skills/linked")).unwrap();
    assert_snapshot!(why(&env, "linked"));
    let target = env.path("~/elsewhere/linked");
    assert_eq!(env.run(&["trust", target.to_str().unwrap()]).code, 0);
    assert_eq!(env.run(&["why", "linked"]).code, 0);
}

#[test]
fn name_differs_from_directory() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "chat").variable("PROWESS_SKILLS_ENABLED", "true");
    env.file(".skills/folder/SKILL.md", skill_md("named", "Both find it."));
    assert_snapshot!(env.runs(&[&["why", "folder"], &["why", "named"]]));
}

#[test]
fn not_found_anywhere() {
    assert_snapshot!(why(&TestEnv::bare(), "nothing"));
}

#[test]
fn as_json() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/pdf").skill(".agents/skills/pdf").skill(".codex/skills/other");
    assert_snapshot!(env.runs(&[&["why", "pdf", "--json"], &["why", "other", "--json"]]));
    let answer = env.run(&["why", "pdf", "--json"]).json();
    let fields = ["copies", "elsewhere", "name", "not_scanned", "offered", "scanned", "schema", "winner"];
    assert_eq!(keys(&answer), fields);
}
