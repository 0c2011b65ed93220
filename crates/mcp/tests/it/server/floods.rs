//! Excessive input, and clients that do not read.

use std::time::Duration;

use prowess::Preset;
use prowess::policy::ScriptPolicy;
use serde_json::{Value, json};

use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, SKILLS_DIR, TestHome};

/// Returns how many lines a client that does not read can send before the server stops reading.
async fn lines_until_blocked(
    client: &mut StdioTestClient,
    line: impl Fn(usize) -> String,
    max: usize,
) -> usize {
    for count in 0..max {
        let text = format!("{}\n", line(count));
        if !client.try_send(text, Duration::from_millis(1500)).await {
            return count;
        }
    }
    max
}

#[tokio::test]
async fn the_server_stops_reading_from_a_client_that_does_not_read() {
    let home = TestHome::with_skills(&[]);
    home.write_skill(&format!("{SKILLS_DIR}/a"), &"word ".repeat(2_000));
    let server = home.server();
    const MOST: usize = 20_000;
    let read = |id: usize| {
        json!({"jsonrpc": "2.0", "id": id + 10, "method": "resources/read", "params": {"uri": "skill://a/SKILL.md"}}).to_string()
    };
    let garbage = |_: usize| "x".repeat(100);
    let read_and_cancel = |id: usize| {
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id + 10}});
        format!("{}\n{cancel}", read(id))
    };
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    let accepted = lines_until_blocked(&mut client, read, MOST).await;
    // The pending requests, the contents of the pipe, and the read-ahead buffer.
    assert!(accepted < 3_000, "{accepted} requests were accepted from a client that does not read");
    drop(client);
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    let accepted = lines_until_blocked(&mut client, garbage, MOST).await;
    assert!(accepted < 4_000, "{accepted} lines were accepted from a client that does not read");
    drop(client);
    // Cancelling the requests does not circumvent the limit while they are running.
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    lines_until_blocked(&mut client, read_and_cancel, 5_000).await;
    // A client that disconnects then is removed.
    client.abort().await.unwrap();
    crate::support::wait_until("all clients are disconnected", || server.client_count() == 0).await;
}

#[tokio::test]
async fn a_client_that_reads_late_gets_every_response() {
    let home = TestHome::with_skills(&["a"]);
    let mut client = StdioTestClient::connected(&home.server(), "2025-11-25").await;
    const REQUESTS: i64 = 2_000;
    let mut requests = String::new();
    for id in 1_000..1_000 + REQUESTS {
        let params = json!({"uri": "skill://a/SKILL.md"});
        requests += &format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": id, "method": "resources/read", "params": params})
        );
    }
    // Reads and writes at the same time, like a correct client.
    let (mut seen, mut reader) = (std::collections::BTreeSet::new(), client.take_reader());
    let reading = async {
        while seen.len() < REQUESTS as usize {
            let response = reader.next().await.unwrap();
            if response.get("method").is_none() {
                assert!(response["result"].is_object(), "{response}");
                assert!(seen.insert(response["id"].as_i64().unwrap()));
            }
        }
    };
    let ((), ()) = tokio::join!(reading, client.send(requests));
    assert_eq!((seen.first(), seen.last()), (Some(&1_000), Some(&(999 + REQUESTS))));
}

#[tokio::test]
async fn a_stalled_client_does_not_block_others() {
    let home = TestHome::with_skills(&[]);
    home.write_skill(&format!("{SKILLS_DIR}/a"), &"word ".repeat(2_000));
    let server = home.server();
    let site = HttpTestServer::start(&server).await;
    let mut stalled = StdioTestClient::connected(&server, "2025-11-25").await;
    let read = |id: usize| {
        json!({"jsonrpc": "2.0", "id": id + 10, "method": "resources/read", "params": {"uri": "skill://a/SKILL.md"}}).to_string()
    };
    lines_until_blocked(&mut stalled, read, 20_000).await;
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    client.call("skills_activate", json!({"name": "a"})).await;
    site.session("2025-11-25").await.call("skills_activate", json!({"name": "a"})).await;
    // The server does not wait for it when it disconnects, either.
    stalled.abort().await.unwrap();
    site.stop().await;
}

#[tokio::test]
async fn two_hundred_sessions_at_once() {
    let home = TestHome::with_skills(&["a"]);
    let server = home.server();
    let site = HttpTestServer::start(&server).await;
    let mut tasks = tokio::task::JoinSet::new();
    let site = std::sync::Arc::new(site);
    for number in 0..200 {
        let site = std::sync::Arc::clone(&site);
        tasks.spawn(async move {
            let mut session = site.session(crate::support::OLDER_VERSIONS[number % 2]).await;
            let first = session.call("skills_activate", json!({"name": "a"})).await;
            let again = session.call("skills_activate", json!({"name": "a"})).await;
            assert!(
                first["structuredContent"].get("already_active").is_none_or(|active| *active == false),
                "{first}"
            );
            assert_eq!(again["structuredContent"]["already_active"], true);
            let params = json!({"name": "skills_activate", "arguments": {"name": "a"}});
            let response = site.stateless_request(1, "tools/call", params).send().await.message().await;
            assert!(response["result"].is_object());
            session.delete().await;
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    crate::support::wait_until("all clients are disconnected", || server.client_count() == 0).await;
}

#[tokio::test]
async fn endless_output_of_a_script_is_limited() {
    let mut home = TestHome::new(Preset::Standard);
    home.policy.run.scripts = ScriptPolicy::Allowed;
    home.write_skill(&format!("{SKILLS_DIR}/s"), "Run.");
    home.write_file(&format!("{SKILLS_DIR}/s/talk.sh"), "#!/bin/sh\nwhile :; do echo talking; done\n");
    let mut client = StdioTestClient::stateless(&home.server_with_scripts(), NEWEST_VERSION);
    let params = json!({
        "name": "skills_run", "arguments": {"name": "s", "script": "talk.sh"}, "_meta": {"progressToken": 1},
    });
    let result = client.result("tools/call", params).await;
    assert_eq!(result["structuredContent"]["truncated"], true, "{result:.500}");
    let notifications: Vec<&Value> =
        client.notifications.iter().filter(|note| note["method"] == "notifications/progress").collect();
    // At most one notification per line.
    let lines = prowess::policy::RunLimits::default().output_bytes / "talking\n".len() as u64;
    assert!((notifications.len() as u64) <= lines, "{}", notifications.len());
}
