//! What clients are told when skills change.

use std::fs;

use serde_json::{Value, json};

use crate::world::http::Site;
use crate::world::stdio::Client;
use crate::world::{NEWEST, ROOT, World, error};

const LISTS: [&str; 3] = [
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
    "notifications/tools/list_changed",
];

async fn lists(client: &mut Client) {
    for method in LISTS {
        client.note(method).await;
    }
}

async fn names(client: &mut Client) -> Vec<String> {
    let listed = client.result("resources/list", json!({})).await;
    listed["resources"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn skills_that_come_and_go_are_told_of() {
    let world = World::with(&["a"]);
    let mut client = Client::connected(&world.server(), "2025-11-25").await;
    assert_eq!(names(&mut client).await, ["a"]);
    world.skill(&format!("{ROOT}/b"), "B.");
    lists(&mut client).await;
    assert_eq!(names(&mut client).await, ["a", "b"]);
    client.notes.clear();
    let described = "---\nname: b\ndescription: Other words.\n---\nB.\n";
    world.file(&format!("{ROOT}/b/SKILL.md"), described);
    lists(&mut client).await;
    let listed = client.result("resources/list", json!({})).await;
    assert_eq!(listed["resources"][1]["description"], "Other words.");
    client.notes.clear();
    fs::remove_dir_all(world.path(&format!("{ROOT}/a"))).unwrap();
    lists(&mut client).await;
    assert_eq!(names(&mut client).await, ["b"]);
}

#[tokio::test]
async fn files_that_were_asked_about_are_told_of() {
    let world = World::with(&["a"]);
    world.file(&format!("{ROOT}/a/notes.md"), "1");
    world.file(&format!("{ROOT}/a/other.md"), "1");
    let server = world.server();
    let mut client = Client::connected(&server, "2025-11-25").await;
    let mut silent = Client::connected(&server, "2025-11-25").await;
    for uri in ["skill://a/notes.md", "skill://a/SKILL.md", "skill://a/later.md"] {
        assert_eq!(client.result("resources/subscribe", json!({"uri": uri})).await, json!({}));
    }
    let updated = "notifications/resources/updated";
    world.file(&format!("{ROOT}/a/notes.md"), "2");
    assert_eq!(client.note(updated).await["params"]["uri"], "skill://a/notes.md");
    world.file(&format!("{ROOT}/a/later.md"), "1");
    assert_eq!(client.note(updated).await["params"]["uri"], "skill://a/later.md");
    world.skill(&format!("{ROOT}/a"), "Another body.");
    assert_eq!(client.note(updated).await["params"]["uri"], "skill://a/SKILL.md");
    fs::remove_file(world.path(&format!("{ROOT}/a/later.md"))).unwrap();
    assert_eq!(client.note(updated).await["params"]["uri"], "skill://a/later.md");
    // Not of what was not asked about, and not anymore.
    client.result("resources/unsubscribe", json!({"uri": "skill://a/notes.md"})).await;
    client.result("resources/unsubscribe", json!({"uri": "skill://a/never.md"})).await;
    client.notes.clear();
    world.file(&format!("{ROOT}/a/other.md"), "2");
    world.file(&format!("{ROOT}/a/notes.md"), "3");
    let heard = client.overheard().await;
    assert!(!heard.iter().any(|note| note["method"] == updated), "{heard:?}");
    let heard = silent.overheard().await;
    assert!(!heard.iter().any(|note| note["method"] == updated), "{heard:?}");
}

#[tokio::test]
async fn only_so_many_files_can_be_asked_about() {
    let world = World::with(&["a"]);
    let mut client = Client::connected(&world.server(), "2025-11-25").await;
    for at in 0..1000 {
        client.result("resources/subscribe", json!({"uri": format!("skill://a/{at}")})).await;
    }
    let answer = client.request("resources/subscribe", json!({"uri": "skill://a/more"})).await;
    assert_eq!(error(&answer), (-32602, "at most 1000 resources can be subscribed to"));
    // Asking again about one of them is no more.
    client.result("resources/subscribe", json!({"uri": "skill://a/7"})).await;
    client.result("resources/unsubscribe", json!({"uri": "skill://a/7"})).await;
    client.result("resources/subscribe", json!({"uri": "skill://a/more"})).await;
    for uri in ["file:///etc/passwd", "skill://a/../b", ""] {
        assert_eq!(error(&client.request("resources/subscribe", json!({"uri": uri})).await).0, -32602);
    }
}

#[tokio::test]
async fn the_newest_revision_listens_for_what_it_names() {
    let world = World::with(&["a"]);
    let server = world.server();
    let mut client = Client::inline(&server, NEWEST);
    let wanted = json!({
        "resourcesListChanged": true,
        "resourceSubscriptions": ["skill://a/SKILL.md", "file:///etc/passwd"],
    });
    let id = client.ask("subscriptions/listen", json!({"notifications": wanted})).await;
    let acknowledged = client.note("notifications/subscriptions/acknowledged").await;
    // What cannot be is not promised.
    let accepted = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*accepted, json!(["skill://a/SKILL.md"]));
    world.skill(&format!("{ROOT}/a"), "Another body.");
    let updated = client.note("notifications/resources/updated").await;
    assert_eq!(updated["params"]["uri"], "skill://a/SKILL.md");
    assert_eq!(updated["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    world.skill(&format!("{ROOT}/b"), "B.");
    client.note("notifications/resources/list_changed").await;
    assert!(!client.notes.iter().any(|note| note["method"] == LISTS[1] || note["method"] == LISTS[2]));
    client.notify("notifications/cancelled", json!({"requestId": id})).await;
    client.result("tools/list", json!({})).await;
    client.notes.clear();
    world.skill(&format!("{ROOT}/c"), "C.");
    assert_eq!(client.overheard().await, Vec::<Value>::new());
    // And only so often.
    for _ in 0..32 {
        client.ask("subscriptions/listen", json!({"notifications": {}})).await;
        client.note("notifications/subscriptions/acknowledged").await;
    }
    let answer = client.request("subscriptions/listen", json!({"notifications": {}})).await;
    assert_eq!(error(&answer), (-32602, "at most 32 subscriptions can be listened to"));
}

#[tokio::test]
async fn changes_are_told_over_http() {
    let world = World::with(&["a"]);
    let site = Site::of(&world.server()).await;
    let mut session = site.session("2025-11-25").await;
    session.result("resources/subscribe", json!({"uri": "skill://a/SKILL.md"})).await;
    let mut stream = session.listen().await;
    let listen = json!({"notifications": {"promptsListChanged": true}});
    let mut listening = site.inline(1, "subscriptions/listen", listen).send().await;
    assert_eq!(listening.message().await["method"], "notifications/subscriptions/acknowledged");
    world.skill(&format!("{ROOT}/a"), "Another body.");
    while stream.message().await["method"] != "notifications/resources/updated" {}
    world.skill(&format!("{ROOT}/b"), "B.");
    assert_eq!(listening.message().await["method"], "notifications/prompts/list_changed");
    while stream.message().await["method"] != "notifications/prompts/list_changed" {}
    site.close().await;
}

/// Where nothing is looked at again, nothing is told: what a client was given stays true.
#[tokio::test]
async fn presets_that_look_once_tell_nothing() {
    let world = World::new(prowess::Preset::Harness);
    world.skill(".agent/skills/a", "A.");
    let mut client = Client::connected(&world.server(), "2025-11-25").await;
    world.skill(".agent/skills/b", "B.");
    assert_eq!(client.overheard().await, Vec::<Value>::new());
    assert_eq!(names(&mut client).await, ["a"]);
}
