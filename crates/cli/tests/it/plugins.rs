//! `prowess plugins`, `prowess skill manage` and `prowess skill manage list`.

use crate::support::{TestEnv, needing};
use insta::assert_snapshot;

#[test]
fn s002_12_manage_shows_its_actions() {
    assert_snapshot!(TestEnv::new().runs(&[&["skill", "manage"], &["skill", "manage", "--json"]]));
}

/// `✓` enabled, `○` disabled, `✗` unavailable with the reason below it.
#[test]
fn s002_19_plugins_are_marked() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "harness");
    env
        .file(
            "~/.agent/config.yaml",
            "skills:\n  plugins:\n    - url: https://h/u/from-git.git\n      installedAt: \"2024-01-05T10:30:00Z\"\n\
             \x20   - url: https://h/u/off\n      ref: v1.0.0\n      enabled: false\n    - {url: https://h/u/x, name: deploy}\n\
             \x20   - {url: https://h/u/gone}\n",
        )
        .skill("~/.agent/plugins/from-git")
        .skill("~/.agent/plugins/off")
        .file("~/.agent/plugins/deploy/SKILL.md", needing("deploy", "gh docker"));
    let result = env.run(&["plugins"]);
    assert_eq!(result.out, env.run(&["skill", "manage", "list"]).out);
    assert_snapshot!(env.runs(&[&["plugins"], &["plugins", "--json"]]));
}

#[test]
fn no_plugins() {
    assert_snapshot!(TestEnv::new().runs(&[&["plugins"], &["--preset", "harness", "plugins", "--json"]]));
}
