//! What is left when everybody is gone: nothing.

use serde_json::json;

use crate::world::http::Site;
use crate::world::stdio::Client;
use crate::world::{NEWEST, World, until};

const CLIENTS: usize = 200;

/// How many threads this process has.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_clients_that_are_gone() {
    let world = World::with(&["a"]);
    let server = world.server();
    let site = Site::of(&server).await;
    for at in 0..CLIENTS {
        let mut client = Client::connected(&server, "2025-11-25").await;
        client.call("skills_activate", json!({"name": "a"})).await;
        client.result("resources/subscribe", json!({"uri": "skill://a/SKILL.md"})).await;
        // Some say goodbye, some do not.
        match at % 2 {
            0 => client.leave().await.1.unwrap(),
            _ => client.vanish().await.unwrap(),
        }
        let mut session = site.session("2025-11-25").await;
        let stream = session.listen().await;
        session.call("skills_activate", json!({"name": "a"})).await;
        drop(stream);
        session.delete().await;
        site.inline(1, "tools/list", json!({})).send().await.message().await;
        let listen = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["skill://a/SKILL.md"]}});
        let mut listening = site.inline(2, "subscriptions/listen", listen).send().await;
        listening.message().await;
    }
    until("nobody is there", || server.clients() == 0).await;
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_stay_cost_no_threads() {
    let world = World::with(&["a"]);
    let server = world.server();
    let site = Site::of(&server).await;
    let mut kept = Vec::new();
    let mut sessions = Vec::new();
    let mut before = 0;
    for at in 0..CLIENTS {
        let mut client = Client::connected(&server, "2025-11-25").await;
        client.result("resources/subscribe", json!({"uri": "skill://a/SKILL.md"})).await;
        kept.push(client);
        let session = site.session("2025-11-25").await;
        sessions.push((session.listen().await, session));
        if at == 20 {
            before = threads();
        }
    }
    assert_eq!(server.clients(), 2 * CLIENTS);
    // Those that wait for the disk are shared; there is none for each client.
    assert!(threads() < before + CLIENTS / 2, "{before} and then {}", threads());
    drop((kept, sessions));
    site.close().await;
    until("nobody is there", || server.clients() == 0).await;
}

#[tokio::test]
async fn a_server_that_is_dropped_watches_nothing() {
    let world = World::with(&["a"]);
    let watching = || {
        let is_ours = |entry: std::fs::DirEntry| {
            std::fs::read_to_string(entry.path().join("comm")).is_ok_and(|name| name.trim() == "skills")
        };
        std::fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok).any(is_ours)
    };
    let server = world.server();
    let mut client = Client::inline(&server, NEWEST);
    client.result("tools/list", json!({})).await;
    until("somebody watches", watching).await;
    client.leave().await.1.unwrap();
    drop(server);
    until("nobody watches", || !watching()).await;
}
