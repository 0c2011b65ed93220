//! `prowess import`.

use crate::support::{CHANGING, TestEnv, keys, skill_md};
use insta::{assert_snapshot, with_settings};

#[test]
fn a_directory_and_an_archive() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").skill("~/shelf/csv");
    assert_eq!(env.run(&["pack", "../home/shelf/csv", "-o", "../home/csv.zip"]).code, 0);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["import", "~/shelf/pdf", "--dry-run"],
            &["import", "~/shelf/pdf"],
            &["import", "~/csv.zip", "--json"],
            &["import", "~/shelf"],
            &["import", "~/shelf", "--all"],
            &["import"],
        ]));
    });
    assert_eq!(env.tree("~/.agents/skills"), ["csv/SKILL.md", "pdf/SKILL.md"]);
}

#[test]
fn the_skills_of_another_agent() {
    let env = TestEnv::bare();
    env.skill(".claude/skills/pdf").skill(".claude/skills/csv").file(".git/HEAD", "");
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
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
    assert_eq!(env.tree(".agents/skills"), ["csv/SKILL.md", "pdf/SKILL.md"]);
}

#[test]
fn one_invalid_skill_stops_the_import() {
    let env = TestEnv::bare();
    env.skill(".claude/skills/pdf")
        .file(".claude/skills/wrong/SKILL.md", crate::support::BROKEN)
        .file(".git/HEAD", "");
    let result = env.run(&["import", "--from", "claude-code", "--all"]);
    assert_eq!(result.code, 1, "{}", result.transcript());
    assert!(!env.path(".agents").exists() && !env.path("skills.lock").exists());
}

#[test]
fn the_lock_file_of_another_installer() {
    let env = TestEnv::bare().variable("PROWESS_ALLOW_FILE_URLS", "1");
    prowess_testing::servers::repository::skills(env.path("~/repository"));
    let url = format!("file://{}", env.path("~/repository").display());
    env.skill("shelf/pdf").file(
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
        assert_snapshot!(env.runs(&[
            &["import", "skills-lock.json", "--project", "--dry-run"],
            &["import", "skills-lock.json", "--project"],
            &["import", "skills-lock.json", "--skill", "nothing"],
        ]));
    });
    let expected = ["one/SKILL.md", "pdf/SKILL.md", "two/SKILL.md"];
    assert_eq!(env.tree(".agents/skills"), expected);
    let lock: serde_json::Value = serde_json::from_str(&env.text("skills.lock")).unwrap();
    assert_eq!((&lock["skills"][0]["ref"], lock["skills"][0]["commit"].is_string()), (&"v1.0".into(), true));
}

#[test]
fn an_invalid_lock_file() {
    let env = TestEnv::bare();
    env.file("skills-lock.json", "{\"version\": 3}").file("other/skills-lock.json", "{");
    assert_snapshot!(env.runs(&[
        &["import", "skills-lock.json"],
        &["import", "other/skills-lock.json", "--json"],
        &["import", "nowhere/skills-lock.json"],
    ]));
}

#[test]
fn json_has_the_fields_of_install() {
    let env = TestEnv::bare();
    env.file("~/shelf/pdf/SKILL.md", skill_md("pdf", "Does pdf."));
    let imported = env.run(&["import", "~/shelf/pdf", "--dry-run", "--json"]).json();
    let installed = env.run(&["install", "~/shelf/pdf", "--dry-run", "--json"]).json();
    assert_eq!(keys(&imported), keys(&installed));
    assert_eq!(keys(&imported["skills"][0]), keys(&installed["skills"][0]));
}

#[test]
fn in_a_project_the_home_is_also_searched() {
    let env = TestEnv::bare();
    env.skill("~/.claude/skills/pdf").skill("~/.claude/skills/csv").file(".git/HEAD", "");
    let result = env.run(&["import", "--from", "claude-code", "--skill", "pdf"]);
    assert_eq!(result.code, 0, "{}", result.transcript());
    // The project has priority, and `--all` imports all skills of the project.
    env.skill_with_description(".claude/skills/csv", "Of the project.");
    let result = env.run(&["import", "--from", "claude-code", "--all"]);
    assert_eq!(result.code, 0, "{}", result.transcript());
    assert_eq!(env.text(".agents/skills/csv/SKILL.md"), crate::support::skill_md("csv", "Of the project."));
    let result = env.run(&["import", "--from", "claude-code", "--skill", "xml", "--scope", "project"]);
    assert_eq!(result.code, 1, "{}", result.transcript());
}
