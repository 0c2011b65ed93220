//! `prowess tools` and `prowess call`, and the conformance fixture through the commands.

use std::os::unix::fs::symlink;

use crate::support::{RunOutput, TestEnv, keys};
use insta::assert_snapshot;
use serde_json::Value;

fn env() -> TestEnv {
    let env = TestEnv::bare();
    env.file("~/.prowess/config.toml", "skills.manual = [\"deploy\"]\n")
        .skill_with_description("~/.agents/skills/pdf", "Fills PDF forms.")
        .skill_with_description("~/.agents/skills/deploy", "Ships it.")
        .file("~/.agents/skills/pdf/references/guide.md", "Guide.\n");
    env
}

/// The duration differs from run to run.
fn without_duration(result: &RunOutput) -> String {
    let text = result.transcript();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    for line in &mut lines {
        if line.trim_start().starts_with("\"time_ms\": ") {
            *line = "    \"time_ms\": [TIME]".to_owned();
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn listing_tools() {
    assert_snapshot!(env().runs(&[&["tools"], &["tools", "--json"]]));
}

#[test]
fn in_every_preset() {
    let result = ["app", "skill-tool", "harness", "triggers", "chat"].map(|preset| {
        let env =
            TestEnv::new().variable("PROWESS_SKILLS_ENABLED", "true").variable("PROWESS_PRESET", preset);
        for dir in [".agents/skills", "skills", ".agent/skills", ".skills"] {
            env.skill_with_description(&format!("{dir}/pdf"), "Fills PDF forms.");
        }
        format!("{preset}\n{}", env.run(&["tools"]).transcript())
    });
    assert_snapshot!(result.join("\n"));
}

#[test]
fn no_tools() {
    let off = TestEnv::new().variable("PROWESS_SKILLS_ENABLED", "false");
    let bare = TestEnv::bare();
    let calls: [&[&str]; 2] = [&["tools"], &["tools", "--json"]];
    assert_snapshot!(bare.runs(&calls) + "\n" + &off.runs(&calls));
}

#[test]
fn tools_json_matches_the_contract() {
    let json = env().run(&["tools", "--json"]).json();
    assert_eq!(keys(&json), ["schema", "tools"]);
    let tools = json["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 4);
    for tool in tools {
        assert_eq!(keys(tool), ["description", "input_schema", "name"]);
        assert_eq!(tool["input_schema"]["type"], "object");
    }
}

#[test]
fn skills_called_by_the_user_are_among_the_names() {
    let names = |args: &[&str]| {
        env().run(args).json()["tools"][0]["input_schema"]["properties"]["name"]["enum"].clone()
    };
    assert_eq!(names(&["tools", "--json"]), serde_json::json!(["pdf"]));
    assert_eq!(names(&["tools", "--json", "--skill", "deploy"]), serde_json::json!(["deploy", "pdf"]));
    let load = r#"{"name":"deploy"}"#;
    let env = env();
    assert_eq!(env.run(&["call", "skills.activate", load]).code, 1);
    assert_eq!(env.run(&["call", "skills.activate", load, "--skill", "deploy"]).code, 0);
}

#[test]
fn calling_tools() {
    let env = env();
    let calls: [&[&str]; 11] = [
        &["call", "skills.activate", r#"{"name":"pdf"}"#],
        &["call", "skills_readResource", r#"{"name":"pdf","path":"references/guide.md"}"#],
        &["call", "skills.listResources", r#"{"name":"pdf"}"#],
        &["call", "skills.search", r#"{"query":"fills forms"}"#],
        &["call", "skills.activate", r#"{"name":"pfd"}"#],
        &["call", "skills.activate", "{}"],
        &["call", "skills.activte", r#"{"name":"pdf"}"#],
        &["call", "ReadFile", r#"{"path":"a.md"}"#],
        &["call", "skills.activate", "{name: pdf}"],
        &["call", "skills.activate", "{name: pdf}", "--json"],
        &["call", "skills.activate", r#"{"name":"pdf"}"#, "--skill", "nobody"],
    ];
    assert_snapshot!(calls.map(|args| without_duration(&env.run(args))).join("\n"));
}

#[test]
fn the_envelope_matches_the_contract() {
    let env = env();
    let good = env.run(&["call", "skills.activate", r#"{"name":"pdf"}"#]);
    assert_eq!((keys(&good.json()), good.code), (vec!["context", "data", "stats", "status", "text"], 0));
    let bad = env.run(&["call", "skills.activate", r#"{"name":"x"}"#]);
    let json = bad.json();
    assert_eq!((keys(&json), bad.code), (vec!["context", "data", "error", "stats", "status", "text"], 1));
    assert_eq!(keys(&json["error"]), ["code", "message"]);
    assert_eq!(keys(&json["context"]), ["cwd", "params_input"]);
    assert_eq!(
        (&json["data"], &json["context"]["params_input"]["name"]),
        (&serde_json::json!({}), &"x".into())
    );
}

#[test]
fn s004_24_the_conformance_fixture_through_the_commands() {
    let env = TestEnv::new();
    let name = "skills-system-validation";
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/bundled").join(name);
    for path in ["SKILL.md", "references/REFERENCE.md", "assets/fixture.json", "scripts/echo.sh"] {
        env.file(&format!("skills/{name}/{path}"), std::fs::read(fixture.join(path)).unwrap());
    }
    let link = env.path(&format!("skills/{name}/link-out.txt"));
    let run = |args: &[&str]| env.run(&[&["--root", "skills"], args].concat());
    let prompt = run(&["prompt"]);
    assert!(prompt.out.contains(name) && !prompt.out.contains("_MARKER_"), "{}", prompt.out);
    let active = run(&["activate", name]);
    assert!(active.out.contains("PROWESS_SKILL_MARKER_7F3A91D2"));
    assert_eq!(run(&["activate", "no-such-skill-here"]).code, 1);
    symlink("/etc/passwd", link).unwrap();
    for (path, marker) in [
        ("references/REFERENCE.md", Some("PROWESS_REFERENCE_MARKER_C25E08B4")),
        ("assets/fixture.json", Some("PROWESS_ASSET_MARKER_4B6D17E9")),
        ("scripts/echo.sh", Some("PROWESS_SCRIPT_MARKER_E9810C5F")),
        ("../SKILL.md", None),
        ("/etc/passwd", None),
        ("references/../../../../etc/passwd", None),
        ("link-out.txt", None),
        ("references/REFERENCE.md", Some("PROWESS_REFERENCE_MARKER_C25E08B4")),
    ] {
        let read = run(&["read", name, path]);
        let params = serde_json::json!({"name": name, "path": path}).to_string();
        let called = run(&["call", "skills.readResource", &params]);
        let json: Value = called.json();
        match marker {
            Some(marker) => {
                assert!(
                    read.code == 0 && read.out.contains(marker) && !active.out.contains(marker),
                    "{path}"
                );
                assert!(called.code == 0 && json["text"].as_str().unwrap().contains(marker), "{path}");
            }
            None => {
                assert_eq!((read.out.as_str(), read.code, called.code), ("", 1, 1), "{path}");
                assert_eq!(json["error"]["code"], "ACCESS_DENIED", "{path}");
            }
        }
    }
}
