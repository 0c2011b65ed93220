//! `prowess match` and `prowess eval`.

use crate::world::{World, keys};
use insta::assert_snapshot;

fn triggered(world: &World, name: &str, triggers: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}.\ntriggers: {triggers}\n---\n\nBody.\n");
    world.file(&format!("~/.agents/skills/{name}/SKILL.md"), text);
}

fn world() -> World {
    let world = World::bare();
    triggered(&world, "pdf", r"{keywords: [pdf, fill a form], verbs: [merge], patterns: ['form \d+']}");
    triggered(&world, "merge-requests", "{keywords: [merge]}");
    world.described("~/.agents/skills/日本語", "Translates Japanese.");
    world
}

#[test]
fn s003_02_s003_03_s003_04_s003_05_tiers_and_reasons() {
    let none = World::bare();
    assert_snapshot!(
        none.runs(&[&["match", "anything"]])
            + "\n"
            + &world().runs(&[
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
    let none = World::bare();
    assert_snapshot!(
        none.runs(&[&["match", "anything", "--json"]])
            + "\n"
            + &world().runs(&[&["match", "merge form 3", "--json"], &["match", "zzz", "--json"]])
    );
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let answer = world().run(&["match", "merge form 3", "--json"]).json();
    assert_eq!(keys(&answer), ["fits", "matches", "query", "schema", "tier"]);
    assert_eq!(
        (&answer["schema"], &answer["query"], &answer["tier"]),
        (&1.into(), &"merge form 3".into(), &3.into())
    );
    let matches = answer["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 2);
    for found in matches {
        assert_eq!(keys(found), ["confidence", "name", "reasons", "score"]);
        assert!(found["name"].is_string() && found["score"].is_f64());
        assert!(found["reasons"].as_array().unwrap().iter().all(serde_json::Value::is_string));
    }
}

#[test]
fn s003_06_recent_use_is_remembered_across_runs() {
    let first = |world: &World| world.run(&["match", "merge", "--json"]).json()["matches"][0]["name"].clone();
    let world = world();
    assert_eq!(first(&world), "merge-requests");
    assert_eq!(world.run(&["activate", "pdf"]).code, 0);
    assert_eq!(first(&world), "pdf");
    let told = world.run(&["match", "merge"]);
    assert!(told.out.lines().nth(1).unwrap().contains("verb: merge, used recently"), "{}", told.out);
    assert_eq!(world.run(&["call", "skills.activate", r#"{"name":"merge-requests"}"#]).code, 0);
    assert!(world.run(&["match", "merge"]).out.matches("used recently").count() == 2);
}

#[test]
fn where_folders_count_uses_are_remembered_by_them() {
    let world = World::new();
    world.file(".agents/skills/reader/SKILL.md", "---\nname: PDF Reader\ndescription: Reads.\n---\nx\n");
    assert_eq!(world.run(&["--preset", "app", "activate", "reader"]).code, 0);
    let told = world.run(&["--preset", "app", "match", "reads"]);
    assert!(told.out.contains("reader") && told.out.contains("used recently"), "{}", told.whole());
}

#[test]
fn bad_patterns_are_said() {
    let world = World::bare();
    triggered(&world, "odd", "{keywords: [ok], patterns: ['(']}");
    assert_snapshot!(world.run(&["match", "ok"]).whole());
}

#[test]
fn eval_scores_labelled_queries() {
    let world = world();
    world.file(
        "good.jsonl",
        "{\"query\":\"merge\",\"skills\":[\"merge-requests\"],\"subset\":\"one\"}\n\n\
         {\"query\":\"fill a form\",\"skills\":[\"pdf\"],\"subset\":\"two\"}\n\
         {\"query\":\"merge\",\"not_skills\":[\"merge-requests\"]}\n",
    );
    world.file("bad.jsonl", "{\"query\":\"merge\",\"skills\":[\"pdf\"]}\nnonsense\n").file("empty.jsonl", "");
    world.file("kind.jsonl", "{\"query\":3}\n");
    world.file(
        "unlabelled.jsonl",
        "{\"query\":\"merge\",\"skills\":[\"pdf\"]}\n{\"query\":\"x\",\"expected\":\"pdf\"}\n",
    );
    assert_snapshot!(world.runs(&[
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
fn eval_reads_trigger_lists_and_compares_configurations() {
    let world = world();
    world.file(
        "triggers.json",
        "[{\"query\":\"fill a form\",\"should_trigger\":true},{\"query\":\"merge\",\"should_trigger\":false}]",
    );
    world.file("without.toml", "[skills]\ndisabled = [\"pdf\"]\n");
    assert_snapshot!(world.runs(&[
        &["eval", "triggers.json", "--skill", "pdf"],
        &["eval", "triggers.json", "--skill", "pdf", "--compare", "without.toml"],
        &["eval", "triggers.json", "--skill", "pdf", "--compare", "without.toml", "--json"],
        &["eval", "triggers.json"],
    ]));
}

#[test]
fn lint_says_which_skills_are_hard_to_tell_apart() {
    let world = World::bare();
    let skill = |name: &str, about: &str, body: &str| {
        world.file(
            &format!("~/.agents/skills/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: {about}\n---\n\n{body}\n"),
        );
    };
    skill("one", "Handles documents of all kinds.", "Merge chapters.");
    skill("two", "Handles documents of all kinds.", "Sign with certificates.");
    skill("weather", "Tells the forecast of any city.", "Ask a station.");
    assert_snapshot!(world.runs(&[&["lint", "--routing"], &["lint", "--routing", "--json"], &["lint"]]));
}
