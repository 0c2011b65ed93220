//! Installing and managing skills in preset `app`, as specified in document 000.

use std::fs;

use crate::support::terminal::TerminalSession;
use crate::support::{BROKEN, CHANGING, TestEnv, skill_md};
use insta::{assert_snapshot, with_settings};

fn env() -> TestEnv {
    TestEnv::new().variable("PROWESS_PRESET", "app").variable("NO_COLOR", "1")
}

/// Returns the ids of the available skills.
fn available_ids(env: &TestEnv) -> Vec<String> {
    let answer = env.run(&["list", "--json"]).json();
    answer["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| skill["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn s000_02_skills_of_the_application_are_read_only() {
    let env = env();
    env.skill(".agents/sys.skills/shipped").skill("~/shelf/own");
    assert_eq!(env.run(&["import", "~/shelf/own"]).code, 0);
    assert_eq!(env.tree(".agents"), ["skills/own/SKILL.md", "sys.skills/shipped/SKILL.md"]);
    assert_snapshot!(env.runs(&[
        &["remove", "shipped"],
        &["remove", "shipped", "--yes", "--json"],
        &["remove", "own"],
    ]));
    assert_eq!(env.tree(".agents"), ["sys.skills/shipped/SKILL.md"]);
}

#[test]
fn s000_14_only_user_skills_can_be_deleted() {
    let env = env();
    env.skill(".agents/sys.skills/shipped").skill(".agents/skills/own");
    assert_eq!(env.run(&["remove", "shipped", "--yes"]).code, 1);
    assert_eq!(env.run(&["remove", "own", "--yes"]).code, 0);
    assert_eq!(available_ids(&env), ["shipped"]);
}

#[test]
fn s000_15_s000_20_a_directory_or_zip_is_imported_under_its_own_or_a_given_id() {
    let env = env();
    env.skill("~/shelf/report").skill("~/shelf/notes");
    assert_eq!(env.run(&["pack", "../home/shelf/notes", "--output", "../home/notes.zip"]).code, 0);
    assert_eq!(env.run(&["import", "~/shelf/report"]).code, 0);
    assert_eq!(env.run(&["import", "~/notes.zip", "--name", "my-notes"]).code, 0);
    assert_eq!(available_ids(&env), ["my-notes", "report"]);
    assert_eq!(env.text(".agents/skills/my-notes/SKILL.md"), skill_md("my-notes", "Does notes."));
}

#[test]
fn s000_15_s000_20_an_invalid_skill_md_is_not_imported() {
    let env = env();
    env.file("~/shelf/empty/README.md", "Nothing.\n").file("~/shelf/broken/SKILL.md", BROKEN);
    assert_snapshot!(env.runs(&[&["import", "~/shelf/empty"], &["import", "~/shelf/broken"]]));
    assert!(!env.path(".agents").exists());
}

/// The prompt is rendered for each call, so imports and deletions show at once.
#[test]
fn s000_16_imports_and_deletions_show_in_the_next_prompt() {
    let env = env();
    env.skill("~/shelf/report");
    let result = || env.run(&["prompt"]).out.contains("report");
    assert!(!result());
    assert_eq!(env.run(&["import", "~/shelf/report"]).code, 0);
    assert!(result());
    assert_eq!(env.run(&["remove", "report"]).code, 0);
    assert!(!result());
}

#[test]
fn s000_22_the_first_import_creates_the_user_directory() {
    let env = env();
    env.skill("~/shelf/report");
    assert!(available_ids(&env).is_empty() && !env.path(".agents").exists());
    assert_eq!(env.run(&["import", "~/shelf/report"]).code, 0);
    assert!(fs::metadata(env.path(".agents/skills")).unwrap().is_dir());
}

#[test]
fn s000_24_an_existing_id_is_overwritten_after_confirmation() {
    let env = env();
    env.skill("~/shelf/report").skill_with_description(".agents/skills/report", "Is the old one.");
    let result = env.run(&["import", "~/shelf/report", "--json"]);
    assert_eq!((result.error().0.as_str(), result.code), ("CONFLICT", 1));
    let ask = |answer: &str| {
        let mut session = TerminalSession::start(&env, &["import", "~/shelf/report"]);
        session.until("[o]verwrite, [s]kip report? ").answer(answer).transcript()
    };
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(ask("s"));
    });
    assert_eq!(env.text(".agents/skills/report/SKILL.md"), skill_md("report", "Is the old one."));
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!("s000_24_confirmed", ask("o"));
    });
    assert_eq!(env.text(".agents/skills/report/SKILL.md"), skill_md("report", "Does report."));
}
