//! `prowess doctor`.

mod world;

use insta::assert_snapshot;
use world::{BROKEN, World, keys, needing};

#[test]
fn nothing_wrong() {
    let world = World::bare();
    world.skill("~/.agents/skills/pdf");
    assert_snapshot!(world.run(&["doctor"]).whole());
}

#[test]
fn all_there_is_to_note() {
    let world = World::bare();
    world
        .skill(".agents/skills/waiting")
        .file("~/.agents/skills/broken/SKILL.md", BROKEN)
        .file("~/.agents/skills/needy/SKILL.md", needing("needy", "frobnicate gizmo"))
        .file(".claude/skills", "A file where a directory should be.");
    assert_snapshot!(world.run(&["doctor"]).whole());
}

#[test]
fn a_wrong_configuration() {
    let world = World::new().variable("PROWESS_PRESET", "standart");
    let told = world.run(&["doctor"]);
    assert_eq!(told.code, 1);
    let lines: Vec<_> = told.out.lines().skip(1).take(3).collect();
    assert_snapshot!(format!("{}\n--- stderr\n{}", lines.join("\n"), told.err));
}

#[test]
fn a_home_that_is_not_there() {
    let world = World::bare();
    let told = world.run(&["doctor", "--home", "/nonexistent/home"]);
    let lines: Vec<_> = told.out.lines().skip(1).take(2).collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn switched_off() {
    assert_snapshot!(World::bare().run(&["doctor", "--preset", "chat"]).whole());
}

#[test]
fn as_json() {
    let world = World::bare();
    world.skill(".agents/skills/waiting");
    let told = world.run(&["doctor", "--json"]);
    assert_eq!(keys(&told.json()), ["diagnostics", "findings", "healthy", "schema", "version"]);
    assert_snapshot!(told.whole());
}
