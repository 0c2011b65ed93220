//! What is too much, too large, too slow or too often.

use std::time::Duration;

use crate::running::{Running, rest, slow_model, talking_to, until, with_tokens};
use prowess_server::{Limits, Options};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn limited(limits: Limits) -> Options {
    Options { limits, ..Options::default() }
}

/// A problem as it is told, without the id of its request.
async fn problem(answer: reqwest::Response) -> (u16, Option<String>, Value) {
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    let retry = answer.headers().get("retry-after").map(|after| after.to_str().unwrap().to_owned());
    let (status, id) =
        (answer.status().as_u16(), answer.headers()["x-request-id"].to_str().unwrap().to_owned());
    let mut body: Value = answer.json().await.unwrap();
    assert_eq!(body.as_object_mut().unwrap().remove("request_id"), Some(json!(id)));
    (status, retry, body)
}

#[tokio::test]
async fn one_client_makes_so_many_requests_and_no_more() {
    let server = Running::start(limited(Limits { rate: 1, burst: 3, ..Limits::default() })).await;
    for _ in 0..3 {
        assert_eq!(server.get("/api/about").await.status(), 200);
    }
    let (status, retry, body) = problem(server.get("/api/about").await).await;
    assert_eq!((status, retry.as_deref()), (429, Some("1")));
    let told = json!({"type": "about:blank", "title": "Too Many Requests", "status": 429, "code": "UNAVAILABLE",
        "detail": "more requests than one client may make; wait, and then go on"});
    assert_eq!(body, told);
    // Whether the process lives can be asked all the same.
    assert_eq!(server.get("/healthz").await.status(), 200);
}

#[tokio::test]
async fn guessing_tokens_is_slow() {
    let limits = Limits { rate: 1, burst: 40, ..Limits::default() };
    let server = Running::start(Options { limits, ..with_tokens() }).await;
    let guess = async |n: u32| {
        let token = format!("guess-{n:020}");
        server.http.get(server.url("/api/about")).bearer_auth(token).send().await.unwrap().status().as_u16()
    };
    let mut statuses = Vec::new();
    for n in 0..6 {
        statuses.push(guess(n).await);
    }
    assert_eq!(statuses, [401, 401, 401, 401, 429, 429]);

    let limits = Limits { rate: 1, burst: 40, ..Limits::default() };
    let server = Running::start(Options { limits, ..with_tokens() }).await;
    let mut statuses = Vec::new();
    for n in 0..6 {
        let guess = json!({"token": format!("guess-{n:020}")});
        statuses.push(server.post("/api/session", &guess).await.status().as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 401, 429, 429], "signing in is no faster way");
}

#[tokio::test]
async fn one_address_does_not_take_all_connections() {
    let server = Running::start(limited(Limits { connections: 80, ..Limits::default() })).await;
    let mut open = Vec::new();
    for _ in 0..20 {
        open.push(server.connect().await);
    }
    // Each was taken: it is answered.
    for stream in &mut open {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    }
    let mut more = server.connect().await;
    assert_eq!(more.read(&mut [0; 1]).await.unwrap_or(0), 0, "a connection beyond the share is closed");
    drop(open);
    until(async || server.status(&["GET /healthz HTTP/1.1", "Host: localhost"]).await == 200).await;
}

#[tokio::test]
async fn answers_and_streams_are_counted() {
    let (base, go) = slow_model().await;
    let limits = Limits { turns: 1, streams: 2, ..Limits::default() };
    let server = Running::configured(&talking_to(&base), limited(limits)).await;
    let (one, other) = (server.chat().await, server.chat().await);
    let first = server.post(&format!("/api/chats/{one}/messages"), &json!({"text": "hello"})).await;
    assert_eq!(first.status(), 200);
    let say = async || server.post(&format!("/api/chats/{other}/messages"), &json!({"text": "hello"})).await;
    let (status, retry, body) = problem(say().await).await;
    assert_eq!((status, retry.as_deref(), &body["code"]), (503, Some("5"), &json!("UNAVAILABLE")));
    assert_eq!(body["detail"], "1 answers are under way, which is all there is room for");
    // Nothing was kept of what was refused.
    let chat: Value = server.get(&format!("/api/chats/{other}")).await.json().await.unwrap();
    assert_eq!(chat["messages"], json!([]));

    let events = server.get("/api/events").await;
    assert_eq!(events.status(), 200);
    let (status, _, body) = problem(server.get("/api/events").await).await;
    assert_eq!(status, 503);
    assert_eq!(body["detail"], "2 streams of events are under way, which is all there is room for");
    // Whoever closes one makes room.
    drop(events);
    until(async || server.get("/api/events").await.status() == 200).await;

    go.add_permits(10);
    assert!(first.text().await.unwrap().contains("event: done"));
    until(async || say().await.status() == 200).await;
}

#[tokio::test]
async fn a_head_that_does_not_arrive_is_not_waited_for() {
    let server =
        Running::start(limited(Limits { head: Duration::from_millis(200), ..Limits::default() })).await;
    for begun in ["", "GET /api/about HTTP/1.1\r\n", "GET /api/about HTTP/1.1\r\nHost: localhost\r\nX-Slow: "]
    {
        let mut stream = server.connect().await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        assert!(!rest(&mut stream).await.contains("200 OK"), "{begun:?}");
    }
    // Nor is the next request on a connection.
    let mut stream = server.connect().await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(rest(&mut stream).await.contains("200 OK"));
    // A stream that is under way is not concerned.
    let mut events = server.get("/api/events").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    server.chat().await;
    assert_eq!(&events.chunk().await.unwrap().unwrap()[..], b"event: chats\ndata: {}\n\n");
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_not_waited_for() {
    let server =
        Running::start(limited(Limits { body: Duration::from_millis(200), ..Limits::default() })).await;
    for path in ["/api/chats", "/api/render", "/api/chats/import"] {
        let mut stream = server.connect().await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 408 Request Timeout"), "{answer}");
        assert!(
            answer.contains(r#""code":"TIMEOUT","detail":"the body did not arrive in time""#),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn connections_wait_for_their_turn() {
    let server = Running::start(limited(Limits { connections: 1, ..Limits::default() })).await;
    let mut first = server.connect().await;
    first.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut head = [0; 15];
    first.read_exact(&mut head).await.unwrap();
    let mut second = server.connect().await;
    second.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let early = tokio::time::timeout(Duration::from_millis(300), second.read(&mut head)).await;
    assert!(early.is_err(), "answered while there was no room");
    drop(first);
    assert!(rest(&mut second).await.contains("200 OK"));
}

#[tokio::test]
async fn what_is_too_large_or_not_json() {
    let server = Running::start(Options::default()).await;
    let chat = server.chat().await;
    let messages = format!("/api/chats/{chat}/messages");
    let mut told = Vec::new();
    let long = "a".repeat(1024 * 1024 + 1);
    let huge = format!("{{\"text\":\"{}\"}}", "a".repeat(9 * 1024 * 1024));
    let json = "application/json";
    for (what, path, kind, body) in [
        (
            "a message of a mebibyte and a byte",
            messages.as_str(),
            json,
            json!({"text": long}).to_string().into_bytes(),
        ),
        ("a message of 9 MiB", &messages, json, huge.clone().into_bytes()),
        ("9 MiB to render", "/api/render", json, huge.into_bytes()),
        ("no UTF-8", &messages, json, b"{\"text\":\"\xff\"}".to_vec()),
        ("no JSON", "/api/render", json, b"{\"text\":".to_vec()),
        ("another field", "/api/render", json, b"{\"text\":\"\",\"x\":1}".to_vec()),
        ("another kind", "/api/render", "text/plain", b"{\"text\":\"\"}".to_vec()),
        ("a form", "/api/chats", "application/x-www-form-urlencoded", b"title=x".to_vec()),
        ("no file of chats", "/api/chats/import", json, b"{}".to_vec()),
        ("a file that is no JSON", "/api/chats/import", json, b"\x00".to_vec()),
    ] {
        let request = server.http.post(server.url(path)).header("content-type", kind).body(body);
        let (status, _, body) = problem(request.send().await.unwrap()).await;
        told.push(format!("{what}: {status} {} {}", body["code"], body["detail"]));
    }
    // A body whose length nobody says.
    let endless = "POST /api/render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                   Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    let mut stream = server.connect().await;
    stream.write_all(endless.as_bytes()).await.unwrap();
    let chunk = format!("100000\r\n{}\r\n", " ".repeat(0x10_0000));
    while stream.write_all(chunk.as_bytes()).await.is_ok() {}
    insta::assert_snapshot!(told.join("\n"));
}
