//! Skills of the same name, as the listing tells of them.

mod world;

use insta::assert_snapshot;
use world::{World, skill_md};

#[test]
fn the_standard_takes_the_project_before_the_user() {
    let world = World::bare();
    world.described("~/.agents/skills/pdf", "The user's.").described(".agents/skills/pdf", "The project's.");
    assert_snapshot!(world.runs(&[&["trust"], &["list"], &["list", "--all"], &["list", "-v"]]));
}

#[test]
fn s004_04_the_earliest_directory_wins_and_the_listing_records_it() {
    let world = World::new().variable("PROWESS_PRESET", "chat").variable("PROWESS_SKILLS_ENABLED", "true");
    world
        .described(".skills/pdf", "The first directory's.")
        .described(".agents/skills/pdf", "The second directory's.")
        .described("~/.remcochat/skills/pdf", "The last directory's.");
    assert_snapshot!(world.runs(&[&["list"], &["list", "--all"], &["list", "--all", "--json"]]));
}

#[test]
fn s000_23_the_system_wins_over_the_user() {
    let world = World::new().variable("PROWESS_PRESET", "app");
    world
        .file(".agents/sys.skills/report/SKILL.md", skill_md("Weekly Report", "The system's."))
        .file(".agents/skills/report/SKILL.md", skill_md("My Report", "The user's."))
        .file(".agents/skills/other/SKILL.md", skill_md("Weekly Report", "Another id, the same name."));
    assert_snapshot!(world.runs(&[
        &["list"],
        &["list", "--all"],
        &["why", "report"],
        &["why", "Weekly Report"]
    ]));
    let answer = world.run(&["list", "--json"]).json();
    let ids: Vec<_> = answer["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
    assert_eq!(ids, ["report", "other"]);
}
