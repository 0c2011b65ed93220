//! Interrupted and resumed streams.

use prowess::Preset;
use prowess::policy::ScriptPolicy;
use serde_json::{Value, json};

use crate::support::http::{HttpTestResponse, HttpTestServer, HttpTestSession};
use crate::support::{SKILLS_DIR, TestHome, wait_until};

/// Creates a skill with a script that writes three lines.
fn home() -> TestHome {
    let mut home = TestHome::new(Preset::Standard);
    home.policy.run.scripts = ScriptPolicy::Allowed;
    home.write_skill(&format!("{SKILLS_DIR}/s"), "Run.");
    let script = "#!/bin/sh\necho one\nsleep 0.3\necho two\nsleep 1\necho three\nsleep 0.3\n";
    home.write_file(&format!("{SKILLS_DIR}/s/steps.sh"), script);
    home
}

async fn run(session: &mut HttpTestSession) -> (HttpTestResponse, i64) {
    let params = json!({
        "name": "skills_run", "arguments": {"name": "s", "script": "steps.sh"}, "_meta": {"progressToken": 1},
    });
    session.send_request("tools/call", params).await
}

async fn resume(session: &HttpTestSession, last: &str) -> HttpTestResponse {
    let reply = session.request_without_body("GET").with("Last-Event-ID", last).send().await;
    assert_eq!(reply.status, 200);
    reply
}

/// Reads the rest of the stream: the progress messages, then the output in the response.
async fn read_rest(reply: &mut HttpTestResponse) -> Vec<Value> {
    let mut messages = Vec::new();
    while let Some(message) = reply.next_message().await {
        messages.push(match message.get("method") {
            Some(_) => message["params"]["message"].clone(),
            None => message["result"]["structuredContent"]["stdout"].clone(),
        });
    }
    messages
}

#[tokio::test]
async fn a_resumed_stream_continues() {
    let home = home();
    let site = HttpTestServer::start(&home.server_with_scripts()).await;
    let mut session = site.session("2025-11-25").await;
    let (mut reply, _) = run(&mut session).await;
    let first = reply.event().await.unwrap();
    assert_eq!(
        (first.data.as_str(), first.retry.is_some()),
        ("", true),
        "the stream can be resumed from its start"
    );
    let second = reply.event().await.unwrap();
    assert!(second.data.contains("\"one\""), "{second:?}");
    let last = second.id.unwrap();
    drop(reply);
    let mut resumed = resume(&session, &last).await;
    assert_eq!(read_rest(&mut resumed).await, ["two", "three", "one\ntwo\nthree\n"]);
    site.stop().await;
}

#[tokio::test]
async fn a_response_is_kept_for_an_interrupted_stream() {
    let home = home();
    let server = home.server_with_scripts();
    let site = HttpTestServer::start(&server).await;
    let mut session = site.session("2025-11-25").await;
    let (mut reply, _) = run(&mut session).await;
    let first = reply.event().await.unwrap().id.unwrap();
    let second = reply.event().await.unwrap().id.unwrap();
    drop(reply);
    // The script ends while no client listens. Only its process is visible from here.
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    wait_until("the script has ended", || !is_running("steps.sh")).await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    // Another interruption before reading loses nothing.
    drop(resume(&session, &second).await);
    let mut resumed = resume(&session, &second).await;
    assert_eq!(read_rest(&mut resumed).await, ["two", "three", "one\ntwo\nthree\n"]);
    // Other sessions cannot resume it.
    let other = site.session("2025-11-25").await;
    for id in [&first, &second] {
        assert_eq!(read_rest(&mut resume(&other, id).await).await, Vec::<Value>::new());
    }
    site.stop().await;
}

fn is_running(script: &str) -> bool {
    let runs_script = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(script)
    };
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(runs_script)
}

#[tokio::test]
async fn unknown_event_ids_return_nothing() {
    let home = TestHome::with_skills(&["a"]);
    let site = HttpTestServer::start(&home.server()).await;
    let mut session = site.session("2025-11-25").await;
    session.result("tools/list", json!({})).await;
    for last in
        ["0/0", "1/0", "9/9", "18446744073709551615/18446744073709551615", "x", "", "-1/0", "0/x", "1/2/3"]
    {
        let mut reply = session.request_without_body("GET").with("Last-Event-ID", last).send().await;
        assert_eq!(reply.status, 200, "{last}");
        assert_eq!(read_rest(&mut reply).await, Vec::<Value>::new(), "{last}");
    }
    site.stop().await;
}

#[tokio::test]
async fn an_id_that_is_in_use_is_rejected_without_blocking() {
    let home = home();
    let site = HttpTestServer::start(&home.server_with_scripts()).await;
    let mut session = site.session("2025-11-25").await;
    let (mut first, id) = run(&mut session).await;
    first.event().await.unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let rejection = session.post(&ping).send().await.message().await;
    assert_eq!((&rejection["error"]["code"], rejection.get("id")), (&json!(-32600), None));
    assert_eq!(read_rest(&mut first).await.last().unwrap(), "one\ntwo\nthree\n");
    // After the response, the id can be used again.
    let response = session.post(&ping).send().await.message().await;
    assert_eq!(response["result"], json!({}));
    site.stop().await;
}
