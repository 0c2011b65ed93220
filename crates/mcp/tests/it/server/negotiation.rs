//! The handshake.

use prowess::Preset;
use serde_json::{Value, json};

use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{
    NEWEST_VERSION, OLDER_VERSIONS, SKILLS_DIR, TestHome, error_of, initialize_params, meta, pretty,
    skills_dir, with_meta,
};

fn home() -> TestHome {
    let home = TestHome::with_skills(&["pdf"]);
    home.write_skill_with(
        &format!("{SKILLS_DIR}/secret"),
        "disable-model-invocation: true\n",
        "Not for the model.",
    );
    home
}

#[tokio::test]
async fn the_handshake_describes_the_server() {
    let home = home();
    let mut client = StdioTestClient::unconnected(&home.server());
    let response = client.request("initialize", initialize_params("2025-11-25")).await;
    insta::assert_snapshot!(pretty(&response));
    let instructions = response["result"]["instructions"].as_str().unwrap();
    insta::assert_snapshot!(instructions);
    assert!(!instructions.contains("Body of pdf") && !instructions.contains("secret"));
}

/// The preset has no instructions of its own, but clients of the server need them.
#[tokio::test]
async fn clients_get_instructions_in_the_preset_harness_too() {
    let home = TestHome::new(Preset::Harness);
    home.write_skill(&format!("{}/pdf", skills_dir(Preset::Harness)), "Body of pdf.");
    let mut client = StdioTestClient::unconnected(&home.server());
    let response = client.request("initialize", initialize_params("2025-11-25")).await;
    let instructions = response["result"]["instructions"].as_str().unwrap();
    insta::assert_snapshot!(home.redact_path(instructions));
}

#[tokio::test]
async fn bundled_examples_are_neither_in_instructions_nor_in_tools_nor_resources() {
    for preset in Preset::ALL {
        let mut home = TestHome::new(preset);
        home.policy.scan.roots.push("bundled".parse().unwrap());
        let mut client = StdioTestClient::unconnected(&home.server());
        let mut seen = client.request("initialize", initialize_params("2025-11-25")).await.to_string();
        client.notify("notifications/initialized", json!({})).await;
        for method in ["tools/list", "resources/list"] {
            seen += &client.result(method, json!({})).await.to_string();
        }
        assert!(seen.contains("code-review"), "{preset}: {seen}");
        for name in ["hello-world", "skills-system-validation"] {
            assert!(!seen.contains(name), "{preset}: {seen}");
            // Users call it as a prompt.
            let prompt = client.result("prompts/get", json!({"name": name})).await;
            assert!(prompt["messages"][0]["content"].is_object(), "{preset}: {prompt}");
        }
    }
}

#[tokio::test]
async fn discovery_returns_the_same_without_a_handshake() {
    let home = home();
    let mut client = StdioTestClient::stateless(&home.server(), NEWEST_VERSION);
    let response = client.request("server/discover", json!({})).await;
    insta::assert_snapshot!(pretty(&response));
}

#[tokio::test]
async fn supported_revisions_are_negotiated() {
    let home = home();
    let server = home.server();
    let site = HttpTestServer::start(&server).await;
    for version in OLDER_VERSIONS {
        StdioTestClient::connected(&server, version).await.result("tools/list", json!({})).await;
        site.session(version).await.result("tools/list", json!({})).await;
    }
    site.stop().await;
}

#[tokio::test]
async fn unsupported_revisions_get_a_supported_one() {
    let home = home();
    let server = home.server();
    let site = HttpTestServer::start(&server).await;
    // Older and unknown revisions, and the one without a handshake: the client may accept the offered one.
    for version in ["2024-11-05", "2025-03-26", "1999-01-01", "v999.0.0", "", NEWEST_VERSION, "2099-01-01"] {
        let mut client = StdioTestClient::unconnected(&server);
        let response = client.request("initialize", initialize_params(version)).await;
        assert_eq!(response["result"]["protocolVersion"], "2025-11-25", "{version}");
        client.notify("notifications/initialized", json!({})).await;
        assert!(client.result("tools/list", json!({})).await["tools"].is_array());

        let message =
            json!({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": initialize_params(version)});
        let mut reply = site.post(message.to_string()).send().await;
        assert_eq!(reply.status, 200, "{version}");
        assert_eq!(reply.message().await["result"]["protocolVersion"], "2025-11-25", "{version}");
    }
    site.stop().await;
}

#[tokio::test]
async fn the_newest_revision_needs_no_handshake() {
    let home = home();
    let server = home.server();
    for first in ["tools/list", "skills/list", "server/discover"] {
        let mut client = StdioTestClient::stateless(&server, NEWEST_VERSION);
        assert_eq!(client.result(first, json!({})).await["resultType"], "complete", "{first}");
        let called = client.call("skills_activate", json!({"name": "pdf"})).await;
        assert_eq!(called["resultType"], "complete");
        // Methods that this revision removed are unknown.
        for removed in ["ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"] {
            let params = json!({"uri": "skill://pdf/SKILL.md", "level": "debug"});
            assert_eq!(error_of(&client.request(removed, params).await).0, -32601, "{removed}");
        }
    }
    let site = HttpTestServer::start(&server).await;
    for (id, first) in [(1, "tools/list"), (2, "skills/list"), (3, "server/discover")] {
        let mut reply = site.stateless_request(id, first, json!({})).send().await;
        assert_eq!((reply.status, reply.header("mcp-session-id")), (200, None));
        let response = reply.message().await;
        assert_eq!((&response["id"], &response["result"]["resultType"]), (&json!(id), &json!("complete")));
    }
    for removed in
        ["ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel", "nothing/here"]
    {
        let params = json!({"uri": "skill://pdf/SKILL.md", "level": "debug"});
        let mut reply = site.stateless_request(1, removed, params).send().await;
        assert_eq!((reply.status, error_of(&reply.message().await).0), (404, -32601), "{removed}");
    }
    site.stop().await;
}

#[tokio::test]
async fn a_probe_may_be_followed_by_a_handshake() {
    let home = home();
    let mut client = StdioTestClient::unconnected(&home.server());
    let probe = json!({"_meta": meta(NEWEST_VERSION)});
    let found = client.result("server/discover", probe).await;
    assert_eq!(found["supportedVersions"], json!(["2025-06-18", "2025-11-25", "2026-07-28"]));
    let response = client.request("initialize", initialize_params("2025-06-18")).await;
    assert_eq!(response["result"]["protocolVersion"], "2025-06-18");
    client.notify("notifications/initialized", json!({})).await;
    assert_eq!(client.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn requests_without_a_handshake_report_what_is_missing() {
    let home = home();
    let server = home.server();
    let mut client = StdioTestClient::unconnected(&server);
    for params in [json!({}), json!({"_meta": {}}), json!({"_meta": {"progressToken": 1}})] {
        let response = client.request("tools/list", params).await;
        let (code, message) = error_of(&response);
        assert_eq!(code, -32602);
        assert!(message.contains("_meta") && message.contains("protocolVersion"), "{message}");
    }
    let response = client.request("tools/list", with_meta(json!({}), "v999.0.0")).await;
    insta::assert_snapshot!(pretty(&response));
    // The session still works.
    assert_eq!(client.result("ping", json!({})).await, json!({}));
    client.request("initialize", initialize_params("2025-11-25")).await;

    let site = HttpTestServer::start(&server).await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut reply = site.post(message.to_string()).send().await;
    assert_eq!((reply.status, reply.text().await.contains("Session")), (400, true));
    let request = site.stateless_request(5, "tools/list", json!({}));
    for (header, value, status, code) in [
        ("MCP-Protocol-Version", Some("2025-11-25"), 400, -32020),
        ("MCP-Protocol-Version", None, 400, -32020),
        ("Mcp-Method", Some("tools/call"), 400, -32020),
    ] {
        let request = request.clone();
        let request = value.map_or(request.clone().without(header), |value| request.with(header, value));
        let mut reply = request.send().await;
        let response = reply.message().await;
        assert_eq!(
            (reply.status, error_of(&response).0, &response["id"]),
            (status, code, &json!(5)),
            "{header}"
        );
    }
    site.stop().await;
}

#[tokio::test]
async fn messages_before_the_handshake_are_ignored() {
    let home = home();
    for first in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/unknown"}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}),
    ] {
        let mut client = StdioTestClient::unconnected(&home.server());
        client.send_line(&first).await;
        let response = client.request("initialize", initialize_params("2025-11-25")).await;
        assert_eq!(response["result"]["serverInfo"]["name"], "prowess", "{first}");
    }
}

#[tokio::test]
async fn a_session_is_initialized_once() {
    let home = TestHome::with_skills(&["pdf"]);
    home.write_toolset("greet", "hello");
    let server = home.server();
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    client.call("skills_activate", json!({"name": "pdf"})).await;
    let response = client.request("initialize", initialize_params("2025-06-18")).await;
    assert_eq!(error_of(&response), (-32600, "the session is already initialized"));
    // Repeated initialized notifications do not cause repeated notifications.
    for _ in 0..5 {
        client.notify("notifications/initialized", json!({})).await;
    }
    client.call("skills_activate", json!({"name": "greet"})).await;
    client.notification("notifications/tools/list_changed").await;
    let again = client.take_notifications().await;
    assert_eq!(again, Vec::<Value>::new());

    let site = HttpTestServer::start(&server).await;
    let mut session = site.session("2025-11-25").await;
    assert_eq!(error_of(&session.request("initialize", initialize_params("2025-11-25")).await).0, -32600);
    assert!(session.result("tools/list", json!({})).await["tools"].is_array());
    site.stop().await;
}

#[tokio::test]
async fn a_client_that_sends_nothing_is_not_an_error() {
    let home = TestHome::new(Preset::Standard);
    let (messages, ended) = StdioTestClient::unconnected(&home.server()).disconnect().await;
    assert_eq!(messages, Vec::<Value>::new());
    ended.unwrap();
    StdioTestClient::unconnected(&home.server()).abort().await.unwrap();
}
