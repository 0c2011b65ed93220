//! Streams that break, and clients that come back.

use prowess::Preset;
use prowess::policy::Scripts;
use serde_json::{Value, json};

use crate::world::http::{Reply, Session, Site};
use crate::world::{ROOT, World, until};

/// A script that says three things, the last of them when it is told to.
fn world() -> World {
    let mut world = World::new(Preset::Standard);
    world.policy.run.scripts = Scripts::Allowed;
    world.skill(&format!("{ROOT}/s"), "Run.");
    let script = "#!/bin/sh\necho one\nsleep 0.3\necho two\nsleep 1\necho three\nsleep 0.3\n";
    world.file(&format!("{ROOT}/s/steps.sh"), script);
    world
}

async fn run(session: &mut Session) -> (Reply, i64) {
    let params = json!({
        "name": "skills_run", "arguments": {"name": "s", "script": "steps.sh"}, "_meta": {"progressToken": 1},
    });
    session.ask("tools/call", params).await
}

async fn back(session: &Session, last: &str) -> Reply {
    let reply = session.blank("GET").with("Last-Event-ID", last).send().await;
    assert_eq!(reply.status, 200);
    reply
}

/// What is said until the end of the stream: the messages of progress, then the answer.
async fn rest(reply: &mut Reply) -> Vec<Value> {
    let mut said = Vec::new();
    while let Some(message) = reply.next_message().await {
        said.push(match message.get("method") {
            Some(_) => message["params"]["message"].clone(),
            None => message["result"]["structuredContent"]["stdout"].clone(),
        });
    }
    said
}

#[tokio::test]
async fn a_client_that_comes_back_gets_the_rest() {
    let world = world();
    let site = Site::of(&world.running()).await;
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
    let mut resumed = back(&session, &last).await;
    assert_eq!(rest(&mut resumed).await, ["two", "three", "one\ntwo\nthree\n"]);
    site.close().await;
}

#[tokio::test]
async fn an_answer_waits_for_a_client_that_lost_its_stream() {
    let world = world();
    let server = world.running();
    let site = Site::of(&server).await;
    let mut session = site.session("2025-11-25").await;
    let (mut reply, _) = run(&mut session).await;
    let first = reply.event().await.unwrap().id.unwrap();
    let second = reply.event().await.unwrap().id.unwrap();
    drop(reply);
    // The script ends while nobody listens. Its process is the only thing that can be seen from here.
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    until("the script has ended", || !runs("steps.sh")).await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    // Breaking again before anything was read loses nothing.
    drop(back(&session, &second).await);
    let mut resumed = back(&session, &second).await;
    assert_eq!(rest(&mut resumed).await, ["two", "three", "one\ntwo\nthree\n"]);
    // Nobody else gets it.
    let other = site.session("2025-11-25").await;
    for id in [&first, &second] {
        assert_eq!(rest(&mut back(&other, id).await).await, Vec::<Value>::new());
    }
    site.close().await;
}

fn runs(script: &str) -> bool {
    let is_it = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(script)
    };
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(is_it)
}

#[tokio::test]
async fn ids_of_events_that_never_were_give_nothing() {
    let world = World::with(&["a"]);
    let site = Site::of(&world.server()).await;
    let mut session = site.session("2025-11-25").await;
    session.result("tools/list", json!({})).await;
    for last in
        ["0/0", "1/0", "9/9", "18446744073709551615/18446744073709551615", "x", "", "-1/0", "0/x", "1/2/3"]
    {
        let mut reply = session.blank("GET").with("Last-Event-ID", last).send().await;
        assert_eq!(reply.status, 200, "{last}");
        assert_eq!(rest(&mut reply).await, Vec::<Value>::new(), "{last}");
    }
    site.close().await;
}

#[tokio::test]
async fn a_number_that_is_in_use_is_refused_and_no_stream_hangs() {
    let world = world();
    let site = Site::of(&world.running()).await;
    let mut session = site.session("2025-11-25").await;
    let (mut first, id) = run(&mut session).await;
    first.event().await.unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let refused = session.post(&ping).send().await.message().await;
    assert_eq!((&refused["error"]["code"], refused.get("id")), (&json!(-32600), None));
    assert_eq!(rest(&mut first).await.last().unwrap(), "one\ntwo\nthree\n");
    // Once it was answered, it may be used again, though nobody should.
    let answer = session.post(&ping).send().await.message().await;
    assert_eq!(answer["result"], json!({}));
    site.close().await;
}
