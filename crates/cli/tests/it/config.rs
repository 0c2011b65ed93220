//! `prowess config`: effective settings and configuration errors.

use crate::support::{TestEnv, keys};
use insta::assert_snapshot;

/// Returns only settings that differ from the preset.
fn set(env: &TestEnv, args: &[&str]) -> String {
    let result = env.run(args);
    let lines = result.out.lines().filter(|line| !line.contains("  # preset "));
    format!("{}\n--- stderr\n{}--- exit {}\n", lines.collect::<Vec<_>>().join("\n"), result.err, result.code)
}

#[test]
fn every_value_has_its_origin() {
    let env = TestEnv::new().variable("PROWESS_SKILLS_ENABLED", "true");
    env.file("~/.prowess/config.toml", "[scan]\ndepth = 3\n")
        .file(".prowess/config.toml", "[skills]\ndisabled = [\"pdf\"]\n")
        .file("more.yaml", "catalog:\n  budget-tokens: 4000\n")
        .file("skills/README.md", "");
    assert_snapshot!(set(&env, &["config", "--config", "more.yaml", "--root", "skills"]));
}

#[test]
fn without_any_file() {
    assert_snapshot!(set(&TestEnv::new(), &["config"]));
}

#[test]
fn as_json() {
    let json = TestEnv::new().run(&["config", "--json"]).json();
    assert_eq!(keys(&json), ["diagnostics", "files", "schema", "settings"]);
    assert!(
        json["settings"]
            .as_array()
            .unwrap()
            .iter()
            .all(|setting| keys(setting) == ["key", "origin", "value"])
    );
    assert_snapshot!(serde_json::to_string_pretty(&json["files"]).unwrap());
}

#[test]
fn errors_stop_every_other_command() {
    let env = TestEnv::new();
    env.file("~/.prowess/config.toml", "[scan]\ndpeth = 3\n");
    assert_snapshot!(env.runs(&[&["list"], &["list", "--json"]]) + "\n" + &set(&env, &["config"]));
}

#[test]
fn errors_are_in_the_json_output() {
    let env = TestEnv::new();
    env.file("~/.prowess/config.toml", "[scan]\ndepth = \"deep\"\n");
    for args in [&["config", "--json"], &["list", "--json"]] {
        let result = env.run(args);
        assert_eq!((result.error().0.as_str(), result.code), ("INVALID_PARAM", 2));
        assert!(result.error().1.contains("config.toml: "), "{}", result.error().1);
    }
    assert_eq!(env.run(&["doctor", "--json"]).json()["healthy"], false);
}

#[test]
fn errors_in_a_project_do_not_stop_commands() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/pdf").file(".prowess/config.toml", "[scan]\ndpeth = 3\n");
    assert_snapshot!(env.run(&["list"]).transcript());
}

#[test]
fn a_missing_file() {
    let env = TestEnv::new();
    assert_snapshot!(
        env.runs(&[&["list", "--config", "missing.toml"], &["list", "--config", "missing.txt", "--json"]])
    );
}
