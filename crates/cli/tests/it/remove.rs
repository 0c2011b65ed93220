//! `prowess remove`: what was installed, what was made, and what stays.

use crate::world::{CHANGING, World, keys};
use insta::{assert_snapshot, with_settings};

fn world() -> World {
    let world = World::bare();
    world.skill("~/shelf/pdf").skill("~/shelf/csv");
    assert_eq!(world.run(&["install", "~/shelf", "--all"]).code, 0);
    world
}

#[test]
fn what_was_installed() {
    let world = world();
    assert_snapshot!(world.runs(&[
        &["remove", "pdf", "--dry-run"],
        &["remove", "pdf"],
        &["remove", "pdf"],
        &["remove", "pdf", "--json"],
        &["remove", "cvs"],
        &["remove", "csv", "--json"],
    ]));
    assert!(!world.path("~/.prowess/state/installed.json").exists(), "an empty lock is none");
    assert_eq!(world.tree("~/.agents"), Vec::<String>::new());
}

#[test]
fn several_at_once_and_all_names_are_looked_at_first() {
    let world = world();
    assert_eq!(world.run(&["remove", "pdf", "nothing"]).code, 1);
    assert_eq!(world.tree("~/.agents/skills").len(), 2);
    let told = world.run(&["remove", "pdf", "csv", "--json"]);
    assert_eq!(keys(&told.json()), ["dry_run", "links", "schema", "skills"]);
    assert_eq!(world.tree("~/.agents/skills").len(), 0);
}

#[test]
fn what_was_made_needs_a_yes() {
    let world = World::bare();
    world.skill("~/.agents/skills/mine");
    assert_snapshot!(world.runs(&[
        &["remove", "mine"],
        &["remove", "mine", "--json"],
        &["remove", "mine", "--dry-run"],
        &["remove", "mine", "--yes"],
    ]));
    assert_eq!(world.tree("~/.agents"), Vec::<String>::new());
}

#[test]
fn what_is_bundled_or_a_link_stays_and_says_why() {
    let world = World::new();
    world.skill("~/elsewhere/linked").file("~/.agents/skills/x", "");
    std::os::unix::fs::symlink("../../elsewhere/linked", world.path("~/.agents/skills/linked")).unwrap();
    assert_snapshot!(world.runs(&[
        &["remove", "hello-world"],
        &["remove", "hello-world", "--yes", "--json"],
        &["remove", "linked", "--yes"],
    ]));
    let told = world.run(&["remove", "hello-world", "--json"]);
    assert_eq!((told.error().0.as_str(), told.code), ("ACCESS_DENIED", 1));
}

#[test]
fn the_scope_says_which_of_two() {
    let world = world();
    assert_eq!(world.run(&["install", "~/shelf/pdf", "--project"]).code, 0);
    assert_eq!(world.run(&["remove", "pdf", "--user"]).code, 0);
    assert_eq!(world.tree(".agents/skills"), ["pdf/SKILL.md"]);
    let told = world.run(&["remove", "csv", "--project"]);
    assert_eq!(told.code, 1, "{}", told.whole());
    assert_eq!(world.tree("~/.agents/skills"), ["csv/SKILL.md"]);
    assert_eq!(world.run(&["remove", "pdf"]).code, 0);
    assert_eq!(world.tree(".agents/skills"), Vec::<String>::new());
}

#[test]
fn what_was_modified_needs_a_yes() {
    let world = world();
    world.file("~/.agents/skills/pdf/notes.md", "Mine.\n");
    assert_snapshot!(world.runs(&[&["remove", "pdf"], &["remove", "pdf", "--yes"]]));
}

#[test]
fn by_way_of_manage() {
    let world = world();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["skill", "manage", "list"],
            &["skill", "manage", "remove", "pdf"],
            &["skill", "manage", "list", "--json"],
        ]));
    });
}
