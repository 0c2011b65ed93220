//! Sessions are isolated from each other.

use prowess_mcp::{McpServer, McpServerOptions};
use serde_json::{Value, json};

use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, TestHome, error_of};

fn names(tools: &Value) -> Vec<&str> {
    tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_skill_can_be_loaded_again() {
    let home = TestHome::with_skills(&["pdf"]);
    let server = home.server();
    let load = json!({"name": "pdf"});
    for _ in 0..2 {
        let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
        let first = client.call("skills_activate", load.clone()).await;
        assert!(text(&first).contains("Body of pdf."), "{first}");
        let repeated = client.call("skills_activate", load.clone()).await;
        // Only the client knows whether it still has the instructions.
        assert_eq!(text(&repeated), text(&first));
        assert_eq!(first["structuredContent"]["already_active"], Value::Null);
        assert_eq!(repeated["structuredContent"]["already_active"], true);
    }
    let site = HttpTestServer::start(&server).await;
    let (mut newer, mut older) = (site.session("2025-11-25").await, site.session("2025-06-18").await);
    assert_ne!(newer.id, older.id);
    assert!(text(&newer.call("skills_activate", load.clone()).await).contains("Body of pdf."));
    assert!(text(&older.call("skills_activate", load.clone()).await).contains("Body of pdf."));
    assert!(text(&newer.call("skills_activate", load.clone()).await).contains("Body of pdf."));
    // Without sessions, there is no state.
    for id in 0..2 {
        let params = json!({"name": "skills_activate", "arguments": load});
        let response = site.stateless_request(id, "tools/call", params).send().await.message().await;
        assert!(text(&response["result"]).contains("Body of pdf."));
    }
    site.stop().await;
}

#[tokio::test]
async fn tools_of_a_skill_appear_in_its_session_only() {
    let home = TestHome::with_skills(&["pdf"]);
    home.write_toolset("greet", "hello");
    let server = home.server();
    let (mut first, mut second) = (
        StdioTestClient::connected(&server, "2025-11-25").await,
        StdioTestClient::connected(&server, "2025-11-25").await,
    );
    let call = json!({"name": "hello", "arguments": {"a": "world"}});
    assert_eq!(error_of(&first.request("tools/call", call.clone()).await).0, -32602);
    first.call("skills_activate", json!({"name": "pdf"})).await;
    first.call("skills_activate", json!({"name": "greet"})).await;
    first.notification("notifications/tools/list_changed").await;
    assert!(names(&first.result("tools/list", json!({})).await).contains(&"hello"));
    let response = first.result("tools/call", call.clone()).await;
    insta::assert_snapshot!(crate::support::pretty(&response));
    // Loading a skill without tools, or loading the skill again, causes no notification.
    first.call("skills_activate", json!({"name": "greet"})).await;
    assert_eq!(first.take_notifications().await, Vec::<Value>::new());
    // The other session got no notification and has no new tool.
    assert_eq!(second.take_notifications().await, Vec::<Value>::new());
    assert!(!names(&second.result("tools/list", json!({})).await).contains(&"hello"));
    assert_eq!(error_of(&second.request("tools/call", call).await).0, -32602);
}

#[tokio::test]
async fn tools_also_appear_with_a_prompt() {
    let home = TestHome::with_skills(&[]);
    home.write_toolset("greet", "hello");
    let mut client = StdioTestClient::connected(&home.server(), "2025-11-25").await;
    client.result("prompts/get", json!({"name": "greet"})).await;
    client.notification("notifications/tools/list_changed").await;
    assert!(names(&client.result("tools/list", json!({})).await).contains(&"hello"));
}

#[tokio::test]
async fn tools_of_initially_active_skills_are_available() {
    let home = TestHome::with_skills(&["pdf"]);
    home.write_toolset("greet", "hello");
    let options = McpServerOptions { active: vec!["greet".to_owned()], ..McpServerOptions::default() };
    let server = McpServer::new(home.toolbox(), options);
    let call = json!({"name": "hello", "arguments": {"a": "x"}});
    for mut client in [
        StdioTestClient::connected(&server, "2025-06-18").await,
        StdioTestClient::stateless(&server, NEWEST_VERSION),
    ] {
        assert!(names(&client.result("tools/list", json!({})).await).contains(&"hello"));
        assert_eq!(text(&client.result("tools/call", call.clone()).await), "hello x");
        // Its instructions were not returned yet.
        let loaded = client.call("skills_activate", json!({"name": "greet"})).await;
        assert!(text(&loaded).contains("Use it."), "{loaded}");
    }
    let site = HttpTestServer::start(&server).await;
    let response = site.stateless_request(1, "tools/call", call).send().await.message().await;
    assert_eq!(text(&response["result"]), "hello x");
    site.stop().await;
}

#[tokio::test]
async fn tool_changes_are_reported_over_http() {
    let home = TestHome::with_skills(&[]);
    home.write_toolset("greet", "hello");
    let site = HttpTestServer::start(&home.server()).await;
    let (mut first, second) = (site.session("2025-11-25").await, site.session("2025-11-25").await);
    let (mut notifications, mut other) = (first.listen().await, second.listen().await);
    first.call("skills_activate", json!({"name": "greet"})).await;
    assert_eq!(notifications.message().await["method"], "notifications/tools/list_changed");
    assert!(names(&first.result("tools/list", json!({})).await).contains(&"hello"));
    // The other session gets no notification until the server stops.
    site.stop().await;
    assert!(other.next_message().await.is_none());
}

#[tokio::test]
async fn the_log_level_is_set_per_session() {
    let home = TestHome::with_skills(&["pdf"]);
    let server = home.server();
    let (mut first, mut second) = (
        StdioTestClient::connected(&server, "2025-11-25").await,
        StdioTestClient::connected(&server, "2025-11-25").await,
    );
    first.result("logging/setLevel", json!({"level": "debug"})).await;
    for client in [&mut first, &mut second] {
        client.call("skills_activate", json!({"name": "pdf"})).await;
    }
    let message = first.notification("notifications/message").await;
    assert_eq!(message["params"]["level"], "debug");
    assert_eq!(second.take_notifications().await, Vec::<Value>::new());
    first.result("logging/setLevel", json!({"level": "emergency"})).await;
    first.call("skills_activate", json!({"name": "pdf"})).await;
    assert_eq!(first.take_notifications().await, Vec::<Value>::new());
    assert_eq!(error_of(&first.request("logging/setLevel", json!({"level": "loud"})).await).0, -32602);
}
