//! `prowess config`: the settings in force, and mistakes in them.

use crate::world::{World, keys};
use insta::assert_snapshot;

/// Only what somebody set: which settings there are is told elsewhere.
fn set(world: &World, args: &[&str]) -> String {
    let told = world.run(args);
    let lines = told.out.lines().filter(|line| !line.contains("  # preset "));
    format!("{}\n--- stderr\n{}--- exit {}\n", lines.collect::<Vec<_>>().join("\n"), told.err, told.code)
}

#[test]
fn every_value_has_its_origin() {
    let world = World::new().variable("PROWESS_SKILLS_ENABLED", "true");
    world
        .file("~/.prowess/config.toml", "[scan]\ndepth = 3\n")
        .file(".prowess/config.toml", "[skills]\ndisabled = [\"pdf\"]\n")
        .file("more.yaml", "catalog:\n  budget-tokens: 4000\n")
        .file("skills/README.md", "");
    assert_snapshot!(set(&world, &["config", "--config", "more.yaml", "--root", "skills"]));
}

#[test]
fn without_any_file() {
    assert_snapshot!(set(&World::new(), &["config"]));
}

#[test]
fn as_json() {
    let answer = World::new().run(&["config", "--json"]).json();
    assert_eq!(keys(&answer), ["diagnostics", "files", "schema", "settings"]);
    assert!(
        answer["settings"]
            .as_array()
            .unwrap()
            .iter()
            .all(|setting| keys(setting) == ["key", "origin", "value"])
    );
    assert_snapshot!(serde_json::to_string_pretty(&answer["files"]).unwrap());
}

#[test]
fn mistakes_stop_every_other_command() {
    let world = World::new();
    world.file("~/.prowess/config.toml", "[scan]\ndpeth = 3\n");
    assert_snapshot!(world.runs(&[&["list"], &["list", "--json"]]) + "\n" + &set(&world, &["config"]));
}

#[test]
fn mistakes_are_told_to_programs_too() {
    let world = World::new();
    world.file("~/.prowess/config.toml", "[scan]\ndepth = \"deep\"\n");
    for args in [&["config", "--json"], &["list", "--json"]] {
        let told = world.run(args);
        assert_eq!((told.error().0.as_str(), told.code), ("INVALID_PARAM", 2));
        assert!(told.error().1.contains("config.toml: "), "{}", told.error().1);
    }
    assert_eq!(world.run(&["doctor", "--json"]).json()["healthy"], false);
}

#[test]
fn a_project_cannot_stop_the_user() {
    let world = World::bare();
    world.skill("~/.agents/skills/pdf").file(".prowess/config.toml", "[scan]\ndpeth = 3\n");
    assert_snapshot!(world.run(&["list"]).whole());
}

#[test]
fn a_file_that_is_not_there() {
    let world = World::new();
    assert_snapshot!(
        world.runs(&[&["list", "--config", "missing.toml"], &["list", "--config", "missing.txt", "--json"]])
    );
}
