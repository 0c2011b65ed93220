//! Too much of everything, and clients that do not read.

use std::time::Duration;

use prowess::Preset;
use prowess::policy::Scripts;
use serde_json::{Value, json};

use crate::world::http::Site;
use crate::world::stdio::Client;
use crate::world::{NEWEST, ROOT, World};

/// How much a client that does not read can say before nobody takes it anymore, in lines.
async fn said_until_nobody_reads(client: &mut Client, line: impl Fn(usize) -> String, most: usize) -> usize {
    for at in 0..most {
        let text = format!("{}\n", line(at));
        if !client.try_say(text, Duration::from_millis(1500)).await {
            return at;
        }
    }
    most
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read() {
    let world = World::with(&[]);
    world.skill(&format!("{ROOT}/a"), &"word ".repeat(2_000));
    let server = world.server();
    const MOST: usize = 20_000;
    let read = |at: usize| {
        json!({"jsonrpc": "2.0", "id": at + 10, "method": "resources/read", "params": {"uri": "skill://a/SKILL.md"}}).to_string()
    };
    let garbage = |_: usize| "x".repeat(100);
    let both = |at: usize| {
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": at + 10}});
        format!("{}\n{cancel}", read(at))
    };
    let mut client = Client::connected(&server, "2025-11-25").await;
    let taken = said_until_nobody_reads(&mut client, read, MOST).await;
    // What was being answered, what fits into the pipe, and what the reader had read ahead.
    assert!(taken < 3_000, "{taken} requests were taken from a client that reads nothing");
    drop(client);
    let mut client = Client::connected(&server, "2025-11-25").await;
    let taken = said_until_nobody_reads(&mut client, garbage, MOST).await;
    assert!(taken < 4_000, "{taken} lines were taken from a client that reads nothing");
    drop(client);
    // Giving up what was asked for is no way around that, as long as it is worked on; and it ends.
    let mut client = Client::connected(&server, "2025-11-25").await;
    said_until_nobody_reads(&mut client, both, 5_000).await;
    // Whoever goes then is gone.
    client.vanish().await.unwrap();
    crate::world::until("nobody is there", || server.clients() == 0).await;
}

#[tokio::test]
async fn whoever_reads_late_gets_every_answer() {
    let world = World::with(&["a"]);
    let mut client = Client::connected(&world.server(), "2025-11-25").await;
    const ASKED: i64 = 2_000;
    let mut asking = String::new();
    for id in 1_000..1_000 + ASKED {
        let params = json!({"uri": "skill://a/SKILL.md"});
        asking += &format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": id, "method": "resources/read", "params": params})
        );
    }
    // Both at once, as any client that is not broken does.
    let (mut seen, mut reader) = (std::collections::BTreeSet::new(), client.take_reader());
    let reading = async {
        while seen.len() < ASKED as usize {
            let answer = reader.next().await.unwrap();
            if answer.get("method").is_none() {
                assert!(answer["result"].is_object(), "{answer}");
                assert!(seen.insert(answer["id"].as_i64().unwrap()));
            }
        }
    };
    let ((), ()) = tokio::join!(reading, client.say(asking));
    assert_eq!((seen.first(), seen.last()), (Some(&1_000), Some(&(999 + ASKED))));
}

#[tokio::test]
async fn a_stalled_client_does_not_keep_others_waiting() {
    let world = World::with(&[]);
    world.skill(&format!("{ROOT}/a"), &"word ".repeat(2_000));
    let server = world.server();
    let site = Site::of(&server).await;
    let mut stalled = Client::connected(&server, "2025-11-25").await;
    let read = |at: usize| {
        json!({"jsonrpc": "2.0", "id": at + 10, "method": "resources/read", "params": {"uri": "skill://a/SKILL.md"}}).to_string()
    };
    said_until_nobody_reads(&mut stalled, read, 20_000).await;
    let mut client = Client::connected(&server, "2025-11-25").await;
    client.call("skills_activate", json!({"name": "a"})).await;
    site.session("2025-11-25").await.call("skills_activate", json!({"name": "a"})).await;
    // Nor is it waited for when it goes without having read anything.
    stalled.vanish().await.unwrap();
    site.close().await;
}

#[tokio::test]
async fn two_hundred_sessions_at_once() {
    let world = World::with(&["a"]);
    let server = world.server();
    let site = Site::of(&server).await;
    let mut tasks = tokio::task::JoinSet::new();
    let site = std::sync::Arc::new(site);
    for at in 0..200 {
        let site = std::sync::Arc::clone(&site);
        tasks.spawn(async move {
            let mut session = site.session(crate::world::OLDER[at % 2]).await;
            let first = session.call("skills_activate", json!({"name": "a"})).await;
            let again = session.call("skills_activate", json!({"name": "a"})).await;
            assert!(
                first["structuredContent"].get("already_active").is_none_or(|it| *it == false),
                "{first}"
            );
            assert_eq!(again["structuredContent"]["already_active"], true);
            let params = json!({"name": "skills_activate", "arguments": {"name": "a"}});
            let answer = site.inline(1, "tools/call", params).send().await.message().await;
            assert!(answer["result"].is_object());
            session.delete().await;
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    crate::world::until("nobody is there", || server.clients() == 0).await;
}

#[tokio::test]
async fn a_script_that_never_stops_talking_fills_nothing() {
    let mut world = World::new(Preset::Standard);
    world.policy.run.scripts = Scripts::Allowed;
    world.skill(&format!("{ROOT}/s"), "Run.");
    world.file(&format!("{ROOT}/s/talk.sh"), "#!/bin/sh\nwhile :; do echo talking; done\n");
    let mut client = Client::inline(&world.running(), NEWEST);
    let params = json!({
        "name": "skills_run", "arguments": {"name": "s", "script": "talk.sh"}, "_meta": {"progressToken": 1},
    });
    let result = client.result("tools/call", params).await;
    assert_eq!(result["structuredContent"]["truncated"], true, "{result:.500}");
    let told: Vec<&Value> =
        client.notes.iter().filter(|note| note["method"] == "notifications/progress").collect();
    // A note for each line at most, of those that are heard at all.
    let lines = prowess::policy::RunLimits::default().output_bytes / "talking\n".len() as u64;
    assert!((told.len() as u64) <= lines, "{}", told.len());
}
