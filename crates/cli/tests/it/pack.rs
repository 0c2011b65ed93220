//! `prowess pack` and `prowess index`.

use std::fs;

use crate::world::{BROKEN, World, keys, skill_md};
use insta::assert_snapshot;

fn world() -> World {
    let world = World::bare();
    world.skill("skills/pdf").file("skills/pdf/scripts/fill.sh", "#!/bin/sh\n").skill("skills/csv");
    world
}

#[test]
fn a_folder_to_an_archive() {
    let world = world();
    assert_snapshot!(world.runs(&[
        &["pack", "skills/pdf"],
        &["pack", "skills/pdf", "--output", "other.zip", "--json"],
        &["pack", "skills"],
        &["pack", "nowhere"],
        &["pack", "skills/pdf", "--output", "skills/pdf/in.skill"],
    ]));
    assert_eq!(fs::read(world.path("pdf.skill")).unwrap(), fs::read(world.path("other.zip")).unwrap());
    assert_eq!(world.run(&["install", "./pdf.skill"]).code, 0);
    assert_eq!(world.run(&["verify"]).code, 0);
}

#[test]
fn a_folder_of_skills_to_an_index() {
    let world = world();
    assert_snapshot!(world.runs(&[
        &["index", "skills"],
        &["index", "skills", "--output", "site", "--json"],
        &["index", "nowhere"],
        &["index", "skills/pdf"],
    ]));
    assert_eq!(world.tree("public"), world.tree("site"));
    let index = world.text("public/.well-known/agent-skills/index.json");
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    assert_eq!(keys(&index["skills"][0]), ["description", "digest", "name", "type", "url"]);
}

#[test]
fn what_does_not_load_is_not_packed() {
    let world = world();
    world.file("skills/broken/SKILL.md", BROKEN).file("skills/twice/SKILL.md", skill_md("pdf", "Again."));
    assert_snapshot!(world.runs(&[&["pack", "skills/broken"], &["index", "skills"]]));
    assert!(!world.path("public").exists());
}
