//! `prowess verify` and `prowess install --locked`: whether what is installed is still what was installed.

use std::fs;

use crate::world::{CHANGING, World, keys, skill_md};
use insta::{assert_snapshot, with_settings};

/// A project with two installed skills, from a folder in it.
fn world() -> World {
    let world = World::bare();
    world.skill("shelf/pdf").file("shelf/pdf/scripts/fill.sh", "#!/bin/sh\n").skill("shelf/csv");
    assert_eq!(world.run(&["install", "./shelf", "--all", "--project"]).code, 0);
    world
}

fn change(world: &World) {
    world.file(".agents/skills/pdf/SKILL.md", skill_md("pdf", "Does something else."));
    world.file(".agents/skills/pdf/new.md", "New.\n");
    fs::remove_file(world.path(".agents/skills/pdf/scripts/fill.sh")).unwrap();
}

#[test]
fn nothing_installed() {
    let world = World::bare();
    assert_snapshot!(world.runs(&[&["verify"], &["verify", "--json"], &["verify", "pdf"]]));
}

#[test]
fn all_as_installed() {
    let world = world();
    assert_snapshot!(world.runs(&[&["verify"], &["verify", "pdf", "--json"]]));
}

#[test]
fn every_way_to_differ() {
    let world = world();
    world.skill("shelf/xml").skill("shelf/odd").skill("shelf/gone").skill(".agents/skills/mine");
    assert_eq!(world.run(&["install", "./shelf", "--all"]).code, 0);
    change(&world);
    world.file(".agents/skills/csv/more.md", "More.\n");
    fs::remove_dir_all(world.path(".agents/skills/gone")).unwrap();
    fs::remove_dir_all(world.path(".agents/skills/xml")).unwrap();
    std::os::unix::fs::symlink("../../shelf/xml", world.path(".agents/skills/xml")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", world.path(".agents/skills/odd/link")).unwrap();
    let told = world.run(&["verify"]);
    assert_eq!(told.code, 1);
    assert_snapshot!(told.whole());
    let answer = world.run(&["verify", "--json"]).json();
    let status: Vec<_> = answer["skills"].as_array().unwrap().iter().map(|skill| &skill["status"]).collect();
    assert_eq!(status, ["extra", "missing", "unlocked", "link", "modified", "link"]);
    assert_eq!(keys(&answer["skills"][0]["files"][0]), ["path", "status"]);
}

#[test]
fn what_was_modified_is_not_loaded_until_it_is_accepted() {
    let world = world();
    change(&world);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["activate", "pdf"],
            &["activate", "pdf", "--json"],
            &["why", "pdf"],
            &["verify", "--accept"],
            &["verify", "pdf", "--accept"],
            &["verify"],
            &["why", "pdf"],
        ]));
    });
    assert_eq!(world.run(&["activate", "pdf"]).code, 0);
    // What was accepted is what was there, and not whatever comes after.
    world.file(".agents/skills/pdf/more.md", "More.\n");
    assert_eq!(world.run(&["activate", "pdf"]).code, 1);
}

/// Where no trust is needed, the lock alone stands in the way.
#[test]
fn what_was_modified_for_the_user_is_not_loaded_either() {
    let world = World::bare();
    world.skill("~/shelf/pdf").file("~/shelf/pdf/notes.md", "Notes.\n");
    assert_eq!(world.run(&["install", "~/shelf/pdf"]).code, 0);
    world.file("~/.agents/skills/pdf/notes.md", "Other notes.\n");
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["activate", "pdf"],
            &["read", "pdf", "notes.md", "--json"],
            &["verify"],
            &["install", "--locked", "--yes", "--on-conflict", "overwrite"],
        ]));
    });
    assert_eq!(world.run(&["activate", "pdf"]).code, 0);
}

#[test]
fn what_is_missing_cannot_be_accepted() {
    let world = world();
    fs::remove_dir_all(world.path(".agents/skills/csv")).unwrap();
    let told = world.run(&["verify", "csv", "--accept", "--json"]);
    assert_eq!((told.error().0.as_str(), told.code), ("CONFLICT", 1));
}

#[test]
fn locked_restores_what_is_missing_and_what_was_modified() {
    let world = world();
    let before = world.tree(".agents/skills");
    fs::remove_dir_all(world.path(".agents/skills/csv")).unwrap();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["install", "--locked", "--dry-run"],
            &["install", "--locked"],
            &["install", "--locked"],
        ]));
    });
    change(&world);
    assert_snapshot!(
        "locked_and_modified",
        world.runs(&[
            &["install", "--locked"],
            &["install", "--locked", "--json"],
            &["install", "--locked", "--yes", "--on-conflict", "overwrite"],
            &["verify"],
        ])
    );
    assert_eq!(world.tree(".agents/skills"), before);
}

#[test]
fn locked_fails_on_drift() {
    let world = world();
    fs::remove_dir_all(world.path(".agents")).unwrap();
    world.described("shelf/csv", "Does more.");
    assert_snapshot!(world.runs(&[&["install", "--locked"], &["install", "--locked", "--json"]]));
    assert_eq!(world.tree(".agents"), Vec::<String>::new());
    assert_eq!(world.run(&["install", "./shelf", "--locked", "--ref", "x"]).code, 2);
}

#[test]
fn locked_can_be_kept_to_one_source() {
    let world = world();
    world.skill("other/xml");
    assert_eq!(world.run(&["install", "./other/xml"]).code, 0);
    fs::remove_dir_all(world.path(".agents")).unwrap();
    assert_snapshot!(world.runs(&[
        &["install", "./shelf", "--locked"],
        &["install", "./shelf/pdf", "--locked"],
        &["verify"],
    ]));
}

#[test]
fn locked_without_a_lock() {
    assert_snapshot!(World::bare().runs(&[&["install", "--locked"], &["install"]]));
}

#[test]
fn a_lock_that_cannot_be_read_stops_everything() {
    let world = world();
    let marks = world.text("skills.lock").replacen("  \"schema\"", "<<<<<<< ours\n  \"schema\"", 1);
    world.file("skills.lock", marks.clone());
    assert_snapshot!(world.runs(&[
        &["verify"],
        &["verify", "--json"],
        &["install", "./shelf/pdf"],
        &["update"],
        &["remove", "pdf"],
        &["plugins"],
        &["activate", "pdf"],
    ]));
    assert_eq!(world.text("skills.lock"), marks);
    let told = world.run(&["doctor"]);
    assert!(told.out.contains("installed     [PROJECT]/skills.lock cannot be read"), "{}", told.out);
    assert_eq!(told.code, 1);
}

#[test]
fn the_doctor_sees_what_was_modified() {
    let world = world();
    let line = |world: &World| {
        let told = world.run(&["doctor"]);
        assert_eq!(told.code, 0, "{}", told.whole());
        let lines: Vec<_> =
            told.out.lines().skip_while(|line| !line.contains(" installed ")).take(2).collect();
        lines.join("\n")
    };
    let before = line(&world);
    change(&world);
    assert_snapshot!(format!("{before}\n\n{}", line(&world)));
}

/// A situation in which a command names another one that helps.
struct Hint {
    name: &'static str,
    begin: fn(&World),
    /// What prints the hint.
    ask: &'static [&'static str],
    /// How many commands it names.
    commands: usize,
    /// What succeeds once any of them was run.
    then: &'static [&'static str],
}

const PDF: &str = "~/.agents/skills/pdf";

fn installed(world: &World) {
    world.skill("~/shelf/pdf");
    assert_eq!(world.run(&["install", "~/shelf/pdf", "--scope", "user"]).code, 0);
}

fn installed_in_the_project(world: &World) {
    world.skill("shelf/pdf").file(".git/HEAD", "");
    assert_eq!(world.run(&["install", "./shelf/pdf"]).code, 0);
}

const HINTS: &[Hint] = &[
    Hint {
        name: "why, modified for the user",
        begin: |world| {
            installed(world);
            world.file("~/.agents/skills/pdf/more.md", "More.\n").file(".git/HEAD", "");
        },
        ask: &["why", "pdf"],
        commands: 2,
        then: &["why", "pdf"],
    },
    Hint {
        name: "verify, modified in the project",
        begin: |world| {
            installed_in_the_project(world);
            world.file(".agents/skills/pdf/more.md", "More.\n");
        },
        ask: &["verify"],
        commands: 2,
        then: &["verify"],
    },
    Hint {
        name: "list, modified in the project",
        begin: |world| {
            installed_in_the_project(world);
            world.file(".agents/skills/pdf/more.md", "More.\n");
        },
        ask: &["list", "--all"],
        commands: 1,
        then: &["activate", "pdf"],
    },
    Hint {
        name: "verify, missing",
        begin: |world| {
            installed(world);
            fs::remove_dir_all(world.path(PDF)).unwrap();
            world.file(".git/HEAD", "");
        },
        ask: &["verify"],
        commands: 1,
        then: &["verify"],
    },
    Hint {
        name: "why, untrusted",
        begin: |world| {
            world.skill(".agents/skills/pdf");
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "doctor, a nested repository",
        begin: |world| {
            world.skill(".agents/skills/pdf").file(".agents/skills/pdf/.git/HEAD", "");
            assert_eq!(world.run(&["trust"]).code, 0);
        },
        ask: &["doctor"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "trust, a nested repository",
        begin: |world| {
            world.skill(".agents/skills/pdf").file(".agents/skills/pdf/.git/HEAD", "");
        },
        ask: &["trust"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "why, a link to a folder with a space and a quote in its name",
        begin: |world| {
            world.skill("~/it's my shelf/pdf").file("~/.agents/skills/.keep", "");
            std::os::unix::fs::symlink(world.path("~/it's my shelf/pdf"), world.path(PDF)).unwrap();
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "why, changed since it was trusted",
        begin: |world| {
            world.skill(".agents/skills/pdf");
            assert_eq!(world.run(&["trust", "--pinned"]).code, 0);
            world.described(".agents/skills/pdf", "Something else.");
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "why, disabled by the user",
        begin: |world| {
            world.skill(PDF);
            assert_eq!(world.run(&["disable", "pdf"]).code, 0);
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "why, disabled by the project",
        begin: |world| {
            world.skill(PDF);
            assert_eq!(world.run(&["disable", "pdf", "--scope", "project"]).code, 0);
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "enable, disabled by the project",
        begin: |world| {
            world.skill(PDF);
            assert_eq!(world.run(&["disable", "pdf", "--project"]).code, 0);
        },
        ask: &["enable", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "why, its source disabled by the project",
        begin: |world| {
            world.skill(PDF);
            assert_eq!(world.run(&["disable", "--source", "~/.agents/skills", "--project"]).code, 0);
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "install --locked, in a fresh clone",
        begin: |world| {
            installed_in_the_project(world);
            fs::remove_dir_all(world.path(".agents")).unwrap();
            fs::remove_dir_all(world.path("~/.prowess")).unwrap();
        },
        ask: &["install", "--locked"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "tools, an untrusted skill",
        begin: |world| {
            world.skill(".agents/skills/pdf");
        },
        ask: &["tools", "--skill", "pdf"],
        commands: 1,
        then: &["tools", "--skill", "pdf"],
    },
    Hint {
        name: "update, renamed at the source",
        begin: |world| {
            installed(world);
            world.file("~/shelf/pdf/SKILL.md", skill_md("forms", "Does pdf."));
        },
        ask: &["update"],
        commands: 1,
        then: &["update"],
    },
    Hint {
        name: "install, high findings",
        begin: |world| {
            world.file("~/shelf/root/SKILL.md", crate::world::HIGH);
        },
        ask: &["install", "~/shelf/root"],
        commands: 1,
        then: &["why", "root"],
    },
];

/// The commands that a text names after a colon or an arrow, and those that are the same call with one more option.
fn named(text: &str, ask: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in text.lines() {
        let begins = line.match_indices("prowess ").filter(|(at, _)| {
            let before = &line[..*at];
            before.ends_with(": ") || before.ends_with("→ ")
        });
        commands.extend(begins.map(|(at, _)| line[at..].split("; ").next().unwrap().to_owned()));
        if let Some((_, option)) = line.split_once("the same command with ") {
            commands.push(format!("prowess {} {option}", ask.join(" ")));
        }
    }
    commands.sort();
    commands.dedup();
    commands
}

#[test]
fn every_hint_works_as_it_is_printed() {
    for hint in HINTS {
        let ask = || {
            let world = World::bare();
            (hint.begin)(&world);
            let told = world.run(hint.ask);
            (world, named(&format!("{}\n{}", told.out, told.err), hint.ask), told)
        };
        let (_, commands, told) = ask();
        assert_eq!(commands.len(), hint.commands, "{}: {commands:?} in {}", hint.name, told.whole());
        for command in commands {
            let (world, ..) = ask();
            let folder = |inner: &str| world.path(inner).display().to_string();
            let pasted = command
                .replace("[PROJECT]", folder("").trim_end_matches('/'))
                .replace("[HOME]", folder("~/").trim_end_matches('/'));
            let binary = world.command(&[]);
            let mut shell = std::process::Command::new("/bin/sh");
            let script = format!("prowess() {{ {} \"$@\"; }}; {pasted}", binary.get_program().display());
            shell.args(["-c", &script]).env_clear().current_dir(world.path(""));
            shell.envs(binary.get_envs().filter_map(|(name, value)| Some((name, value?))));
            // A shell expands a tilde by itself.
            shell.env("HOME", world.path("~/"));
            let output = shell.stdin(std::process::Stdio::null()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{}: {command}: {said}", hint.name);
            let then = world.run(hint.then);
            assert_eq!(then.code, 0, "{}, after {command}: {}", hint.name, then.whole());
        }
    }
}
