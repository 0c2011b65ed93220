//! `prowess plugins`, `prowess skill manage` and `prowess skill manage list`.

use crate::world::{World, needing};
use insta::assert_snapshot;

#[test]
fn s002_12_manage_shows_its_actions() {
    assert_snapshot!(World::new().runs(&[&["skill", "manage"], &["skill", "manage", "--json"]]));
}

/// `✓` enabled, `○` disabled, `✗` unavailable with the reason below it.
#[test]
fn s002_19_plugins_are_marked() {
    let world = World::new().variable("PROWESS_PRESET", "harness");
    world
        .file(
            "~/.agent/config.yaml",
            "skills:\n  plugins:\n    - url: https://h/u/from-git.git\n      installedAt: \"2024-01-05T10:30:00Z\"\n\
             \x20   - url: https://h/u/off\n      ref: v1.0.0\n      enabled: false\n    - {url: https://h/u/x, name: deploy}\n\
             \x20   - {url: https://h/u/gone}\n",
        )
        .skill("~/.agent/plugins/from-git")
        .skill("~/.agent/plugins/off")
        .file("~/.agent/plugins/deploy/SKILL.md", needing("deploy", "gh docker"));
    let told = world.run(&["plugins"]);
    assert_eq!(told.out, world.run(&["skill", "manage", "list"]).out);
    assert_snapshot!(world.runs(&[&["plugins"], &["plugins", "--json"]]));
}

#[test]
fn none() {
    assert_snapshot!(World::new().runs(&[&["plugins"], &["--preset", "harness", "plugins", "--json"]]));
}
