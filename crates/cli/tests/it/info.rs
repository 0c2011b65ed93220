//! `prowess info`.

use crate::support::{BROKEN, TestEnv, keys};
use insta::{assert_snapshot, with_settings};

const FULL: &str = "---\nname: pdf\ndescription: Fills forms.\nlicense: MIT\ncompatibility: Needs a PDF.\n\
                    metadata:\n  author: Ada\n  version: \"2.1\"\nallowed-tools: Read Bash(git:*)\ncolour: blue\n\
                    ---\n\nDo it.\n";

fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.file("~/.agents/skills/pdf/SKILL.md", FULL)
        .file("~/.agents/skills/pdf/scripts/fill.py", "print()\n")
        .file("~/.agents/skills/broken/SKILL.md", BROKEN);
    env
}

/// Token counts are tested elsewhere.
const TOKENS: [(&str, &str); 1] = [(
    r"about \d+ in the catalog, \d+ when activated \(.*\)",
    "about [N] in the catalog, [N] when activated",
)];

#[test]
fn details_of_a_skill() {
    with_settings!({ filters => TOKENS }, {
        assert_snapshot!(env().run(&["info", "pdf"]).transcript());
    });
}

#[test]
fn details_of_an_invalid_skill() {
    with_settings!({ filters => TOKENS }, {
        assert_snapshot!(env().run(&["info", "broken"]).transcript());
    });
}

#[test]
fn as_json() {
    let json = env().run(&["info", "pdf", "--json"]).json();
    let fields = [
        "diagnostics",
        "digest",
        "env",
        "environments",
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
    assert_eq!(keys(&json), fields);
    assert_eq!(json["fields"]["metadata"]["version"], "2.1");
    assert!(json["tokens"]["skill_md"].as_u64().unwrap() > json["tokens"]["catalog"].as_u64().unwrap());
    assert!(json["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_snapshot!(serde_json::to_string_pretty(&json["fields"]).unwrap());
}

#[test]
fn details_of_a_bundled_skill() {
    let result = TestEnv::new().run(&["info", "hello-world"]);
    assert_eq!(result.code, 0);
    assert!(result.out.contains("  source                   bundled\n"), "{}", result.out);
}

#[test]
fn an_unknown_skill() {
    let env = env();
    assert_snapshot!(env.runs(&[&["info", "pfd"], &["info", "zzz"], &["info", "zzz", "--json"]]));
    let result = env.run(&["info", "pfd", "--json"]);
    assert_eq!((result.error().0.as_str(), result.code), ("NOT_FOUND", 1));
}

#[test]
fn a_name_like_an_io_error_is_not_found() {
    assert_eq!(env().run(&["info", "standard output was closed"]).code, 1);
}
