//! `prowess info`.

use crate::world::{BROKEN, World, keys};
use insta::{assert_snapshot, with_settings};

const FULL: &str = "---\nname: pdf\ndescription: Fills forms.\nlicense: MIT\ncompatibility: Needs a PDF.\n\
                    metadata:\n  author: Ada\n  version: \"2.1\"\nallowed-tools: Read Bash(git:*)\ncolour: blue\n\
                    ---\n\nDo it.\n";

fn world() -> World {
    let world = World::bare();
    world
        .file("~/.agents/skills/pdf/SKILL.md", FULL)
        .file("~/.agents/skills/pdf/scripts/fill.py", "print()\n")
        .file("~/.agents/skills/broken/SKILL.md", BROKEN);
    world
}

/// How many tokens a text has is not for the command line to know.
const TOKENS: [(&str, &str); 1] = [(
    r"about \d+ in the catalog, \d+ when activated \(.*\)",
    "about [N] in the catalog, [N] when activated",
)];

#[test]
fn everything_about_one_skill() {
    with_settings!({ filters => TOKENS }, {
        assert_snapshot!(world().run(&["info", "pdf"]).whole());
    });
}

#[test]
fn a_skill_that_cannot_be_loaded() {
    with_settings!({ filters => TOKENS }, {
        assert_snapshot!(world().run(&["info", "broken"]).whole());
    });
}

#[test]
fn as_json() {
    let answer = world().run(&["info", "pdf", "--json"]).json();
    let fields = [
        "diagnostics",
        "digest",
        "env",
        "fields",
        "files",
        "files_cut",
        "files_refused",
        "granted",
        "installed",
        "link",
        "schema",
        "skill",
        "tokens",
        "tree_hash",
    ];
    assert_eq!(keys(&answer), fields);
    assert_eq!(answer["fields"]["metadata"]["version"], "2.1");
    assert!(answer["tokens"]["skill_md"].as_u64().unwrap() > answer["tokens"]["catalog"].as_u64().unwrap());
    assert!(answer["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_snapshot!(serde_json::to_string_pretty(&answer["fields"]).unwrap());
}

#[test]
fn a_bundled_skill() {
    let told = World::new().run(&["info", "hello-world"]);
    assert_eq!(told.code, 0);
    assert!(told.out.contains("  source                   bundled\n"), "{}", told.out);
}

#[test]
fn no_such_skill() {
    let world = world();
    assert_snapshot!(world.runs(&[&["info", "pfd"], &["info", "zzz"], &["info", "zzz", "--json"]]));
    let told = world.run(&["info", "pfd", "--json"]);
    assert_eq!((told.error().0.as_str(), told.code), ("NOT_FOUND", 1));
}

#[test]
fn a_name_that_sounds_like_a_closed_pipe_is_still_not_found() {
    assert_eq!(world().run(&["info", "nobody reads the answer"]).code, 1);
}
