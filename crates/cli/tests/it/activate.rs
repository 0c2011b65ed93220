//! `prowess activate`, `files` and `read`.

use std::os::unix::fs::symlink;

use crate::support::{BROKEN, TestEnv, keys, needing};
use insta::assert_snapshot;

const TEXT: &str =
    "---\nname: pdf\ndescription: Fills forms.\nallowed-tools: Read\n---\n\nFill $ARGUMENTS.\n";

/// Creates a skill with a file in the directory of a preset.
fn of_preset(preset: &str) -> TestEnv {
    let env = TestEnv::new().variable("PROWESS_SKILLS_ENABLED", "true").variable("PROWESS_PRESET", preset);
    let dir = match preset {
        "standard" => "~/.agents/skills",
        "app" => ".agents/skills",
        "skill-tool" => "skills",
        "chat" => ".skills",
        _ => ".agent/skills",
    };
    env.file(&format!("{dir}/pdf/SKILL.md"), TEXT).file(&format!("{dir}/pdf/references/a.md"), "A\n");
    env
}

#[test]
fn activation_in_every_preset() {
    let result = ["standard", "app", "skill-tool", "harness", "triggers", "chat"].map(|preset| {
        let env = of_preset(preset);
        format!(
            "== {preset}\n{}",
            env.runs(&[&["activate", "pdf"], &["activate", "pdf", "--args", "-n 'x y'"]])
        )
    });
    assert_snapshot!(result.join("\n"));
}

#[test]
fn as_json() {
    let result = ["standard", "chat"].map(|preset| {
        let result = of_preset(preset).run(&["activate", "pdf", "--args", "x", "--json"]);
        format!("== {preset}\n{}", result.transcript())
    });
    assert_snapshot!(result.join("\n"));
}

#[test]
fn json_matches_the_contract() {
    for preset in ["standard", "app", "skill-tool", "harness", "triggers", "chat"] {
        let env = of_preset(preset);
        let json = env.run(&["activate", "pdf", "--json"]).json();
        let fields = [
            "allowed_tools",
            "base_dir",
            "body",
            "content",
            "digest",
            "frontmatter",
            "name",
            "resources",
            "schema",
            "truncated",
        ];
        assert_eq!(keys(&json), fields, "{preset}");
        assert_eq!(
            (&json["schema"], &json["name"], &json["truncated"]),
            (&1.into(), &"pdf".into(), &false.into())
        );
        assert!(json["base_dir"].as_str().unwrap().ends_with("/pdf"));
        assert_eq!(json["frontmatter"]["description"], "Fills forms.");
        assert_eq!(json["body"].as_str().unwrap().trim(), "Fill $ARGUMENTS.");
        assert_eq!(json["resources"], serde_json::json!(["references/a.md"]));
        assert_eq!(json["content"], env.run(&["activate", "pdf"]).out.as_str(), "{preset}");
        let digest = json["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
        assert_eq!(digest.len(), 64);
    }
}

#[test]
fn skills_that_cannot_be_activated() {
    let env = TestEnv::bare();
    env.file("~/.prowess/config.toml", "skills.disabled = [\"off\"]\nlimits.skill-md-bytes = 80\n")
        .file("~/.agents/skills/pdf/SKILL.md", TEXT)
        .file("~/.agents/skills/long/SKILL.md", TEXT.replace("pdf", "long") + &"x".repeat(100))
        .skill("~/.agents/skills/off")
        .skill(".agents/skills/waiting")
        .file("~/.agents/skills/needy/SKILL.md", needing("needy", "frobnicate"))
        .file("~/.agents/skills/broken/SKILL.md", BROKEN);
    assert_snapshot!(
        env.runs(&[
            &["activate", "pfd"],
            &["activate", "pfd", "--json"],
            &["activate", "off"],
            &["activate", "waiting"],
            &["activate", "needy"],
            &["activate", "broken"],
            &["activate", "long"],
            &["activate", "pdf", "--args", &"x".repeat(70_000)],
        ])
        .replace(&"x".repeat(70_000), "[70000 x]")
    );
}

fn with_files() -> TestEnv {
    let env = TestEnv::bare();
    env.file("~/.prowess/config.toml", "limits.resource-bytes = 100\n")
        .file("~/.agents/skills/pdf/SKILL.md", TEXT)
        .file("~/.agents/skills/pdf/references/guide.md", "Guide.\n")
        .file("~/.agents/skills/pdf/scripts/fill.py", "print(1)")
        .file("~/.agents/skills/pdf/assets/logo.png", b"\x89PNG\r\n\x1a\n\0")
        .file("~/.agents/skills/pdf/assets/long.txt", "é".repeat(100));
    symlink("/etc/passwd", env.path("~/.agents/skills/pdf/link-out.txt")).unwrap();
    env
}

#[test]
fn files_with_their_sizes() {
    assert_snapshot!(with_files().runs(&[
        &["files", "pdf"],
        &["files", "pdf", "--json"],
        &["files", "pfd"],
        &["files", "pfd", "--json"],
    ]));
}

#[test]
fn reading_files() {
    assert_snapshot!(with_files().runs(&[
        &["read", "pdf", "references/guide.md"],
        &["read", "pdf", "./references/guide.md", "--json"],
        &["read", "pdf", "assets/long.txt"],
        &["read", "pdf", "assets/long.txt", "--json"],
    ]));
}

#[test]
fn files_that_cannot_be_read() {
    let env = with_files();
    let paths = [
        "../pdf/SKILL.md",
        "/etc/passwd",
        "references/../../../../etc/passwd",
        "link-out.txt",
        "assets/logo.png",
        "references",
        "references/gide.md",
        "",
    ];
    let mut result = String::new();
    for path in paths {
        result += &env.run(&["read", "pdf", path]).transcript();
        let json = env.run(&["read", "pdf", path, "--json"]);
        result += &format!("{} {}\n\n", json.error().0, json.code);
    }
    assert_snapshot!(result);
}

#[test]
fn read_json_matches_the_contract() {
    let json = with_files().run(&["read", "pdf", "assets/long.txt", "--json"]).json();
    assert_eq!(keys(&json), ["bytes", "content", "name", "path", "schema", "truncated"]);
    assert_eq!((&json["bytes"], &json["truncated"]), (&200.into(), &true.into()));
    assert_eq!((&json["name"], &json["path"]), (&"pdf".into(), &"assets/long.txt".into()));
}
