//! Operations: metrics, shutdown, export and import, notifications, and reloading.

use std::time::Duration;

use crate::running_server::{RunningServer, model_config, slow_model, wait_until};
use prowess_chat::MessageState;
use prowess_server::ServerOptions;
use serde_json::{Value, json};

async fn metrics(server: &RunningServer) -> String {
    let response = server.get("/metrics").await;
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    response.text().await.unwrap()
}

#[tokio::test]
async fn metrics_count_requests_and_turns() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let chat = server.chat().await;
    let path = format!("/api/chats/{chat}/messages");
    server.post(&path, &json!({"text": "/hello-world"})).await.text().await.unwrap();
    for path in ["/api/chats/none", "/api/chats/other", "/nothing/here?token=secret", "/nothing/else"] {
        assert_eq!(server.get(path).await.status(), 404);
    }
    wait_until(async || metrics(&server).await.contains("prowess_turns_total{end=\"end\"} 1")).await;
    let text = metrics(&server).await;
    let assert_line =
        |line: &str| assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
    assert_line("prowess_http_requests_total{route=\"/api/chats\",method=\"POST\",status=\"2xx\"} 1");
    assert_line("prowess_http_requests_total{route=\"/api/chats/{id}\",method=\"GET\",status=\"4xx\"} 2");
    assert_line("prowess_http_requests_total{route=\"other\",method=\"GET\",status=\"4xx\"} 2");
    assert_line("prowess_http_request_duration_seconds_count{route=\"/api/chats/{id}\"} 2");
    assert_line("prowess_tool_calls_total{tool=\"skills.activate\",status=\"success\"} 1");
    assert_line("prowess_turns_running 0");
    assert_line("prowess_event_streams_open 0");
    assert_line("prowess_store_up 1");
    assert_line("prowess_skills{status=\"invalid\"} 0");
    // The metrics contain no ids, paths or tokens.
    assert!(!text.contains(&chat) && !text.contains("nothing") && !text.contains("secret"));
}

#[tokio::test]
async fn responses_have_the_request_id() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let ask = async |id: &'static str| {
        let request = server.http.get(server.url("/api/chats/none")).header("x-request-id", id);
        let response = request.send().await.unwrap();
        let header = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["request_id"], header.as_str());
        header
    };
    assert_eq!(ask("trace-1.a_B").await, "trace-1.a_B");
    assert_ne!(ask("a b").await, "a b");
    assert_eq!(ask("").await.len(), 36);
    // Headers that axum adds are preserved.
    let wrong = server.http.delete(server.url("/api/about")).send().await.unwrap();
    assert_eq!((wrong.status().as_u16(), wrong.headers()["allow"].to_str().unwrap()), (405, "GET,HEAD"));
    let body: Value = wrong.json().await.unwrap();
    assert_eq!(body["detail"], "method DELETE is not allowed here");
}

#[tokio::test]
async fn a_stopping_server_is_not_ready_and_lets_turns_finish() {
    let (base, go) = slow_model().await;
    let server = RunningServer::configured(&model_config(&base), ServerOptions::default()).await;
    let chat = server.chat().await;
    let messages = format!("/api/chats/{chat}/messages");
    let mut response = server.post(&messages, &json!({"text": "hello"})).await;
    let first = response.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("\"text\":\"One\""), "{first:?}");
    assert_eq!(server.get("/readyz").await.status(), 200);
    server.stop.cancel();
    // The readiness check fails while the turn continues; no new turn starts.
    wait_until(async || server.get("/readyz").await.status() == 503).await;
    assert_eq!(server.get("/healthz").await.status(), 200);
    let other = server.chat().await;
    let rejection = server.post(&format!("/api/chats/{other}/messages"), &json!({"text": "more"})).await;
    assert_eq!(
        (rejection.status().as_u16(), rejection.headers()["retry-after"].to_str().unwrap()),
        (503, "5")
    );
    go.add_permits(1);
    let rest = response.text().await.unwrap();
    assert!(rest.contains("two.") && rest.contains("event: done"), "{rest}");
    let store = server.end().await;
    let page = store.messages(&chat, None, 10).await.unwrap();
    assert_eq!(page.messages[1].state, MessageState::Complete);
}

#[tokio::test]
async fn an_unfinished_turn_is_marked_at_shutdown() {
    let (base, _go) = slow_model().await;
    let options = ServerOptions { grace: Duration::from_millis(100), ..ServerOptions::default() };
    let server = RunningServer::configured(&model_config(&base), options).await;
    let chat = server.chat().await;
    let mut response = server.post(&format!("/api/chats/{chat}/messages"), &json!({"text": "hello"})).await;
    response.chunk().await.unwrap();
    let mut follows = server.get(&format!("/api/chats/{chat}/events?after=0")).await;
    follows.chunk().await.unwrap();
    let store = server.end().await;
    let page = store.messages(&chat, None, 10).await.unwrap();
    let MessageState::Interrupted { reason } = &page.messages[1].state else { panic!("{:?}", page.messages) };
    assert_eq!(reason, "the server stopped before the reply was complete");
    assert!(serde_json::to_string(&page.messages[1].parts).unwrap().contains("One"));
}

#[tokio::test]
async fn chats_are_exported_and_imported() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let chat = server.chat().await;
    let messages = format!("/api/chats/{chat}/messages");
    server.post(&messages, &json!({"text": "/hello-world"})).await.text().await.unwrap();
    let other = server.chat().await;
    let one = server.get(&format!("/api/chats/{chat}/export")).await;
    assert_eq!(one.headers()["content-type"], "application/json");
    assert_eq!(one.headers()["content-disposition"], "attachment; filename=\"prowess-chats.json\"");
    let one: Value = one.json().await.unwrap();
    let ids = |file: &Value| {
        let mut ids: Vec<_> =
            file["chats"].as_array().unwrap().iter().map(|chat| chat["id"].clone()).collect();
        ids.sort_by_key(Value::to_string);
        ids
    };
    assert_eq!(ids(&one), [json!(chat)]);
    let all: Value = server.get("/api/export").await.json().await.unwrap();
    assert_eq!(ids(&all).len(), 2);
    assert!(ids(&all).contains(&json!(other)));
    assert_eq!(server.get("/api/chats/none/export").await.status(), 404);

    // Import twice into another server.
    let server = RunningServer::start(ServerOptions::default()).await;
    let mut events = server.get("/api/events").await;
    let moved = server.post("/api/chats/import", &one).await;
    assert_eq!(moved.status(), 201);
    let moved: Value = moved.json().await.unwrap();
    assert_eq!(moved, json!({"schema": 1, "chats": [{"from": chat, "to": chat}]}));
    assert_eq!(&events.chunk().await.unwrap().unwrap()[..], b"event: chats\ndata: {}\n\n");
    let again: Value = server.post("/api/chats/import", &one).await.json().await.unwrap();
    assert_ne!(again["chats"][0]["to"], json!(chat));
    let back: Value = server.get(&format!("/api/chats/{chat}/export")).await.json().await.unwrap();
    assert_eq!(back["chats"], one["chats"]);
}

#[tokio::test]
async fn a_large_export_is_streamed_completely() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let message = |n: usize| {
        json!({"id": format!("m{n}"), "role": "user", "at": n, "state": "complete",
            "parts": [{"type": "text", "text": "x".repeat(10_000)}]})
    };
    let messages: Vec<_> = (1..=600).map(message).collect();
    let file = json!({"format": "prowess-chats", "version": 1, "chats": [
        {"id": "long", "title": "", "preset": "", "created": 1, "updated": 2, "activated_skill_names": [],
            "messages": messages}]});
    assert_eq!(server.post("/api/chats/import", &file).await.status(), 201);
    let mut response = server.get("/api/export").await;
    let (mut pieces, mut bytes) = (0, Vec::new());
    while let Some(piece) = response.chunk().await.unwrap() {
        pieces += 1;
        bytes.extend_from_slice(&piece);
    }
    let back: Value = serde_json::from_slice(&bytes).unwrap();
    assert!(pieces > 1 && bytes.len() > 6_000_000);
    assert_eq!(back["chats"], file["chats"]);
}

#[tokio::test]
async fn notifications_are_streamed_to_all_clients() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let mut events = server.get("/api/events").await;
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    assert_eq!(events.headers()["cache-control"], "no-store");
    for topic in [prowess_chat::store::Topic::Skills, prowess_chat::store::Topic::Missed] {
        server.store.announce(topic);
    }
    let mut observed = String::new();
    while !observed.contains("missed") {
        observed += std::str::from_utf8(&events.chunk().await.unwrap().unwrap()).unwrap();
    }
    assert_eq!(observed, "event: skills\ndata: {}\n\nevent: missed\ndata: {}\n\n");
    // The stream ends with the server.
    server.end().await;
    assert_eq!(events.chunk().await.unwrap(), None);
}

#[tokio::test]
async fn a_broken_configuration_keeps_the_last_valid_one() {
    let valid = "skills.disabled = [\"hello-world\"]\nchat.max-steps = 3\n";
    let server = RunningServer::configured(valid, ServerOptions::default()).await;
    let available = async || {
        let list: Value = server.get("/api/skills").await.json().await.unwrap();
        let names = list["skills"].as_array().unwrap().iter().map(|skill| skill["name"].clone());
        names.collect::<Vec<_>>()
    };
    let ready = async || server.get("/readyz").await.json::<Value>().await.unwrap();
    let about = async || server.get("/api/about").await.json::<Value>().await.unwrap();
    assert!(!available().await.contains(&json!("hello-world")));
    assert_eq!(ready().await, json!({"status": "ok"}));

    for broken in [
        "skills.disabled = [\"hello-world\"",
        "skills.disabled = [\"hello-world\"]\nchat.max-steps = \"many\"\n",
    ] {
        server.configure(broken);
        // A rescan also reloads the configuration.
        let response = server.post("/api/rescan", &json!({})).await;
        assert_eq!(response.status(), 200);
        assert!(!available().await.contains(&json!("hello-world")), "{broken}");
        assert_eq!(ready().await, json!({"status": "ok", "configuration": "the configuration has errors"}));
        let error = about().await["configuration_error"].as_str().unwrap().to_owned();
        assert!(error.starts_with("invalid configuration: /") && error.contains("config.toml"), "{error}");
        let settings: Value = server.get("/api/settings").await.json().await.unwrap();
        let steps = settings["settings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|setting| setting["key"] == "chat.max-steps");
        assert_eq!(steps.unwrap()["value"], 3);
    }
    // A change found by the watcher is announced the same way.
    server.configure(valid);
    let mut events = server.get("/api/events").await;
    server.store.announce(prowess_chat::store::Topic::Skills);
    wait_until(async || about().await["configuration_error"] == Value::Null).await;
    assert_eq!(ready().await, json!({"status": "ok"}));
    // Pages are notified again when the error is gone.
    let mut observed = String::new();
    while observed.matches("event: skills").count() < 2 {
        observed += std::str::from_utf8(&events.chunk().await.unwrap().unwrap()).unwrap();
    }
    server.configure("");
    server.post("/api/rescan", &json!({})).await;
    assert!(available().await.contains(&json!("hello-world")));
}
