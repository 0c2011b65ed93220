//! Running a server: what it counts, how it ends, chats as files, and what concerns everybody.

use std::time::Duration;

use crate::running::{Running, slow_model, talking_to, until};
use prowess_chat::State;
use prowess_server::Options;
use serde_json::{Value, json};

async fn metrics(server: &Running) -> String {
    let answer = server.get("/metrics").await;
    assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    answer.text().await.unwrap()
}

#[tokio::test]
async fn what_happens_is_counted() {
    let server = Running::start(Options::default()).await;
    let chat = server.chat().await;
    let path = format!("/api/chats/{chat}/messages");
    server.post(&path, &json!({"text": "/hello-world"})).await.text().await.unwrap();
    for path in ["/api/chats/none", "/api/chats/other", "/nothing/here?token=secret", "/nothing/else"] {
        assert_eq!(server.get(path).await.status(), 404);
    }
    until(async || metrics(&server).await.contains("prowess_turns_total{end=\"end\"} 1")).await;
    let text = metrics(&server).await;
    let has = |line: &str| assert!(text.lines().any(|of| of == line), "{line} is not in\n{text}");
    has("prowess_http_requests_total{route=\"/api/chats\",method=\"POST\",status=\"2xx\"} 1");
    has("prowess_http_requests_total{route=\"/api/chats/{id}\",method=\"GET\",status=\"4xx\"} 2");
    has("prowess_http_requests_total{route=\"other\",method=\"GET\",status=\"4xx\"} 2");
    has("prowess_http_request_duration_seconds_count{route=\"/api/chats/{id}\"} 2");
    has("prowess_tool_calls_total{tool=\"skills.activate\",status=\"success\"} 1");
    has("prowess_turns_running 0");
    has("prowess_event_streams_open 0");
    has("prowess_store_up 1");
    has("prowess_skills{status=\"invalid\"} 0");
    // No id, no path and no token is in it.
    assert!(!text.contains(&chat) && !text.contains("nothing") && !text.contains("secret"));
}

#[tokio::test]
async fn every_answer_has_the_id_of_its_request() {
    let server = Running::start(Options::default()).await;
    let ask = async |id: &'static str| {
        let request = server.http.get(server.url("/api/chats/none")).header("x-request-id", id);
        let answer = request.send().await.unwrap();
        let header = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["request_id"], header.as_str());
        header
    };
    assert_eq!(ask("trace-1.a_B").await, "trace-1.a_B");
    assert_ne!(ask("a b").await, "a b");
    assert_eq!(ask("").await.len(), 36);
    // What axum itself adds to a failure stays.
    let wrong = server.http.delete(server.url("/api/about")).send().await.unwrap();
    assert_eq!((wrong.status().as_u16(), wrong.headers()["allow"].to_str().unwrap()), (405, "GET,HEAD"));
    let body: Value = wrong.json().await.unwrap();
    assert_eq!(body["detail"], "DELETE is not answered here");
}

#[tokio::test]
async fn a_turn_may_finish_and_the_server_says_that_it_is_ending() {
    let (base, go) = slow_model().await;
    let server = Running::configured(&talking_to(&base), Options::default()).await;
    let chat = server.chat().await;
    let messages = format!("/api/chats/{chat}/messages");
    let mut said = server.post(&messages, &json!({"text": "hello"})).await;
    let first = said.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("\"text\":\"One\""), "{first:?}");
    assert_eq!(server.get("/readyz").await.status(), 200);
    server.stop.cancel();
    // Those who send requests hear it while the answer goes on; nothing new is begun.
    until(async || server.get("/readyz").await.status() == 503).await;
    assert_eq!(server.get("/healthz").await.status(), 200);
    let other = server.chat().await;
    let refused = server.post(&format!("/api/chats/{other}/messages"), &json!({"text": "more"})).await;
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (503, "5"));
    go.add_permits(1);
    let rest = said.text().await.unwrap();
    assert!(rest.contains("two.") && rest.contains("event: done"), "{rest}");
    let store = server.end().await;
    let page = store.messages(&chat, None, 10).await.unwrap();
    assert_eq!(page.messages[1].state, State::Complete);
}

#[tokio::test]
async fn a_turn_that_does_not_finish_is_marked() {
    let (base, _go) = slow_model().await;
    let options = Options { grace: Duration::from_millis(100), ..Options::default() };
    let server = Running::configured(&talking_to(&base), options).await;
    let chat = server.chat().await;
    let mut said = server.post(&format!("/api/chats/{chat}/messages"), &json!({"text": "hello"})).await;
    said.chunk().await.unwrap();
    let mut follows = server.get(&format!("/api/chats/{chat}/events?after=0")).await;
    follows.chunk().await.unwrap();
    let store = server.end().await;
    let page = store.messages(&chat, None, 10).await.unwrap();
    let State::Interrupted { reason } = &page.messages[1].state else { panic!("{:?}", page.messages) };
    assert_eq!(reason, "the server was stopped while it answered; this is what was said until then");
    assert!(serde_json::to_string(&page.messages[1].parts).unwrap().contains("One"));
}

#[tokio::test]
async fn chats_as_files() {
    let server = Running::start(Options::default()).await;
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

    // Into another server, and twice into it.
    let server = Running::start(Options::default()).await;
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
async fn a_long_file_comes_piece_by_piece_and_whole() {
    let server = Running::start(Options::default()).await;
    let message = |n: usize| {
        json!({"id": format!("m{n}"), "role": "user", "at": n, "state": "complete",
            "parts": [{"type": "text", "text": "x".repeat(10_000)}]})
    };
    let messages: Vec<_> = (1..=600).map(message).collect();
    let file = json!({"format": "prowess-chats", "version": 1, "chats": [
        {"id": "long", "title": "", "preset": "", "created": 1, "updated": 2, "activated_skill_names": [],
            "messages": messages}]});
    assert_eq!(server.post("/api/chats/import", &file).await.status(), 201);
    let mut answer = server.get("/api/export").await;
    let (mut pieces, mut bytes) = (0, Vec::new());
    while let Some(piece) = answer.chunk().await.unwrap() {
        pieces += 1;
        bytes.extend_from_slice(&piece);
    }
    let back: Value = serde_json::from_slice(&bytes).unwrap();
    assert!(pieces > 1 && bytes.len() > 6_000_000);
    assert_eq!(back["chats"], file["chats"]);
}

#[tokio::test]
async fn everybody_hears_what_concerns_everybody() {
    let server = Running::start(Options::default()).await;
    let mut events = server.get("/api/events").await;
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    assert_eq!(events.headers()["cache-control"], "no-store");
    for topic in [prowess_chat::store::Topic::Skills, prowess_chat::store::Topic::Missed] {
        server.store.announce(topic);
    }
    let mut told = String::new();
    while !told.contains("missed") {
        told += std::str::from_utf8(&events.chunk().await.unwrap().unwrap()).unwrap();
    }
    assert_eq!(told, "event: skills\ndata: {}\n\nevent: missed\ndata: {}\n\n");
    // It ends with the server.
    server.end().await;
    assert_eq!(events.chunk().await.unwrap(), None);
}

#[tokio::test]
async fn a_broken_configuration_keeps_the_last_valid_one() {
    let valid = "skills.disabled = [\"hello-world\"]\nchat.max-steps = 3\n";
    let server = Running::configured(valid, Options::default()).await;
    let offered = async || {
        let list: Value = server.get("/api/skills").await.json().await.unwrap();
        let names = list["skills"].as_array().unwrap().iter().map(|skill| skill["name"].clone());
        names.collect::<Vec<_>>()
    };
    let ready = async || server.get("/readyz").await.json::<Value>().await.unwrap();
    let about = async || server.get("/api/about").await.json::<Value>().await.unwrap();
    assert!(!offered().await.contains(&json!("hello-world")));
    assert_eq!(ready().await, json!({"status": "ok"}));

    for broken in [
        "skills.disabled = [\"hello-world\"",
        "skills.disabled = [\"hello-world\"]\nchat.max-steps = \"many\"\n",
    ] {
        server.configure(broken);
        // A change of any skill makes the server look at its configuration, too.
        let answer = server.post("/api/rescan", &json!({})).await;
        assert_eq!(answer.status(), 200);
        assert!(!offered().await.contains(&json!("hello-world")), "{broken}");
        assert_eq!(ready().await, json!({"status": "ok", "configuration": "the configuration has errors"}));
        let error = about().await["configuration_error"].as_str().unwrap().to_owned();
        assert!(
            error.starts_with("the configuration is wrong: /") && error.contains("config.toml"),
            "{error}"
        );
        let settings: Value = server.get("/api/settings").await.json().await.unwrap();
        let steps =
            settings["settings"].as_array().unwrap().iter().find(|one| one["key"] == "chat.max-steps");
        assert_eq!(steps.unwrap()["value"], 3);
    }
    // What was noticed by watching is told the same way.
    server.configure(valid);
    let mut events = server.get("/api/events").await;
    server.store.announce(prowess_chat::store::Topic::Skills);
    until(async || about().await["configuration_error"] == Value::Null).await;
    assert_eq!(ready().await, json!({"status": "ok"}));
    // Pages are told once more, when it is so.
    let mut told = String::new();
    while told.matches("event: skills").count() < 2 {
        told += std::str::from_utf8(&events.chunk().await.unwrap().unwrap()).unwrap();
    }
    server.configure("");
    server.post("/api/rescan", &json!({})).await;
    assert!(offered().await.contains(&json!("hello-world")));
}
