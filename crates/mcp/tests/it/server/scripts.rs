//! Scripts: progress, and cancellation.

use std::path::{Path, PathBuf};

use prowess::Preset;
use prowess::policy::ScriptPolicy;
use prowess_mcp::http::HttpOptions;
use serde_json::{Value, json};

use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{
    NEWEST_VERSION, SKILLS_DIR, TestHome, initialize_params, schema, wait_until, with_meta,
};

/// A script that reports that it runs, and then sleeps longer than any test.
const ENDLESS: &str = "#!/bin/sh\necho ready\nexec sleep 3333.3333\n";

fn home() -> TestHome {
    let mut home = TestHome::new(Preset::Standard);
    home.policy.run.scripts = ScriptPolicy::Allowed;
    home.write_skill(&format!("{SKILLS_DIR}/s"), "Run scripts/x.sh.");
    home.write_file(
        &format!("{SKILLS_DIR}/s/scripts/steps.sh"),
        "#!/bin/sh\nfor i in 1 2 3; do echo step $i; sleep 0.1; done\n",
    );
    home.write_file(
        &format!("{SKILLS_DIR}/s/scripts/fails.sh"),
        "#!/bin/sh\necho out; echo err >&2; exit 3\n",
    );
    home
}

/// Creates a script whose process can be distinguished from those of other tests.
fn endless(marker: &str) -> (TestHome, EndlessScript) {
    let home = home();
    home.write_file(&format!("{SKILLS_DIR}/s/scripts/endless.sh"), ENDLESS.replace("3333.3333", marker));
    (home, EndlessScript(marker.to_owned()))
}

struct EndlessScript(String);

impl EndlessScript {
    /// Returns the processes that run it.
    fn processes(&self) -> Vec<PathBuf> {
        let is_it = |path: &PathBuf| {
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|word| word == self.0.as_bytes())
        };
        let all = Path::new("/proc").read_dir().unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        all.filter(is_it).collect()
    }

    async fn wait_until_running(&self) {
        wait_until("the script runs", || !self.processes().is_empty()).await;
    }

    async fn wait_until_ended(&self) {
        wait_until("the script is gone", || self.processes().is_empty()).await;
    }
}

fn run(script: &str, progress: bool) -> Value {
    let mut params =
        json!({"name": "skills_run", "arguments": {"name": "s", "script": format!("scripts/{script}")}});
    if progress {
        params["_meta"] = json!({"progressToken": "p"});
    }
    params
}

/// Removes the values that differ from run to run.
fn redact(mut result: Value) -> String {
    if let Some(structured) = result.get_mut("structuredContent") {
        structured["duration_ms"] = json!("[TIME]");
        structured["sandbox"] = json!("[TIER]");
    }
    crate::support::pretty(&result)
}

#[tokio::test]
async fn a_script_is_run_and_its_progress_is_reported() {
    let home = home();
    let mut client = StdioTestClient::connected(&home.server_with_scripts(), "2025-11-25").await;
    let tools = client.result("tools/list", json!({})).await;
    let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "skills_run").unwrap();
    let result = client.result("tools/call", run("steps.sh", true)).await;
    assert_eq!(schema::violation(&tool["outputSchema"], &result["structuredContent"]), None, "{result}");
    let notifications: Vec<_> =
        client.notifications.drain(..).filter(|note| note["method"] == "notifications/progress").collect();
    assert!(!notifications.is_empty());
    let mut before = 0.0;
    for note in &notifications {
        assert_eq!(note["params"]["progressToken"], "p");
        let now = note["params"]["progress"].as_f64().unwrap();
        assert!(now > before, "{notifications:?}");
        before = now;
    }
    assert_eq!(notifications.last().unwrap()["params"]["message"], "step 3");
    insta::assert_snapshot!("a_script", redact(result));
    // Without a token, there are no notifications.
    client.result("tools/call", run("steps.sh", false)).await;
    assert!(client.notifications.is_empty(), "{:?}", client.notifications);
    let failed = client.result("tools/call", run("fails.sh", false)).await;
    assert_eq!(failed["isError"], true);
    insta::assert_snapshot!("a_script_that_fails", redact(failed));
    insta::assert_snapshot!("no_script", redact(client.result("tools/call", run("none.sh", false)).await));
}

#[tokio::test]
async fn cancelling_ends_the_script() {
    let (home, endless) = endless("3001.3001");
    let mut client = StdioTestClient::connected(&home.server_with_scripts(), "2025-11-25").await;
    let id = client.send_request("tools/call", run("endless.sh", true)).await;
    client.notification("notifications/progress").await;
    endless.wait_until_running().await;
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"})).await;
    endless.wait_until_ended().await;
    // The request gets no response; others do.
    assert_eq!(client.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn cancelling_ends_the_script_in_the_newest_revision() {
    let (home, endless) = endless("3002.3002");
    let server = home.server_with_scripts();
    let mut client = StdioTestClient::stateless(&server, NEWEST_VERSION);
    let id = client.send_request("tools/call", run("endless.sh", false)).await;
    endless.wait_until_running().await;
    client.notify("notifications/cancelled", with_meta(json!({"requestId": id}), NEWEST_VERSION)).await;
    endless.wait_until_ended().await;
    // Over HTTP, closing the connection cancels the request.
    let site = HttpTestServer::start(&server).await;
    let request = tokio::spawn(site.stateless_request(1, "tools/call", run("endless.sh", false)).send());
    endless.wait_until_running().await;
    request.abort();
    endless.wait_until_ended().await;
    site.stop().await;
}

#[tokio::test]
async fn cancelling_ends_the_script_of_a_session() {
    let (home, endless) = endless("3003.3003");
    let site = HttpTestServer::start(&home.server_with_scripts()).await;
    let mut session = site.session("2025-11-25").await;
    let (reply, id) = session.send_request("tools/call", run("endless.sh", true)).await;
    endless.wait_until_running().await;
    // An interrupted stream does not cancel the request.
    drop(reply);
    session.result("tools/list", json!({})).await;
    assert!(!endless.processes().is_empty());
    session.notify("notifications/cancelled", json!({"requestId": id})).await;
    endless.wait_until_ended().await;
    // Ending the session ends its scripts.
    let (_reply, _) = session.send_request("tools/call", run("endless.sh", true)).await;
    endless.wait_until_running().await;
    session.delete().await;
    endless.wait_until_ended().await;
    site.stop().await;
}

#[tokio::test]
async fn a_session_with_a_pending_request_is_not_evicted() {
    let (home, endless) = endless("3007.3007");
    let options = HttpOptions { max_sessions: 1, ..HttpOptions::default() };
    let site = HttpTestServer::start_with(&home.server_with_scripts(), options).await;
    let mut session = site.session("2025-11-25").await;
    let (_reply, id) = session.send_request("tools/call", run("endless.sh", true)).await;
    endless.wait_until_running().await;
    let begin =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25")});
    let mut rejected = site.post(begin.to_string()).send().await;
    assert_eq!((rejected.status, rejected.header("retry-after")), (503, Some("30")));
    assert_eq!(rejected.text().await, "too many sessions\n");
    // A session id that is not text counts as none, as in the SDK.
    let disguised = site.post(begin.to_string()).with("Mcp-Session-Id", "\u{e9}").send().await;
    assert_eq!(disguised.status, 503);
    assert!(!endless.processes().is_empty());
    session.notify("notifications/cancelled", json!({"requestId": id})).await;
    endless.wait_until_ended().await;
    site.stop().await;
}

#[tokio::test]
async fn disconnecting_ends_the_scripts_of_a_client() {
    let (home, endless) = endless("3004.3004");
    let server = home.server_with_scripts();
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    client.send_request("tools/call", run("endless.sh", false)).await;
    endless.wait_until_running().await;
    client.abort().await.unwrap();
    endless.wait_until_ended().await;
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    client.send_request("tools/call", run("endless.sh", false)).await;
    endless.wait_until_running().await;
    client.disconnect().await.1.unwrap();
    endless.wait_until_ended().await;
}

#[tokio::test]
async fn stopping_the_server_ends_its_scripts() {
    let (home, endless) = endless("3005.3005");
    let server = home.server_with_scripts();
    let site = HttpTestServer::start(&server).await;
    let mut session = site.session("2025-11-25").await;
    let (_reply, _) = session.send_request("tools/call", run("endless.sh", true)).await;
    endless.wait_until_running().await;
    site.stop().await;
    endless.wait_until_ended().await;
    wait_until("all clients are disconnected", || server.client_count() == 0).await;
}
