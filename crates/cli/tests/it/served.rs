//! Skills of MCP servers on the command line, with a server that is this test program, started again.

use std::io::{BufRead, Write};
use std::path::Path;

use crate::world::World;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Names the file with the server's skills. Where it is set, this program is the server.
const SKILLS: &str = "TEST_SKILLS";

/// Not a test, but what the server does: the protocol of 2025-06-18 by hand, line by line.
#[test]
fn serves() {
    let Some(path) = std::env::var_os(SKILLS) else { return };
    let skills: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let mut out = std::io::stdout().lock();
    // What the test harness has written does not end in a line break, and is no message.
    writeln!(out).unwrap();
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap()) else { continue };
        let uri = message["params"]["uri"].as_str().unwrap_or_default();
        let answer = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"result": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"resources": {}, "extensions": {"io.modelcontextprotocol/skills": {}}},
                "serverInfo": {"name": "whatever", "version": "1"},
            }}),
            "skills/list" => {
                json!({"result": {"skills": skills["listed"], "ttlMs": 0, "cacheScope": "private"}})
            }
            "skills/get" => {
                match skills["unlisted"].as_array().into_iter().flatten().find(|skill| skill["uri"] == uri) {
                    Some(skill) => json!({"result": {"skill": skill, "ttlMs": 0, "cacheScope": "private"}}),
                    None => json!({"error": {"code": -32602, "message": "no skill is served there"}}),
                }
            }
            "resources/read" => json!({"result": {"contents": [{"uri": uri, "text": skills["files"][uri]}]}}),
            _ if message["id"].is_null() => continue,
            _ => json!({"error": {"code": -32601, "message": "no such method"}}),
        };
        let mut answer = answer;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = message["id"].clone();
        writeln!(out, "{answer}").and_then(|()| out.flush()).unwrap();
    }
    std::process::exit(0);
}

/// The entry of a skill and its files, by URI.
fn skill(name: &str, more: &str, files: &mut Value) -> Value {
    let source =
        format!("---\nname: {name}\ndescription: Does {name} at the server.\n{more}---\n\nRead a.md.\n");
    let mut resources = Vec::new();
    for (path, text) in [("SKILL.md", source.as_str()), ("a.md", "A\n"), ("scripts/x.sh", "#!/bin/sh\n")] {
        let uri = format!("skill://{name}/{path}");
        let digest = prowess::digest(text.as_bytes());
        resources.push(json!({"uri": uri, "digest": digest, "size": text.len()}));
        files[uri] = json!(text);
    }
    let mut frontmatter = json!({"name": name, "description": format!("Does {name} at the server.")});
    if let Some((key, value)) = more.trim_end().split_once(": ") {
        frontmatter[key] = json!(value);
    }
    json!({"uri": format!("skill://{name}/SKILL.md"), "frontmatter": frontmatter, "resources": resources})
}

fn write(path: &Path, pdf: &str) {
    let mut files = json!({});
    let mut all = json!({
        "listed": [skill("pdf", pdf, &mut files), skill("docx", "", &mut files), {
            "uri": "skill://daily/SKILL.md",
            "frontmatter": {"name": "daily", "description": "Changes."},
            "resources": "dynamic",
        }],
        "unlisted": [skill("hidden", "", &mut files)],
    });
    all["files"] = files;
    std::fs::write(path, all.to_string()).unwrap();
}

/// A world whose user takes skills from a server.
fn world() -> World {
    let world = World::new();
    let program = std::env::current_exe().unwrap();
    let config = format!(
        "scan.roots = [\".agents/skills\", \"~/.agents/skills\"]\n[[sources.mcp]]\nlabel = \"docs\"\ncommand = {program:?}\n\
         args = [\"served::serves\", \"--exact\", \"--nocapture\"]\nenv = [\"{SKILLS}\"]\n"
    );
    world.file("~/.prowess/config.toml", config);
    let path = world.path("~/skills.json");
    write(&path, "allowed-tools: Bash Read\n");
    world.variable(SKILLS, &path.to_string_lossy())
}

#[test]
fn from_the_first_listing_to_the_first_read() {
    let world = world();
    world.skill("~/.agents/skills/pdf");
    assert_snapshot!(world.runs(&[
        &["list", "--all"],
        &["activate", "docs/pdf"],
        &["why", "docs/pdf"],
        &["info", "docs/pdf"],
        &["trust", "--mcp", "docs/pdf", "--dry-run"],
        &["trust", "--mcp", "docs/pdf"],
        &["list"],
        &["show"],
        &["prompt"],
        &["activate", "docs/pdf"],
        &["files", "docs/pdf"],
        &["read", "docs/pdf", "a.md"],
        &["read", "docs/pdf", "b.md"],
        &["info", "docs/pdf"],
        &["match", "does pdf at the server"],
    ]));
}

#[test]
fn what_changed_is_approved_again_or_taken_back() {
    let world = world();
    world.run(&["trust", "--mcp", "docs/pdf", "--allow-tools", "--allow-run"]);
    world.run(&["trust", "--mcp", "docs/docx"]);
    let before = world.runs(&[&["info", "docs/pdf"], &["list"]]);
    write(&world.path("~/skills.json"), "");
    let after = world.runs(&[
        &["list", "--all"],
        &["activate", "docs/pdf"],
        &["trust", "--mcp", "docs/pdf"],
        &["activate", "docs/pdf"],
        &["untrust", "--mcp", "docs/pdf"],
        &["untrust", "--mcp", "docs/pdf"],
        &["list"],
        &["untrust", "--mcp", "docs"],
        &["list"],
    ]);
    assert_snapshot!(format!("{before}\n{after}"));
    assert!(world.tree("~/.prowess/state/mcp/docs").iter().any(|file| file == "listing.json"));
}

#[test]
fn as_json() {
    let world = world();
    assert_snapshot!(world.runs(&[
        &["trust", "--mcp", "docs/pdf", "--dry-run", "--json"],
        &["trust", "--mcp", "docs/pdf", "--allow-tools", "--json"],
        &["list", "--all", "--json"],
        &["info", "docs/pdf", "--json"],
        &["activate", "docs/pdf", "--json"],
        &["read", "docs/pdf", "a.md", "--json"],
        &["untrust", "--mcp", "docs", "--json"],
    ]));
}

#[test]
fn what_is_not_listed_is_found_by_its_uri() {
    let world = world();
    assert_snapshot!(world.runs(&[
        &["list", "--all"],
        &["trust", "--mcp", "docs/skill://none/SKILL.md"],
        &["trust", "--mcp", "docs/skill://hidden/SKILL.md"],
        &["activate", "docs/hidden"],
        &["untrust", "--mcp", "docs/skill://hidden/SKILL.md"],
        &["list", "--all"],
    ]));
}

#[test]
fn what_cannot_be_approved_or_done() {
    let world = world();
    world.skill("~/.agents/skills/pdf");
    world.run(&["trust", "--mcp", "docs/pdf"]);
    assert_snapshot!(world.runs(&[
        &["trust", "--mcp", "docs/daily"],
        &["trust", "--mcp", "docs/dox"],
        &["trust", "--mcp", "other/pdf"],
        &["trust", "--mcp", "pdf"],
        &["trust", "--allow-run"],
        &["trust", "--mcp", "docs/pdf", "."],
        &["run", "docs/pdf", "scripts/x.sh"],
        &["remove", "docs/pdf", "--yes"],
        &["disable", "docs/pdf"],
        &["list"],
        &["enable", "docs/pdf"],
        &["list"],
    ]));
}

#[test]
fn a_doctor_asks_each_server() {
    let world = world();
    world.run(&["trust", "--mcp", "docs/docx"]);
    let fine = world.run(&["doctor"]).whole();
    let more = "[[sources.mcp]]\nlabel = \"gone\"\ncommand = \"no-such-server\"\n\
        [[sources.mcp]]\nlabel = \"off\"\nurl = \"https://off.example/\"\nenabled = false\n";
    let config = world.text("~/.prowess/config.toml") + more;
    world.file("~/.prowess/config.toml", config);
    let bad = world.runs(&[&["doctor"], &["list"]]);
    assert_snapshot!(format!("{fine}\n{bad}"));
}

#[test]
fn what_a_server_sent_goes_with_it() {
    let world = world();
    world.run(&["trust", "--mcp", "docs/docx"]);
    world.run(&["read", "docs/docx", "a.md"]);
    let kept = || world.tree("~/.prowess/state/mcp").len();
    assert!(kept() > 1);
    world.run(&["--root", ".", "list"]);
    assert!(kept() > 1, "directories for one call take nothing away");
    world.file("~/.prowess/config.toml", "");
    world.run(&["list"]);
    assert_eq!(kept(), 0);
}

#[test]
fn what_a_server_sent_stays_where_the_configuration_is_not_the_users_usual_one() {
    let world = world();
    world.run(&["list"]);
    let cache = world.path("~/.prowess/state/mcp/docs");
    let good = world.text("~/.prowess/config.toml");
    assert!(cache.exists());
    world.run(&["list", "--preset", "harness"]);
    assert!(cache.exists(), "another preset for one call");
    world.file(".prowess/config.toml", "preset = \"harness\"\n").run(&["list"]);
    assert!(cache.exists(), "the preset of a project");
    std::fs::remove_file(world.path(".prowess/config.toml")).unwrap();
    for command in ["list", "config", "doctor"] {
        world.file("~/.prowess/config.toml", format!("{good}\nno toml")).run(&[command]);
        assert!(cache.exists(), "{command} with a configuration that cannot be read");
    }
    world.file("~/.prowess/config.toml", "").run(&["config"]);
    assert!(cache.exists(), "commands that report on the configuration change nothing");
    world.run(&["list"]);
    assert!(!cache.exists());
}

#[test]
fn no_server_is_started_for_what_has_no_server() {
    let world = world();
    world.skill("~/.agents/skills/pdf");
    let kept = || world.tree("~/.prowess/state/mcp").len();
    for call in [
        &["info", "pdf"][..],
        &["activate", "pdf"],
        &["files", "pdf"],
        &["read", "pdf", "SKILL.md"],
        &["why", "pdf"],
        &["plugins"],
    ] {
        assert_eq!(world.run(call).code, 0, "{call:?}");
        assert_eq!(kept(), 0, "{call:?}");
    }
    world.run(&["list"]);
    assert!(kept() > 0);
}

#[test]
fn a_project_cannot_name_a_server() {
    let world = World::bare();
    world.file(".prowess/config.toml", "[[sources.mcp]]\nlabel = \"evil\"\ncommand = \"evil\"\n");
    world.program("evil");
    assert_snapshot!(world.run(&["list"]).whole());
}
