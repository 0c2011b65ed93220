//! Checks that disconnected clients leave nothing behind.

use serde_json::json;

use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, TestHome, wait_until};

const CLIENTS: usize = 200;

/// Returns the number of threads of this process.
fn thread_count() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnected_clients_leave_nothing_behind() {
    let home = TestHome::with_skills(&["a"]);
    let server = home.server();
    let site = HttpTestServer::start(&server).await;
    for number in 0..CLIENTS {
        let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
        client.call("skills_activate", json!({"name": "a"})).await;
        client.result("resources/subscribe", json!({"uri": "skill://a/SKILL.md"})).await;
        // Half of them disconnect cleanly.
        match number % 2 {
            0 => client.disconnect().await.1.unwrap(),
            _ => client.abort().await.unwrap(),
        }
        let mut session = site.session("2025-11-25").await;
        let stream = session.listen().await;
        session.call("skills_activate", json!({"name": "a"})).await;
        drop(stream);
        session.delete().await;
        site.stateless_request(1, "tools/list", json!({})).send().await.message().await;
        let listen = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["skill://a/SKILL.md"]}});
        let mut listening = site.stateless_request(2, "subscriptions/listen", listen).send().await;
        listening.message().await;
    }
    wait_until("all clients are disconnected", || server.client_count() == 0).await;
    site.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connected_clients_need_no_threads() {
    let home = TestHome::with_skills(&["a"]);
    let server = home.server();
    let site = HttpTestServer::start(&server).await;
    let mut clients = Vec::new();
    let mut sessions = Vec::new();
    let mut before = 0;
    for number in 0..CLIENTS {
        let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
        client.result("resources/subscribe", json!({"uri": "skill://a/SKILL.md"})).await;
        clients.push(client);
        let session = site.session("2025-11-25").await;
        sessions.push((session.listen().await, session));
        if number == 20 {
            before = thread_count();
        }
    }
    assert_eq!(server.client_count(), 2 * CLIENTS);
    // Threads for disk access are shared.
    assert!(thread_count() < before + CLIENTS / 2, "{before} threads, then {}", thread_count());
    drop((clients, sessions));
    site.stop().await;
    wait_until("all clients are disconnected", || server.client_count() == 0).await;
}

#[tokio::test]
async fn a_dropped_server_stops_watching() {
    let home = TestHome::with_skills(&["a"]);
    let is_watching = || {
        let is_ours = |entry: std::fs::DirEntry| {
            std::fs::read_to_string(entry.path().join("comm")).is_ok_and(|name| name.trim() == "skills")
        };
        std::fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok).any(is_ours)
    };
    let server = home.server();
    let mut client = StdioTestClient::stateless(&server, NEWEST_VERSION);
    client.result("tools/list", json!({})).await;
    wait_until("the watcher runs", is_watching).await;
    client.disconnect().await.1.unwrap();
    drop(server);
    wait_until("the watcher stopped", || !is_watching()).await;
}
