//! Skills of MCP servers. The server is this test binary, started as a child process.

use std::io::{BufRead, Write};
use std::path::Path;

use crate::chat::support::{configure, messages, scripted_model};
use crate::support::TestEnv;
use insta::assert_snapshot;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{ReplyPart, call, text};
use serde_json::{Value, json};

/// The variable with the path of the server's skills. If it is set, this process is the server.
const SKILLS: &str = "TEST_SKILLS";

/// Not a test: the server, which implements protocol version 2025-06-18.
#[test]
fn serves() {
    let Some(path) = std::env::var_os(SKILLS) else { return };
    let skills: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let mut out = std::io::stdout().lock();
    // Terminate the line that the test harness has written.
    writeln!(out).unwrap();
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap()) else { continue };
        let uri = message["params"]["uri"].as_str().unwrap_or_default();
        let response = match message["method"].as_str().unwrap_or_default() {
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
        let mut response = response;
        response["jsonrpc"] = json!("2.0");
        response["id"] = message["id"].clone();
        writeln!(out, "{response}").and_then(|()| out.flush()).unwrap();
    }
    std::process::exit(0);
}

/// Returns the entry of a skill and its files, by URI.
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

/// Returns an environment with a configured MCP server.
fn env() -> TestEnv {
    let env = TestEnv::new();
    let program = std::env::current_exe().unwrap();
    let config = format!(
        "scan.roots = [\".agents/skills\", \"~/.agents/skills\"]\n[[sources.mcp]]\nlabel = \"docs\"\ncommand = {program:?}\n\
         args = [\"mcp_sources::serves\", \"--exact\", \"--nocapture\"]\nenv = [\"{SKILLS}\"]\n"
    );
    env.file("~/.prowess/config.toml", config);
    let path = env.path("~/skills.json");
    write(&path, "allowed-tools: Bash Read\n");
    env.variable(SKILLS, &path.to_string_lossy())
}

/// Configures an MCP server in an environment without setting a variable.
pub(crate) fn configure_server(env: &TestEnv) {
    let (program, path) = (std::env::current_exe().unwrap(), env.path("~/skills.json"));
    let config = format!(
        "[[sources.mcp]]\nlabel = \"docs\"\ncommand = \"/usr/bin/env\"\n\
         args = [\"{SKILLS}={}\", {program:?}, \"mcp_sources::serves\", \"--exact\", \"--nocapture\"]\n",
        path.display()
    );
    env.file("~/.prowess/config.toml", config);
    write(&path, "");
}

#[test]
fn a_remote_skill_is_listed_approved_and_read() {
    let env = env();
    env.skill("~/.agents/skills/pdf");
    assert_snapshot!(env.runs(&[
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

/// What was written under the instructions of a remote skill stays in the conversation, so the restriction stays, too.
#[test]
fn a_remote_skill_cannot_leave_the_conversation_unnoticed() {
    const CHAT: ChatProvider = ChatProvider::OpenAiChat;
    let run = call("1", "skills_run", json!({"name": "local", "script": "run.sh"}));
    let load = call("2", "skills_activate", json!({"name": "docs/pdf"}));
    for (message, first) in [("/docs/pdf go", vec![]), ("/alone go", vec![load])] {
        let (done, run) = ([text("Done.")], std::slice::from_ref(&run));
        let answers: [&[ReplyPart]; 4] = [&first, &done, run, &done];
        let server = scripted_model(CHAT, &answers[usize::from(first.is_empty())..]);
        let env = env().variable("KEY", "k").variable("PROWESS_ALLOW_SCRIPTS", "1");
        let config = env.text("~/.prowess/config.toml");
        configure(&env, CHAT, &server.base, "");
        env.file("~/.prowess/config.toml", format!("{config}{}", env.text("~/.prowess/config.toml")));
        write(&env.path("~/skills.json"), "context: fork\n");
        env.skill("~/.agents/skills/local").file("~/.agents/skills/local/run.sh", "#!/bin/sh\necho ran\n");
        env.file(
            "~/.agents/skills/alone/SKILL.md",
            "---\nname: alone\ndescription: Does it.\ncontext: fork\n---\nDo it.\n",
        );
        assert_eq!(env.run(&["trust", "--mcp", "docs/pdf"]).code, 0);
        env.run(&["chat", message]);
        let result = env.run(&["chat", "--continue", "go on"]);
        let denied = &messages(&env)[3]["parts"][1]["summary"]["error"]["code"];
        assert_eq!(denied, "ACCESS_DENIED", "{message}: {:?}\n{}", messages(&env), result.transcript());
    }
}

#[test]
fn a_changed_skill_is_approved_again_or_revoked() {
    let env = env();
    env.run(&["trust", "--mcp", "docs/pdf", "--allow-tools", "--allow-run"]);
    env.run(&["trust", "--mcp", "docs/docx"]);
    let before = env.runs(&[&["info", "docs/pdf"], &["list"]]);
    write(&env.path("~/skills.json"), "");
    let after = env.runs(&[
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
    assert!(env.tree("~/.prowess/state/mcp/docs").iter().any(|file| file == "listing.json"));
}

#[test]
fn as_json() {
    let env = env();
    assert_snapshot!(env.runs(&[
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
fn an_unlisted_skill_is_found_by_its_uri() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["list", "--all"],
        &["trust", "--mcp", "docs/skill://none/SKILL.md"],
        &["trust", "--mcp", "docs/skill://hidden/SKILL.md"],
        &["activate", "docs/hidden"],
        &["untrust", "--mcp", "docs/skill://hidden/SKILL.md"],
        &["list", "--all"],
    ]));
}

#[test]
fn invalid_approvals_are_rejected() {
    let env = env();
    env.skill("~/.agents/skills/pdf");
    env.run(&["trust", "--mcp", "docs/pdf"]);
    assert_snapshot!(env.runs(&[
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
fn doctor_contacts_each_server() {
    let env = env();
    env.run(&["trust", "--mcp", "docs/docx"]);
    let fine = env.run(&["doctor"]).transcript();
    let more = "[[sources.mcp]]\nlabel = \"gone\"\ncommand = \"no-such-server\"\n\
        [[sources.mcp]]\nlabel = \"off\"\nurl = \"https://off.example/\"\nenabled = false\n";
    let config = env.text("~/.prowess/config.toml") + more;
    env.file("~/.prowess/config.toml", config);
    let bad = env.runs(&[&["doctor"], &["list"]]);
    assert_snapshot!(format!("{fine}\n{bad}"));
}

#[test]
fn caches_of_removed_servers_are_deleted() {
    let env = env();
    env.run(&["trust", "--mcp", "docs/docx"]);
    env.run(&["read", "docs/docx", "a.md"]);
    let kept = || env.tree("~/.prowess/state/mcp").len();
    assert!(kept() > 1);
    env.run(&["--root", ".", "list"]);
    assert!(kept() > 1, "directories for one call take nothing away");
    env.file("~/.prowess/config.toml", "");
    env.run(&["list"]);
    assert_eq!(kept(), 0);
}

#[test]
fn caches_are_kept_if_the_user_configuration_is_replaced() {
    let env = env();
    env.run(&["list"]);
    let cache = env.path("~/.prowess/state/mcp/docs");
    let good = env.text("~/.prowess/config.toml");
    assert!(cache.exists());
    env.run(&["list", "--preset", "harness"]);
    assert!(cache.exists(), "another preset for one call");
    env.file(".prowess/config.toml", "preset = \"harness\"\n").run(&["list"]);
    assert!(cache.exists(), "the preset of a project");
    std::fs::remove_file(env.path(".prowess/config.toml")).unwrap();
    for command in ["list", "config", "doctor"] {
        env.file("~/.prowess/config.toml", format!("{good}\nno toml")).run(&[command]);
        assert!(cache.exists(), "{command} with a configuration that cannot be read");
    }
    env.file("~/.prowess/config.toml", "").run(&["config"]);
    assert!(cache.exists(), "commands that report on the configuration change nothing");
    env.run(&["list"]);
    assert!(!cache.exists());
}

#[test]
fn no_server_is_started_for_local_skills() {
    let env = env();
    env.skill("~/.agents/skills/pdf");
    let kept = || env.tree("~/.prowess/state/mcp").len();
    for call in [
        &["info", "pdf"][..],
        &["activate", "pdf"],
        &["files", "pdf"],
        &["read", "pdf", "SKILL.md"],
        &["why", "pdf"],
        &["plugins"],
    ] {
        assert_eq!(env.run(call).code, 0, "{call:?}");
        assert_eq!(kept(), 0, "{call:?}");
    }
    env.run(&["list"]);
    assert!(kept() > 0);
}

#[test]
fn a_project_cannot_configure_a_server() {
    let env = TestEnv::bare();
    env.file(".prowess/config.toml", "[[sources.mcp]]\nlabel = \"evil\"\ncommand = \"evil\"\n");
    env.program("evil");
    assert_snapshot!(env.run(&["list"]).transcript());
}
