//! `prowess verify` and `prowess install --locked`.

use std::fs;

use crate::support::{CHANGING, TestEnv, keys, skill_md};
use insta::{assert_snapshot, with_settings};

/// Returns a project with two installed skills from a local directory.
fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.skill("shelf/pdf").file("shelf/pdf/scripts/fill.sh", "#!/bin/sh\n").skill("shelf/csv");
    assert_eq!(env.run(&["install", "./shelf", "--all", "--project"]).code, 0);
    env
}

fn modify_pdf(env: &TestEnv) {
    env.file(".agents/skills/pdf/SKILL.md", skill_md("pdf", "Does something else."));
    env.file(".agents/skills/pdf/new.md", "New.\n");
    fs::remove_file(env.path(".agents/skills/pdf/scripts/fill.sh")).unwrap();
}

#[test]
fn nothing_installed() {
    let env = TestEnv::bare();
    assert_snapshot!(env.runs(&[&["verify"], &["verify", "--json"], &["verify", "pdf"]]));
}

#[test]
fn all_skills_are_unmodified() {
    let env = env();
    assert_snapshot!(env.runs(&[&["verify"], &["verify", "pdf", "--json"]]));
}

#[test]
fn every_kind_of_difference() {
    let env = env();
    env.skill("shelf/xml").skill("shelf/odd").skill("shelf/gone").skill(".agents/skills/mine");
    assert_eq!(env.run(&["install", "./shelf", "--all"]).code, 0);
    modify_pdf(&env);
    env.file(".agents/skills/csv/more.md", "More.\n");
    fs::remove_dir_all(env.path(".agents/skills/gone")).unwrap();
    fs::remove_dir_all(env.path(".agents/skills/xml")).unwrap();
    std::os::unix::fs::symlink("../../shelf/xml", env.path(".agents/skills/xml")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", env.path(".agents/skills/odd/link")).unwrap();
    let result = env.run(&["verify"]);
    assert_eq!(result.code, 1);
    assert_snapshot!(result.transcript());
    let json = env.run(&["verify", "--json"]).json();
    let status: Vec<_> = json["skills"].as_array().unwrap().iter().map(|skill| &skill["status"]).collect();
    assert_eq!(status, ["extra", "missing", "unlocked", "link", "modified", "link"]);
    assert_eq!(keys(&json["skills"][0]["files"][0]), ["path", "status"]);
}

#[test]
fn modified_skills_are_not_loaded_until_accepted() {
    let env = env();
    modify_pdf(&env);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["activate", "pdf"],
            &["activate", "pdf", "--json"],
            &["why", "pdf"],
            &["verify", "--accept"],
            &["verify", "pdf", "--accept"],
            &["verify"],
            &["why", "pdf"],
        ]));
    });
    assert_eq!(env.run(&["activate", "pdf"]).code, 0);
    // Later changes are not accepted.
    env.file(".agents/skills/pdf/more.md", "More.\n");
    assert_eq!(env.run(&["activate", "pdf"]).code, 1);
}

/// User skills need no trust, so only the lock file prevents loading.
#[test]
fn modified_user_skills_are_not_loaded() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").file("~/shelf/pdf/notes.md", "Notes.\n");
    assert_eq!(env.run(&["install", "~/shelf/pdf"]).code, 0);
    env.file("~/.agents/skills/pdf/notes.md", "Other notes.\n");
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["activate", "pdf"],
            &["read", "pdf", "notes.md", "--json"],
            &["verify"],
            &["install", "--locked", "--yes", "--on-conflict", "overwrite"],
        ]));
    });
    assert_eq!(env.run(&["activate", "pdf"]).code, 0);
}

#[test]
fn missing_skills_cannot_be_accepted() {
    let env = env();
    fs::remove_dir_all(env.path(".agents/skills/csv")).unwrap();
    let result = env.run(&["verify", "csv", "--accept", "--json"]);
    assert_eq!((result.error().0.as_str(), result.code), ("CONFLICT", 1));
}

#[test]
fn locked_restores_missing_and_modified_skills() {
    let env = env();
    let before = env.tree(".agents/skills");
    fs::remove_dir_all(env.path(".agents/skills/csv")).unwrap();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["install", "--locked", "--dry-run"],
            &["install", "--locked"],
            &["install", "--locked"],
        ]));
    });
    modify_pdf(&env);
    assert_snapshot!(
        "locked_and_modified",
        env.runs(&[
            &["install", "--locked"],
            &["install", "--locked", "--json"],
            &["install", "--locked", "--yes", "--on-conflict", "overwrite"],
            &["verify"],
        ])
    );
    assert_eq!(env.tree(".agents/skills"), before);
}

#[test]
fn locked_fails_if_the_source_has_changed() {
    let env = env();
    fs::remove_dir_all(env.path(".agents")).unwrap();
    env.skill_with_description("shelf/csv", "Does more.");
    assert_snapshot!(env.runs(&[&["install", "--locked"], &["install", "--locked", "--json"]]));
    assert_eq!(env.tree(".agents"), Vec::<String>::new());
    assert_eq!(env.run(&["install", "./shelf", "--locked", "--ref", "x"]).code, 2);
}

#[test]
fn locked_can_be_restricted_to_a_source() {
    let env = env();
    env.skill("other/xml");
    assert_eq!(env.run(&["install", "./other/xml"]).code, 0);
    fs::remove_dir_all(env.path(".agents")).unwrap();
    assert_snapshot!(env.runs(&[
        &["install", "./shelf", "--locked"],
        &["install", "./shelf/pdf", "--locked"],
        &["install", "./shelf", "--locked", "--skill", "pdf", "--skill", "xml"],
        &["verify"],
    ]));
}

#[test]
fn locked_without_a_lock_file() {
    assert_snapshot!(TestEnv::bare().runs(&[&["install", "--locked"], &["install"]]));
}

#[test]
fn an_unreadable_lock_file_stops_every_command() {
    let env = env();
    let marks = env.text("skills.lock").replacen("  \"schema\"", "<<<<<<< ours\n  \"schema\"", 1);
    env.file("skills.lock", marks.clone());
    assert_snapshot!(env.runs(&[
        &["verify"],
        &["verify", "--json"],
        &["install", "./shelf/pdf"],
        &["update"],
        &["remove", "pdf"],
        &["plugins"],
        &["activate", "pdf"],
    ]));
    assert_eq!(env.text("skills.lock"), marks);
    let result = env.run(&["doctor"]);
    assert!(result.out.contains("installed     cannot read [PROJECT]/skills.lock"), "{}", result.out);
    assert_eq!(result.code, 1);
}

#[test]
fn doctor_reports_modified_skills() {
    let env = env();
    let line = |env: &TestEnv| {
        let result = env.run(&["doctor"]);
        assert_eq!(result.code, 0, "{}", result.transcript());
        let lines: Vec<_> =
            result.out.lines().skip_while(|line| !line.contains(" installed ")).take(2).collect();
        lines.join("\n")
    };
    let before = line(&env);
    modify_pdf(&env);
    assert_snapshot!(format!("{before}\n\n{}", line(&env)));
}
