//! Setting up a model from the page.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use crate::running_server::{ADMIN, RunningServer, USER, with_tokens};
use prowess_server::ServerOptions;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const KEY: &str = "sk-entered-0123456789";

/// A provider that lists models for requests with the key, and records the keys that it gets.
async fn provider() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let keys = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&keys);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = vec![0; 8192];
            let length = stream.read(&mut bytes).await.unwrap_or_default();
            let request = String::from_utf8_lossy(&bytes[..length]).to_ascii_lowercase();
            let key = request.lines().find_map(|line| line.strip_prefix("authorization: bearer "));
            seen.lock().unwrap().push(key.unwrap_or_default().to_owned());
            let (status, body) = match key {
                Some(KEY) if request.starts_with("get /v1/models ") => {
                    ("200 OK", r#"{"data":[{"id":"large"},{"id":"small"},{"id":"bad\u0007name"}]}"#)
                }
                Some(_) if request.starts_with("get /v1/models ") => ("401 Unauthorized", "{}"),
                _ => ("404 Not Found", "{}"),
            };
            let response = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(response.as_bytes()).await;
        }
    });
    (base, keys)
}

async fn put(server: &RunningServer, body: &Value) -> (StatusCode, Value) {
    let response = server.http.put(server.url("/api/model")).json(body).send().await.unwrap();
    (response.status(), response.json().await.unwrap())
}

async fn test(server: &RunningServer, body: &Value) -> Value {
    server.post("/api/model/test", body).await.json().await.unwrap()
}

#[tokio::test]
async fn a_model_is_tested_and_in_force_at_once() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let (base, _) = provider().await;
    let mut request = json!({"provider": "openai-chat", "base_url": base, "key": KEY});
    let tested = test(&server, &request).await;
    assert_eq!(tested, json!({"schema": 1, "ok": true, "message": null, "models": ["large", "small"]}));
    assert_eq!(server.get("/api/about").await.json::<Value>().await.unwrap()["is_model"], false);
    request["model"] = "large".into();
    let (status, stored) = put(&server, &request).await;
    assert_eq!(status, StatusCode::OK, "{stored}");
    let expected =
        json!({"schema": 1, "provider": "openai-chat", "base_url": base, "model": "large", "key": "file"});
    assert_eq!(stored, expected);
    let about: Value = server.get("/api/about").await.json().await.unwrap();
    assert_eq!((&about["is_model"], &about["model"]), (&json!(true), &json!("large")));
    // The key is in a private file, and nowhere else.
    let dir = server.temp_dir.path().join("home/.prowess");
    let keys: Vec<_> =
        std::fs::read_dir(dir.join("keys")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(keys.len(), 1);
    assert_eq!(std::fs::metadata(&keys[0]).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(&keys[0]).unwrap().trim(), KEY);
    assert!(!std::fs::read_to_string(dir.join("config.toml")).unwrap().contains(KEY));
    for path in ["/api/model", "/api/settings", "/api/about"] {
        assert!(!server.get(path).await.text().await.unwrap().contains(KEY), "{path}");
    }
    // Another key replaces the file; another model keeps it.
    let (status, _) =
        put(&server, &json!({"provider": "openai-chat", "base_url": base, "model": "small"})).await;
    assert_eq!((status, keys[0].exists()), (StatusCode::OK, true));
    request["key"] = "sk-other".into();
    assert_eq!(put(&server, &request).await.0, StatusCode::OK);
    assert!(!keys[0].exists());
    assert_eq!(std::fs::read_dir(dir.join("keys")).unwrap().count(), 1);
}

/// A page that could change the address alone could steal the key.
#[tokio::test]
async fn a_stored_key_is_never_sent_to_another_address() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let ((base, _), (other, stolen)) = (provider().await, provider().await);
    let request = json!({"provider": "openai-chat", "base_url": base, "key": KEY, "model": "large"});
    assert_eq!(put(&server, &request).await.0, StatusCode::OK);
    assert_eq!(test(&server, &json!({"provider": "openai-chat", "base_url": base})).await["ok"], true);
    let tested = test(&server, &json!({"provider": "openai-chat", "base_url": other})).await;
    assert_eq!(tested["ok"], false, "{tested}");
    let (status, stored) =
        put(&server, &json!({"provider": "openai-chat", "base_url": other, "model": "large"})).await;
    assert_eq!((status, &stored["key"]), (StatusCode::OK, &json!("none")));
    let chat = server.chat().await;
    server
        .post(&format!("/api/chats/{chat}/messages"), &json!({"text": "hello"}))
        .await
        .text()
        .await
        .unwrap();
    let stolen = stolen.lock().unwrap().clone();
    assert!(stolen.len() >= 2 && stolen.iter().all(String::is_empty), "{stolen:?}");
}

#[tokio::test]
async fn mistakes_are_named_by_field() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let (base, _) = provider().await;
    let mut seen = Vec::new();
    for body in [
        json!({"provider": "rehearsal"}),
        json!({"provider": "anthropic", "model": "x"}),
        json!({"provider": "anthropic", "key": "two words", "model": "x"}),
        json!({"provider": "openai-chat", "base_url": "http://models.example/v1", "model": "x"}),
        json!({"provider": "openai-chat", "base_url": "not an address", "model": "x"}),
        json!({"provider": "openai-chat", "base_url": base}),
        json!({"provider": "openai", "secret": 1}),
    ] {
        let (status, problem) = put(&server, &body).await;
        seen.push(format!("{} {} {}", status.as_u16(), problem["errors"][0]["field"], problem["detail"]));
    }
    for body in [
        json!({"provider": "openai-chat", "base_url": base, "key": "sk-wrong"}),
        json!({"provider": "openai-chat", "base_url": base.replace("/v1", "/elsewhere"), "key": KEY}),
        json!({"provider": "openai-chat", "base_url": "http://127.0.0.1:9/v1", "key": KEY}),
    ] {
        let tested = test(&server, &body).await;
        assert!(!tested.to_string().contains(KEY) && !tested.to_string().contains("sk-wrong"));
        seen.push(
            tested["message"]
                .as_str()
                .unwrap()
                .replace(&base, "BASE")
                .replace(&base.replace("/v1", ""), "ORIGIN"),
        );
    }
    insta::assert_snapshot!(seen.join("\n"));
    assert!(!server.temp_dir.path().join("home/.prowess/keys").exists());
}

#[tokio::test]
async fn only_administrators_see_and_change_the_model() {
    let server = RunningServer::start(with_tokens()).await;
    for (token, status) in [(USER, StatusCode::FORBIDDEN), (ADMIN, StatusCode::OK)] {
        for path in ["/api/model", "/api/model/local"] {
            let response = server.http.get(server.url(path)).bearer_auth(token).send().await.unwrap();
            assert_eq!(response.status(), status, "{path}");
        }
    }
    let body = json!({"provider": "openai", "key": KEY, "model": "x"});
    let response =
        server.http.put(server.url("/api/model")).bearer_auth(USER).json(&body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
}
