//! `prowess why`: every way for a skill not to be there has its answer.

use crate::world::{BROKEN, World, keys, needing, skill_md};
use insta::assert_snapshot;

fn why(world: &World, name: &str) -> String {
    world.run(&["why", name]).whole()
}

#[test]
fn offered() {
    let world = World::bare();
    world.skill("~/.agents/skills/pdf");
    assert_snapshot!(why(&world, "pdf"));
}

#[test]
fn shadowed() {
    let world = World::bare();
    world.skill("~/.agents/skills/pdf").skill(".agents/skills/pdf").skill(".claude/skills/pdf");
    world.run(&["trust"]);
    assert_snapshot!(why(&world, "pdf"));
}

#[test]
fn untrusted() {
    let world = World::bare();
    world.skill(".agents/skills/pdf");
    assert_snapshot!(why(&world, "pdf"));
}

#[test]
fn changed_since_it_was_pinned() {
    let world = World::bare();
    world.skill(".agents/skills/pdf");
    world.run(&["trust", "--pinned"]);
    world.described(".agents/skills/pdf", "Something else.").skill(".agents/skills/added");
    assert_snapshot!(world.runs(&[&["why", "pdf"], &["why", "added"]]));
}

#[test]
fn invalid_yaml() {
    let world = World::bare();
    world.file("~/.agents/skills/broken/SKILL.md", BROKEN);
    assert_snapshot!(why(&world, "broken"));
}

#[test]
fn too_deep() {
    let world = World::bare();
    world.skill("~/.agents/skills/1/2/3/4/5/6/deep");
    assert_snapshot!(why(&world, "deep"));
}

#[test]
fn too_deep_in_another_preset() {
    let world = World::new().variable("PROWESS_PRESET", "chat").variable("PROWESS_SKILLS_ENABLED", "true");
    world.skill(".skills/group/deep");
    assert_snapshot!(why(&world, "deep"));
}

#[test]
fn under_node_modules() {
    let world = World::bare();
    world.skill("~/.agents/skills/node_modules/pdf");
    assert_snapshot!(why(&world, "pdf"));
}

#[test]
fn below_another_skill() {
    let world = World::bare();
    world.skill("~/.agents/skills/outer").skill("~/.agents/skills/outer/inner");
    assert_snapshot!(why(&world, "inner"));
}

#[test]
fn in_the_folders_of_other_agents() {
    let world = World::bare();
    world.skill(".codex/skills/pdf").skill("~/.gemini/skills/pdf");
    world.file(".cursor/skills/other-folder/SKILL.md", skill_md("pdf", "The name is in the frontmatter."));
    assert_snapshot!(why(&world, "pdf"));
}

#[test]
fn misspelt() {
    let world = World::bare();
    world.skill("~/.agents/skills/hello-world");
    assert_snapshot!(world.runs(&[&["why", "helo-world"], &["why", "Hello_World"]]));
}

#[test]
fn misspelt_and_not_offered_either() {
    let world = World::bare();
    world.skill(".agents/skills/hello-world");
    assert_snapshot!(why(&world, "helo-world"));
}

#[test]
fn wrong_file_name() {
    let world = World::bare();
    world
        .file("~/.agents/skills/plural/SKILLS.md", skill_md("plural", "Almost."))
        .file("~/.agents/skills/readme/README.md", skill_md("readme", "Hardly."))
        .file("~/.agents/skills/empty/data.csv", "");
    assert_snapshot!(world.runs(&[&["why", "plural"], &["why", "readme"], &["why", "empty"]]));
}

#[test]
fn lower_case_file_name() {
    let world = World::new().variable("PROWESS_PRESET", "chat").variable("PROWESS_SKILLS_ENABLED", "true");
    world.file(".skills/lower/skill.md", skill_md("lower", "Almost."));
    assert_snapshot!(why(&world, "lower"));
}

#[test]
fn disabled() {
    let world = World::bare();
    world.skill("~/.agents/skills/off").file("~/.prowess/config.toml", "skills.disabled = [\"off\"]\n");
    assert_snapshot!(why(&world, "off"));
}

#[test]
fn switched_off_altogether() {
    let world = World::bare().variable("PROWESS_SKILLS_ENABLED", "false");
    world.skill("~/.agents/skills/pdf");
    assert_snapshot!(why(&world, "pdf"));
}

#[test]
fn unavailable() {
    let world = World::bare();
    world.file("~/.agents/skills/needy/SKILL.md", needing("needy", "frobnicate gizmo"));
    assert_snapshot!(why(&world, "needy"));
}

#[test]
fn a_link_that_leads_outside() {
    let world = World::bare();
    world.skill("~/elsewhere/linked").skill("~/.agents/skills/pdf");
    std::os::unix::fs::symlink(world.path("~/elsewhere/linked"), world.path("~/.agents/skills/linked"))
        .unwrap();
    assert_snapshot!(why(&world, "linked"));
    let target = world.path("~/elsewhere/linked");
    assert_eq!(world.run(&["trust", target.to_str().unwrap()]).code, 0);
    assert_eq!(world.run(&["why", "linked"]).code, 0);
}

#[test]
fn another_name_than_the_folder() {
    let world = World::new().variable("PROWESS_PRESET", "chat").variable("PROWESS_SKILLS_ENABLED", "true");
    world.file(".skills/folder/SKILL.md", skill_md("named", "Both find it."));
    assert_snapshot!(world.runs(&[&["why", "folder"], &["why", "named"]]));
}

#[test]
fn nothing_anywhere() {
    assert_snapshot!(why(&World::bare(), "nothing"));
}

#[test]
fn as_json() {
    let world = World::bare();
    world.skill("~/.agents/skills/pdf").skill(".agents/skills/pdf").skill(".codex/skills/other");
    assert_snapshot!(world.runs(&[&["why", "pdf", "--json"], &["why", "other", "--json"]]));
    let answer = world.run(&["why", "pdf", "--json"]).json();
    let fields = ["copies", "elsewhere", "name", "not_scanned", "offered", "scanned", "schema", "winner"];
    assert_eq!(keys(&answer), fields);
}
