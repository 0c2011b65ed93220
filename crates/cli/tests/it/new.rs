//! `prowess new`.

use crate::world::World;
use insta::assert_snapshot;

#[test]
fn makes_a_skill_that_is_valid_to_the_letter() {
    let world = World::bare();
    let told = world.run(&["new", "pdf-forms", "--description", "Fills \"forms\": fast.\nUse when asked."]);
    let made = std::fs::read_to_string(world.path(".agents/skills/pdf-forms/SKILL.md")).unwrap();
    assert_snapshot!(told.whole() + "\n" + &made);
    assert_eq!(world.run(&["check", "--strict"]).code, 0);
}

#[test]
fn where_the_project_is_trusted_nothing_is_said_of_trust() {
    let world = World::bare();
    world.run(&["trust"]);
    let told = world.run(&["new", "pdf", "--description", "Fills forms."]);
    assert_snapshot!(told.whole());
    assert!(world.run(&["list"]).out.starts_with("pdf "));
}

#[test]
fn in_a_directory_of_choice_and_as_json() {
    let world = World::bare();
    assert_snapshot!(
        world.run(&["new", "pdf", "--description", "Fills forms.", "--dir", "mine", "--json"]).whole()
    );
    assert!(world.path("mine/pdf/SKILL.md").is_file());
}

#[test]
fn every_preset_has_its_directory() {
    for (preset, folder) in [
        ("standard", ".agents/skills"),
        ("app", ".agents/skills"),
        ("skill-tool", "skills"),
        ("harness", ".agent/skills"),
        ("triggers", ".agent/skills"),
        ("chat", ".skills"),
    ] {
        let world = World::new();
        let told = world.run(&["--preset", preset, "new", "pdf", "--description", "Fills forms."]);
        assert_eq!(told.out, format!("made {folder}/pdf/SKILL.md\n"), "{preset}");
        assert!(world.path(folder).join("pdf/SKILL.md").is_file());
    }
}

#[test]
fn refusals_say_what_to_do() {
    let world = World::bare();
    world.skill(".agents/skills/pdf");
    let long = "x".repeat(1025);
    let mut told = world.runs(&[
        &["new", "pdf", "--description", "Fills forms."],
        &["new", "pdf", "--description", "Fills forms.", "--json"],
        &["new", "PDF_Forms", "--description", "Fills forms."],
        &["new", "../up", "--description", "Fills forms."],
        &["new", "", "--description", "Fills forms."],
        &["new", "empty", "--description", ""],
        &["new", "long", "--description", &long],
        &["new", "hidden", "--description", "Fills\u{202e} forms.\u{1b}[31m"],
        &["new", "forms"],
    ]);
    told = told.replace(&long, "[1025 CHARACTERS]").replace('\u{1b}', "[ESC]").replace('\u{202e}', "[RLO]");
    assert_snapshot!(told);
    let made: Vec<_> = std::fs::read_dir(world.path(".agents/skills")).unwrap().collect();
    assert_eq!(made.len(), 1);
}

#[test]
fn what_a_killed_process_left_is_swept_away_and_nothing_else() {
    let world = World::bare();
    // A number that no process has, one that a living process has, and a folder of the user's own.
    let (dead, living) = (".prowess-new-999999999", format!(".prowess-new-{}", std::process::id()));
    for name in [dead, &living, ".prowess-new-mine"] {
        world.file(&format!(".agents/skills/{name}/SKILL.md"), "half");
    }
    assert_eq!(world.run(&["new", "pdf", "--description", "Fills forms."]).code, 0);
    let left = [dead, &living, ".prowess-new-mine", "pdf"];
    let left = left.map(|name| world.path(&format!(".agents/skills/{name}")).exists());
    assert_eq!(left, [false, true, true, true]);
}
