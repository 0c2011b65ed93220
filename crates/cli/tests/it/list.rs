//! `prowess list`.

use crate::world::{BROKEN, World, keys, needing, skill_md};
use insta::assert_snapshot;

/// One skill of every status.
fn every_status() -> World {
    let world = World::bare();
    world
        .file("~/.prowess/config.toml", "skills.disabled = [\"off\"]\n")
        .described("~/.agents/skills/pdf", "Fills PDF forms. Use when a form is to be filled.")
        .skill("~/.agents/skills/off")
        .skill(".agents/skills/waiting")
        .file("~/.agents/skills/needy/SKILL.md", needing("needy", "frobnicate gizmo"))
        .file("~/.agents/skills/broken/SKILL.md", BROKEN)
        .file("~/.agents/skills/twice/pdf/SKILL.md", skill_md("pdf", "A second one."));
    world
}

#[test]
fn a_first_run_has_the_bundled_skills() {
    let told = World::new().run(&["list"]);
    assert_eq!(told.code, 0);
    assert!(told.out.contains("\nhello-world "), "{}", told.out);
    assert!(told.out.lines().all(|line| line.chars().count() <= 100), "{}", told.out);
}

#[test]
fn nothing_found() {
    assert_snapshot!(World::bare().runs(&[
        &["list"],
        &["list", "--all"],
        &["list", "--quiet"],
        &["list", "--json"]
    ]));
}

#[test]
fn what_is_offered() {
    assert_snapshot!(every_status().run(&["list"]).whole());
}

#[test]
fn all_with_the_reason() {
    assert_snapshot!(every_status().run(&["list", "--all"]).whole());
}

#[test]
fn all_as_json() {
    assert_snapshot!(every_status().run(&["list", "--all", "--json"]).whole());
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let answer = every_status().run(&["list", "--all", "--json"]).json();
    assert_eq!(keys(&answer), ["diagnostics", "schema", "skills"]);
    assert_eq!(answer["schema"], 1);
    let fields = ["bytes", "description", "id", "location", "name", "reason", "scope", "source", "status"];
    for skill in answer["skills"].as_array().unwrap() {
        assert_eq!(keys(skill), fields);
        assert_eq!(skill["reason"].is_null(), skill["status"] == "enabled");
    }
    let fields = ["code", "column", "help", "line", "message", "path", "severity"];
    let diagnostics = answer["diagnostics"].as_array().unwrap();
    assert!(!diagnostics.is_empty());
    assert!(diagnostics.iter().all(|diagnostic| keys(diagnostic) == fields));
    let mut statuses: Vec<_> =
        answer["skills"].as_array().unwrap().iter().map(|skill| &skill["status"]).collect();
    statuses.sort_by_key(ToString::to_string);
    assert_eq!(statuses, ["disabled", "enabled", "invalid", "shadowed", "unavailable", "untrusted"]);
}

#[test]
fn json_without_all_has_only_what_is_offered() {
    let answer = every_status().run(&["list", "--json"]).json();
    let names: Vec<_> = answer["skills"].as_array().unwrap().iter().map(|skill| &skill["name"]).collect();
    assert_eq!(names, ["pdf"]);
}

#[test]
fn wide_names_are_aligned_and_wide_texts_are_cut_to_the_same_width() {
    let world = World::bare();
    world
        .described("~/.agents/skills/pdf", &"Fills forms. ".repeat(12))
        .described("~/.agents/skills/日本語", &"日本語の説明文です。".repeat(12))
        .described("~/.agents/skills/tiếng-việt", "Nói tiếng Việt.")
        .described(
            "~/.agents/skills/a-name-that-is-far-longer-than-the-column-of-names",
            &"Long. ".repeat(30),
        );
    assert_snapshot!(world.run(&["list"]).whole());
}

#[test]
fn verbose_says_all_there_is_to_say() {
    assert_snapshot!(every_status().run(&["list", "-v"]).whole());
}

#[test]
fn quiet_leaves_only_the_answer() {
    let told = every_status().run(&["list", "--quiet"]);
    assert_eq!((told.err.as_str(), told.code), ("", 0));
}
