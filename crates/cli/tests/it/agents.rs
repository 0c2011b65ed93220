//! `prowess install --agent`: one skill in the folders of several agents.

use std::fs;
use std::os::unix::fs::symlink;

use crate::world::{CHANGING, World};
use insta::{assert_snapshot, with_settings};

fn world() -> World {
    let world = World::bare();
    world.skill("~/shelf/pdf").file(".git/HEAD", "");
    world
}

#[test]
fn linked_where_an_agent_looks() {
    let world = world();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["install", "~/shelf/pdf", "--agent", "claude-code", "--agent", "codex", "--dry-run"],
            &["install", "~/shelf/pdf", "--agent", "claude-code", "--agent", "codex"],
            &["install", "~/shelf/pdf", "--agent", "claude-code"],
            &["install", "~/shelf/pdf", "--agent", "claude-code", "--json"],
            &["list"],
        ]));
    });
    assert_eq!(world.tree(".claude"), ["skills/pdf → ../../.agents/skills/pdf"]);
    let plugins = world.run(&["plugins", "--json"]).json();
    let agents = plugins["plugins"][0]["agents"].as_array().unwrap();
    assert!(agents.contains(&"claude-code".into()) && agents.contains(&"codex".into()));
    assert_eq!(world.run(&["remove", "pdf"]).code, 0);
    assert_eq!((world.tree(".claude"), world.tree(".agents")), (Vec::new(), Vec::new()));
}

#[test]
fn copies_are_kept_in_step() {
    let world = world();
    let install = ["install", "~/shelf/pdf", "--agent", "claude-code", "--copy"];
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[&install, &install]));
    });
    world.described("~/shelf/pdf", "Does more.");
    assert_snapshot!("copies_are_updated", world.run(&["update"]).whole());
    assert_eq!(world.text(".claude/skills/pdf/SKILL.md"), world.text(".agents/skills/pdf/SKILL.md"));
    assert_eq!(world.tree(".claude"), ["skills/pdf/SKILL.md"]);
    assert_snapshot!("copies_are_removed", world.run(&["remove", "pdf"]).whole());
    assert_eq!(world.tree(".claude"), Vec::<String>::new());
}

#[test]
fn a_copy_that_was_changed_stays() {
    let world = world();
    let install = ["install", "~/shelf/pdf", "--agent", "claude-code", "--copy"];
    assert_eq!(world.run(&install).code, 0);
    world.file(".claude/skills/pdf/mine.md", "Mine.\n").described("~/shelf/pdf", "Does more.");
    assert_eq!(world.run(&["update"]).code, 0);
    assert_eq!(world.run(&["remove", "pdf"]).code, 0);
    assert_eq!(world.tree(".claude"), ["skills/pdf/SKILL.md", "skills/pdf/mine.md"]);
}

#[test]
fn a_name_that_is_taken_there_stops_everything() {
    let world = world();
    world.skill(".claude/skills/pdf");
    let install = ["install", "~/shelf/pdf", "--agent", "claude-code"];
    assert_snapshot!(world.runs(&[&install]));
    assert!(!world.path(".agents").exists() && !world.path("skills.lock").exists());
    // So does a link to something else, or to nothing.
    fs::remove_dir_all(world.path(".claude/skills/pdf")).unwrap();
    symlink("../../nowhere", world.path(".claude/skills/pdf")).unwrap();
    let told = world.run(&[&install[..], &["--json"]].concat());
    assert_eq!((told.error().0.as_str(), told.code), ("CONFLICT", 1));
    assert!(!world.path(".agents").exists() && !world.path("skills.lock").exists());
}

#[test]
fn agents_that_are_not_known() {
    let world = world();
    let told = world.run(&["install", "~/shelf/pdf", "--agent", "claud-code"]);
    assert_eq!(told.code, 2);
    assert!(told.err.contains("there is no agent named claud-code"), "{}", told.err);
    assert!(told.err.contains("did you mean claude-code?"), "{}", told.err);
    // One that keeps skills in projects only.
    let told = world.run(&["install", "~/shelf/pdf", "--agent", "eve", "--user", "--json"]);
    assert_eq!((told.error().0.as_str(), told.code), ("INVALID_PARAM", 2));
    assert_eq!(world.run(&["install", "~/shelf/pdf", "--copy"]).code, 2);
}
