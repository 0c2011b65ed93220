//! `prowess doctor`.

use crate::world::{BROKEN, Told, World, keys, needing};
use insta::assert_snapshot;
use serde_json::Value;

/// All of it but what this machine enforces, which is another thing on each.
fn steady(mut told: Told) -> String {
    if let Ok(mut answer) = serde_json::from_str::<Value>(&told.out) {
        if let Some(findings) = answer["findings"].as_array_mut() {
            findings.retain(|finding| finding["what"] != "sandbox");
        }
        told.out = format!("{answer}\n");
    }
    told.whole()
}

#[test]
fn nothing_wrong() {
    let world = World::bare();
    world.skill("~/.agents/skills/pdf");
    assert_snapshot!(steady(world.run(&["doctor"])));
}

#[test]
fn all_there_is_to_note() {
    let world = World::bare();
    world
        .skill(".agents/skills/waiting")
        .file("~/.agents/skills/broken/SKILL.md", BROKEN)
        .file("~/.agents/skills/needy/SKILL.md", needing("needy", "frobnicate gizmo"))
        .file(".claude/skills", "A file where a directory should be.");
    assert_snapshot!(steady(world.run(&["doctor"])));
}

#[test]
fn a_wrong_configuration() {
    let world = World::new().variable("PROWESS_PRESET", "standart");
    let told = world.run(&["doctor"]);
    assert_eq!(told.code, 1);
    let lines: Vec<_> = told.out.lines().skip(1).take(3).collect();
    assert_snapshot!(format!("{}\n--- stderr\n{}", lines.join("\n"), told.err));
}

#[test]
fn a_home_that_is_not_there() {
    let world = World::bare().variable("PROWESS_HOME", "/nonexistent/home");
    let told = world.run(&["doctor"]);
    let lines: Vec<_> = told.out.lines().skip(1).take(2).collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn switched_off() {
    assert_snapshot!(steady(World::bare().run(&["doctor", "--preset", "chat"])));
}

#[test]
fn as_json() {
    let world = World::bare();
    world.skill(".agents/skills/waiting");
    let told = world.run(&["doctor", "--json"]);
    assert_eq!(keys(&told.json()), ["diagnostics", "findings", "healthy", "schema", "version"]);
    assert_snapshot!(steady(told));
}

#[test]
fn many_diagnostics_of_a_kind_are_counted() {
    let world = World::bare();
    for number in 0..8 {
        world
            .skill(&format!("~/.agents/skills/skill-{number}"))
            .skill(&format!(".agents/skills/skill-{number}"));
    }
    assert_eq!(world.run(&["trust"]).code, 0);
    let told = world.run(&["doctor"]);
    assert_eq!(told.err.matches("warning[").count(), 3, "{}", told.whole());
    assert!(told.err.contains("and 5 more of "), "{}", told.whole());
    let all = world.run(&["doctor", "--verbose"]);
    assert_eq!(all.err.matches("warning[").count(), 8, "{}", all.whole());
}
