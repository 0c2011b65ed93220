//! `prowess update`, from local directories and repositories.

use std::fs;

use crate::support::{CHANGING, DROPPER, HIGH, TestEnv, skill_md};
use insta::{assert_snapshot, with_settings};
use prowess_testing::servers::repository::{Repository, skills};

/// Installs a skill for the user from a directory.
fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").file("~/shelf/pdf/old.md", "Old.\n");
    assert_eq!(env.run(&["install", "~/shelf/pdf"]).code, 0);
    env
}

#[test]
fn changes_are_shown_before_they_are_made() {
    let env = env();
    env.skill_with_description("~/shelf/pdf", "Does more.").file("~/shelf/pdf/new.md", "New.\n");
    fs::remove_file(env.path("~/shelf/pdf/old.md")).unwrap();
    assert_snapshot!(env.runs(&[
        &["update", "--dry-run"],
        &["update", "pdf", "--dry-run", "--json"],
        &["update"],
        &["update"],
        &["update", "pfd"],
        &["update", "pfd", "--json"],
    ]));
    assert_eq!(env.tree("~/.agents/skills"), ["pdf/SKILL.md", "pdf/new.md"]);
    assert_eq!(env.run(&["verify"]).code, 0);
}

#[test]
fn nothing_to_update() {
    assert_snapshot!(TestEnv::bare().runs(&[&["update"], &["update", "--json"], &["update", "pdf"]]));
}

#[test]
fn new_capabilities_need_confirmation() {
    let env = env();
    let manifest = "---\nname: pdf\ndescription: Does pdf.\nallowed-tools: Bash(git:*)\n---\n\n\
                    See https://forms.example/new and run `scripts/fill.sh`.\n";
    env.file("~/shelf/pdf/SKILL.md", manifest);
    env.file("~/shelf/pdf/scripts/fill.sh", "#!/bin/sh\necho \"$FORMS_KEY\"\n");
    assert_snapshot!(env.runs(&[&["update"], &["update", "pdf"], &["update", "pdf", "--json"]]));
    assert_eq!(env.text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Does pdf."));
    assert_snapshot!("what_brings_more_is_taken_with_yes", env.runs(&[&["update", "--yes"], &["update"]]));
    assert_eq!(env.text("~/.agents/skills/pdf/SKILL.md"), manifest);
}

#[test]
fn modified_skills_are_not_updated() {
    let env = env();
    env.skill_with_description("~/shelf/pdf", "Does more.")
        .skill_with_description("~/.agents/skills/pdf", "Does what I want.");
    assert_snapshot!(env.runs(&[
        &["update"],
        &["update", "pdf"],
        &["update", "pdf", "--yes", "--on-conflict", "skip"],
        &["update", "pdf", "--yes", "--on-conflict", "overwrite"],
    ]));
    assert_eq!(env.text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Does more."));
}

#[test]
fn a_failed_update_does_not_stop_the_others() {
    let env = env();
    env.skill("~/shelf/csv").skill("~/shelf/xml").skill("~/shelf/bad");
    for name in ["~/shelf/csv", "~/shelf/xml", "~/shelf/bad"] {
        assert_eq!(env.run(&["install", name]).code, 0);
    }
    fs::remove_dir_all(env.path("~/shelf/csv")).unwrap();
    fs::remove_file(env.path("~/shelf/xml/SKILL.md")).unwrap();
    env.skill_with_description("~/shelf/pdf", "Does more.").file("~/shelf/bad/SKILL.md", DROPPER);
    assert_snapshot!(env.runs(&[&["update"], &["update", "bad"], &["update", "csv"], &["update", "xml"]]));
    assert_eq!(env.text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Does more."));
}

/// Returns a local repository and its URL.
fn repository(env: &TestEnv) -> (Repository, String) {
    let repository = skills(env.path("~/repository"));
    let url = format!("file://{}", env.path("~/repository").display());
    (repository, url)
}

fn git_env() -> TestEnv {
    TestEnv::bare().variable("PROWESS_ALLOW_FILE_URLS", "1")
}

#[test]
fn file_urls_must_be_allowed() {
    let env = TestEnv::bare();
    let (_, url) = repository(&env);
    let result = env.run(&["install", &url, "--skill", "one"]);
    assert_snapshot!(result.transcript());
}

#[test]
fn following_a_branch() {
    let env = git_env();
    let (repository, url) = repository(&env);
    assert_eq!(env.run(&["install", &url, "--all"]).code, 0);
    repository.write("skills/two/SKILL.md", skill_md("two", "Does it better."));
    repository.commit("fourth");
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[&["update", "--dry-run"], &["update"], &["update"], &["plugins"]]));
    });
    repository.run(&["rm", "-q", "-r", "skills/one"]);
    repository.commit("fifth");
    assert_snapshot!("a_skill_that_is_gone", env.runs(&[&["update"], &["update", "one"]]));
}

#[test]
fn pinned_skills_are_not_updated() {
    let env = git_env();
    let (repository, url) = repository(&env);
    let first = repository.run(&["rev-parse", "light"]);
    assert_eq!(env.run(&["install", &url, "--ref", "v1.0", "--skill", "one"]).code, 0);
    assert_eq!(env.run(&["install", &url, "--ref", &first, "--skill", "two"]).code, 0);
    assert_snapshot!(env.runs(&[&["update"], &["update", "one"], &["update", "two", "--json"]]));
    repository.run(&["tag", "-f", "v1.0", "main"]);
    let again = ["install", &url, "--ref", "v1.0", "--skill", "one", "--yes", "--on-conflict", "overwrite"];
    // A missing skill is not restored from a tag that has moved.
    fs::rename(env.path("~/.agents/skills/one"), env.path("~/one")).unwrap();
    assert_eq!(env.run(&["update"]).code, 0);
    assert!(!env.path("~/.agents/skills/one").exists());
    fs::rename(env.path("~/one"), env.path("~/.agents/skills/one")).unwrap();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!("a_tag_that_moved", env.runs(&[&["update"], &again]));
    });
    // A missing pinned skill is restored at its pinned version.
    fs::remove_dir_all(env.path("~/.agents/skills/two")).unwrap();
    assert_eq!(env.run(&["update", "two"]).code, 0);
    assert_eq!(env.run(&["verify", "two"]).code, 0);
}

#[test]
fn updating_with_skill_manage() {
    let env = env();
    let result = env.run(&["skill", "manage", "update", "--dry-run"]);
    assert_eq!((result.out, result.code), (env.run(&["update", "--dry-run"]).out, 0));
}

#[test]
fn a_skill_was_renamed_at_its_source() {
    let env = env();
    env.file("~/shelf/pdf/SKILL.md", skill_md("forms", "Does pdf."));
    assert_snapshot!(env.runs(&[&["update"], &["update", "pdf"], &["update", "pdf", "--json"]]));
    assert_eq!(env.text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Does pdf."));
    assert!(!env.text("~/.prowess/state/installed.json").contains("renamed_from"));
    // The hint works.
    let source = env.path("~/shelf/pdf").display().to_string();
    assert_eq!(env.run(&["install", &source]).code, 0);
    assert_eq!(env.run(&["remove", "pdf"]).code, 0);
    assert_eq!(env.run(&["update"]).code, 0);
}

#[test]
fn locally_renamed_skills_keep_their_name() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf");
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--name", "forms"]).code, 0);
    env.skill_with_description("~/shelf/pdf", "Does more.");
    assert_eq!(env.run(&["update"]).code, 0);
    assert_eq!(env.text("~/.agents/skills/forms/SKILL.md"), skill_md("forms", "Does more."));
    assert!(env.text("~/.prowess/state/installed.json").contains("\"renamed_from\": \"pdf\""));
}

#[test]
fn updates_with_high_findings_need_confirmation() {
    let env = TestEnv::bare();
    env.skill("~/shelf/root");
    assert_eq!(env.run(&["install", "~/shelf/root"]).code, 0);
    env.file("~/shelf/root/SKILL.md", HIGH);
    assert_snapshot!(env.runs(&[&["update"], &["update", "root"], &["update", "--yes"]]));
    assert_eq!(env.text("~/.agents/skills/root/SKILL.md"), HIGH);
}
