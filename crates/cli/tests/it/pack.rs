//! `prowess pack` and `prowess index`.

use std::fs;

use crate::support::{BROKEN, TestEnv, keys, skill_md};
use insta::assert_snapshot;

fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.skill("skills/pdf").file("skills/pdf/scripts/fill.sh", "#!/bin/sh\n").skill("skills/csv");
    env
}

#[test]
fn packing_a_directory() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["pack", "skills/pdf"],
        &["pack", "skills/pdf", "--output", "other.zip", "--json"],
        &["pack", "skills"],
        &["pack", "nowhere"],
        &["pack", "skills/pdf", "--output", "skills/pdf/in.skill"],
    ]));
    assert_eq!(fs::read(env.path("pdf.skill")).unwrap(), fs::read(env.path("other.zip")).unwrap());
    assert_eq!(env.run(&["install", "./pdf.skill"]).code, 0);
    assert_eq!(env.run(&["verify"]).code, 0);
}

#[test]
fn indexing_a_directory_of_skills() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["index", "skills"],
        &["index", "skills", "--output", "site", "--json"],
        &["index", "nowhere"],
        &["index", "skills/pdf"],
    ]));
    assert_eq!(env.tree("public"), env.tree("site"));
    let index = env.text("public/.well-known/agent-skills/index.json");
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    assert_eq!(keys(&index["skills"][0]), ["description", "digest", "name", "type", "url"]);
}

#[test]
fn invalid_skills_are_not_packed() {
    let env = env();
    env.file("skills/broken/SKILL.md", BROKEN).file("skills/twice/SKILL.md", skill_md("pdf", "Again."));
    assert_snapshot!(env.runs(&[&["pack", "skills/broken"], &["index", "skills"]]));
    assert!(!env.path("public").exists());
}
