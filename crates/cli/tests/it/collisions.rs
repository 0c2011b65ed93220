//! Skills of the same name, as the listing tells of them.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::world::{World, skill_md};
use insta::assert_snapshot;

#[test]
fn the_standard_takes_the_project_before_the_user() {
    let world = World::bare();
    world.described("~/.agents/skills/pdf", "The user's.").described(".agents/skills/pdf", "The project's.");
    assert_snapshot!(world.runs(&[&["trust"], &["list"], &["list", "--all"], &["list", "-v"]]));
}

#[test]
fn s004_04_the_earliest_directory_wins_and_the_listing_records_it() {
    let world = World::new().variable("PROWESS_PRESET", "chat").variable("PROWESS_SKILLS_ENABLED", "true");
    world
        .described(".skills/pdf", "The first directory's.")
        .described(".agents/skills/pdf", "The second directory's.")
        .described("~/.remcochat/skills/pdf", "The last directory's.");
    assert_snapshot!(world.runs(&[&["list"], &["list", "--all"], &["list", "--all", "--json"]]));
}

#[test]
fn s000_23_the_system_wins_over_the_user() {
    let world = World::new().variable("PROWESS_PRESET", "app");
    world
        .file(".agents/sys.skills/report/SKILL.md", skill_md("Weekly Report", "The system's."))
        .file(".agents/skills/report/SKILL.md", skill_md("My Report", "The user's."))
        .file(".agents/skills/other/SKILL.md", skill_md("Weekly Report", "Another id, the same name."));
    assert_snapshot!(world.runs(&[
        &["list"],
        &["list", "--all"],
        &["why", "report"],
        &["why", "Weekly Report"]
    ]));
    let answer = world.run(&["list", "--json"]).json();
    let ids: Vec<_> = answer["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
    assert_eq!(ids, ["report", "other"]);
}

/// One line at the start points to skills that are not available.
#[test]
fn servers_and_chats_say_at_start_what_is_not_available() {
    let world = World::new();
    let line = "2 skills are not available: 1 shadowed, 1 untrusted; run prowess list --all";
    world.skill("~/.agents/skills/pdf");
    assert!(!world.run_with(&["mcp"], "").err.contains("not available"));
    world.skill("~/.claude/skills/pdf").skill(".agents/skills/notes");
    for told in [world.run_with(&["mcp"], ""), world.run(&["chat", "hello"])] {
        assert!(told.err.contains(line), "{}", told.err);
    }
    let mut serve = world.command(&["serve", "--addr", "127.0.0.1:0"]);
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
    let world = World::bare();
    world.file("token", "short");
    let file = world.path("token");
    for (mode, is_warned) in [(0o644, true), (0o640, true), (0o604, true), (0o600, false)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        for server in [&["mcp", "--http", "127.0.0.1:0"][..], &["serve", "--addr", "127.0.0.1:0"]] {
            // The token is too short: the server does not start.
            let told = world.run(&[server, &["--token-file", file.to_str().unwrap()]].concat());
            assert_eq!(
                told.err.contains("warning: other users can read the token in"),
                is_warned,
                "{}",
                told.err
            );
            assert!(told.err.contains("at least 16 characters"), "{}", told.err);
        }
    }
}

#[test]
fn an_installed_skill_whose_name_is_taken_is_shadowed_in_the_list_of_plugins() {
    let world = World::bare();
    world.described("shelf/pdf", "The installed one.").described(".agents/skills/pdf", "The project's.");
    world.run(&["install", "./shelf/pdf", "--scope", "user", "--yes"]);
    world.run(&["trust"]);
    assert_snapshot!(world.run(&["plugins"]).whole());
    let answer = world.run(&["plugins", "--json"]).json();
    let plugin = &answer["plugins"][0];
    assert_eq!((&plugin["status"], &plugin["enabled"]), (&"shadowed".into(), &false.into()));
}
