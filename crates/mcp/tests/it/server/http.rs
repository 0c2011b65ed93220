//! HTTP: authorization, sessions and invalid requests.

use prowess_mcp::http::{AccessToken, HttpOptions, ServeHttpError, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::support::http::{HttpTestRequest, HttpTestServer};
use crate::support::{NEWEST_VERSION, TestHome, error_of, initialize_params};

fn initialize_message() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25")})
        .to_string()
}

async fn status(request: HttpTestRequest) -> u16 {
    request.send().await.status
}

#[tokio::test]
async fn unknown_hosts_and_origins_are_rejected() {
    let home = TestHome::with_skills(&["a"]);
    let options = HttpOptions { hosts: vec!["skills.example:8443".to_owned()], ..HttpOptions::default() };
    let site = HttpTestServer::start_with(&home.server(), options).await;
    let port = site.address.port();
    for (host, expected) in [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("LOCALHOST:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        ("skills.example:8443".to_owned(), 200),
        ("skills.example".to_owned(), 403),
        ("skills.example:80".to_owned(), 403),
        ("evil.example".to_owned(), 403),
        (format!("localhost.evil.example:{port}"), 403),
        (format!("evil.example:{port}"), 403),
        ("127.0.0.1.nip.io".to_owned(), 403),
        ("0.0.0.0".to_owned(), 403),
        ("user@localhost".to_owned(), 403),
        ("local host".to_owned(), 400),
        (String::new(), 400),
    ] {
        let actual = status(site.post(initialize_message()).with("Host", &host)).await;
        assert!(actual == expected || (host.starts_with("user@") && actual == 200), "{host}: {actual}");
    }
    assert_eq!(status(site.post(initialize_message()).without("Host")).await, 400);
    for (origin, expected) in [
        (format!("http://127.0.0.1:{port}"), 200),
        ("http://localhost:3000".to_owned(), 200),
        ("https://localhost".to_owned(), 200),
        ("http://[::1]:1".to_owned(), 200),
        ("https://skills.example".to_owned(), 200),
        ("null".to_owned(), 403),
        ("http://evil.example".to_owned(), 403),
        ("http://localhost.evil.example".to_owned(), 403),
        ("file://".to_owned(), 403),
        ("chrome-extension://abc".to_owned(), 403),
        ("localhost".to_owned(), 403),
        (String::new(), 403),
        ("http://localhost http://evil.example".to_owned(), 403),
    ] {
        assert_eq!(
            status(site.post(initialize_message()).with("Origin", &origin)).await,
            expected,
            "{origin}"
        );
        let stateless = site.stateless_request(1, "tools/list", json!({})).with("Origin", &origin);
        assert_eq!(status(stateless).await, expected, "{origin}");
    }
    // The body and the method do not matter.
    for body in ["{", "[]", ""] {
        assert_eq!(status(site.post(body).with("Host", "evil.example")).await, 403);
    }
    for method in ["GET", "DELETE", "OPTIONS", "PUT"] {
        assert_eq!(status(site.request(method).with("Origin", "http://evil.example")).await, 403, "{method}");
    }
    site.stop().await;
}

#[tokio::test]
async fn requests_without_the_token_are_rejected() {
    let home = TestHome::with_skills(&["a"]);
    let token = AccessToken::parse("0123456789abcdef").unwrap();
    let options = HttpOptions { token: Some(token), ..HttpOptions::default() };
    let site = HttpTestServer::start_with(&home.server(), options).await;
    for (authorization, expected) in [
        ("Bearer 0123456789abcdef", 200),
        ("bearer 0123456789abcdef", 200),
        ("Bearer 0123456789abcdeF", 401),
        ("Bearer 0123456789abcde", 401),
        ("Bearer 0123456789abcdef0", 401),
        ("Basic 0123456789abcdef", 401),
        ("Bearer", 401),
        ("", 401),
    ] {
        assert_eq!(
            status(site.post(initialize_message()).with("Authorization", authorization)).await,
            expected,
            "{authorization}"
        );
    }
    for method in ["POST", "GET", "DELETE", "OPTIONS"] {
        let mut reply = site.request(method).send().await;
        assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")), "{method}");
        assert!(!reply.text().await.contains("0123456789abcdef"));
    }
    site.stop().await;
    // Without a token, a server on a public address does not start.
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let result = serve(&home.server(), listener, HttpOptions::default(), CancellationToken::new()).await;
    assert!(matches!(result, Err(ServeHttpError::TokenRequired(_))), "{result:?}");
}

#[tokio::test]
async fn invalid_requests_get_the_right_status() {
    let home = TestHome::with_skills(&["a"]);
    let site = HttpTestServer::start(&home.server()).await;
    let post = site.post(initialize_message());
    assert_eq!(status(post.clone().with("Accept", "application/json")).await, 406);
    assert_eq!(status(post.clone().with("Accept", "text/event-stream")).await, 406);
    assert_eq!(status(post.clone().without("Accept")).await, 406);
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        assert_eq!(status(post.clone().with("Content-Type", kind)).await, 415, "{kind}");
    }
    assert_eq!(status(post.clone().without("Content-Type")).await, 415);
    assert_eq!(status(post.clone().with("Content-Type", "application/json; charset=utf-8")).await, 200);
    assert_eq!(status(post.with("MCP-Protocol-Version", "v9")).await, 400);
    for method in ["PUT", "PATCH", "OPTIONS", "HEAD"] {
        assert_eq!(status(site.request(method)).await, 405, "{method}");
    }
    // Only initialize needs no session.
    for method in ["GET", "DELETE"] {
        assert_eq!(status(site.request(method)).await, 400, "{method}");
    }
    assert_eq!(status(site.request("GET").with("Accept", "application/json")).await, 406);
    let session = site.session("2025-11-25").await;
    assert_eq!(status(session.request_without_body("GET").with("MCP-Protocol-Version", "v9")).await, 400);
    // The newest revision has neither standalone streams nor sessions.
    for method in ["GET", "DELETE"] {
        assert_eq!(
            status(site.request(method).with("MCP-Protocol-Version", NEWEST_VERSION)).await,
            405,
            "{method}"
        );
    }
    site.stop().await;
}

#[tokio::test]
async fn a_body_is_not_read_beyond_the_limit() {
    let home = TestHome::with_skills(&["a"]);
    let site = HttpTestServer::start(&home.server()).await;
    let big = |bytes: usize| {
        let params = json!({"name": "skills_search", "arguments": {"query": "x".repeat(bytes)}});
        site.stateless_request(1, "tools/call", params)
    };
    assert_eq!(status(big(4 * 1024 * 1024)).await, 413);
    assert_eq!(status(big(1024 * 1024)).await, 200);
    // A body without a length may be endless.
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        site.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let mut sent = 0;
    while sent < 64 * 1024 * 1024 && stream.write_all(chunk.as_bytes()).await.is_ok() {
        sent += 0x10000;
    }
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response).await;
    assert!(sent < 64 * 1024 * 1024, "the server read everything");
    site.stop().await;
}

#[tokio::test]
async fn a_connection_is_closed_if_the_request_was_not_read() {
    let home = TestHome::with_skills(&["a"]);
    let site = HttpTestServer::start(&home.server()).await;
    // The body that the head announces is never sent. It is read only for a POST request.
    let head = format!("DELETE /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: 5\r\n\r\n", site.address);
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(
        response.starts_with("HTTP/1.1 400 ") && response.contains("\r\nconnection: close\r\n"),
        "{response}"
    );
    site.stop().await;
}

#[tokio::test]
async fn a_session_is_identified_by_its_id_only() {
    let home = TestHome::with_skills(&["a"]);
    let server = home.server();
    let site = HttpTestServer::start(&server).await;
    let mut session = site.session("2025-11-25").await;
    assert!(session.id.len() >= 32 && session.id.bytes().all(|byte| byte.is_ascii_graphic()));
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for id in ["none", "", "00000000-0000-0000-0000-000000000000", "../x", &session.id.to_uppercase()] {
        for request in [session.post(&list), session.request_without_body("GET")] {
            assert_eq!(status(request.with("Mcp-Session-Id", id)).await, 404, "{id}");
        }
    }
    assert!(session.result("tools/list", json!({})).await["tools"].is_array());
    let (repeated, stream) = (session.post(&list), session.request_without_body("GET"));
    session.delete().await;
    assert_eq!((status(repeated.clone()).await, status(stream).await), (404, 404));
    // Ending an unknown session has no effect.
    assert!((200..300).contains(&status(site.request("DELETE").with("Mcp-Session-Id", "none")).await));
    crate::support::wait_until("the session is gone", || server.client_count() == 0).await;
    site.stop().await;
}

#[tokio::test]
async fn a_new_session_ends_the_longest_idle_one() {
    let home = TestHome::with_skills(&["a"]);
    let server = home.server();
    let options = HttpOptions { max_sessions: 3, ..HttpOptions::default() };
    let site = HttpTestServer::start_with(&server, options).await;
    let mut first = site.session("2025-11-25").await;
    let second = site.session("2025-06-18").await;
    let third = site.session("2025-11-25").await;
    assert!(first.result("tools/list", json!({})).await["tools"].is_array());
    site.session("2025-11-25").await;
    // The first one was used after the second one.
    let list = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"});
    assert_eq!(status(second.post(&list)).await, 404);
    assert_eq!((status(third.post(&list)).await, status(first.post(&list)).await), (200, 200));
    crate::support::wait_until("three sessions remain", || server.client_count() == 3).await;
    // Requests without a session do not count.
    let mut reply = site.stateless_request(1, "tools/list", json!({})).send().await;
    reply.expect_status(200).await;
    assert_eq!(status(third.post(&json!({"jsonrpc": "2.0", "id": 10, "method": "tools/list"}))).await, 200);
    site.stop().await;
}

#[tokio::test]
async fn a_client_that_does_not_finish_its_headers_is_disconnected() {
    let home = TestHome::with_skills(&["a"]);
    let header_timeout = std::time::Duration::from_millis(200);
    let site =
        HttpTestServer::start_with(&home.server(), HttpOptions { header_timeout, ..HttpOptions::default() })
            .await;
    for sent in ["", "POST /mcp HT", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "] {
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut response = Vec::new();
        let closed =
            tokio::time::timeout(crate::support::TEST_TIMEOUT, stream.read_to_end(&mut response)).await;
        assert!(closed.is_ok(), "still open after {sent:?}");
        assert!(!response.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&response));
    }
    // The timeout applies to the head only: a stream lasts longer.
    let mut session = site.session("2025-11-25").await;
    let mut stream = session.listen().await;
    assert!(tokio::time::timeout(header_timeout * 3, stream.next_message()).await.is_err());
    assert!(session.result("tools/list", json!({})).await["tools"].is_array());
    site.stop().await;
}

#[tokio::test]
async fn invalid_messages_get_errors_of_the_protocol() {
    let home = TestHome::with_skills(&["a"]);
    let site = HttpTestServer::start(&home.server()).await;
    let session = site.session("2025-11-25").await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("\u{0}", -32700),
        (deep.as_str(), -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        ("3", -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
    ] {
        for request in [site.post(body), session.post(&Value::Null).body(body)] {
            let mut reply = request.send().await;
            assert_eq!(reply.status, 400, "{body:.60}");
            assert_eq!(reply.header("content-type"), Some("application/json"));
            assert_eq!(error_of(&reply.message().await).0, code, "{body:.60}");
        }
    }
    site.stop().await;
}

#[tokio::test]
async fn stopping_ends_all_streams() {
    let home = TestHome::with_skills(&["a"]);
    let server = home.server();
    let site = HttpTestServer::start(&server).await;
    let session = site.session("2025-11-25").await;
    let mut stream = session.listen().await;
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = site.stateless_request(1, "subscriptions/listen", listen).send().await;
    assert_eq!(listening.message().await["method"], "notifications/subscriptions/acknowledged");
    // An incomplete request does not prevent the server from stopping.
    let mut slow = TcpStream::connect(site.address).await.unwrap();
    slow.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{").await.unwrap();
    let _silent = TcpStream::connect(site.address).await.unwrap();
    site.stop().await;
    assert!(stream.next_message().await.is_none());
    while listening.next_message().await.is_some() {}
    crate::support::wait_until("all clients are disconnected", || server.client_count() == 0).await;
}
