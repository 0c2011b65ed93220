//! Skills with the same name.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::support::{TestEnv, skill_md};
use insta::assert_snapshot;

#[test]
fn preset_standard_prefers_the_project() {
    let env = TestEnv::bare();
    env.skill_with_description("~/.agents/skills/pdf", "The user's.")
        .skill_with_description(".agents/skills/pdf", "The project's.");
    assert_snapshot!(env.runs(&[&["trust"], &["list"], &["list", "--all"], &["list", "-v"]]));
}

#[test]
fn s004_04_the_earliest_directory_wins_and_the_listing_records_it() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "chat").variable("PROWESS_SKILLS_ENABLED", "true");
    env.skill_with_description(".skills/pdf", "The first directory's.")
        .skill_with_description(".agents/skills/pdf", "The second directory's.")
        .skill_with_description("~/.remcochat/skills/pdf", "The last directory's.");
    assert_snapshot!(env.runs(&[&["list"], &["list", "--all"], &["list", "--all", "--json"]]));
}

#[test]
fn s000_23_the_system_wins_over_the_user() {
    let env = TestEnv::new().variable("PROWESS_PRESET", "app");
    env.file(".agents/sys.skills/report/SKILL.md", skill_md("Weekly Report", "The system's."))
        .file(".agents/skills/report/SKILL.md", skill_md("My Report", "The user's."))
        .file(".agents/skills/other/SKILL.md", skill_md("Weekly Report", "Another id, the same name."));
    assert_snapshot!(env.runs(&[
        &["list"],
        &["list", "--all"],
        &["why", "report"],
        &["why", "Weekly Report"]
    ]));
    let json = env.run(&["list", "--json"]).json();
    let ids: Vec<_> = json["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
    assert_eq!(ids, ["report", "other"]);
}

/// A line at the start reports skills that are not available.
#[test]
fn servers_and_chats_report_unavailable_skills_at_start() {
    let env = TestEnv::new();
    let line = "2 skills are not available (1 shadowed, 1 untrusted); run `prowess list --all` to see why";
    env.skill("~/.agents/skills/pdf");
    assert!(!env.run_with(&["mcp"], "").err.contains("not available"));
    env.skill("~/.claude/skills/pdf").skill(".agents/skills/notes");
    for result in [env.run_with(&["mcp"], ""), env.run(&["chat", "hello"])] {
        assert!(result.err.contains(line), "{}", result.err);
    }
    let mut serve = env.command(&["serve", "--addr", "127.0.0.1:0"]);
    let mut serve = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(serve.stdout.take().unwrap()).read_line(&mut first).unwrap();
    serve.kill().unwrap();
    let mut log = String::new();
    serve.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    serve.wait().unwrap();
    assert!(first.contains("http://127.0.0.1:") && log.contains(line), "{first}{log}");
}

#[test]
fn a_token_file_that_others_can_read_gets_a_warning() {
    let env = TestEnv::bare();
    env.file("token", "short");
    let file = env.path("token");
    for (mode, is_warned) in [(0o644, true), (0o640, true), (0o604, true), (0o600, false)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        for server in [&["mcp", "--http", "127.0.0.1:0"][..], &["serve", "--addr", "127.0.0.1:0"]] {
            // The token is too short, so the server does not start.
            let result = env.run(&[server, &["--token-file", file.to_str().unwrap()]].concat());
            assert_eq!(
                result.err.contains("warning: other users can read the token in"),
                is_warned,
                "{}",
                result.err
            );
            assert!(result.err.contains("at least 16 characters"), "{}", result.err);
        }
    }
}

#[test]
fn plugins_lists_a_shadowed_installed_skill() {
    let env = TestEnv::bare();
    env.skill_with_description("shelf/pdf", "The installed one.")
        .skill_with_description(".agents/skills/pdf", "The project's.");
    env.run(&["install", "./shelf/pdf", "--scope", "user", "--yes"]);
    env.run(&["trust"]);
    assert_snapshot!(env.run(&["plugins"]).transcript());
    let json = env.run(&["plugins", "--json"]).json();
    let plugin = &json["plugins"][0];
    assert_eq!((&plugin["status"], &plugin["enabled"]), (&"shadowed".into(), &false.into()));
}
