//! How a conversation begins.

use prowess::Preset;
use serde_json::{Value, json};

use crate::world::http::Site;
use crate::world::stdio::Client;
use crate::world::{NEWEST, OLDER, ROOT, World, error, initialize, meta, pretty, root, with_meta};

fn world() -> World {
    let world = World::with(&["pdf"]);
    world.skill_with(&format!("{ROOT}/secret"), "disable-model-invocation: true\n", "Nobody is told.");
    world
}

#[tokio::test]
async fn a_handshake_tells_a_client_all_it_needs() {
    let world = world();
    let mut client = Client::silent(&world.server());
    let answer = client.request("initialize", initialize("2025-11-25")).await;
    insta::assert_snapshot!(pretty(&answer));
    let instructions = answer["result"]["instructions"].as_str().unwrap();
    insta::assert_snapshot!(instructions);
    assert!(!instructions.contains("Body of pdf") && !instructions.contains("secret"));
}

/// The preset tells a model nothing by itself; a client of the server has nothing else.
#[tokio::test]
async fn clients_get_instructions_in_the_preset_harness_too() {
    let world = World::new(Preset::Harness);
    world.skill(&format!("{}/pdf", root(Preset::Harness)), "Body of pdf.");
    let mut client = Client::silent(&world.server());
    let answer = client.request("initialize", initialize("2025-11-25")).await;
    let instructions = answer["result"]["instructions"].as_str().unwrap();
    insta::assert_snapshot!(world.without_place(instructions));
}

#[tokio::test]
async fn discovery_tells_the_same_without_a_handshake() {
    let world = world();
    let mut client = Client::inline(&world.server(), NEWEST);
    let answer = client.request("server/discover", json!({})).await;
    insta::assert_snapshot!(pretty(&answer));
}

#[tokio::test]
async fn a_revision_that_is_spoken_is_agreed_on() {
    let world = world();
    let server = world.server();
    let site = Site::of(&server).await;
    for version in OLDER {
        Client::connected(&server, version).await.result("tools/list", json!({})).await;
        site.session(version).await.result("tools/list", json!({})).await;
    }
    site.close().await;
}

#[tokio::test]
async fn another_revision_is_answered_with_one_that_is() {
    let world = world();
    let server = world.server();
    let site = Site::of(&server).await;
    // Older ones, ones that nobody knows, and the one that has no handshake: the client may take what it is offered.
    for version in ["2024-11-05", "2025-03-26", "1999-01-01", "v999.0.0", "", NEWEST, "2099-01-01"] {
        let mut client = Client::silent(&server);
        let answer = client.request("initialize", initialize(version)).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{version}");
        client.notify("notifications/initialized", json!({})).await;
        assert!(client.result("tools/list", json!({})).await["tools"].is_array());

        let message =
            json!({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": initialize(version)});
        let mut reply = site.post(message.to_string()).send().await;
        assert_eq!(reply.status, 200, "{version}");
        assert_eq!(reply.message().await["result"]["protocolVersion"], "2025-11-25", "{version}");
    }
    site.close().await;
}

#[tokio::test]
async fn the_newest_revision_needs_no_beginning() {
    let world = world();
    let server = world.server();
    for first in ["tools/list", "skills/list", "server/discover"] {
        let mut client = Client::inline(&server, NEWEST);
        assert_eq!(client.result(first, json!({})).await["resultType"], "complete", "{first}");
        let called = client.call("skills_activate", json!({"name": "pdf"})).await;
        assert_eq!(called["resultType"], "complete");
        // What it does not have is not there.
        for gone in ["ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"] {
            let params = json!({"uri": "skill://pdf/SKILL.md", "level": "debug"});
            assert_eq!(error(&client.request(gone, params).await).0, -32601, "{gone}");
        }
    }
    let site = Site::of(&server).await;
    for (id, first) in [(1, "tools/list"), (2, "skills/list"), (3, "server/discover")] {
        let mut reply = site.inline(id, first, json!({})).send().await;
        assert_eq!((reply.status, reply.header("mcp-session-id")), (200, None));
        let answer = reply.message().await;
        assert_eq!((&answer["id"], &answer["result"]["resultType"]), (&json!(id), &json!("complete")));
    }
    for gone in ["ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel", "nothing/here"] {
        let params = json!({"uri": "skill://pdf/SKILL.md", "level": "debug"});
        let mut reply = site.inline(1, gone, params).send().await;
        assert_eq!((reply.status, error(&reply.message().await).0), (404, -32601), "{gone}");
    }
    site.close().await;
}

#[tokio::test]
async fn a_probe_may_be_followed_by_a_handshake() {
    let world = world();
    let mut client = Client::silent(&world.server());
    let probe = json!({"_meta": meta(NEWEST)});
    let found = client.result("server/discover", probe).await;
    assert_eq!(found["supportedVersions"], json!(["2025-06-18", "2025-11-25", "2026-07-28"]));
    let answer = client.request("initialize", initialize("2025-06-18")).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    client.notify("notifications/initialized", json!({})).await;
    assert_eq!(client.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn requests_without_a_beginning_say_what_is_missing() {
    let world = world();
    let server = world.server();
    let mut client = Client::silent(&server);
    for params in [json!({}), json!({"_meta": {}}), json!({"_meta": {"progressToken": 1}})] {
        let answer = client.request("tools/list", params).await;
        let (code, message) = error(&answer);
        assert_eq!(code, -32602);
        assert!(message.contains("_meta") && message.contains("protocolVersion"), "{message}");
    }
    let answer = client.request("tools/list", with_meta(json!({}), "v999.0.0")).await;
    insta::assert_snapshot!(pretty(&answer));
    // Nothing is lost by that.
    assert_eq!(client.result("ping", json!({})).await, json!({}));
    client.request("initialize", initialize("2025-11-25")).await;

    let site = Site::of(&server).await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut reply = site.post(message.to_string()).send().await;
    assert_eq!((reply.status, reply.text().await.contains("Session")), (400, true));
    let request = site.inline(5, "tools/list", json!({}));
    for (header, value, status, code) in [
        ("MCP-Protocol-Version", Some("2025-11-25"), 400, -32020),
        ("MCP-Protocol-Version", None, 400, -32020),
        ("Mcp-Method", Some("tools/call"), 400, -32020),
    ] {
        let request = request.clone();
        let request = value.map_or(request.clone().without(header), |value| request.with(header, value));
        let mut reply = request.send().await;
        let answer = reply.message().await;
        assert_eq!((reply.status, error(&answer).0, &answer["id"]), (status, code, &json!(5)), "{header}");
    }
    site.close().await;
}

#[tokio::test]
async fn what_comes_before_the_beginning_ends_nothing() {
    let world = world();
    for first in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/nobody/knows"}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}),
    ] {
        let mut client = Client::silent(&world.server());
        client.line(&first).await;
        let answer = client.request("initialize", initialize("2025-11-25")).await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "prowess", "{first}");
    }
}

#[tokio::test]
async fn a_conversation_begins_once() {
    let world = World::with(&["pdf"]);
    world.toolset("greet", "hello");
    let server = world.server();
    let mut client = Client::connected(&server, "2025-11-25").await;
    client.call("skills_activate", json!({"name": "pdf"})).await;
    let answer = client.request("initialize", initialize("2025-06-18")).await;
    assert_eq!(error(&answer), (-32600, "the conversation has begun; a client begins once"));
    // Saying often that one is ready brings no more notifications than saying it once.
    for _ in 0..5 {
        client.notify("notifications/initialized", json!({})).await;
    }
    client.call("skills_activate", json!({"name": "greet"})).await;
    client.note("notifications/tools/list_changed").await;
    let again = client.overheard().await;
    assert_eq!(again, Vec::<Value>::new());

    let site = Site::of(&server).await;
    let mut session = site.session("2025-11-25").await;
    assert_eq!(error(&session.request("initialize", initialize("2025-11-25")).await).0, -32600);
    assert!(session.result("tools/list", json!({})).await["tools"].is_array());
    site.close().await;
}

#[tokio::test]
async fn a_client_that_says_nothing_is_waited_for_and_forgotten() {
    let world = World::new(Preset::Standard);
    let (said, ended) = Client::silent(&world.server()).leave().await;
    assert_eq!(said, Vec::<Value>::new());
    ended.unwrap();
    Client::silent(&world.server()).vanish().await.unwrap();
}
