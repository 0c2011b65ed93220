//! Authentication, hosts and origins, over raw TCP, because no client library would send these requests.

use crate::running_server::{ADMIN, RunningServer, USER, with_tokens};
use prowess_server::{AllowedHosts, Guard, Limits, ServerOptions};

#[tokio::test]
async fn other_hosts_are_rejected() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let port = server.at.port();
    let mut observed = Vec::new();
    for lines in [
        // DNS rebinding.
        vec!["GET /api/about HTTP/1.1", "Host: evil.example"],
        vec!["GET /api/about HTTP/1.1", "Host: 127.0.0.1.evil.example"],
        vec!["GET /healthz HTTP/1.1", "Host: evil.example"],
        // No host, two hosts, or another one in the request line.
        vec!["GET /api/about HTTP/1.1"],
        vec!["GET /api/about HTTP/1.0"],
        vec!["GET /api/about HTTP/1.1", "Host: localhost", "Host: localhost"],
        vec!["GET /api/about HTTP/1.1", "Host: localhost", "Host: evil.example"],
        vec!["GET http://evil.example/api/about HTTP/1.1", "Host: localhost"],
        vec!["GET http://localhost/api/about HTTP/1.1", "Host: evil.example"],
        // Other notations of loopback addresses.
        vec!["GET /api/about HTTP/1.1", "Host: 127.1"],
        vec!["GET /api/about HTTP/1.1", "Host: 2130706433"],
        vec!["GET /api/about HTTP/1.1", "Host: [::ffff:127.0.0.1]"],
        vec!["GET /api/about HTTP/1.1", "Host: localhost."],
        vec!["GET /api/about HTTP/1.1", "Host: me@localhost"],
        // Allowed hosts.
        vec!["GET /api/about HTTP/1.1", "Host: localhost"],
        vec!["GET /api/about HTTP/1.1", "Host: LocalHost:99"],
        vec!["GET /api/about HTTP/1.1", "Host: [::1]:7878"],
        vec!["GET /api/about HTTP/1.1", "Host: 127.0.0.1"],
        vec!["GET http://localhost/api/about HTTP/1.1", "Host: localhost"],
    ] {
        observed.push(format!("{} {}", server.status(&lines).await, lines.join(" | ")));
    }
    insta::assert_snapshot!(observed.join("\n").replace(&port.to_string(), "[PORT]"));
}

#[tokio::test]
async fn other_origins_are_rejected() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let host = format!("Host: localhost:{}", server.at.port());
    let own = format!("Origin: http://localhost:{}", server.at.port());
    let mut observed = Vec::new();
    for (request, header) in [
        ("GET /api/about HTTP/1.1", own.as_str()),
        ("GET /api/about HTTP/1.1", "Origin: null"),
        ("GET /api/about HTTP/1.1", "Origin: http://evil.example"),
        // Another program on this machine.
        ("GET /api/about HTTP/1.1", "Origin: http://localhost:3000"),
        // Requests that a form of another page can send, and requests without a body.
        ("POST /api/chats HTTP/1.1", "Origin: http://evil.example"),
        ("POST /api/chats HTTP/1.1", "Origin: http://localhost:3000"),
        ("POST /api/chats/x/stop HTTP/1.1", "Origin: null"),
        // A stream and a download by another page.
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
        observed.push(format!("{status} {request} | {header}"));
    }
    insta::assert_snapshot!(observed.join("\n").replace(&server.at.port().to_string(), "[PORT]"));
    let chats: serde_json::Value = server.get("/api/chats").await.json().await.unwrap();
    assert_eq!(chats["chats"], serde_json::json!([]), "no request had an effect");
}

#[tokio::test]
async fn responses_are_not_readable_by_other_origins() {
    let server = RunningServer::start(ServerOptions::default()).await;
    for path in ["/api/about", "/api/nothing", "/metrics"] {
        let response = server.get(path).await;
        let headers = response.headers();
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
async fn access_by_credential() {
    let limits = Limits { rate: 0, ..Limits::default() };
    let server = RunningServer::start(ServerOptions { limits, ..with_tokens() }).await;
    let mut observed = Vec::new();
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
    for (case, header) in shown {
        for path in
            ["/healthz", "/readyz", "/api/about", "/api/export", "/metrics", "/openapi.json", "/nothing"]
        {
            let query = if case == "it in the path" { format!("?token={USER}") } else { String::new() };
            let request = format!("GET {path}{query} HTTP/1.1");
            let mut lines = vec![request.as_str(), "Host: localhost"];
            lines.extend(header.as_deref());
            observed.push(format!("{} {path} with {case}", server.status(&lines).await));
        }
    }
    insta::assert_snapshot!(observed.join("\n"));
}

#[tokio::test]
async fn the_proxy_header_must_be_unique() {
    let proxy_header = Some("x-forwarded-user".parse().unwrap());
    let names = AllowedHosts::new(["skills.example".to_owned()]);
    let guard = Guard { hosts: names, proxy_header, ..Guard::default() };
    let server = RunningServer::start(ServerOptions { guard, ..ServerOptions::default() }).await;
    let get = ["GET /api/about HTTP/1.1", "Host: skills.example"];
    let status = async |headers: &[&str]| server.status(&[&get, headers].concat()).await;
    assert_eq!(status(&["X-Forwarded-User: ada"]).await, 200);
    assert_eq!(status(&["X-Forwarded-User: ada", "Origin: https://skills.example"]).await, 200);
    assert_eq!(status(&[]).await, 401);
    assert_eq!(status(&["X-Forwarded-User:"]).await, 401);
    assert_eq!(status(&["X-Forwarded-User:   "]).await, 401);
    // A forged header, with a proxy that appends instead of replacing.
    assert_eq!(status(&["X-Forwarded-User: root", "X-Forwarded-User: ada"]).await, 401);
}

/// The printed address signs in one browser; then the token changes.
#[tokio::test]
async fn a_start_address_signs_in_one_browser() {
    let mut options = ServerOptions::default();
    let token = options.guard.create_start_token().unwrap();
    let server = RunningServer::start(options).await;
    let sign_in = async |token: &str| server.post("/api/session", &serde_json::json!({"token": token})).await;
    let first = token.current();
    let response = sign_in(&first).await;
    assert_eq!(response.status(), 204);
    let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.starts_with("prowess_session=") && !cookie.contains(&first), "{cookie}");
    let again = sign_in(&first).await;
    assert_eq!(again.status(), 401);
    assert!(!again.headers().contains_key("set-cookie"));
    let detail = again.json::<serde_json::Value>().await.unwrap()["detail"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(detail, @"this address has already been used to sign in; open the last address that `prowess serve` printed, or restart the server");
    assert_eq!(sign_in("guess").await.status(), 401);
    assert_ne!(token.current(), first);
    assert_eq!(sign_in(&token.current()).await.status(), 204, "another browser");
}

#[tokio::test]
async fn a_browser_signs_in_and_out() {
    let server = RunningServer::start(with_tokens()).await;
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
    // A token in a cookie is not accepted.
    assert_eq!(status("/api/about", &format!("Cookie: prowess_session={ADMIN}")).await, 401);
    let out = ["DELETE /api/session HTTP/1.1", "Host: localhost", &cookies[1]];
    assert_eq!(server.status(&out).await, 204);
    assert_eq!(status("/api/about", &cookies[1]).await, 401, "an ended session is rejected");
    assert_eq!(status("/api/about", &cookies[0]).await, 200);
    // A form of another page cannot sign in, because it cannot send JSON.
    let host = format!("Host: localhost:{}", server.at.port());
    let lines = ["POST /api/session HTTP/1.1", &host, "Content-Type: text/plain", "Content-Length: 0"];
    assert_eq!(server.status(&lines).await, 415);
}
