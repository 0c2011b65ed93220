//! `prowess trust` and `prowess untrust`.

use crate::world::World;
use insta::assert_snapshot;

#[test]
fn from_trust_to_untrust() {
    let world = World::bare();
    world.skill(".agents/skills/pdf").skill(".claude/skills/docx");
    assert_snapshot!(world.runs(&[
        &["list"],
        &["trust"],
        &["list"],
        &["untrust"],
        &["untrust"],
        &["untrust", "--json"],
        &["list"],
    ]));
}

#[test]
fn again_after_changes() {
    let world = World::bare();
    world.skill(".agents/skills/pdf").skill(".agents/skills/docx");
    world.run(&["trust", "--pinned"]);
    world.described(".agents/skills/pdf", "Something else.").skill(".agents/skills/added");
    std::fs::remove_dir_all(world.path(".agents/skills/docx")).unwrap();
    assert_snapshot!(world.runs(&[&["list", "--all"], &["doctor"], &["trust", "--pinned"], &["list"]]));
}

#[test]
fn as_json() {
    let world = World::bare();
    world.skill(".agents/skills/pdf");
    assert_snapshot!(world.runs(&[&["trust", "--json"], &["untrust", "--json"]]));
}

#[test]
fn a_project_without_skills() {
    assert_snapshot!(World::bare().run(&["trust"]).whole());
}

#[test]
fn what_cannot_be_trusted() {
    let world = World::bare();
    world.file("~/.prowess/state/trust.json", "{");
    assert_snapshot!(world.runs(&[
        &["trust", "missing"],
        &["trust", "missing", "--json"],
        &["trust"],
        &["untrust"],
        &["list"],
    ]));
}

#[test]
fn only_what_is_trusted_is_said_to_be() {
    let world = World::bare();
    world
        .skill(".agents/skills/pdf")
        .skill(".agents/skills/cloned")
        .file(".agents/skills/cloned/.git/HEAD", "")
        .file(".agents/skills/broken/SKILL.md", crate::world::BROKEN);
    assert_snapshot!(world.runs(&[&["trust"], &["trust", "--json"]]));
    assert_snapshot!(
        "a_skill_of_its_own_is_called_by_its_name",
        world.runs(&[&["trust", ".agents/skills/pdf", "--pinned"]])
    );
}
