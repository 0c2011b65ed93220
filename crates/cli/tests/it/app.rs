//! Installing and managing in preset `app`, as document 000 has it.

use std::fs;

use crate::world::terminal::Dialogue;
use crate::world::{BROKEN, CHANGING, World, skill_md};
use insta::{assert_snapshot, with_settings};

fn world() -> World {
    World::new().variable("PROWESS_PRESET", "app").variable("NO_COLOR", "1")
}

/// The ids of the skills on offer, as the application's list has them.
fn offered(world: &World) -> Vec<String> {
    let answer = world.run(&["list", "--json"]).json();
    answer["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| skill["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn s000_02_what_comes_with_the_application_is_read_only() {
    let world = world();
    world.skill(".agents/sys.skills/shipped").skill("~/shelf/own");
    assert_eq!(world.run(&["import", "~/shelf/own"]).code, 0);
    assert_eq!(world.tree(".agents"), ["skills/own/SKILL.md", "sys.skills/shipped/SKILL.md"]);
    assert_snapshot!(world.runs(&[
        &["remove", "shipped"],
        &["remove", "shipped", "--yes", "--json"],
        &["remove", "own"],
    ]));
    assert_eq!(world.tree(".agents"), ["sys.skills/shipped/SKILL.md"]);
}

#[test]
fn s000_14_only_the_user_s_skills_are_deleted() {
    let world = world();
    world.skill(".agents/sys.skills/shipped").skill(".agents/skills/own");
    assert_eq!(world.run(&["remove", "shipped", "--yes"]).code, 1);
    assert_eq!(world.run(&["remove", "own", "--yes"]).code, 0);
    assert_eq!(offered(&world), ["shipped"]);
}

#[test]
fn s000_15_s000_20_a_folder_or_a_zip_is_imported_under_its_own_or_a_given_id() {
    let world = world();
    world.skill("~/shelf/report").skill("~/shelf/notes");
    assert_eq!(world.run(&["pack", "../home/shelf/notes", "--output", "../home/notes.zip"]).code, 0);
    assert_eq!(world.run(&["import", "~/shelf/report"]).code, 0);
    assert_eq!(world.run(&["import", "~/notes.zip", "--name", "my-notes"]).code, 0);
    assert_eq!(offered(&world), ["my-notes", "report"]);
    assert_eq!(world.text(".agents/skills/my-notes/SKILL.md"), skill_md("my-notes", "Does notes."));
}

#[test]
fn s000_15_s000_20_without_a_good_skill_md_nothing_is_imported() {
    let world = world();
    world.file("~/shelf/empty/README.md", "Nothing.\n").file("~/shelf/broken/SKILL.md", BROKEN);
    assert_snapshot!(world.runs(&[&["import", "~/shelf/empty"], &["import", "~/shelf/broken"]]));
    assert!(!world.path(".agents").exists());
}

/// Every call builds what a model is told anew: whatever was imported or deleted shows at once.
#[test]
fn s000_16_what_was_imported_or_deleted_shows_in_the_next_prompt() {
    let world = world();
    world.skill("~/shelf/report");
    let told = || world.run(&["prompt"]).out.contains("report");
    assert!(!told());
    assert_eq!(world.run(&["import", "~/shelf/report"]).code, 0);
    assert!(told());
    assert_eq!(world.run(&["remove", "report"]).code, 0);
    assert!(!told());
}

#[test]
fn s000_22_the_user_s_folder_is_made_by_the_first_import() {
    let world = world();
    world.skill("~/shelf/report");
    assert!(offered(&world).is_empty() && !world.path(".agents").exists());
    assert_eq!(world.run(&["import", "~/shelf/report"]).code, 0);
    assert!(fs::metadata(world.path(".agents/skills")).unwrap().is_dir());
}

#[test]
fn s000_24_over_an_id_that_is_there_after_a_confirmation() {
    let world = world();
    world.skill("~/shelf/report").described(".agents/skills/report", "Is the old one.");
    let told = world.run(&["import", "~/shelf/report", "--json"]);
    assert_eq!((told.error().0.as_str(), told.code), ("CONFLICT", 1));
    let ask = |answer: &str| {
        let mut dialogue = Dialogue::start(&world, &["import", "~/shelf/report"]);
        dialogue.until("[o]verwrite, [s]kip report? ").answer(answer).whole()
    };
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(ask("s"));
    });
    assert_eq!(world.text(".agents/skills/report/SKILL.md"), skill_md("report", "Is the old one."));
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!("s000_24_confirmed", ask("o"));
    });
    assert_eq!(world.text(".agents/skills/report/SKILL.md"), skill_md("report", "Does report."));
}
