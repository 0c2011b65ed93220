//! Notifications about changed skills.

use std::fs;

use serde_json::{Value, json};

use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, SKILLS_DIR, TestHome, error_of};

const LISTS: [&str; 3] = [
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
    "notifications/tools/list_changed",
];

async fn expect_list_changes(client: &mut StdioTestClient) {
    for method in LISTS {
        client.notification(method).await;
    }
}

async fn resource_names(client: &mut StdioTestClient) -> Vec<String> {
    let listed = client.result("resources/list", json!({})).await;
    listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn added_and_removed_skills_are_reported() {
    let home = TestHome::with_skills(&["a"]);
    let mut client = StdioTestClient::connected(&home.server(), "2025-11-25").await;
    assert_eq!(resource_names(&mut client).await, ["a"]);
    home.write_skill(&format!("{SKILLS_DIR}/b"), "B.");
    expect_list_changes(&mut client).await;
    assert_eq!(resource_names(&mut client).await, ["a", "b"]);
    client.notifications.clear();
    let described = "---\nname: b\ndescription: Other words.\n---\nB.\n";
    home.write_file(&format!("{SKILLS_DIR}/b/SKILL.md"), described);
    expect_list_changes(&mut client).await;
    let listed = client.result("resources/list", json!({})).await;
    assert_eq!(listed["resources"][1]["description"], "Other words.");
    client.notifications.clear();
    fs::remove_dir_all(home.path(&format!("{SKILLS_DIR}/a"))).unwrap();
    expect_list_changes(&mut client).await;
    assert_eq!(resource_names(&mut client).await, ["b"]);
}

#[tokio::test]
async fn changes_of_subscribed_files_are_reported() {
    let home = TestHome::with_skills(&["a"]);
    home.write_file(&format!("{SKILLS_DIR}/a/notes.md"), "1");
    home.write_file(&format!("{SKILLS_DIR}/a/other.md"), "1");
    let server = home.server();
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    let mut silent = StdioTestClient::connected(&server, "2025-11-25").await;
    for uri in ["skill://a/notes.md", "skill://a/SKILL.md", "skill://a/later.md"] {
        assert_eq!(client.result("resources/subscribe", json!({"uri": uri})).await, json!({}));
    }
    let updated = "notifications/resources/updated";
    home.write_file(&format!("{SKILLS_DIR}/a/notes.md"), "2");
    assert_eq!(client.notification(updated).await["params"]["uri"], "skill://a/notes.md");
    home.write_file(&format!("{SKILLS_DIR}/a/later.md"), "1");
    assert_eq!(client.notification(updated).await["params"]["uri"], "skill://a/later.md");
    home.write_skill(&format!("{SKILLS_DIR}/a"), "Another body.");
    assert_eq!(client.notification(updated).await["params"]["uri"], "skill://a/SKILL.md");
    fs::remove_file(home.path(&format!("{SKILLS_DIR}/a/later.md"))).unwrap();
    assert_eq!(client.notification(updated).await["params"]["uri"], "skill://a/later.md");
    // Other files and unsubscribed files are not reported.
    client.result("resources/unsubscribe", json!({"uri": "skill://a/notes.md"})).await;
    client.result("resources/unsubscribe", json!({"uri": "skill://a/never.md"})).await;
    client.notifications.clear();
    home.write_file(&format!("{SKILLS_DIR}/a/other.md"), "2");
    home.write_file(&format!("{SKILLS_DIR}/a/notes.md"), "3");
    let notifications = client.take_notifications().await;
    assert!(!notifications.iter().any(|note| note["method"] == updated), "{notifications:?}");
    let notifications = silent.take_notifications().await;
    assert!(!notifications.iter().any(|note| note["method"] == updated), "{notifications:?}");
}

#[tokio::test]
async fn the_number_of_subscriptions_is_limited() {
    let home = TestHome::with_skills(&["a"]);
    let mut client = StdioTestClient::connected(&home.server(), "2025-11-25").await;
    for number in 0..1000 {
        client.result("resources/subscribe", json!({"uri": format!("skill://a/{number}")})).await;
    }
    let response = client.request("resources/subscribe", json!({"uri": "skill://a/more"})).await;
    assert_eq!(error_of(&response), (-32602, "at most 1000 resources can be subscribed to"));
    // Subscribing again does not count.
    client.result("resources/subscribe", json!({"uri": "skill://a/7"})).await;
    client.result("resources/unsubscribe", json!({"uri": "skill://a/7"})).await;
    client.result("resources/subscribe", json!({"uri": "skill://a/more"})).await;
    for uri in ["file:///etc/passwd", "skill://a/../b", ""] {
        assert_eq!(error_of(&client.request("resources/subscribe", json!({"uri": uri})).await).0, -32602);
    }
}

#[tokio::test]
async fn the_newest_revision_subscribes_with_a_filter() {
    let home = TestHome::with_skills(&["a"]);
    let server = home.server();
    let mut client = StdioTestClient::stateless(&server, NEWEST_VERSION);
    let filter = json!({
        "resourcesListChanged": true,
        "resourceSubscriptions": ["skill://a/SKILL.md", "file:///etc/passwd"],
    });
    let id = client.send_request("subscriptions/listen", json!({"notifications": filter})).await;
    let acknowledged = client.notification("notifications/subscriptions/acknowledged").await;
    // Unsupported URIs are not accepted.
    let accepted = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*accepted, json!(["skill://a/SKILL.md"]));
    home.write_skill(&format!("{SKILLS_DIR}/a"), "Another body.");
    let updated = client.notification("notifications/resources/updated").await;
    assert_eq!(updated["params"]["uri"], "skill://a/SKILL.md");
    assert_eq!(updated["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    home.write_skill(&format!("{SKILLS_DIR}/b"), "B.");
    client.notification("notifications/resources/list_changed").await;
    assert!(
        !client.notifications.iter().any(|note| note["method"] == LISTS[1] || note["method"] == LISTS[2])
    );
    client.notify("notifications/cancelled", json!({"requestId": id})).await;
    client.result("tools/list", json!({})).await;
    client.notifications.clear();
    home.write_skill(&format!("{SKILLS_DIR}/c"), "C.");
    assert_eq!(client.take_notifications().await, Vec::<Value>::new());
    // The number of requests is limited.
    for _ in 0..32 {
        client.send_request("subscriptions/listen", json!({"notifications": {}})).await;
        client.notification("notifications/subscriptions/acknowledged").await;
    }
    let response = client.request("subscriptions/listen", json!({"notifications": {}})).await;
    assert_eq!(error_of(&response), (-32602, "at most 32 subscription requests are allowed"));
}

#[tokio::test]
async fn changes_are_reported_over_http() {
    let home = TestHome::with_skills(&["a"]);
    let site = HttpTestServer::start(&home.server()).await;
    let mut session = site.session("2025-11-25").await;
    session.result("resources/subscribe", json!({"uri": "skill://a/SKILL.md"})).await;
    let mut stream = session.listen().await;
    let listen = json!({"notifications": {"promptsListChanged": true}});
    let mut listening = site.stateless_request(1, "subscriptions/listen", listen).send().await;
    assert_eq!(listening.message().await["method"], "notifications/subscriptions/acknowledged");
    home.write_skill(&format!("{SKILLS_DIR}/a"), "Another body.");
    while stream.message().await["method"] != "notifications/resources/updated" {}
    home.write_skill(&format!("{SKILLS_DIR}/b"), "B.");
    assert_eq!(listening.message().await["method"], "notifications/prompts/list_changed");
    while stream.message().await["method"] != "notifications/prompts/list_changed" {}
    site.stop().await;
}

/// Presets that scan once report no changes.
#[tokio::test]
async fn presets_that_scan_once_report_nothing() {
    let home = TestHome::new(prowess::Preset::Harness);
    home.write_skill(".agent/skills/a", "A.");
    let mut client = StdioTestClient::connected(&home.server(), "2025-11-25").await;
    home.write_skill(".agent/skills/b", "B.");
    assert_eq!(client.take_notifications().await, Vec::<Value>::new());
    assert_eq!(resource_names(&mut client).await, ["a"]);
}
