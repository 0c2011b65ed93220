//! `prowess install`: local sources, names, conflicts and scopes.

use crate::support::{BROKEN, CHANGING, DROPPER, HIGH, TestEnv, keys, skill_md};
use insta::{assert_snapshot, with_settings};

/// Creates a directory with one skill, and one with three skills, one of which is nested.
fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.skill_with_description("~/shelf/pdf", "Fills forms.")
        .file("~/shelf/pdf/scripts/fill.sh", "#!/bin/sh\ncurl https://forms.example/new\n")
        .skill_with_description("~/many/skills/csv", "Reads tables.")
        .skill_with_description("~/many/skills/xml", "Reads trees.")
        .skill_with_description("~/many/skills/xml/inner/xsl", "Changes trees.");
    env
}

#[test]
fn a_directory_for_the_user() {
    let env = env();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["install", "~/shelf/pdf", "--dry-run"],
            &["install", "~/shelf/pdf"],
            &["install", "~/shelf/pdf"],
            &["list"],
        ]));
        assert_snapshot!("the_user_s_lock", env.redact(&env.text("~/.prowess/state/installed.json")));
    });
    assert_eq!(env.tree("~/.agents/skills"), ["pdf/SKILL.md", "pdf/scripts/fill.sh"]);
    assert_eq!(env.tree(""), Vec::<String>::new(), "nothing in the project");
}

#[test]
fn a_directory_into_the_project() {
    let env = env();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["install", "~/shelf/pdf", "--project"],
            // It is a project now.
            &["install", "~/many/skills/csv"],
            &["list"],
        ]));
    });
    let expected = [".agents/skills/csv/SKILL.md", ".agents/skills/pdf/SKILL.md"];
    assert_eq!(env.tree("")[..2], expected);
    let lock: serde_json::Value = serde_json::from_str(&env.text("skills.lock")).unwrap();
    assert_eq!(
        keys(&lock["skills"][0]),
        ["audit", "capabilities", "files", "folder", "name", "source", "tree"]
    );
}

#[test]
fn as_json() {
    let env = env();
    let result = env.run(&["install", "~/shelf/pdf", "--json"]);
    assert_eq!(
        keys(&result.json()),
        ["agents", "dry_run", "links", "lock", "root", "schema", "scope", "skills"]
    );
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(result.transcript());
    });
    let again = env.run(&["install", "~/shelf/pdf", "--json"]).json();
    assert_eq!(again["skills"][0]["action"], "unchanged");
}

#[test]
fn selecting_skills_of_a_source() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["install", "~/many"],
        &["install", "~/many", "--json"],
        &["install", "~/many", "--skill", "cvs"],
        &["install", "~/many", "--skill", "xsl", "--skill", "skills/csv"],
        &["install", "~/many", "--all", "--dry-run"],
        &["install", "~/many", "--all"],
        &["install", "~/many", "--all", "--name", "one"],
        &["install", "~/many", "--all", "--skill", "csv"],
    ]));
    let expected = ["csv/SKILL.md", "xml/SKILL.md", "xml/inner/xsl/SKILL.md", "xsl/SKILL.md"];
    assert_eq!(env.tree("~/.agents/skills"), expected);
}

#[test]
fn under_another_name() {
    let env = env();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["install", "~/shelf/pdf", "--name", "forms"],
            &["install", "~/shelf/pdf", "--name", "../x"],
            &["install", "~/shelf/pdf", "--name", "../x", "--json"],
        ]));
    });
    assert_eq!(env.text("~/.agents/skills/forms/SKILL.md"), skill_md("forms", "Fills forms."));
    assert!(env.text("~/.prowess/state/installed.json").contains("\"renamed_from\": \"pdf\""));
}

#[test]
fn an_existing_name() {
    let env = env();
    env.skill("~/other/csv").skill("~/.agents/skills/xml");
    assert_eq!(env.run(&["install", "~/many/skills/csv"]).code, 0);
    assert_snapshot!(env.runs(&[
        &["install", "~/other/csv"],
        &["install", "~/other/csv", "--json"],
        &["install", "~/other/csv", "--yes"],
        // `--on-conflict` also needs `--yes`, except for `skip`.
        &["install", "~/other/csv", "--on-conflict", "overwrite"],
        &["install", "~/other/csv", "--on-conflict", "skip"],
        &["install", "~/many/skills/xml"],
    ]));
    let result = env.run(&["install", "~/other/csv", "--json"]);
    assert_eq!((result.error().0.as_str(), result.code), ("CONFLICT", 1));
}

#[test]
fn every_conflict_choice() {
    let env = env();
    env.skill("~/other/csv");
    assert_eq!(env.run(&["install", "~/many/skills/csv"]).code, 0);
    let install = |choice| ["install", "~/other/csv", "--yes", "--on-conflict", choice];
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &install("skip"),
            &install("rename"),
            &install("rename"),
            &["install", "~/other/csv", "--yes", "--on-conflict", "overwrite", "--dry-run"],
            &install("overwrite"),
        ]));
    });
    let there = ["csv-2/SKILL.md", "csv-3/SKILL.md", "csv/SKILL.md"];
    assert_eq!(env.tree("~/.agents/skills"), there);
    assert_eq!(env.text("~/.agents/skills/csv/SKILL.md"), skill_md("csv", "Does csv."));
}

#[test]
fn a_skill_that_the_audit_rejects() {
    let env = TestEnv::bare();
    env.file("~/shelf/bad/SKILL.md", DROPPER);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["install", "~/shelf/bad"],
            &["install", "~/shelf/bad", "--json"],
            // `--yes` does not accept a rejected skill.
            &["install", "~/shelf/bad", "--yes"],
            &["install", "~/shelf/bad", "--accept-risk"],
        ]));
    });
}

#[test]
fn invalid_sources_leave_nothing_behind() {
    let env = TestEnv::bare();
    env.file("~/shelf/broken/SKILL.md", BROKEN)
        .file("~/shelf/empty/README.md", "Nothing.\n")
        .file("~/shelf/out/SKILL.md", skill_md("../x", "Goes out."))
        .file("~/shelf/lone.zip", "no archive");
    assert_snapshot!(env.runs(&[
        &["install", "~/shelf/broken"],
        &["install", "~/shelf/broken", "--json"],
        &["install", "~/shelf/empty"],
        &["install", "~/shelf/out"],
        &["install", "~/shelf/lone.zip"],
        &["install", "~/shelf/nowhere"],
        &["install", "nonsense"],
        &["install", "--", "-x"],
        &["install", "ext::sh -c x"],
        &["install", "http://host.example/owner/repo"],
        &["install", "~/shelf/broken", "--ref", "v1"],
    ]));
    assert_eq!(env.tree("~/.agents"), Vec::<String>::new());
    assert!(!env.path("~/.agents").exists() && env.tree("").is_empty());
}

#[test]
fn archives() {
    let env = env();
    assert_eq!(env.run(&["pack", "../home/shelf/pdf", "--output", "../home/pdf.skill"]).code, 0);
    let tar = std::process::Command::new("tar")
        .args(["-czf", "../many.tar.gz", "."])
        .current_dir(env.path("~/many"))
        .status();
    assert!(tar.unwrap().success());
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["install", "~/pdf.skill"],
            &["add", "~/many.tar.gz", "--skill", "csv"],
        ]));
    });
    assert_eq!(env.tree("~/.agents/skills"), ["csv/SKILL.md", "pdf/SKILL.md", "pdf/scripts/fill.sh"]);
}

#[test]
fn into_the_given_root() {
    let env = env();
    std::fs::create_dir(env.path("mine")).unwrap();
    let result = env.run(&["--root", "mine", "install", "~/shelf/pdf"]);
    assert_eq!(result.code, 0, "{}", result.transcript());
    assert_eq!(env.tree("mine"), ["pdf/SKILL.md", "pdf/scripts/fill.sh"]);
    assert_eq!(env.run(&["--root", "mine", "verify"]).code, 0);
    assert_eq!(env.run(&["--root", "mine", "remove", "pdf"]).code, 0);
    assert_eq!(env.tree("mine"), Vec::<String>::new());
}

#[test]
fn installing_with_skill_install() {
    let env = env();
    let result = env.run(&["skill", "install", "~/shelf/pdf", "--dry-run"]);
    assert_eq!(result.out, env.run(&["install", "~/shelf/pdf", "--dry-run"]).out);
    assert_eq!(result.code, 0);
}

#[test]
fn high_findings_need_confirmation() {
    let env = TestEnv::bare();
    env.file("~/shelf/root/SKILL.md", HIGH);
    let result = env.run(&["install", "~/shelf/root", "--json"]);
    assert_eq!((result.error().0.as_str(), result.code), ("UNTRUSTED", 1));
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(env.runs(&[
            &["install", "~/shelf/root", "--project"],
            &["import", "~/shelf/root", "--project"],
            &["list"],
            &["install", "~/shelf/root", "--project", "--yes"],
            &["list"],
        ]));
    });
}

#[test]
fn all_invalid_skills_are_reported() {
    let env = env();
    env.file("~/many/skills/bad/SKILL.md", DROPPER)
        .file("~/many/skills/broken/SKILL.md", BROKEN)
        .file("~/many/skills/root/SKILL.md", HIGH);
    assert_snapshot!(env.runs(&[&["install", "~/many", "--all"], &["install", "~/many", "--all", "--json"]]));
    assert_eq!(env.tree("~/.agents"), Vec::<String>::new());
    assert_snapshot!(
        "the_others_are_installed_with_skip_invalid",
        env.runs(&[
            &["install", "~/many", "--all", "--skip-invalid", "--dry-run"],
            &["install", "~/many", "--all", "--skip-invalid"],
            &["import", "~/many", "--all", "--skip-invalid", "--json"],
        ])
    );
    let expected = ["csv/SKILL.md", "xml/SKILL.md", "xml/inner/xsl/SKILL.md"];
    assert_eq!(env.tree("~/.agents/skills"), expected);
}

#[test]
fn identical_skills_do_not_conflict() {
    let env = env();
    env.skill_with_description("~/copy/csv", "Reads tables.")
        .skill_with_description("~/.agents/skills/xml", "Reads trees.")
        .skill_with_description("~/.agents/skills/xml/inner/xsl", "Changes trees.");
    assert_eq!(env.run(&["install", "~/many/skills/csv"]).code, 0);
    assert_snapshot!(env.runs(&[&["install", "~/copy/csv"], &["install", "~/many", "--all"], &["verify"],]));
    assert!(env.text("~/.prowess/state/installed.json").contains("many/skills/csv"));
}
