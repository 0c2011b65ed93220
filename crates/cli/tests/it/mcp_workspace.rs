//! `prowess mcp --workspace`, and the example of `docs/mcp.md`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::TestEnv;

/// The skill of the example.
fn env() -> TestEnv {
    let env = TestEnv::new().variable("PROWESS_ALLOW_SCRIPTS", "1").variable("PATH", "/usr/bin:/bin");
    env.skill("~/.agents/skills/csv");
    env.file("~/.agents/skills/csv/scripts/sort.sh", "#!/bin/sh\nsort \"$1\" >sorted.csv\n");
    env.file("~/work/names.csv", "b\na\n").file("~/work/.env", "SECRET=1\n");
    env
}

/// Sends requests to the server, after a handshake; returns the responses.
fn requests(env: &TestEnv, args: &[&str], requests: &[Value]) -> Vec<Value> {
    let initialize = json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let lines: Vec<_> = [initialize, ready].iter().chain(requests).map(|line| format!("{line}\n")).collect();
    let result = env.run_with(&[&["mcp"], args].concat(), &lines.concat());
    assert_eq!(result.code, 0, "{}", result.err);
    let messages = result.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut responses: Vec<_> = messages.filter(|message| message["id"].is_number()).collect();
    responses.sort_by_key(|response| response["id"].as_i64());
    responses
}

#[test]
fn scripts_work_in_the_directory() {
    let env = env();
    let arguments = json!({"name": "csv", "script": "scripts/sort.sh", "args": ["names.csv"]});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "skills_run", "arguments": arguments}});
    let dir = env.path("~/work").display().to_string();
    let responses = requests(&env, &["--workspace", &dir], &[call]);
    assert_eq!(responses[0]["result"]["isError"], false, "{}", responses[0]);
    assert_eq!(env.text("~/work/sorted.csv"), "a\nb\n");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/list"});
    let responses = requests(&env, &["--workspace", &dir], &[list]);
    let names = responses[0]["result"]["resources"].as_array().unwrap().iter().map(|file| &file["name"]);
    let names: Vec<_> =
        names.filter(|name| name.as_str().is_some_and(|name| name.ends_with(".csv"))).collect();
    assert_eq!(names, ["names.csv", "sorted.csv"]);
}

#[test]
fn directories_that_cannot_be_workspaces_are_refused() {
    let env = env();
    env.file("~/.config/app/x", "").file("~/work/.git/config", "").file("file", "");
    let home = env.path("~/").display().to_string();
    assert_snapshot!(env.runs(&[
        &["mcp", "--workspace", &home],
        &["mcp", "--workspace", &format!("{home}.config/app")],
        &["mcp", "--workspace", &format!("{home}work/.git")],
        &["mcp", "--workspace", "/etc"],
        &["mcp", "--workspace", "file"],
        &["mcp", "--workspace", "missing"],
        &["mcp", "--workspace", "/etc", "--json"],
        &["mcp", "install", "--client", "codex", "--workspace", "/etc"],
        &["mcp", "install", "--client", "codex", "--workspace", ".", "--http", "http://127.0.0.1:1"],
    ]));
}

#[test]
fn the_directory_is_passed_on_by_install() {
    let env = TestEnv::new();
    env.file("~/work/names.csv", "b\na\n");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_prowess"), env.path("../bin/prowess")).unwrap();
    std::os::unix::fs::symlink(env.path("~/work"), env.path("link")).unwrap();
    assert_snapshot!(env.runs(&[&[
        "mcp",
        "install",
        "--client",
        "codex",
        "--dry-run",
        "--workspace",
        "link"
    ]]));
}

/// Returns the JSON blocks of the section about files.
fn documented_blocks() -> Vec<Value> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md")).unwrap();
    let section = text.split("\n## Files of scripts\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks = section.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.map(|block| serde_json::from_str(block).unwrap()).collect()
}

/// Sends the call of the guide and compares the result.
#[test]
fn the_example_of_the_guide_is_correct() {
    let env = env();
    let [arguments, expected] = documented_blocks().try_into().unwrap();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "skills_run", "arguments": arguments}});
    let mut responses = requests(&env, &[], &[call]);
    let content = responses[0]["result"]["content"].as_array_mut().unwrap();
    let link = content.last_mut().unwrap();
    let id = link["uri"].as_str().unwrap().split('/').nth(2).unwrap().to_owned();
    let documented = expected["uri"].as_str().unwrap().split('/').nth(2).unwrap();
    link["uri"] = json!(link["uri"].as_str().unwrap().replace(&id, documented));
    assert_eq!(*link, expected);
}
