//! `prowess remove`.

use crate::support::{CHANGING, TestEnv, keys};
use insta::{assert_snapshot, with_settings};

fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").skill("~/shelf/csv");
    assert_eq!(env.run(&["install", "~/shelf", "--all"]).code, 0);
    env
}

#[test]
fn removing_installed_skills() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["remove", "pdf", "--dry-run"],
        &["remove", "pdf"],
        &["remove", "pdf"],
        &["remove", "pdf", "--json"],
        &["remove", "cvs"],
        &["remove", "csv", "--json"],
    ]));
    assert!(!env.path("~/.prowess/state/installed.json").exists(), "an empty lock is none");
    assert_eq!(env.tree("~/.agents"), Vec::<String>::new());
}

#[test]
fn all_names_are_checked_before_removing_any() {
    let env = env();
    assert_eq!(env.run(&["remove", "pdf", "nothing"]).code, 1);
    assert_eq!(env.tree("~/.agents/skills").len(), 2);
    let result = env.run(&["remove", "pdf", "csv", "--json"]);
    assert_eq!(keys(&result.json()), ["dry_run", "links", "schema", "skills"]);
    assert_eq!(env.tree("~/.agents/skills").len(), 0);
}

#[test]
fn skills_that_were_not_installed_need_confirmation() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/mine");
    assert_snapshot!(env.runs(&[
        &["remove", "mine"],
        &["remove", "mine", "--json"],
        &["remove", "mine", "--dry-run"],
        &["remove", "mine", "--yes"],
    ]));
    assert_eq!(env.tree("~/.agents"), Vec::<String>::new());
}

#[test]
fn bundled_and_linked_skills_cannot_be_removed() {
    let env = TestEnv::new();
    env.skill("~/elsewhere/linked").file("~/.agents/skills/x", "");
    std::os::unix::fs::symlink("../../elsewhere/linked", env.path("~/.agents/skills/linked")).unwrap();
    assert_snapshot!(env.runs(&[
        &["remove", "hello-world"],
        &["remove", "hello-world", "--yes", "--json"],
        &["remove", "linked", "--yes"],
    ]));
    let result = env.run(&["remove", "hello-world", "--json"]);
    assert_eq!((result.error().0.as_str(), result.code), ("ACCESS_DENIED", 1));
}

#[test]
fn the_scope_selects_one_of_two_skills() {
    let env = env();
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--project"]).code, 0);
    assert_eq!(env.run(&["remove", "pdf", "--user"]).code, 0);
    assert_eq!(env.tree(".agents/skills"), ["pdf/SKILL.md"]);
    let result = env.run(&["remove", "csv", "--project"]);
    assert_eq!(result.code, 1, "{}", result.transcript());
    assert_eq!(env.tree("~/.agents/skills"), ["csv/SKILL.md"]);
    assert_eq!(env.run(&["remove", "pdf"]).code, 0);
    assert_eq!(env.tree(".agents/skills"), Vec::<String>::new());
}

#[test]
fn modified_skills_need_confirmation() {
    let env = env();
    env.file("~/.agents/skills/pdf/notes.md", "Mine.\n");
    assert_snapshot!(env.runs(&[&["remove", "pdf"], &["remove", "pdf", "--yes"]]));
}

#[test]
fn removing_with_skill_manage() {
    let env = env();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["skill", "manage", "list"],
            &["skill", "manage", "remove", "pdf"],
            &["skill", "manage", "list", "--json"],
        ]));
    });
}
