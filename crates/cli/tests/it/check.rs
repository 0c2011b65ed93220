//! `prowess check`.

use crate::world::{BROKEN, World, keys, skill_md};
use insta::assert_snapshot;

/// One that is good, one with warnings, one that does not load.
fn world() -> World {
    let world = World::bare();
    world
        .skill("skills/pdf")
        .file("skills/odd/SKILL.md", skill_md("even", "Another name than the folder's."))
        .file("skills/broken/SKILL.md", BROKEN);
    world
}

#[test]
fn for_people() {
    assert_snapshot!(world().run(&["check"]).whole());
}

#[test]
fn as_json() {
    let world = world();
    let told = world.run(&["check", "--format", "json"]);
    assert_eq!(told.out, world.run(&["check", "--json"]).out);
    assert_snapshot!(told.whole());
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let answer = world().run(&["check", "--format", "json"]).json();
    assert_eq!(keys(&answer), ["schema", "skills", "summary"]);
    assert_eq!(answer["schema"], 1);
    for skill in answer["skills"].as_array().unwrap() {
        assert_eq!(keys(skill), ["diagnostics", "name", "path", "valid"]);
    }
    assert_eq!(answer["summary"], serde_json::json!({"checked": 3, "valid": 2, "errors": 1, "warnings": 1}));
}

#[test]
fn as_sarif() {
    let answer = world().run(&["check", "--format", "sarif"]).json();
    assert_eq!(answer["version"], "2.1.0");
    // The rules are the whole list of diagnostics; the results are what this run says.
    let results = serde_json::to_string_pretty(&answer["runs"][0]["results"]).unwrap();
    insta::with_settings!({ filters => [(r#""ruleIndex": \d+"#, r#""ruleIndex": [N]"#)] }, {
        assert_snapshot!(results);
    });
}

#[test]
fn as_github_annotations() {
    assert_snapshot!(world().run(&["check", "--format", "github"]).whole());
}

#[test]
fn json_and_a_format_for_people_contradict_each_other() {
    let told = world().run(&["check", "--json", "--format", "human"]);
    assert_eq!((told.error().0.as_str(), told.code), ("INVALID_PARAM", 2));
    assert_eq!(world().run(&["check", "--json", "--format", "sarif"]).json()["version"], "2.1.0");
}

#[test]
fn standard_input() {
    let world = World::bare();
    assert_snapshot!(world.run_with(&["check", "-"], "---\nname: pdf\n---\n\nDo it.\n").whole());
    let told = world.run_with(&["check", "-", "--json"], &skill_md("pdf", "Fills forms."));
    assert_eq!((told.json()["skills"][0]["path"].as_str(), told.code), (Some("<stdin>"), 0));
    assert_eq!(world.run_with(&["check", "-", "--format", "github"], "").code, 1);
}

#[test]
fn strict_holds_everything_to_the_specification() {
    let world = world();
    assert_eq!(world.run(&["check", "skills/odd"]).code, 0);
    assert_snapshot!(world.run(&["check", "--strict", "skills/odd"]).whole());
}

#[test]
fn the_preset_decides_what_an_error_is() {
    let world = world();
    assert_eq!(world.run(&["check", "--preset", "harness", "skills/odd"]).code, 1);
    assert_eq!(world.run(&["check", "--preset", "skill-tool", "skills/odd"]).code, 0);
}

#[test]
fn paths_are_folders_files_and_trees_and_each_skill_counts_once() {
    let world = world();
    let told = world.run(&["check", "skills/pdf", "skills/pdf/SKILL.md", "skills/odd", "--json"]);
    assert_eq!(told.json()["summary"]["checked"], 2);
    assert_eq!(world.run(&["check", "skills", "--json"]).json()["summary"]["checked"], 3);
}

#[test]
fn nothing_to_check() {
    let world = World::bare();
    assert_snapshot!(world.runs(&[&["check"], &["check", "--json"], &["check", "--format", "github"]]));
}

#[test]
fn what_cannot_be_checked() {
    let world = World::bare();
    world.file("notes.txt", "Not a skill.").file("empty/notes.txt", "Nor here.");
    assert_snapshot!(world.runs(&[
        &["check", "missing"],
        &["check", "notes.txt"],
        &["check", "empty"],
        &["check", "missing", "--json"],
    ]));
}
