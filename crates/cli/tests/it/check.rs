//! `prowess check`.

use crate::support::{BROKEN, TestEnv, keys, skill_md};
use insta::assert_snapshot;

/// Creates a valid skill, one with warnings and an invalid one.
fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.skill("skills/pdf")
        .file("skills/odd/SKILL.md", skill_md("even", "Another name than its directory."))
        .file("skills/broken/SKILL.md", BROKEN);
    env
}

#[test]
fn human_output() {
    assert_snapshot!(env().run(&["check"]).transcript());
}

#[test]
fn as_json() {
    let env = env();
    let result = env.run(&["check", "--format", "json"]);
    assert_eq!(result.out, env.run(&["check", "--json"]).out);
    assert_snapshot!(result.transcript());
}

#[test]
fn json_matches_the_contract() {
    let json = env().run(&["check", "--format", "json"]).json();
    assert_eq!(keys(&json), ["schema", "skills", "summary"]);
    assert_eq!(json["schema"], 1);
    for skill in json["skills"].as_array().unwrap() {
        assert_eq!(keys(skill), ["diagnostics", "name", "path", "valid"]);
    }
    assert_eq!(json["summary"], serde_json::json!({"checked": 3, "valid": 2, "errors": 1, "warnings": 1}));
}

#[test]
fn as_sarif() {
    let json = env().run(&["check", "--format", "sarif"]).json();
    assert_eq!(json["version"], "2.1.0");
    // The rules contain all diagnostics; compare only the results.
    let results = serde_json::to_string_pretty(&json["runs"][0]["results"]).unwrap();
    insta::with_settings!({ filters => [(r#""ruleIndex": \d+"#, r#""ruleIndex": [N]"#)] }, {
        assert_snapshot!(results);
    });
}

#[test]
fn as_github_annotations() {
    assert_snapshot!(env().run(&["check", "--format", "github"]).transcript());
}

#[test]
fn json_conflicts_with_human_format() {
    let result = env().run(&["check", "--json", "--format", "human"]);
    assert_eq!((result.error().0.as_str(), result.code), ("INVALID_PARAM", 2));
    assert_eq!(env().run(&["check", "--json", "--format", "sarif"]).json()["version"], "2.1.0");
}

#[test]
fn standard_input() {
    let env = TestEnv::bare();
    assert_snapshot!(env.run_with(&["check", "-"], "---\nname: pdf\n---\n\nDo it.\n").transcript());
    let result = env.run_with(&["check", "-", "--json"], &skill_md("pdf", "Fills forms."));
    assert_eq!((result.json()["skills"][0]["path"].as_str(), result.code), (Some("<stdin>"), 0));
    assert_eq!(env.run_with(&["check", "-", "--format", "github"], "").code, 1);
}

#[test]
fn strict_enforces_the_specification() {
    let env = env();
    assert_eq!(env.run(&["check", "skills/odd"]).code, 0);
    assert_snapshot!(env.run(&["check", "--strict", "skills/odd"]).transcript());
}

#[test]
fn the_preset_determines_the_severity() {
    let env = env();
    assert_eq!(env.run(&["check", "--preset", "harness", "skills/odd"]).code, 1);
    assert_eq!(env.run(&["check", "--preset", "skill-tool", "skills/odd"]).code, 0);
}

#[test]
fn paths_are_deduplicated() {
    let env = env();
    let result = env.run(&["check", "skills/pdf", "skills/pdf/SKILL.md", "skills/odd", "--json"]);
    assert_eq!(result.json()["summary"]["checked"], 2);
    assert_eq!(env.run(&["check", "skills", "--json"]).json()["summary"]["checked"], 3);
}

#[test]
fn nothing_to_check() {
    let env = TestEnv::bare();
    assert_snapshot!(env.runs(&[&["check"], &["check", "--json"], &["check", "--format", "github"]]));
}

#[test]
fn paths_that_cannot_be_checked() {
    let env = TestEnv::bare();
    env.file("notes.txt", "Not a skill.").file("empty/notes.txt", "Nor here.");
    assert_snapshot!(env.runs(&[
        &["check", "missing"],
        &["check", "notes.txt"],
        &["check", "empty"],
        &["check", "missing", "--json"],
    ]));
}

/// Creates skills that some agents do not load.
fn env_for_agents() -> TestEnv {
    let env = TestEnv::bare();
    env.file(".agents/skills/pdf/SKILL.md", "---\ndescription: Reads. Use when asked.\npaths: '*.pdf'\n---\nOpen it.\n")
        .file(
            ".agents/skills/manual/SKILL.md",
            "---\nname: manual\ndescription: Deploys. Use when asked.\ndisable-model-invocation: true\n---\nDo it.\n",
        )
        .file(".agents/skills/manual/agents/openai.yaml", "policy:\n  allow_implicit_invocation: 'no'\n")
        .skill(".agents/skills/group/nested");
    env
}

#[test]
fn agents_report_what_they_refuse_and_ignore() {
    let env = env_for_agents();
    assert_snapshot!(env.run(&["check", "--agent", "codex", "--agent", "gemini"]).transcript());
    let json = env.run(&["check", "--agent", "gemini-cli", "--json"]);
    assert_eq!((json.code, json.json()["summary"]["errors"].as_u64()), (1, Some(2)));
    assert_eq!(json.json()["summary"]["valid"], 3);
    let sarif = env.run(&["check", "--agent", "codex", "--format", "sarif"]);
    assert_eq!(sarif.code, 0, "{}", sarif.out);
    assert!(sarif.out.contains("SK105"));
}

#[test]
fn an_unknown_agent_gets_a_suggestion() {
    assert_snapshot!(TestEnv::bare().run(&["check", "--agent", "claude-cod"]).transcript());
}
