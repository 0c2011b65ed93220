//! `prowess list`.

use crate::support::{BROKEN, TestEnv, keys, needing, skill_md};
use insta::assert_snapshot;

/// Creates a skill of every status.
fn every_status() -> TestEnv {
    let env = TestEnv::bare();
    env.file("~/.prowess/config.toml", "skills.disabled = [\"off\"]\n")
        .skill_with_description("~/.agents/skills/pdf", "Fills PDF forms. Use when a form is to be filled.")
        .skill("~/.agents/skills/off")
        .skill(".agents/skills/waiting")
        .file("~/.agents/skills/needy/SKILL.md", needing("needy", "frobnicate gizmo"))
        .file("~/.agents/skills/broken/SKILL.md", BROKEN)
        .file("~/.agents/skills/twice/pdf/SKILL.md", skill_md("pdf", "A second one."));
    env
}

#[test]
fn a_first_run_has_the_bundled_skills() {
    let result = TestEnv::new().run(&["list"]);
    assert_eq!(result.code, 0);
    assert!(
        result.out.starts_with("code-review ") && result.out.contains("\nskill-writer "),
        "{}",
        result.out
    );
    assert!(!result.out.contains('…'), "{}", result.out);
}

#[test]
fn nothing_found() {
    assert_snapshot!(TestEnv::bare().runs(&[
        &["list"],
        &["list", "--all"],
        &["list", "--quiet"],
        &["list", "--json"]
    ]));
}

#[test]
fn available_skills() {
    assert_snapshot!(every_status().run(&["list"]).transcript());
}

#[test]
fn all_with_the_reason() {
    assert_snapshot!(every_status().run(&["list", "--all"]).transcript());
}

#[test]
fn all_as_json() {
    assert_snapshot!(every_status().run(&["list", "--all", "--json"]).transcript());
}

#[test]
fn json_matches_the_contract() {
    let json = every_status().run(&["list", "--all", "--json"]).json();
    assert_eq!(keys(&json), ["diagnostics", "schema", "skills"]);
    assert_eq!(json["schema"], 1);
    let fields =
        ["agents", "bytes", "description", "id", "location", "name", "reason", "scope", "source", "status"];
    for skill in json["skills"].as_array().unwrap() {
        assert_eq!(keys(skill), fields);
        assert_eq!(skill["reason"].is_null(), skill["status"] == "enabled");
    }
    let fields = ["code", "column", "help", "line", "message", "path", "severity"];
    let diagnostics = json["diagnostics"].as_array().unwrap();
    assert!(!diagnostics.is_empty());
    assert!(diagnostics.iter().all(|diagnostic| keys(diagnostic) == fields));
    let mut statuses: Vec<_> =
        json["skills"].as_array().unwrap().iter().map(|skill| &skill["status"]).collect();
    statuses.sort_by_key(ToString::to_string);
    assert_eq!(statuses, ["disabled", "enabled", "invalid", "shadowed", "unavailable", "untrusted"]);
}

#[test]
fn json_without_all_has_only_available_skills() {
    let json = every_status().run(&["list", "--json"]).json();
    let names: Vec<_> = json["skills"].as_array().unwrap().iter().map(|skill| &skill["name"]).collect();
    assert_eq!(names, ["pdf"]);
}

#[test]
fn wide_characters_are_aligned() {
    let env = TestEnv::bare();
    env.skill_with_description("~/.agents/skills/pdf", &"Fills forms. ".repeat(12))
        .skill_with_description("~/.agents/skills/日本語", &"日本語の説明文です。".repeat(12))
        .skill_with_description("~/.agents/skills/tiếng-việt", "Nói tiếng Việt.")
        .skill_with_description(
            "~/.agents/skills/a-name-that-is-far-longer-than-the-column-of-names",
            &"Long. ".repeat(30),
        );
    assert_snapshot!(env.run(&["list"]).transcript());
}

#[test]
fn verbose_shows_all_diagnostics() {
    assert_snapshot!(every_status().run(&["list", "-v"]).transcript());
}

#[test]
fn quiet_prints_only_the_result() {
    let result = every_status().run(&["list", "--quiet"]);
    assert_eq!((result.err.as_str(), result.code), ("", 0));
}
