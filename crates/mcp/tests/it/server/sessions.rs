//! Conversations are apart: what one has loaded is nothing to another.

use prowess_mcp::{Options, Server};
use serde_json::{Value, json};

use crate::world::http::Site;
use crate::world::stdio::Client;
use crate::world::{NEWEST, World, error};

fn names(tools: &Value) -> Vec<&str> {
    tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_client_that_forgot_a_skill_loads_it_again() {
    let world = World::with(&["pdf"]);
    let server = world.server();
    let load = json!({"name": "pdf"});
    for _ in 0..2 {
        let mut client = Client::connected(&server, "2025-11-25").await;
        let first = client.call("skills_activate", load.clone()).await;
        assert!(text(&first).contains("Body of pdf."), "{first}");
        let again = client.call("skills_activate", load.clone()).await;
        // Only the client knows whether it still has the instructions.
        assert_eq!(text(&again), text(&first));
        assert_eq!(first["structuredContent"]["already_active"], Value::Null);
        assert_eq!(again["structuredContent"]["already_active"], true);
    }
    let site = Site::of(&server).await;
    let (mut one, mut two) = (site.session("2025-11-25").await, site.session("2025-06-18").await);
    assert_ne!(one.id, two.id);
    assert!(text(&one.call("skills_activate", load.clone()).await).contains("Body of pdf."));
    assert!(text(&two.call("skills_activate", load.clone()).await).contains("Body of pdf."));
    assert!(text(&one.call("skills_activate", load.clone()).await).contains("Body of pdf."));
    // Without sessions, nothing is remembered.
    for id in 0..2 {
        let params = json!({"name": "skills_activate", "arguments": load});
        let answer = site.inline(id, "tools/call", params).send().await.message().await;
        assert!(text(&answer["result"]).contains("Body of pdf."));
    }
    site.close().await;
}

#[tokio::test]
async fn tools_come_with_their_skill_in_one_conversation_only() {
    let world = World::with(&["pdf"]);
    world.toolset("greet", "hello");
    let server = world.server();
    let (mut one, mut two) =
        (Client::connected(&server, "2025-11-25").await, Client::connected(&server, "2025-11-25").await);
    let call = json!({"name": "hello", "arguments": {"a": "world"}});
    assert_eq!(error(&one.request("tools/call", call.clone()).await).0, -32602);
    one.call("skills_activate", json!({"name": "pdf"})).await;
    one.call("skills_activate", json!({"name": "greet"})).await;
    one.note("notifications/tools/list_changed").await;
    assert!(names(&one.result("tools/list", json!({})).await).contains(&"hello"));
    let answer = one.result("tools/call", call.clone()).await;
    insta::assert_snapshot!(crate::world::pretty(&answer));
    // It is told once: the skill that brought nothing was not told of, nor is loading it again.
    one.call("skills_activate", json!({"name": "greet"})).await;
    assert_eq!(one.overheard().await, Vec::<Value>::new());
    // The other one has heard nothing, and has nothing.
    assert_eq!(two.overheard().await, Vec::<Value>::new());
    assert!(!names(&two.result("tools/list", json!({})).await).contains(&"hello"));
    assert_eq!(error(&two.request("tools/call", call).await).0, -32602);
}

#[tokio::test]
async fn tools_come_with_a_prompt_too() {
    let world = World::with(&[]);
    world.toolset("greet", "hello");
    let mut client = Client::connected(&world.server(), "2025-11-25").await;
    client.result("prompts/get", json!({"name": "greet"})).await;
    client.note("notifications/tools/list_changed").await;
    assert!(names(&client.result("tools/list", json!({})).await).contains(&"hello"));
}

#[tokio::test]
async fn tools_of_skills_that_are_active_from_the_start_are_there() {
    let world = World::with(&["pdf"]);
    world.toolset("greet", "hello");
    let options = Options { active: vec!["greet".to_owned()], ..Options::default() };
    let server = Server::new(world.toolbox(), options);
    let call = json!({"name": "hello", "arguments": {"a": "x"}});
    for mut client in [Client::connected(&server, "2025-06-18").await, Client::inline(&server, NEWEST)] {
        assert!(names(&client.result("tools/list", json!({})).await).contains(&"hello"));
        assert_eq!(text(&client.result("tools/call", call.clone()).await), "hello x");
        // Its text was not given yet.
        let loaded = client.call("skills_activate", json!({"name": "greet"})).await;
        assert!(text(&loaded).contains("Use it."), "{loaded}");
    }
    let site = Site::of(&server).await;
    let answer = site.inline(1, "tools/call", call).send().await.message().await;
    assert_eq!(text(&answer["result"]), "hello x");
    site.close().await;
}

#[tokio::test]
async fn tools_come_over_http_and_are_told_of_on_the_stream() {
    let world = World::with(&[]);
    world.toolset("greet", "hello");
    let site = Site::of(&world.server()).await;
    let (mut one, two) = (site.session("2025-11-25").await, site.session("2025-11-25").await);
    let (mut heard, mut other) = (one.listen().await, two.listen().await);
    one.call("skills_activate", json!({"name": "greet"})).await;
    assert_eq!(heard.message().await["method"], "notifications/tools/list_changed");
    assert!(names(&one.result("tools/list", json!({})).await).contains(&"hello"));
    // The next thing that the other one hears is that the server stops.
    site.close().await;
    assert!(other.next_message().await.is_none());
}

#[tokio::test]
async fn what_a_client_wants_to_hear_is_its_own() {
    let world = World::with(&["pdf"]);
    let server = world.server();
    let (mut one, mut two) =
        (Client::connected(&server, "2025-11-25").await, Client::connected(&server, "2025-11-25").await);
    one.result("logging/setLevel", json!({"level": "debug"})).await;
    for client in [&mut one, &mut two] {
        client.call("skills_activate", json!({"name": "pdf"})).await;
    }
    let said = one.note("notifications/message").await;
    assert_eq!(said["params"]["level"], "debug");
    assert_eq!(two.overheard().await, Vec::<Value>::new());
    one.result("logging/setLevel", json!({"level": "emergency"})).await;
    one.call("skills_activate", json!({"name": "pdf"})).await;
    assert_eq!(one.overheard().await, Vec::<Value>::new());
    assert_eq!(error(&one.request("logging/setLevel", json!({"level": "loud"})).await).0, -32602);
}
