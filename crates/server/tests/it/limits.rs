//! Rate, concurrency, size and time limits.

use std::time::Duration;

use crate::running_server::{RunningServer, model_config, rest, slow_model, wait_until, with_tokens};
use prowess_server::{Limits, ServerOptions};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn limited(limits: Limits) -> ServerOptions {
    ServerOptions { limits, ..ServerOptions::default() }
}

/// Returns an error response without its request id.
async fn problem(response: reqwest::Response) -> (u16, Option<String>, Value) {
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let retry = response.headers().get("retry-after").map(|after| after.to_str().unwrap().to_owned());
    let (status, id) =
        (response.status().as_u16(), response.headers()["x-request-id"].to_str().unwrap().to_owned());
    let mut body: Value = response.json().await.unwrap();
    assert_eq!(body.as_object_mut().unwrap().remove("request_id"), Some(json!(id)));
    (status, retry, body)
}

#[tokio::test]
async fn requests_of_a_client_are_limited() {
    let server = RunningServer::start(limited(Limits { rate: 1, burst: 3, ..Limits::default() })).await;
    for _ in 0..3 {
        assert_eq!(server.get("/api/about").await.status(), 200);
    }
    let (status, retry, body) = problem(server.get("/api/about").await).await;
    assert_eq!((status, retry.as_deref()), (429, Some("1")));
    let observed = json!({"type": "about:blank", "title": "Too Many Requests", "status": 429, "code": "UNAVAILABLE",
        "detail": "rate limit exceeded; retry later"});
    assert_eq!(body, observed);
    // The liveness check is not limited.
    assert_eq!(server.get("/healthz").await.status(), 200);
}

#[tokio::test]
async fn token_guessing_is_limited() {
    let limits = Limits { rate: 1, burst: 40, ..Limits::default() };
    let server = RunningServer::start(ServerOptions { limits, ..with_tokens() }).await;
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
    let server = RunningServer::start(ServerOptions { limits, ..with_tokens() }).await;
    let mut statuses = Vec::new();
    for n in 0..6 {
        let guess = json!({"token": format!("guess-{n:020}")});
        statuses.push(server.post("/api/session", &guess).await.status().as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 401, 429, 429], "sign-ins are limited, too");
}

#[tokio::test]
async fn one_address_cannot_use_all_connections() {
    let server = RunningServer::start(limited(Limits { connections: 80, ..Limits::default() })).await;
    let mut open = Vec::new();
    for _ in 0..20 {
        open.push(server.connect().await);
    }
    // Each connection is served.
    for stream in &mut open {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut response = [0; 12];
        stream.read_exact(&mut response).await.unwrap();
        assert_eq!(&response, b"HTTP/1.1 200");
    }
    let mut more = server.connect().await;
    assert_eq!(more.read(&mut [0; 1]).await.unwrap_or(0), 0, "a connection beyond the limit is closed");
    drop(open);
    wait_until(async || server.status(&["GET /healthz HTTP/1.1", "Host: localhost"]).await == 200).await;
}

#[tokio::test]
async fn turns_and_streams_are_limited() {
    let (base, go) = slow_model().await;
    let limits = Limits { turns: 1, streams: 2, ..Limits::default() };
    let server = RunningServer::configured(&model_config(&base), limited(limits)).await;
    let (one, other) = (server.chat().await, server.chat().await);
    let first = server.post(&format!("/api/chats/{one}/messages"), &json!({"text": "hello"})).await;
    assert_eq!(first.status(), 200);
    let say = async || server.post(&format!("/api/chats/{other}/messages"), &json!({"text": "hello"})).await;
    let (status, retry, body) = problem(say().await).await;
    assert_eq!((status, retry.as_deref(), &body["code"]), (503, Some("5"), &json!("UNAVAILABLE")));
    assert_eq!(body["detail"], "too many concurrent turns (the maximum is 1); retry later");
    // A rejected message is not stored.
    let chat: Value = server.get(&format!("/api/chats/{other}")).await.json().await.unwrap();
    assert_eq!(chat["messages"], json!([]));

    let events = server.get("/api/events").await;
    assert_eq!(events.status(), 200);
    let (status, _, body) = problem(server.get("/api/events").await).await;
    assert_eq!(status, 503);
    assert_eq!(body["detail"], "too many concurrent event streams (the maximum is 2); retry later");
    // Closing a stream frees its slot.
    drop(events);
    wait_until(async || server.get("/api/events").await.status() == 200).await;

    go.add_permits(10);
    assert!(first.text().await.unwrap().contains("event: done"));
    wait_until(async || say().await.status() == 200).await;
}

#[tokio::test]
async fn a_slow_request_head_times_out() {
    let server = RunningServer::start(limited(Limits {
        head_timeout: Duration::from_millis(200),
        ..Limits::default()
    }))
    .await;
    for started in
        ["", "GET /api/about HTTP/1.1\r\n", "GET /api/about HTTP/1.1\r\nHost: localhost\r\nX-Slow: "]
    {
        let mut stream = server.connect().await;
        stream.write_all(started.as_bytes()).await.unwrap();
        assert!(!rest(&mut stream).await.contains("200 OK"), "{started:?}");
    }
    // An idle connection is closed, too.
    let mut stream = server.connect().await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(rest(&mut stream).await.contains("200 OK"));
    // An open stream is not affected.
    let mut events = server.get("/api/events").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    server.chat().await;
    assert_eq!(&events.chunk().await.unwrap().unwrap()[..], b"event: chats\ndata: {}\n\n");
}

#[tokio::test]
async fn a_slow_request_body_times_out() {
    let server = RunningServer::start(limited(Limits {
        body_timeout: Duration::from_millis(200),
        ..Limits::default()
    }))
    .await;
    for path in ["/api/chats", "/api/render", "/api/chats/import"] {
        let mut stream = server.connect().await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let response = rest(&mut stream).await;
        assert!(response.starts_with("HTTP/1.1 408 Request Timeout"), "{response}");
        assert!(
            response.contains(r#""code":"TIMEOUT","detail":"the body did not arrive in time""#),
            "{response}"
        );
    }
}

#[tokio::test]
async fn excess_connections_wait() {
    let server = RunningServer::start(limited(Limits { connections: 1, ..Limits::default() })).await;
    let mut first = server.connect().await;
    first.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut head = [0; 15];
    first.read_exact(&mut head).await.unwrap();
    let mut second = server.connect().await;
    second.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let early = tokio::time::timeout(Duration::from_millis(300), second.read(&mut head)).await;
    assert!(early.is_err(), "answered beyond the limit");
    drop(first);
    assert!(rest(&mut second).await.contains("200 OK"));
}

#[tokio::test]
async fn invalid_bodies_are_rejected() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let chat = server.chat().await;
    let messages = format!("/api/chats/{chat}/messages");
    let mut observed = Vec::new();
    let long = "a".repeat(1024 * 1024 + 1);
    let huge = format!("{{\"text\":\"{}\"}}", "a".repeat(9 * 1024 * 1024));
    let json = "application/json";
    for (case, path, kind, body) in [
        (
            "a message of a mebibyte and a byte",
            messages.as_str(),
            json,
            json!({"text": long}).to_string().into_bytes(),
        ),
        ("a message of 9 MiB", &messages, json, huge.clone().into_bytes()),
        ("9 MiB to render", "/api/render", json, huge.into_bytes()),
        ("invalid UTF-8", &messages, json, b"{\"text\":\"\xff\"}".to_vec()),
        ("invalid JSON", "/api/render", json, b"{\"text\":".to_vec()),
        ("another field", "/api/render", json, b"{\"text\":\"\",\"x\":1}".to_vec()),
        ("another content type", "/api/render", "text/plain", b"{\"text\":\"\"}".to_vec()),
        ("a form", "/api/chats", "application/x-www-form-urlencoded", b"title=x".to_vec()),
        ("not a chat file", "/api/chats/import", json, b"{}".to_vec()),
        ("a file that is not JSON", "/api/chats/import", json, b"\x00".to_vec()),
    ] {
        let request = server.http.post(server.url(path)).header("content-type", kind).body(body);
        let (status, _, body) = problem(request.send().await.unwrap()).await;
        observed.push(format!("{case}: {status} {} {}", body["code"], body["detail"]));
    }
    // A body without a declared length.
    let endless = "POST /api/render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                   Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    let mut stream = server.connect().await;
    stream.write_all(endless.as_bytes()).await.unwrap();
    let chunk = format!("100000\r\n{}\r\n", " ".repeat(0x10_0000));
    while stream.write_all(chunk.as_bytes()).await.is_ok() {}
    insta::assert_snapshot!(observed.join("\n"));
}
