//! Inputs from the roots of a client.

use prowess_mcp::http::{AccessToken, HttpOptions};
use serde_json::{Value, json};

use super::artifacts::{home as script_home, run};
use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{SKILLS_DIR, TestHome, with_capabilities};

fn home() -> TestHome {
    let mut home = script_home();
    home.policy.run.client_roots = true;
    home.write_file(&format!("{SKILLS_DIR}/s/scripts/cat.sh"), "#!/bin/sh\ncat *\n");
    home.write_file("~/work/a b/in.txt", "from a root\n").write_file("~/.ssh/key", "secret\n");
    home.write_file("~/other.txt", "other\n");
    home
}

fn has_roots() -> Value {
    json!({"roots": {}})
}

fn roots(home: &TestHome, dirs: &[&str]) -> Value {
    let uri = |dir: &&str| {
        let path = home.path(dir).display().to_string().replace(' ', "%20");
        json!({"uri": format!("file://{path}"), "name": dir})
    };
    json!({"roots": dirs.iter().map(uri).collect::<Vec<_>>()})
}

fn cat(path: &str) -> Value {
    run("cat.sh", json!([{"path": path}]))
}

fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

/// Calls the tool and answers the request for roots.
async fn call(client: &mut StdioTestClient, params: Value, answer: Value) -> String {
    let id = client.send_request("tools/call", params).await;
    let request = client.notification("roots/list").await;
    client.answer(&request, answer).await;
    text(&client.response(id).await["result"])
}

#[tokio::test]
async fn inputs_are_read_below_the_roots() {
    let home = home();
    let mut client =
        StdioTestClient::connected_with(&home.server_with_scripts(), "2025-11-25", has_roots()).await;
    let listed = || roots(&home, &["~/work/a b"]);
    assert_eq!(call(&mut client, cat("in.txt"), listed()).await, "from a root\n");
    let absolute = home.path("~/work/a b/in.txt").canonicalize().unwrap();
    assert_eq!(call(&mut client, cat(absolute.to_str().unwrap()), listed()).await, "from a root\n");
    let mut refused = Vec::new();
    for (path, answer) in [
        ("../../other.txt", listed()),
        (home.path("~/other.txt").to_str().unwrap(), listed()),
        ("absent", listed()),
        // The home directory, hidden directories and system directories are ignored.
        ("other.txt", roots(&home, &["~/"])),
        ("key", roots(&home, &["~/.ssh"])),
        ("passwd", json!({"roots": [{"uri": "file:///etc"}]})),
        ("etc/passwd", json!({"roots": [{"uri": "file:///"}]})),
        ("in.txt", json!({"roots": [{"uri": "https://example.org/"}, {"uri": "file://host/x"}]})),
        ("in.txt", json!({"roots": []})),
        ("in.txt", json!({"roots": "none"})),
    ] {
        refused.push(home.redact_path(&call(&mut client, cat(path), answer).await));
    }
    insta::assert_snapshot!(refused.join("\n"));
    // Roots are requested only for paths.
    let result = client.result("tools/call", run("cat.sh", json!([{"name": "x", "text": "y"}]))).await;
    assert_eq!(result["isError"], false);
    assert!(client.notifications.iter().all(|note| note["method"] != "roots/list"));
}

#[tokio::test]
async fn roots_are_requested_only_if_the_user_allows_it() {
    let mut home = home();
    home.policy.run.client_roots = false;
    let mut client =
        StdioTestClient::connected_with(&home.server_with_scripts(), "2025-11-25", has_roots()).await;
    insta::assert_snapshot!(text(&client.result("tools/call", cat("in.txt")).await));
    assert!(client.notifications.is_empty(), "{:?}", client.notifications);
    home.policy.run.client_roots = true;
    let mut client = StdioTestClient::connected(&home.server_with_scripts(), "2025-11-25").await;
    insta::assert_snapshot!(text(&client.result("tools/call", cat("in.txt")).await));
    assert!(client.notifications.is_empty(), "{:?}", client.notifications);
}

#[tokio::test]
async fn sessions_have_roots() {
    let home = home();
    let site = HttpTestServer::start(&home.server_with_scripts()).await;
    let mut session = site.session_with("2025-06-18", has_roots()).await;
    let result = session.result_with_answer(cat("in.txt"), "roots/list", roots(&home, &["~/work/a b"])).await;
    assert_eq!(text(&result), "from a root\n");
    site.stop().await;
}

#[tokio::test]
async fn the_newest_revision_requests_roots_by_returning() {
    let mut home = home();
    home.policy.run.scripts = prowess::policy::ScriptPolicy::Ask;
    let site = HttpTestServer::start(&home.server_with_scripts()).await;
    let capabilities = json!({"roots": {}, "elicitation": {"form": {}}});
    let call = async |mut params: Value, state: &Value, answers: Value| {
        params["inputResponses"] = answers;
        if state.is_string() {
            params["requestState"] = state.clone();
        }
        let params = with_capabilities(params, &capabilities);
        let mut reply = site.stateless_request(1, "tools/call", params).send().await;
        reply.message().await["result"].take()
    };
    let asked = call(cat("in.txt"), &Value::Null, json!({})).await;
    insta::assert_snapshot!("roots_required", crate::support::pretty(&asked));
    let listed = roots(&home, &["~/work/a b"]);
    // The question whether the script may run comes next, with the roots again, because nothing is kept in between.
    let asked = call(cat("in.txt"), &Value::Null, json!({"roots": listed})).await;
    let keys: Vec<_> = asked["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["consent", "roots"]);
    assert!(asked["inputRequests"]["consent"]["params"]["message"].as_str().unwrap().contains("in.txt"));
    let consent = json!({"action": "accept", "content": {"decision": "once"}});
    let answers = json!({"roots": listed, "consent": consent});
    let ran = call(cat("in.txt"), &asked["requestState"], answers).await;
    assert_eq!(text(&ran), "from a root\n");
    let refused = call(cat("in.txt"), &Value::Null, json!({"roots": {"roots": 1}})).await;
    assert_eq!(refused["isError"], true);
    site.stop().await;
}

#[tokio::test]
async fn the_roots_of_other_users_are_not_read() {
    const TOKEN: &str = "token-0123456789abcdef";
    let home = home();
    let options = HttpOptions { token: AccessToken::parse(TOKEN).ok(), ..HttpOptions::default() };
    let site = HttpTestServer::start_with(&home.server_with_scripts(), options).await;
    let mut params = cat("in.txt");
    params["inputResponses"] = json!({"roots": roots(&home, &["~/work/a b"])});
    let request = site.stateless_request(1, "tools/call", with_capabilities(params, &has_roots()));
    let mut reply = request.with("Authorization", format!("Bearer {TOKEN}")).send().await;
    insta::assert_snapshot!(
        text(&reply.message().await["result"]),
        @"input 1: no directory is shared, so that path cannot be used; pass text or base64"
    );
    site.stop().await;
}
