//! `--root`, `--project` and `--home`.

use crate::world::World;
use insta::assert_snapshot;

fn world() -> World {
    let world = World::new();
    world
        .described("one/pdf", "From one.")
        .described("two/pdf", "From two.")
        .skill("two/docx")
        .skill(".agents/skills/never")
        .skill("~/.agents/skills/neither");
    world
}

#[test]
fn nothing_else_is_scanned_and_all_is_trusted() {
    assert_snapshot!(world().run(&["--root", "one", "list", "--all"]).whole());
}

#[test]
fn the_first_wins() {
    let world = world();
    assert_snapshot!(world.runs(&[
        &["--root", "one", "--root", "two", "list", "--all"],
        &["--root", "two", "--root", "one", "list", "--all"],
    ]));
}

#[test]
fn in_every_preset() {
    let world = world();
    for preset in ["standard", "app", "skill-tool", "harness", "triggers"] {
        let answer =
            world.run(&["list", "--json", "--preset", preset, "--root", "one", "--root", "two"]).json();
        let skills = answer["skills"].as_array().unwrap();
        let told: Vec<_> = skills.iter().map(|skill| skill["description"].as_str().unwrap()).collect();
        assert_eq!(told, ["Does docx.", "From one."], "{preset}");
    }
}

#[test]
fn one_that_is_missing() {
    let world = world();
    assert_snapshot!(world.runs(&[
        &["--root", "missing", "list"],
        &["--root", "missing", "list", "--json"],
        &["--root", "missing", "--root", "one", "list"],
        &["--root", "", "list"],
    ]));
}

#[test]
fn one_that_is_missing_ends_every_command() {
    let world = world();
    world.file("file", "x");
    for command in [
        &["audit"][..],
        &["check"],
        &["list"],
        &["show"],
        &["why", "pdf"],
        &["info", "pdf"],
        &["prompt"],
        &["match", "x"],
        &["lint", "--routing"],
        &["activate", "pdf"],
        &["files", "pdf"],
        &["tools"],
        &["verify"],
        &["mcp"],
        &["serve", "--addr", "127.0.0.1:0"],
    ] {
        for root in ["missing", "file"] {
            let told = world.run(&[&["--root", root], command].concat());
            assert_eq!(told.code, 2, "{command:?}: {}{}", told.out, told.err);
            assert!(told.err.contains("given with --root"), "{command:?}: {}", told.err);
        }
    }
}

#[test]
fn other_commands_go_by_it() {
    let world = world();
    assert_snapshot!(world.runs(&[
        &["--root", "one", "why", "docx"],
        &["--root", "one", "why", "never"],
        &["--root", "one", "check"],
        &["--root", "one", "new", "made", "--description", "Made there."],
    ]));
    assert!(world.path("one/made/SKILL.md").is_file());
}

#[test]
fn another_project() {
    let world = world();
    world.skill("inner/.agents/skills/inside");
    assert_eq!(world.run(&["--project", "inner", "trust", "--quiet"]).code, 0);
    let told = world.run(&["--project", "inner", "list"]);
    assert!(told.out.contains("\ninside ") && !told.out.contains("never"), "{}", told.out);
    assert_snapshot!(
        world.runs(&[&["--project", "missing", "list"], &["--project", "missing", "list", "--json"]])
    );
}

#[test]
fn another_home() {
    let world = world();
    let told = world.run(&["--home", "two", "list"]);
    assert!(!told.out.contains("neither"), "{}", told.out);
}
