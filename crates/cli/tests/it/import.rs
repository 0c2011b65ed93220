//! `prowess import`: skills that are elsewhere already.

use crate::world::{CHANGING, World, keys, skill_md};
use insta::{assert_snapshot, with_settings};

#[test]
fn a_folder_and_an_archive() {
    let world = World::bare();
    world.skill("~/shelf/pdf").skill("~/shelf/csv");
    assert_eq!(world.run(&["pack", "../home/shelf/csv", "-o", "../home/csv.zip"]).code, 0);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["import", "~/shelf/pdf", "--dry-run"],
            &["import", "~/shelf/pdf"],
            &["import", "~/csv.zip", "--json"],
            &["import", "~/shelf"],
            &["import", "~/shelf", "--all"],
            &["import"],
        ]));
    });
    assert_eq!(world.tree("~/.agents/skills"), ["csv/SKILL.md", "pdf/SKILL.md"]);
}

#[test]
fn the_skills_of_another_agent() {
    let world = World::bare();
    world.skill(".claude/skills/pdf").skill(".claude/skills/csv").file(".git/HEAD", "");
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["import", "--from", "claude-code"],
            &["import", "--from", "claude-code", "--skill", "xml"],
            &["import", "--from", "claude-code", "--skill", "pdf"],
            &["import", "--from", "claude-code", "--all", "--name", "one"],
            &["import", "--from", "claude-code", "--all"],
            &["import", "--from", "claude-code", "--all"],
            &["import", "--from", "claud-code"],
            &["import", "--from", "cursor", "--user"],
            &["import", "--from", "claude-code", "--all", "--json"],
        ]));
    });
    assert_eq!(world.tree(".agents/skills"), ["csv/SKILL.md", "pdf/SKILL.md"]);
}

#[test]
fn one_that_cannot_be_imported_stops_all() {
    let world = World::bare();
    world
        .skill(".claude/skills/pdf")
        .file(".claude/skills/wrong/SKILL.md", crate::world::BROKEN)
        .file(".git/HEAD", "");
    let told = world.run(&["import", "--from", "claude-code", "--all"]);
    assert_eq!(told.code, 1, "{}", told.whole());
    assert!(!world.path(".agents").exists() && !world.path("skills.lock").exists());
}

#[test]
fn the_lock_of_another_installer() {
    let world = World::bare().variable("PROWESS_ALLOW_FILE_URLS", "1");
    prowess_testing::servers::repository::skills(world.path("~/repository"));
    let url = format!("file://{}", world.path("~/repository").display());
    world.skill("shelf/pdf").file(
        "skills-lock.json",
        format!(
            r#"{{"version": 1, "skills": {{
                "one": {{"source": "a/b", "sourceUrl": "{url}", "sourceType": "git", "ref": "v1.0",
                         "skillPath": "skills/one/SKILL.md", "computedHash": "0"}},
                "two": {{"source": "a/b", "sourceUrl": "{url}", "sourceType": "git", "ref": "v1.0",
                         "skillPath": "skills/two/SKILL.md", "computedHash": "0"}},
                "pdf": {{"source": "./shelf/pdf", "sourceType": "local", "computedHash": "0"}}}}}}"#
        ),
    );
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["import", "skills-lock.json", "--project", "--dry-run"],
            &["import", "skills-lock.json", "--project"],
            &["import", "skills-lock.json", "--skill", "nothing"],
        ]));
    });
    let expected = ["one/SKILL.md", "pdf/SKILL.md", "two/SKILL.md"];
    assert_eq!(world.tree(".agents/skills"), expected);
    let lock: serde_json::Value = serde_json::from_str(&world.text("skills.lock")).unwrap();
    assert_eq!((&lock["skills"][0]["ref"], lock["skills"][0]["commit"].is_string()), (&"v1.0".into(), true));
}

#[test]
fn a_lock_that_is_none() {
    let world = World::bare();
    world.file("skills-lock.json", "{\"version\": 3}").file("other/skills-lock.json", "{");
    assert_snapshot!(world.runs(&[
        &["import", "skills-lock.json"],
        &["import", "other/skills-lock.json", "--json"],
        &["import", "nowhere/skills-lock.json"],
    ]));
}

#[test]
fn json_has_the_fields_of_install() {
    let world = World::bare();
    world.file("~/shelf/pdf/SKILL.md", skill_md("pdf", "Does pdf."));
    let imported = world.run(&["import", "~/shelf/pdf", "--dry-run", "--json"]).json();
    let installed = world.run(&["install", "~/shelf/pdf", "--dry-run", "--json"]).json();
    assert_eq!(keys(&imported), keys(&installed));
    assert_eq!(keys(&imported["skills"][0]), keys(&installed["skills"][0]));
}

#[test]
fn in_a_project_the_home_is_searched_too() {
    let world = World::bare();
    world.skill("~/.claude/skills/pdf").skill("~/.claude/skills/csv").file(".git/HEAD", "");
    let told = world.run(&["import", "--from", "claude-code", "--skill", "pdf"]);
    assert_eq!(told.code, 0, "{}", told.whole());
    // What the project has goes first, and all of it is all of the project's.
    world.described(".claude/skills/csv", "Of the project.");
    let told = world.run(&["import", "--from", "claude-code", "--all"]);
    assert_eq!(told.code, 0, "{}", told.whole());
    assert_eq!(world.text(".agents/skills/csv/SKILL.md"), crate::world::skill_md("csv", "Of the project."));
    let told = world.run(&["import", "--from", "claude-code", "--skill", "xml", "--scope", "project"]);
    assert_eq!(told.code, 1, "{}", told.whole());
}
