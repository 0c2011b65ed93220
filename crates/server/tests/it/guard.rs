//! The door, as somebody who wants to get in sees it: over raw TCP, because no client would send this.

use crate::running::{ADMIN, Running, USER, with_tokens};
use prowess_server::{Guard, Limits, Names, Options};

#[tokio::test]
async fn a_request_under_another_name_is_refused() {
    let server = Running::start(Options::default()).await;
    let port = server.at.port();
    let mut told = Vec::new();
    for lines in [
        // DNS rebinding: a name that was pointed here.
        vec!["GET /api/about HTTP/1.1", "Host: evil.example"],
        vec!["GET /api/about HTTP/1.1", "Host: 127.0.0.1.evil.example"],
        vec!["GET /healthz HTTP/1.1", "Host: evil.example"],
        // No name, two of them, or another one in the request line.
        vec!["GET /api/about HTTP/1.1"],
        vec!["GET /api/about HTTP/1.0"],
        vec!["GET /api/about HTTP/1.1", "Host: localhost", "Host: localhost"],
        vec!["GET /api/about HTTP/1.1", "Host: localhost", "Host: evil.example"],
        vec!["GET http://evil.example/api/about HTTP/1.1", "Host: localhost"],
        vec!["GET http://localhost/api/about HTTP/1.1", "Host: evil.example"],
        // Other ways to write an address.
        vec!["GET /api/about HTTP/1.1", "Host: 127.1"],
        vec!["GET /api/about HTTP/1.1", "Host: 2130706433"],
        vec!["GET /api/about HTTP/1.1", "Host: [::ffff:127.0.0.1]"],
        vec!["GET /api/about HTTP/1.1", "Host: localhost."],
        vec!["GET /api/about HTTP/1.1", "Host: me@localhost"],
        // These are this machine.
        vec!["GET /api/about HTTP/1.1", "Host: localhost"],
        vec!["GET /api/about HTTP/1.1", "Host: LocalHost:99"],
        vec!["GET /api/about HTTP/1.1", "Host: [::1]:7878"],
        vec!["GET /api/about HTTP/1.1", "Host: 127.0.0.1"],
        vec!["GET http://localhost/api/about HTTP/1.1", "Host: localhost"],
    ] {
        told.push(format!("{} {}", server.status(&lines).await, lines.join(" | ")));
    }
    insta::assert_snapshot!(told.join("\n").replace(&port.to_string(), "[PORT]"));
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused() {
    let server = Running::start(Options::default()).await;
    let host = format!("Host: localhost:{}", server.at.port());
    let own = format!("Origin: http://localhost:{}", server.at.port());
    let mut told = Vec::new();
    for (request, header) in [
        ("GET /api/about HTTP/1.1", own.as_str()),
        ("GET /api/about HTTP/1.1", "Origin: null"),
        ("GET /api/about HTTP/1.1", "Origin: http://evil.example"),
        // Another program on this machine.
        ("GET /api/about HTTP/1.1", "Origin: http://localhost:3000"),
        // What a form of another page can send without asking, and what needs no body.
        ("POST /api/chats HTTP/1.1", "Origin: http://evil.example"),
        ("POST /api/chats HTTP/1.1", "Origin: http://localhost:3000"),
        ("POST /api/chats/x/stop HTTP/1.1", "Origin: null"),
        // A stream, and a download, by a page elsewhere.
        ("GET /api/events HTTP/1.1", "Origin: http://evil.example"),
        ("GET /api/events HTTP/1.1", "Sec-Fetch-Site: cross-site"),
        ("GET /api/export HTTP/1.1", "Sec-Fetch-Site: same-site"),
        ("POST /api/chats HTTP/1.1", "Sec-Fetch-Site: cross-site"),
        ("OPTIONS /api/chats HTTP/1.1", "Origin: http://evil.example"),
        ("OPTIONS /api/chats HTTP/1.1", own.as_str()),
        ("GET /api/about HTTP/1.1", "Sec-Fetch-Site: same-origin"),
        ("GET /api/about HTTP/1.1", "Sec-Fetch-Site: none"),
    ] {
        let status = server.status(&[request, &host, header]).await;
        told.push(format!("{status} {request} | {header}"));
    }
    insta::assert_snapshot!(told.join("\n").replace(&server.at.port().to_string(), "[PORT]"));
    let chats: serde_json::Value = server.get("/api/chats").await.json().await.unwrap();
    assert_eq!(chats["chats"], serde_json::json!([]), "nothing of it was done");
}

#[tokio::test]
async fn no_answer_lets_other_origins_read_it() {
    let server = Running::start(Options::default()).await;
    for path in ["/api/about", "/api/nothing", "/metrics"] {
        let answer = server.get(path).await;
        let headers = answer.headers();
        assert!(headers.keys().all(|name| !name.as_str().starts_with("access-control")), "{path}");
        assert_eq!(headers["cross-origin-resource-policy"], "same-origin", "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        assert_eq!(headers["x-frame-options"], "DENY", "{path}");
        assert_eq!(headers["cache-control"], "no-store", "{path}");
        assert!(headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
    }
}

#[tokio::test]
async fn who_shows_what_gets_what() {
    let limits = Limits { rate: 0, ..Limits::default() };
    let server = Running::start(Options { limits, ..with_tokens() }).await;
    let mut told = Vec::new();
    let shown = [
        ("nothing", None),
        ("a user's", Some(format!("Authorization: Bearer {USER}"))),
        ("an administrator's", Some(format!("authorization: bearer {ADMIN}"))),
        ("it in a cookie", Some(format!("Cookie: a=b; prowess_session={USER}; c=d"))),
        ("a wrong one", Some("Authorization: Bearer user-0123456789abcdee".to_owned())),
        ("a wrong cookie", Some("Cookie: prowess_session=; prowess_sessions=x".to_owned())),
        ("another scheme", Some(format!("Authorization: Basic {USER}"))),
        ("it in the path", None),
    ];
    for (what, header) in shown {
        for path in
            ["/healthz", "/readyz", "/api/about", "/api/export", "/metrics", "/openapi.json", "/nothing"]
        {
            let query = if what == "it in the path" { format!("?token={USER}") } else { String::new() };
            let request = format!("GET {path}{query} HTTP/1.1");
            let mut lines = vec![request.as_str(), "Host: localhost"];
            lines.extend(header.as_deref());
            told.push(format!("{} {path} with {what}", server.status(&lines).await));
        }
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[tokio::test]
async fn a_proxy_is_believed_where_it_speaks_alone() {
    let proxy_header = Some("x-forwarded-user".parse().unwrap());
    let names = Names::new(["skills.example".to_owned()]);
    let guard = Guard { names, proxy_header, ..Guard::default() };
    let server = Running::start(Options { guard, ..Options::default() }).await;
    let get = ["GET /api/about HTTP/1.1", "Host: skills.example"];
    let status = async |more: &[&str]| server.status(&[&get, more].concat()).await;
    assert_eq!(status(&["X-Forwarded-User: ada"]).await, 200);
    assert_eq!(status(&["X-Forwarded-User: ada", "Origin: https://skills.example"]).await, 200);
    assert_eq!(status(&[]).await, 401);
    assert_eq!(status(&["X-Forwarded-User:"]).await, 401);
    assert_eq!(status(&["X-Forwarded-User:   "]).await, 401);
    // A client that sends one of its own past a proxy that adds to it instead of replacing it.
    assert_eq!(status(&["X-Forwarded-User: root", "X-Forwarded-User: ada"]).await, 401);
}

/// The printed address signs in one browser; the next one has another token.
#[tokio::test]
async fn a_start_address_signs_in_one_browser() {
    let mut options = Options::default();
    let token = options.guard.make_start_token().unwrap();
    let server = Running::start(options).await;
    let sign_in = async |token: &str| server.post("/api/session", &serde_json::json!({"token": token})).await;
    let first = token.current();
    let answer = sign_in(&first).await;
    assert_eq!(answer.status(), 204);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.starts_with("prowess_session=") && !cookie.contains(&first), "{cookie}");
    let again = sign_in(&first).await;
    assert_eq!(again.status(), 401);
    assert!(!again.headers().contains_key("set-cookie"));
    let detail = again.json::<serde_json::Value>().await.unwrap()["detail"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(detail, @"this address was used before, and signs in one browser only: open the address that prowess serve printed last, or restart it");
    assert_eq!(sign_in("guess").await.status(), 401);
    assert_ne!(token.current(), first);
    assert_eq!(sign_in(&token.current()).await.status(), 204, "another browser");
}

#[tokio::test]
async fn a_browser_shows_its_token_once_and_signs_out() {
    let server = Running::start(with_tokens()).await;
    let wrong = server.post("/api/session", &serde_json::json!({"token": "guess"})).await;
    assert_eq!(wrong.status(), 401);
    assert!(!wrong.headers().contains_key("set-cookie"));
    let mut cookies = Vec::new();
    for token in [USER, ADMIN] {
        let right = server.post("/api/session", &serde_json::json!({"token": token})).await;
        assert_eq!(right.status(), 204);
        let cookie = right.headers()["set-cookie"].to_str().unwrap().to_owned();
        assert!(!cookie.contains(token), "the cookie is not the token: {cookie}");
        let (pair, rest) = cookie.split_once(';').unwrap();
        assert_eq!(rest, " Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000");
        assert_eq!(pair.strip_prefix("prowess_session=").unwrap().len(), 64);
        cookies.push(format!("Cookie: a=b; {pair}; c=d"));
    }
    let status = async |path: &str, cookie: &str| {
        let request = format!("GET {path} HTTP/1.1");
        server.status(&[&request, "Host: localhost", cookie]).await
    };
    assert_eq!(
        (status("/api/about", &cookies[0]).await, status("/api/admin/skills", &cookies[0]).await),
        (200, 403)
    );
    assert_eq!(status("/api/admin/skills", &cookies[1]).await, 200);
    // The token itself is not taken from a cookie.
    assert_eq!(status("/api/about", &format!("Cookie: prowess_session={ADMIN}")).await, 401);
    let out = ["DELETE /api/session HTTP/1.1", "Host: localhost", &cookies[1]];
    assert_eq!(server.status(&out).await, 204);
    assert_eq!(status("/api/about", &cookies[1]).await, 401, "a session that was ended lets nobody in");
    assert_eq!(status("/api/about", &cookies[0]).await, 200);
    // A form of another page cannot log somebody in, for it cannot send JSON.
    let host = format!("Host: localhost:{}", server.at.port());
    let lines = ["POST /api/session HTTP/1.1", &host, "Content-Type: text/plain", "Content-Length: 0"];
    assert_eq!(server.status(&lines).await, 415);
}
