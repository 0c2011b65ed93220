//! `prowess install`: sources on this machine, names, conflicts, scopes.

use crate::world::{BROKEN, CHANGING, DROPPER, HIGH, World, keys, skill_md};
use insta::{assert_snapshot, with_settings};

/// A folder with one skill, and one with three, of which one lies in another.
fn world() -> World {
    let world = World::bare();
    world
        .described("~/shelf/pdf", "Fills forms.")
        .file("~/shelf/pdf/scripts/fill.sh", "#!/bin/sh\ncurl https://forms.example/new\n")
        .described("~/many/skills/csv", "Reads tables.")
        .described("~/many/skills/xml", "Reads trees.")
        .described("~/many/skills/xml/inner/xsl", "Changes trees.");
    world
}

#[test]
fn a_folder_for_the_user() {
    let world = world();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["install", "~/shelf/pdf", "--dry-run"],
            &["install", "~/shelf/pdf"],
            &["install", "~/shelf/pdf"],
            &["list"],
        ]));
        assert_snapshot!("the_user_s_lock", world.filtered(&world.text("~/.prowess/state/installed.json")));
    });
    assert_eq!(world.tree("~/.agents/skills"), ["pdf/SKILL.md", "pdf/scripts/fill.sh"]);
    assert_eq!(world.tree(""), Vec::<String>::new(), "nothing in the project");
}

#[test]
fn a_folder_into_the_project() {
    let world = world();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["install", "~/shelf/pdf", "--project"],
            // It is a project now.
            &["install", "~/many/skills/csv"],
            &["list"],
        ]));
    });
    let expected = [".agents/skills/csv/SKILL.md", ".agents/skills/pdf/SKILL.md"];
    assert_eq!(world.tree("")[..2], expected);
    let lock: serde_json::Value = serde_json::from_str(&world.text("skills.lock")).unwrap();
    assert_eq!(
        keys(&lock["skills"][0]),
        ["audit", "capabilities", "files", "folder", "name", "source", "tree"]
    );
}

#[test]
fn as_json() {
    let world = world();
    let told = world.run(&["install", "~/shelf/pdf", "--json"]);
    assert_eq!(keys(&told.json()), ["dry_run", "links", "lock", "root", "schema", "scope", "skills"]);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(told.whole());
    });
    let again = world.run(&["install", "~/shelf/pdf", "--json"]).json();
    assert_eq!(again["skills"][0]["action"], "unchanged");
}

#[test]
fn which_of_several() {
    let world = world();
    assert_snapshot!(world.runs(&[
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
    assert_eq!(world.tree("~/.agents/skills"), expected);
}

#[test]
fn under_another_name() {
    let world = world();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["install", "~/shelf/pdf", "--name", "forms"],
            &["install", "~/shelf/pdf", "--name", "../x"],
            &["install", "~/shelf/pdf", "--name", "../x", "--json"],
        ]));
    });
    assert_eq!(world.text("~/.agents/skills/forms/SKILL.md"), skill_md("forms", "Fills forms."));
    assert!(world.text("~/.prowess/state/installed.json").contains("\"renamed_from\": \"pdf\""));
}

#[test]
fn a_name_that_is_taken() {
    let world = world();
    world.skill("~/other/csv").skill("~/.agents/skills/xml");
    assert_eq!(world.run(&["install", "~/many/skills/csv"]).code, 0);
    assert_snapshot!(world.runs(&[
        &["install", "~/other/csv"],
        &["install", "~/other/csv", "--json"],
        &["install", "~/other/csv", "--yes"],
        // A choice alone is not yet a yes, but leaving things alone needs none.
        &["install", "~/other/csv", "--on-conflict", "overwrite"],
        &["install", "~/other/csv", "--on-conflict", "skip"],
        &["install", "~/many/skills/xml"],
    ]));
    let told = world.run(&["install", "~/other/csv", "--json"]);
    assert_eq!((told.error().0.as_str(), told.code), ("CONFLICT", 1));
}

#[test]
fn every_choice_about_a_name_that_is_taken() {
    let world = world();
    world.skill("~/other/csv");
    assert_eq!(world.run(&["install", "~/many/skills/csv"]).code, 0);
    let install = |choice| ["install", "~/other/csv", "--yes", "--on-conflict", choice];
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &install("skip"),
            &install("rename"),
            &install("rename"),
            &["install", "~/other/csv", "--yes", "--on-conflict", "overwrite", "--dry-run"],
            &install("overwrite"),
        ]));
    });
    let there = ["csv-2/SKILL.md", "csv-3/SKILL.md", "csv/SKILL.md"];
    assert_eq!(world.tree("~/.agents/skills"), there);
    assert_eq!(world.text("~/.agents/skills/csv/SKILL.md"), skill_md("csv", "Does csv."));
}

#[test]
fn what_the_audit_refuses() {
    let world = World::bare();
    world.file("~/shelf/bad/SKILL.md", DROPPER);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["install", "~/shelf/bad"],
            &["install", "~/shelf/bad", "--json"],
            // Yes to every question is not yes to this one.
            &["install", "~/shelf/bad", "--yes"],
            &["install", "~/shelf/bad", "--accept-risk"],
        ]));
    });
}

#[test]
fn what_is_no_skill_leaves_nothing() {
    let world = World::bare();
    world
        .file("~/shelf/broken/SKILL.md", BROKEN)
        .file("~/shelf/empty/README.md", "Nothing.\n")
        .file("~/shelf/out/SKILL.md", skill_md("../x", "Goes out."))
        .file("~/shelf/lone.zip", "no archive");
    assert_snapshot!(world.runs(&[
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
    assert_eq!(world.tree("~/.agents"), Vec::<String>::new());
    assert!(!world.path("~/.agents").exists() && world.tree("").is_empty());
}

#[test]
fn archives() {
    let world = world();
    assert_eq!(world.run(&["pack", "../home/shelf/pdf", "--output", "../home/pdf.skill"]).code, 0);
    let tar = std::process::Command::new("tar")
        .args(["-czf", "../many.tar.gz", "."])
        .current_dir(world.path("~/many"))
        .status();
    assert!(tar.unwrap().success());
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["install", "~/pdf.skill"],
            &["add", "~/many.tar.gz", "--skill", "csv"],
        ]));
    });
    assert_eq!(world.tree("~/.agents/skills"), ["csv/SKILL.md", "pdf/SKILL.md", "pdf/scripts/fill.sh"]);
}

#[test]
fn into_the_given_root() {
    let world = world();
    std::fs::create_dir(world.path("mine")).unwrap();
    let told = world.run(&["--root", "mine", "install", "~/shelf/pdf"]);
    assert_eq!(told.code, 0, "{}", told.whole());
    assert_eq!(world.tree("mine"), ["pdf/SKILL.md", "pdf/scripts/fill.sh"]);
    assert_eq!(world.run(&["--root", "mine", "verify"]).code, 0);
    assert_eq!(world.run(&["--root", "mine", "remove", "pdf"]).code, 0);
    assert_eq!(world.tree("mine"), Vec::<String>::new());
}

#[test]
fn by_way_of_skill() {
    let world = world();
    let told = world.run(&["skill", "install", "~/shelf/pdf", "--dry-run"]);
    assert_eq!(told.out, world.run(&["install", "~/shelf/pdf", "--dry-run"]).out);
    assert_eq!(told.code, 0);
}

#[test]
fn high_findings_need_a_yes_without_a_terminal() {
    let world = World::bare();
    world.file("~/shelf/root/SKILL.md", HIGH);
    let told = world.run(&["install", "~/shelf/root", "--json"]);
    assert_eq!((told.error().0.as_str(), told.code), ("UNTRUSTED", 1));
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["install", "~/shelf/root", "--project"],
            &["import", "~/shelf/root", "--project"],
            &["list"],
            &["install", "~/shelf/root", "--project", "--yes"],
            &["list"],
        ]));
    });
}

#[test]
fn every_skill_that_cannot_be_installed_is_named() {
    let world = world();
    world
        .file("~/many/skills/bad/SKILL.md", DROPPER)
        .file("~/many/skills/broken/SKILL.md", BROKEN)
        .file("~/many/skills/root/SKILL.md", HIGH);
    assert_snapshot!(
        world.runs(&[&["install", "~/many", "--all"], &["install", "~/many", "--all", "--json"]])
    );
    assert_eq!(world.tree("~/.agents"), Vec::<String>::new());
    assert_snapshot!(
        "the_others_are_installed_with_skip_invalid",
        world.runs(&[
            &["install", "~/many", "--all", "--skip-invalid", "--dry-run"],
            &["install", "~/many", "--all", "--skip-invalid"],
            &["import", "~/many", "--all", "--skip-invalid", "--json"],
        ])
    );
    let expected = ["csv/SKILL.md", "xml/SKILL.md", "xml/inner/xsl/SKILL.md"];
    assert_eq!(world.tree("~/.agents/skills"), expected);
}

#[test]
fn the_same_bytes_from_elsewhere_are_no_conflict() {
    let world = world();
    world
        .described("~/copy/csv", "Reads tables.")
        .described("~/.agents/skills/xml", "Reads trees.")
        .described("~/.agents/skills/xml/inner/xsl", "Changes trees.");
    assert_eq!(world.run(&["install", "~/many/skills/csv"]).code, 0);
    assert_snapshot!(
        world.runs(&[&["install", "~/copy/csv"], &["install", "~/many", "--all"], &["verify"],])
    );
    assert!(world.text("~/.prowess/state/installed.json").contains("many/skills/csv"));
}
