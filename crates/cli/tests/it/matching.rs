//! `prowess match` and `prowess eval`.

use crate::support::{TestEnv, keys};
use insta::assert_snapshot;

fn triggered(env: &TestEnv, name: &str, triggers: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}.\ntriggers: {triggers}\n---\n\nBody.\n");
    env.file(&format!("~/.agents/skills/{name}/SKILL.md"), text);
}

fn env() -> TestEnv {
    let env = TestEnv::bare();
    triggered(&env, "pdf", r"{keywords: [pdf, fill a form], verbs: [merge], patterns: ['form \d+']}");
    triggered(&env, "merge-requests", "{keywords: [merge]}");
    env.skill_with_description("~/.agents/skills/日本語", "Translates Japanese.");
    env
}

#[test]
fn s003_02_s003_03_s003_04_s003_05_tiers_and_reasons() {
    let none = TestEnv::bare();
    assert_snapshot!(
        none.runs(&[&["match", "anything"]])
            + "\n"
            + &env().runs(&[
                &["match", "zzz"],
                &["match", "what can you do?"],
                &["match", "translates japanese"],
                &["match", "MERGE form 3"],
                &["match", "fill a form and merge it", "-k", "1"],
                &["match", "use the pdf skill"],
                &["match", "$pdf and /pdf"],
                &["match", "/pdf now"],
                &["match", ""],
                &["match", "zzz", "--quiet"],
            ])
    );
}

#[test]
fn as_json() {
    let none = TestEnv::bare();
    assert_snapshot!(
        none.runs(&[&["match", "anything", "--json"]])
            + "\n"
            + &env().runs(&[&["match", "merge form 3", "--json"], &["match", "zzz", "--json"]])
    );
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let json = env().run(&["match", "merge form 3", "--json"]).json();
    assert_eq!(keys(&json), ["fits", "matches", "query", "schema", "tier"]);
    assert_eq!(
        (&json["schema"], &json["query"], &json["tier"]),
        (&1.into(), &"merge form 3".into(), &3.into())
    );
    let matches = json["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 2);
    for found in matches {
        assert_eq!(keys(found), ["confidence", "name", "reasons", "score"]);
        assert!(found["name"].is_string() && found["score"].is_f64());
        assert!(found["reasons"].as_array().unwrap().iter().all(serde_json::Value::is_string));
    }
}

#[test]
fn s003_06_recent_use_is_stored_across_runs() {
    let first = |env: &TestEnv| env.run(&["match", "merge", "--json"]).json()["matches"][0]["name"].clone();
    let env = env();
    assert_eq!(first(&env), "merge-requests");
    assert_eq!(env.run(&["activate", "pdf"]).code, 0);
    assert_eq!(first(&env), "pdf");
    let result = env.run(&["match", "merge"]);
    assert!(result.out.lines().nth(1).unwrap().contains("verb: merge, used recently"), "{}", result.out);
    assert_eq!(env.run(&["call", "skills.activate", r#"{"name":"merge-requests"}"#]).code, 0);
    assert!(env.run(&["match", "merge"]).out.matches("used recently").count() == 2);
}

#[test]
fn uses_are_stored_by_id_in_presets_that_identify_by_id() {
    let env = TestEnv::new();
    env.file(".agents/skills/reader/SKILL.md", "---\nname: PDF Reader\ndescription: Reads.\n---\nx\n");
    assert_eq!(env.run(&["--preset", "app", "activate", "reader"]).code, 0);
    let result = env.run(&["--preset", "app", "match", "reads"]);
    assert!(result.out.contains("reader") && result.out.contains("used recently"), "{}", result.transcript());
}

#[test]
fn invalid_patterns_are_reported() {
    let env = TestEnv::bare();
    triggered(&env, "odd", "{keywords: [widget], patterns: ['(']}");
    assert_snapshot!(env.run(&["match", "widget"]).transcript());
}

#[test]
fn eval_scores_labelled_queries() {
    let env = env();
    env.file(
        "good.jsonl",
        "{\"query\":\"merge\",\"skills\":[\"merge-requests\"],\"subset\":\"one\"}\n\n\
         {\"query\":\"fill a form\",\"skills\":[\"pdf\"],\"subset\":\"two\"}\n\
         {\"query\":\"merge\",\"not_skills\":[\"merge-requests\"]}\n",
    );
    env.file("bad.jsonl", "{\"query\":\"merge\",\"skills\":[\"pdf\"]}\nnonsense\n").file("empty.jsonl", "");
    env.file("kind.jsonl", "{\"query\":3}\n");
    env.file(
        "unlabelled.jsonl",
        "{\"query\":\"merge\",\"skills\":[\"pdf\"]}\n{\"query\":\"x\",\"expected\":\"pdf\"}\n",
    );
    assert_snapshot!(env.runs(&[
        &["eval", "good.jsonl"],
        &["eval", "good.jsonl", "-k", "1", "--json"],
        &["eval", "empty.jsonl"],
        &["eval", "bad.jsonl"],
        &["eval", "bad.jsonl", "--json"],
        &["eval", "kind.jsonl"],
        &["eval", "unlabelled.jsonl"],
        &["eval", "missing.jsonl"],
        &["eval", "."],
    ]));
}

#[test]
fn eval_supports_trigger_lists_and_comparison() {
    let env = env();
    env.file(
        "triggers.json",
        "[{\"query\":\"fill a form\",\"should_trigger\":true},{\"query\":\"merge\",\"should_trigger\":false}]",
    );
    env.file("without.toml", "[skills]\ndisabled = [\"pdf\"]\n");
    assert_snapshot!(env.runs(&[
        &["eval", "triggers.json", "--skill", "pdf"],
        &["eval", "triggers.json", "--skill", "pdf", "--compare", "without.toml"],
        &["eval", "triggers.json", "--skill", "pdf", "--compare", "without.toml", "--json"],
        &["eval", "triggers.json"],
    ]));
}

#[test]
fn lint_reports_confusable_skills() {
    let env = TestEnv::bare();
    let skill = |name: &str, about: &str, body: &str| {
        env.file(
            &format!("~/.agents/skills/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: {about}\n---\n\n{body}\n"),
        );
    };
    skill("one", "Handles documents of all kinds.", "Merge chapters.");
    skill("two", "Handles documents of all kinds.", "Sign with certificates.");
    skill("weather", "Tells the forecast of any city.", "Ask a station.");
    assert_snapshot!(env.runs(&[&["lint", "--routing"], &["lint", "--routing", "--json"], &["lint"]]));
}
