//! Files of scripts: resource links, reading and listing them, and a directory of the user as the workspace.

use std::path::PathBuf;

use prowess::Preset;
use prowess::policy::{ScriptDirectory, ScriptPolicy};
use prowess_mcp::McpServerOptions;
use serde_json::{Value, json};

use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, SKILLS_DIR, TestHome, error_of, schema};

/// Copies its input to another file, and writes a binary file and one with an unusual name.
const WRITE: &str = "#!/bin/sh\nset -e\nmkdir -p out\ncat in.txt >out/copy.txt\nprintf '\\0\\1' >bin\n\
    echo x >'out/50% a#b?.txt'\n";

pub(super) fn home() -> TestHome {
    let mut home = TestHome::new(Preset::Standard);
    home.policy.run.scripts = ScriptPolicy::Allowed;
    home.write_skill(&format!("{SKILLS_DIR}/s"), "Run scripts/write.sh.");
    for (name, script) in [
        ("write.sh", WRITE),
        ("fail.sh", "#!/bin/sh\necho half >part.txt\nexit 3\n"),
        ("list.sh", "#!/bin/sh\nfind . -type f | sort\n"),
        ("remove.sh", "#!/bin/sh\nrm in.txt\n"),
        ("edit.sh", "#!/bin/sh\nrm gone.txt\necho z >>extra/more.txt\n"),
        ("many.sh", "#!/bin/sh\nfor i in $(seq 1 260); do echo $i >f$i; done\n"),
        ("full.sh", "#!/bin/sh\nfor i in $(seq 1 501); do echo $i >f$i; done\necho counted\n"),
        ("pwd.sh", "#!/bin/sh\nls SKILL.md\n"),
    ] {
        home.write_file(&format!("{SKILLS_DIR}/s/scripts/{name}"), script);
    }
    home
}

pub(super) fn run(script: &str, inputs: Value) -> Value {
    let mut arguments = json!({"name": "s", "script": format!("scripts/{script}")});
    if !inputs.is_null() {
        arguments["inputs"] = inputs;
    }
    json!({"name": "skills_run", "arguments": arguments})
}

fn text_input() -> Value {
    json!([{"name": "in.txt", "text": "hello\n"}])
}

fn links(result: &Value) -> Vec<&Value> {
    result["content"].as_array().unwrap().iter().filter(|block| block["type"] == "resource_link").collect()
}

fn link(result: &Value, name: &str) -> String {
    let links = links(result);
    let link = links.iter().find(|link| link["name"] == name);
    link.unwrap_or_else(|| panic!("{result}"))["uri"].as_str().unwrap().to_owned()
}

fn id_of(uri: &str) -> &str {
    uri.strip_prefix("workspace://").unwrap().split('/').next().unwrap()
}

/// Replaces the values that differ from run to run.
fn redact(result: &Value) -> String {
    let mut result = result.clone();
    let id = links(&result).first().map(|link| id_of(link["uri"].as_str().unwrap()).to_owned());
    if let Some(structured) = result.get_mut("structuredContent") {
        structured["duration_ms"] = json!("[TIME]");
        structured["sandbox"] = json!("[TIER]");
    }
    let text = crate::support::pretty(&result);
    id.map_or_else(|| text.clone(), |id| text.replace(&id, "[ID]"))
}

#[tokio::test]
async fn artifacts_are_links_that_can_be_read() {
    let home = home();
    let mut client = StdioTestClient::connected(&home.server_with_scripts(), "2025-11-25").await;
    let result = client.result("tools/call", run("write.sh", text_input())).await;
    insta::assert_snapshot!("artifacts", redact(&result));
    client.notification("notifications/resources/list_changed").await;
    let tools = client.result("tools/list", json!({})).await;
    let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "skills_run").unwrap();
    assert_eq!(schema::violation(&tool["outputSchema"], &result["structuredContent"]), None);
    for (name, expected) in [
        ("out/copy.txt", json!({"mimeType": "text/plain", "text": "hello\n"})),
        ("bin", json!({"mimeType": "application/octet-stream", "blob": "AAE="})),
        ("out/50% a#b?.txt", json!({"mimeType": "text/plain", "text": "x\n"})),
    ] {
        let uri = link(&result, name);
        let mut contents = client.result("resources/read", json!({"uri": uri})).await["contents"][0].take();
        assert_eq!(contents.as_object_mut().unwrap().remove("uri"), Some(json!(uri)));
        assert_eq!(contents, expected);
    }
    // The files are there for the next script, and listed after the skills.
    let listed = client.result("tools/call", run("list.sh", Value::Null)).await;
    assert_eq!(
        listed["structuredContent"]["stdout"],
        "./bin\n./in.txt\n./out/50% a#b?.txt\n./out/copy.txt\n"
    );
    let listed = client.result("resources/list", json!({})).await;
    let names: Vec<_> = listed["resources"].as_array().unwrap().iter().map(|file| &file["name"]).collect();
    assert_eq!(names, ["s", "bin", "in.txt", "out/50% a#b?.txt", "out/copy.txt"]);
    assert_eq!(listed["resources"][4]["uri"], link(&result, "out/copy.txt"));
    assert_eq!(
        (&listed["resources"][4]["size"], &listed["resources"][4]["mimeType"]),
        (&json!(6), &json!("text/plain"))
    );
    let complete = async |client: &mut StdioTestClient, name: &str, value: &str, id: &str| {
        let template = json!({"type": "ref/resource", "uri": "workspace://{id}/{+path}"});
        let argument = json!({"name": name, "value": value});
        let params = json!({"ref": template, "argument": argument, "context": {"arguments": {"id": id}}});
        client.result("completion/complete", params).await["completion"]["values"].take()
    };
    let uri = link(&result, "bin");
    let id = id_of(&uri);
    assert_eq!(complete(&mut client, "id", "", "").await, json!([id]));
    assert_eq!(complete(&mut client, "path", "out/c", id).await, json!(["out/copy.txt"]));
    assert_eq!(complete(&mut client, "path", "", "other").await, json!([]));
    let removed = client.result("tools/call", run("remove.sh", Value::Null)).await;
    assert_eq!(removed["structuredContent"]["removed"], json!(["in.txt"]));
}

#[tokio::test]
async fn a_script_that_fails_returns_its_files() {
    let home = home();
    let mut client = StdioTestClient::connected(&home.server_with_scripts(), "2025-06-18").await;
    let result = client.result("tools/call", run("fail.sh", Value::Null)).await;
    assert_eq!(result["isError"], true);
    insta::assert_snapshot!("artifacts_of_a_failed_script", redact(&result));
    let uri = link(&result, "part.txt");
    assert_eq!(client.result("resources/read", json!({"uri": uri})).await["contents"][0]["text"], "half\n");
}

#[tokio::test]
async fn files_are_listed_in_pages_and_links_are_bounded() {
    let home = home();
    for number in 0..150 {
        home.write_skill(&format!("{SKILLS_DIR}/t{number}"), "Body.");
    }
    let mut client = StdioTestClient::connected(&home.server_with_scripts(), "2025-11-25").await;
    let result = client.result("tools/call", run("many.sh", Value::Null)).await;
    assert_eq!(links(&result).len(), 50);
    assert_eq!(result["structuredContent"]["artifacts"].as_array().unwrap().len(), 260);
    let (mut uris, mut sizes, mut cursor) = (Vec::new(), Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let mut page = client.result("resources/list", params).await;
        let files = page["resources"].as_array().unwrap();
        sizes.push(files.len());
        uris.extend(files.iter().map(|file| file["uri"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(sizes, [200, 200, 11]);
    let count = uris.len();
    let skills = uris.iter().take_while(|uri| uri.starts_with("skill://")).count();
    assert!(skills == 151 && uris[skills..].iter().all(|uri| uri.starts_with("workspace://")));
    uris.sort();
    uris.dedup();
    assert_eq!(uris.len(), count);
    let response = client.request("resources/list", json!({"cursor": "AAAA"})).await;
    assert_eq!(error_of(&response).0, -32602);
}

#[tokio::test]
async fn no_client_reads_the_files_of_another() {
    let home = home();
    let server = home.server_with_scripts();
    let mut owner = StdioTestClient::connected(&server, "2025-11-25").await;
    let result = owner.result("tools/call", run("write.sh", text_input())).await;
    let uri = link(&result, "out/copy.txt");
    let mut other = StdioTestClient::connected(&server, "2025-11-25").await;
    let site = HttpTestServer::start(&server).await;
    let mut session = site.session("2025-11-25").await;
    let response = other.request("resources/read", json!({"uri": uri})).await;
    insta::assert_snapshot!(error_of(&response).1, @"workspace not found; its files can be read until its connection ends, or for ten minutes without sessions");
    assert_eq!(error_of(&session.request("resources/read", json!({"uri": uri})).await).0, -32002);
    let mut stateless = site.stateless_request(1, "resources/read", json!({"uri": uri})).send().await;
    assert_eq!(error_of(&stateless.message().await).0, -32602);
    assert_eq!(other.result("resources/list", json!({})).await["resources"].as_array().unwrap().len(), 1);
    // Ambiguous paths and ids are rejected, and never reach a file system.
    let id = id_of(&uri).to_owned();
    for (uri, code) in [
        (format!("workspace://{id}/out/../out/copy.txt"), -32602),
        (format!("workspace://{id}/out/%2e%2e/in.txt"), -32602),
        (format!("workspace://{id}/out%2fcopy.txt"), -32602),
        (format!("workspace://{id}/out%5ccopy.txt"), -32602),
        (format!("workspace://{id}/in.txt%00"), -32602),
        (format!("workspace://{id}/"), -32602),
        (format!("workspace://{id}"), -32602),
        (format!("workspace://{id}/in.txt?x"), -32602),
        (format!("workspace://{id}/{}", "a/".repeat(5_000)), -32602),
        (format!("workspace://{id}/absent"), -32002),
        (format!("workspace://{id}/out"), -32002),
        (format!("workspace://{}/in.txt", id.to_uppercase()), -32002),
        (format!("workspace://{}/in.txt", &id[..31]), -32002),
        (format!("workspace:/{id}/in.txt"), -32602),
        ("file:///etc/passwd".to_owned(), -32602),
    ] {
        let response = owner.request("resources/read", json!({"uri": uri})).await;
        assert_eq!(error_of(&response).0, code, "{response}");
    }
    let response = owner.request("resources/subscribe", json!({"uri": uri})).await;
    assert_eq!(error_of(&response).0, -32602);
    // Its files end with the connection.
    owner.disconnect().await.1.unwrap();
    let mut next = StdioTestClient::connected(&server, "2025-11-25").await;
    assert_eq!(error_of(&next.request("resources/read", json!({"uri": uri})).await).0, -32002);
    site.stop().await;
}

#[tokio::test]
async fn the_files_of_a_session_end_with_it() {
    let home = home();
    let site = HttpTestServer::start(&home.server_with_scripts()).await;
    let mut session = site.session("2025-11-25").await;
    let result = session.result("tools/call", run("write.sh", text_input())).await;
    let uri = link(&result, "out/copy.txt");
    let read = session.result("resources/read", json!({"uri": uri})).await;
    assert_eq!(read["contents"][0]["text"], "hello\n");
    session.delete().await;
    let mut other = site.session("2025-11-25").await;
    assert_eq!(error_of(&other.request("resources/read", json!({"uri": uri})).await).0, -32002);
    site.stop().await;
}

#[tokio::test]
async fn without_sessions_links_can_be_read_for_a_while() {
    let home = home();
    let server = home.server_with_scripts();
    let site = HttpTestServer::start(&server).await;
    let mut reply = site.stateless_request(1, "tools/call", run("write.sh", text_input())).send().await;
    let result = reply.message().await["result"].take();
    let uri = link(&result, "out/copy.txt");
    let mut reply = site.stateless_request(2, "resources/read", json!({"uri": uri})).send().await;
    assert_eq!(reply.message().await["result"]["contents"][0]["text"], "hello\n");
    // Another request has another workspace, and the id cannot be listed.
    let mut reply = site.stateless_request(3, "tools/call", run("list.sh", Value::Null)).send().await;
    assert_eq!(reply.message().await["result"]["structuredContent"]["stdout"], "");
    let mut reply = site.stateless_request(4, "resources/list", json!({})).send().await;
    assert_eq!(reply.message().await["result"]["resources"].as_array().unwrap().len(), 1);
    let forged = format!("workspace://{}/in.txt", "0".repeat(32));
    let mut reply = site.stateless_request(5, "resources/read", json!({"uri": forged})).send().await;
    assert_eq!(error_of(&reply.message().await).0, -32602);
    site.stop().await;
    // On a stream, all requests are one connection, whose files end with it.
    let mut client = StdioTestClient::stateless(&server, NEWEST_VERSION);
    let result = client.result("tools/call", run("write.sh", text_input())).await;
    let stream_uri = link(&result, "bin");
    client.result("resources/read", json!({"uri": stream_uri})).await;
    client.disconnect().await.1.unwrap();
    let mut client = StdioTestClient::stateless(&server, NEWEST_VERSION);
    assert_eq!(error_of(&client.request("resources/read", json!({"uri": stream_uri})).await).0, -32602);
    assert_eq!(client.result("resources/read", json!({"uri": uri})).await["contents"][0]["text"], "hello\n");
}

#[tokio::test]
async fn large_and_invalid_inputs_are_refused() {
    let home = home();
    let mut client = StdioTestClient::connected(&home.server_with_scripts(), "2025-11-25").await;
    let text = async |client: &mut StdioTestClient, inputs: Value| {
        let result = client.result("tools/call", run("list.sh", inputs)).await;
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let many: Vec<_> = (0..51).map(|number| json!({"name": format!("f{number}"), "text": ""})).collect();
    let refused = [
        text(&mut client, json!(many)).await,
        text(&mut client, json!([{"name": "../x", "text": ""}])).await,
        text(&mut client, json!([{"name": "x", "base64": "?"}])).await,
        text(&mut client, json!([{"path": "/etc/passwd"}])).await,
    ];
    insta::assert_snapshot!(refused.join("\n"));
    // The limit of the whole workspace is reached before anything runs.
    let big = "x".repeat(3 << 20);
    let mut last = Value::Null;
    for number in 0..22 {
        let inputs = json!([{"name": format!("big{number}"), "text": big}]);
        last = client.result("tools/call", run("list.sh", inputs)).await;
        if last["isError"] == true {
            break;
        }
    }
    insta::assert_snapshot!(last["content"][0]["text"].as_str().unwrap(), @"the workspace of the conversation is limited to 67108864 bytes and 500 files");
}

#[tokio::test]
async fn scripts_may_run_in_the_directory_of_the_skill() {
    let mut home = home();
    home.policy.run.directory = ScriptDirectory::Skill;
    let mut client = StdioTestClient::connected(&home.server_with_scripts(), "2025-11-25").await;
    let result = client.result("tools/call", run("pwd.sh", Value::Null)).await;
    assert_eq!(result["structuredContent"]["stdout"], "SKILL.md\n");
    let result = client.result("tools/call", run("write.sh", text_input())).await;
    assert_eq!(links(&result).len(), 3);
}

#[tokio::test]
async fn files_that_exceed_a_limit_are_not_kept_and_the_output_is() {
    let home = home();
    let mut client = StdioTestClient::connected(&home.server_with_scripts(), "2025-11-25").await;
    let result = client.result("tools/call", run("full.sh", Value::Null)).await;
    assert_eq!((&result["isError"], links(&result).len()), (&json!(true), 0));
    insta::assert_snapshot!(result["content"][0]["text"].as_str().unwrap(), @r"
    counted
    [the files of the script are not kept: the workspace of the conversation is limited to 67108864 bytes and 500 files]
    ");
    let listed = client.result("resources/list", json!({})).await;
    assert_eq!(listed["resources"].as_array().unwrap().len(), 1);
}

fn shared_dir(home: &TestHome) -> (PathBuf, McpServerOptions) {
    home.write_file("~/work/in.txt", "hello\n").write_file("~/work/.env", "SECRET=1\n");
    home.write_file("~/work/.git/config", "[core]\n").write_file("~/secret.txt", "secret\n");
    let dir = home.path("~/work").canonicalize().unwrap();
    let options = McpServerOptions { workspace: Some(dir.clone()), ..McpServerOptions::default() };
    (dir, options)
}

#[tokio::test]
async fn a_directory_of_the_user_is_the_workspace() {
    let home = home();
    let (dir, options) = shared_dir(&home);
    let server = home.server_with_options(options);
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    let result = client.result("tools/call", run("write.sh", Value::Null)).await;
    assert_eq!(std::fs::read_to_string(dir.join("out/copy.txt")).unwrap(), "hello\n");
    let uri = link(&result, "out/copy.txt");
    assert_eq!(client.result("resources/read", json!({"uri": uri})).await["contents"][0]["text"], "hello\n");
    let tools = client.result("tools/list", json!({})).await["tools"].take();
    let run_tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "skills_run").unwrap();
    assert_eq!(run_tool["annotations"]["destructiveHint"], true, "scripts may replace files of the user");
    let listed = client.result("resources/list", json!({})).await;
    let names: Vec<_> = listed["resources"].as_array().unwrap().iter().map(|file| &file["name"]).collect();
    assert_eq!(names, ["s", "bin", "in.txt", "out/50% a#b?.txt", "out/copy.txt"]);
    // Without sessions, the same links work.
    let site = HttpTestServer::start(&server).await;
    let mut reply = site.stateless_request(1, "resources/read", json!({"uri": uri})).send().await;
    assert_eq!(reply.message().await["result"]["contents"][0]["text"], "hello\n");
    site.stop().await;
}

#[tokio::test]
async fn inputs_are_next_to_the_files_of_the_user_for_one_call() {
    let home = home();
    let (dir, options) = shared_dir(&home);
    prowess_fs::create_symlink(&home.path("~/secret.txt"), &dir.join("link.txt")).unwrap();
    let mut client = StdioTestClient::connected(&home.server_with_options(options), "2025-11-25").await;
    let inputs = json!([{"name": "extra/more.txt", "text": "x\n"}, {"name": "gone.txt", "text": "y\n"}]);
    for _ in 0..2 {
        let result = client.result("tools/call", run("list.sh", inputs.clone())).await;
        let stdout = result["structuredContent"]["stdout"].as_str().unwrap();
        assert_eq!(stdout, "./.env\n./.git/config\n./extra/more.txt\n./gone.txt\n./in.txt\n");
        assert!(!dir.join("extra").exists() && !dir.join("gone.txt").exists(), "they are not written");
    }
    // Nothing of the user is replaced, not even a link that the script cannot see.
    let mut refused = Vec::new();
    for name in ["in.txt", "in.txt/x", ".git", "link.txt", "link.txt/x"] {
        let inputs = json!([{"name": name, "text": "z"}]);
        let result = client.result("tools/call", run("list.sh", inputs)).await;
        assert_eq!(result["isError"], true);
        refused.push(result["content"][0]["text"].as_str().unwrap().to_owned());
    }
    insta::assert_snapshot!(refused.join("\n"), @r"
    the workspace already has in.txt, which an input must not replace; give the input another name, or leave it out to use the existing file
    the workspace already has in.txt, which an input must not replace; give the input another name, or leave it out to use the existing file
    input 1: cannot use .git as the name of an input: it is in a .git directory
    the workspace already has link.txt, which an input must not replace; give the input another name, or leave it out to use the existing file
    the workspace already has link.txt, which an input must not replace; give the input another name, or leave it out to use the existing file
    ");
    assert_eq!(std::fs::read_to_string(dir.join("in.txt")).unwrap(), "hello\n");
    assert_eq!(std::fs::read_to_string(home.path("~/secret.txt")).unwrap(), "secret\n");
    // An input that the script changes is kept, and one that it removes is not reported.
    let result = client.result("tools/call", run("edit.sh", inputs)).await;
    let changed = &result["structuredContent"];
    assert_eq!(
        (&changed["artifacts"][0]["path"], &changed["removed"]),
        (&json!("extra/more.txt"), &json!([]))
    );
    assert_eq!(std::fs::read_to_string(dir.join("extra/more.txt")).unwrap(), "x\nz\n");
}

#[tokio::test]
async fn only_regular_visible_files_of_the_directory_are_served() {
    let home = home();
    let (dir, options) = shared_dir(&home);
    prowess_fs::create_symlink(&home.path("~/secret.txt"), &dir.join("link.txt")).unwrap();
    prowess_fs::create_symlink(&home.path("~/"), &dir.join("up")).unwrap();
    std::fs::create_dir(dir.join("sub")).unwrap();
    let big = std::fs::File::create(dir.join("big.bin")).unwrap();
    big.set_len(33 << 20).unwrap();
    let status = std::process::Command::new("mkfifo").arg(dir.join("fifo")).status().unwrap();
    assert!(status.success());
    let mut client = StdioTestClient::connected(&home.server_with_options(options), "2025-11-25").await;
    let listed = client.result("resources/list", json!({})).await;
    let names: Vec<_> = listed["resources"].as_array().unwrap().iter().map(|file| &file["name"]).collect();
    assert_eq!(names, ["s", "big.bin", "in.txt"]);
    let id = id_of(listed["resources"][1]["uri"].as_str().unwrap()).to_owned();
    let mut errors = Vec::new();
    for path in [
        ".env",
        ".git/config",
        "sub/.x",
        "link.txt",
        "up/secret.txt",
        "sub",
        "fifo",
        "big.bin",
        "absent",
        "in.txt/x",
        "a:b",
        "../secret.txt",
    ] {
        let response =
            client.request("resources/read", json!({"uri": format!("workspace://{id}/{path}")})).await;
        let (code, message) = error_of(&response);
        errors.push(format!("{path}: {code} {message}"));
    }
    insta::assert_snapshot!(errors.join("\n"));
    // A file that is swapped for a link is not followed, and neither is the directory itself.
    std::fs::remove_file(dir.join("in.txt")).unwrap();
    prowess_fs::create_symlink(&home.path("~/secret.txt"), &dir.join("in.txt")).unwrap();
    let uri = format!("workspace://{id}/in.txt");
    assert_eq!(error_of(&client.request("resources/read", json!({"uri": uri})).await).0, -32002);
    std::fs::rename(&dir, home.path("~/moved")).unwrap();
    prowess_fs::create_symlink(&home.path("~/"), &dir).unwrap();
    let uri = format!("workspace://{id}/secret.txt");
    assert_eq!(error_of(&client.request("resources/read", json!({"uri": uri})).await).0, -32603);
    let listed = client.result("resources/list", json!({})).await;
    assert_eq!(listed["resources"].as_array().unwrap().len(), 1);
}
