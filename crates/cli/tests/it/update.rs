//! `prowess update`: from folders and from repositories on this machine.

use std::fs;

use crate::world::{CHANGING, DROPPER, HIGH, World, skill_md};
use insta::{assert_snapshot, with_settings};
use prowess_testing::servers::repository::{Repository, skills};

/// A skill of the user's from a folder.
fn world() -> World {
    let world = World::bare();
    world.skill("~/shelf/pdf").file("~/shelf/pdf/old.md", "Old.\n");
    assert_eq!(world.run(&["install", "~/shelf/pdf"]).code, 0);
    world
}

#[test]
fn what_changes_is_shown_before_it_changes() {
    let world = world();
    world.described("~/shelf/pdf", "Does more.").file("~/shelf/pdf/new.md", "New.\n");
    fs::remove_file(world.path("~/shelf/pdf/old.md")).unwrap();
    assert_snapshot!(world.runs(&[
        &["update", "--dry-run"],
        &["update", "pdf", "--dry-run", "--json"],
        &["update"],
        &["update"],
        &["update", "pfd"],
        &["update", "pfd", "--json"],
    ]));
    assert_eq!(world.tree("~/.agents/skills"), ["pdf/SKILL.md", "pdf/new.md"]);
    assert_eq!(world.run(&["verify"]).code, 0);
}

#[test]
fn nothing_to_update() {
    assert_snapshot!(World::bare().runs(&[&["update"], &["update", "--json"], &["update", "pdf"]]));
}

#[test]
fn what_brings_more_asks_again() {
    let world = world();
    let manifest = "---\nname: pdf\ndescription: Does pdf.\nallowed-tools: Bash(git:*)\n---\n\n\
                    See https://forms.example/new and run `scripts/fill.sh`.\n";
    world.file("~/shelf/pdf/SKILL.md", manifest);
    world.file("~/shelf/pdf/scripts/fill.sh", "#!/bin/sh\necho \"$FORMS_KEY\"\n");
    assert_snapshot!(world.runs(&[&["update"], &["update", "pdf"], &["update", "pdf", "--json"]]));
    assert_eq!(world.text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Does pdf."));
    assert_snapshot!("what_brings_more_is_taken_with_yes", world.runs(&[&["update", "--yes"], &["update"]]));
    assert_eq!(world.text("~/.agents/skills/pdf/SKILL.md"), manifest);
}

#[test]
fn what_was_modified_here_is_left_alone() {
    let world = world();
    world.described("~/shelf/pdf", "Does more.").described("~/.agents/skills/pdf", "Does what I want.");
    assert_snapshot!(world.runs(&[
        &["update"],
        &["update", "pdf"],
        &["update", "pdf", "--yes", "--on-conflict", "skip"],
        &["update", "pdf", "--yes", "--on-conflict", "overwrite"],
    ]));
    assert_eq!(world.text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Does more."));
}

#[test]
fn one_that_cannot_be_updated_does_not_stop_the_others() {
    let world = world();
    world.skill("~/shelf/csv").skill("~/shelf/xml").skill("~/shelf/bad");
    for name in ["~/shelf/csv", "~/shelf/xml", "~/shelf/bad"] {
        assert_eq!(world.run(&["install", name]).code, 0);
    }
    fs::remove_dir_all(world.path("~/shelf/csv")).unwrap();
    fs::remove_file(world.path("~/shelf/xml/SKILL.md")).unwrap();
    world.described("~/shelf/pdf", "Does more.").file("~/shelf/bad/SKILL.md", DROPPER);
    assert_snapshot!(world.runs(&[&["update"], &["update", "bad"], &["update", "csv"], &["update", "xml"]]));
    assert_eq!(world.text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Does more."));
}

/// A repository on this machine, and its address.
fn repository(world: &World) -> (Repository, String) {
    let repository = skills(world.path("~/repository"));
    let url = format!("file://{}", world.path("~/repository").display());
    (repository, url)
}

fn git_world() -> World {
    World::bare().variable("PROWESS_ALLOW_FILE_URLS", "1")
}

#[test]
fn file_urls_have_to_be_allowed() {
    let world = World::bare();
    let (_, url) = repository(&world);
    let told = world.run(&["install", &url, "--skill", "one"]);
    assert_snapshot!(told.whole());
}

#[test]
fn a_branch_moves_on() {
    let world = git_world();
    let (repository, url) = repository(&world);
    assert_eq!(world.run(&["install", &url, "--all"]).code, 0);
    repository.write("skills/two/SKILL.md", skill_md("two", "Does it better."));
    repository.commit("fourth");
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[&["update", "--dry-run"], &["update"], &["update"], &["plugins"]]));
    });
    repository.run(&["rm", "-q", "-r", "skills/one"]);
    repository.commit("fifth");
    assert_snapshot!("a_skill_that_is_gone", world.runs(&[&["update"], &["update", "one"]]));
}

#[test]
fn what_is_pinned_stays_and_says_so() {
    let world = git_world();
    let (repository, url) = repository(&world);
    let first = repository.run(&["rev-parse", "light"]);
    assert_eq!(world.run(&["install", &url, "--ref", "v1.0", "--skill", "one"]).code, 0);
    assert_eq!(world.run(&["install", &url, "--ref", &first, "--skill", "two"]).code, 0);
    assert_snapshot!(world.runs(&[&["update"], &["update", "one"], &["update", "two", "--json"]]));
    repository.run(&["tag", "-f", "v1.0", "main"]);
    let again = ["install", &url, "--ref", "v1.0", "--skill", "one", "--yes", "--on-conflict", "overwrite"];
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!("a_tag_that_moved", world.runs(&[&["update"], &again]));
    });
    // A pinned skill that is gone comes back as it was pinned.
    fs::remove_dir_all(world.path("~/.agents/skills/two")).unwrap();
    assert_eq!(world.run(&["update", "two"]).code, 0);
    assert_eq!(world.run(&["verify", "two"]).code, 0);
}

#[test]
fn by_way_of_manage() {
    let world = world();
    let told = world.run(&["skill", "manage", "update", "--dry-run"]);
    assert_eq!((told.out, told.code), (world.run(&["update", "--dry-run"]).out, 0));
}

#[test]
fn a_skill_that_was_renamed_at_its_source() {
    let world = world();
    world.file("~/shelf/pdf/SKILL.md", skill_md("forms", "Does pdf."));
    assert_snapshot!(world.runs(&[&["update"], &["update", "pdf"], &["update", "pdf", "--json"]]));
    assert_eq!(world.text("~/.agents/skills/pdf/SKILL.md"), skill_md("pdf", "Does pdf."));
    assert!(!world.text("~/.prowess/state/installed.json").contains("renamed_from"));
    // The hint works.
    let source = world.path("~/shelf/pdf").display().to_string();
    assert_eq!(world.run(&["install", &source]).code, 0);
    assert_eq!(world.run(&["remove", "pdf"]).code, 0);
    assert_eq!(world.run(&["update"]).code, 0);
}

#[test]
fn what_was_renamed_here_keeps_its_name() {
    let world = World::bare();
    world.skill("~/shelf/pdf");
    assert_eq!(world.run(&["install", "~/shelf/pdf", "--name", "forms"]).code, 0);
    world.described("~/shelf/pdf", "Does more.");
    assert_eq!(world.run(&["update"]).code, 0);
    assert_eq!(world.text("~/.agents/skills/forms/SKILL.md"), skill_md("forms", "Does more."));
    assert!(world.text("~/.prowess/state/installed.json").contains("\"renamed_from\": \"pdf\""));
}

#[test]
fn an_update_with_high_findings_needs_a_yes() {
    let world = World::bare();
    world.skill("~/shelf/root");
    assert_eq!(world.run(&["install", "~/shelf/root"]).code, 0);
    world.file("~/shelf/root/SKILL.md", HIGH);
    assert_snapshot!(world.runs(&[&["update"], &["update", "root"], &["update", "--yes"]]));
    assert_eq!(world.text("~/.agents/skills/root/SKILL.md"), HIGH);
}
