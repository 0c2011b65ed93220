//! Invalid messages, and messages with invalid parameters.

use serde_json::{Value, json};

use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, TestHome, error_of};

async fn connected() -> (TestHome, StdioTestClient) {
    let home = TestHome::with_skills(&["a"]);
    let client = StdioTestClient::connected(&home.server(), "2025-11-25").await;
    (home, client)
}

/// Returns the id, code and message of the next error response.
async fn next_error(client: &mut StdioTestClient) -> (Value, i64, String) {
    let response = client.next().await.unwrap();
    let (code, message) = error_of(&response);
    assert_eq!(response["jsonrpc"], "2.0");
    (response["id"].clone(), code, message.to_owned())
}

#[tokio::test]
async fn invalid_lines_get_an_error_response() {
    let (_env, mut client) = connected().await;
    let mut report = Vec::new();
    for line in [
        "{",
        "nonsense",
        "\u{feff}nonsense",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} trailing",
        "[]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
        "3",
        "null",
        "\"ping\"",
        "{}",
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        r#"{"jsonrpc":"2.0","method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
    ] {
        client.send_line(line).await;
        let (id, code, message) = next_error(&mut client).await;
        report.push(format!("{line}\n  {code} {message} (to {id})"));
    }
    insta::assert_snapshot!(report.join("\n"));
    // The session still works.
    assert_eq!(client.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn empty_lines_and_unexpected_messages_are_ignored() {
    let (_env, mut client) = connected().await;
    for line in ["", " ", "\t", "\r", "\u{feff}"] {
        client.send_line(line).await;
    }
    for line in [
        json!({"jsonrpc": "2.0", "id": 7, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "m"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/unknown", "params": [1]}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}),
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
        json!({"jsonrpc": "2.0", "method": "tools/list"}),
    ] {
        client.send_line(line).await;
    }
    assert_eq!(client.result("ping", json!({})).await, json!({}));
    assert_eq!(client.notifications, Vec::<Value>::new());
    // Lines may end in CRLF.
    client.send("{\"jsonrpc\":\"2.0\",\"id\":\"w\",\"method\":\"ping\"}\r\n").await;
    assert_eq!(client.response("w").await["result"], json!({}));
    // The last line needs no line break.
    client.send(r#"{"jsonrpc":"2.0","id":"l","method":"ping"}"#).await;
    let (rest, ended) = client.disconnect().await;
    ended.unwrap();
    assert_eq!(rest, [json!({"jsonrpc": "2.0", "id": "l", "result": {}})]);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_skipped_and_reported() {
    let (_env, mut client) = connected().await;
    for _ in 0..3 {
        let chunk = vec![b'x'; 1024 * 1024];
        for _ in 0..5 {
            client.send(&chunk).await;
        }
        client.send("\n").await;
        let (id, code, message) = next_error(&mut client).await;
        assert_eq!(
            (id, code, message.as_str()),
            (Value::Null, -32600, "a line can have at most 4194304 bytes")
        );
    }
    // A line of the maximum length is read.
    let blank = " ".repeat(4 * 1024 * 1024 - 64);
    client.send_line(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"big\",{blank}\"method\":\"ping\"}}")).await;
    assert_eq!(client.response("big").await["result"], json!({}));
}

#[tokio::test]
async fn deep_nesting_does_not_overflow_the_stack() {
    let (_env, mut client) = connected().await;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [100, 127, 1_000, 100_000] {
            let inner = if open == "[" { "" } else { "1" };
            let nested = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
            let call = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"tools/call\",\
                 \"params\":{{\"name\":\"skills_search\",\"arguments\":{{\"query\":{nested}}}}}}}"
            );
            client.send_line(call).await;
            let response = client.next().await.unwrap();
            let is_answered = response["result"]["isError"] == true || error_of(&response).0 == -32700;
            assert!(is_answered, "{depth}: {response}");
        }
    }
}

#[tokio::test]
async fn ids_are_returned_unchanged() {
    let (_env, mut client) = connected().await;
    for id in
        [json!(0), json!(-7), json!(i64::MAX), json!("text"), json!(""), json!("7"), json!("\u{1F600}\n")]
    {
        client.send_line(json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).await;
        assert_eq!(client.response(id).await["result"], json!({}));
    }
}

/// Sends invalid parameters of every shape to every method: only errors about parameters are allowed.
#[tokio::test]
async fn invalid_parameters_are_reported() {
    let home = TestHome::with_skills(&["a"]);
    let server = home.server();
    let mut client = StdioTestClient::connected(&server, "2025-11-25").await;
    let uri = || json!({"uri": 7});
    let methods: [(&str, Vec<Value>); 10] = [
        (
            "tools/call",
            vec![
                json!({}),
                json!({"name": 7}),
                json!({"name": "x", "arguments": [1]}),
                json!({"name": "x", "arguments": "a"}),
            ],
        ),
        ("resources/read", vec![json!({}), uri(), json!({"uri": null})]),
        ("resources/subscribe", vec![json!({}), uri()]),
        ("resources/unsubscribe", vec![json!({}), uri()]),
        ("resources/directory/read", vec![json!({}), uri(), json!({"uri": "skill://a", "cursor": 7})]),
        ("skills/get", vec![json!({}), uri()]),
        ("skills/list", vec![json!({"cursor": 7}), json!({"cursor": {}})]),
        ("prompts/get", vec![json!({}), json!({"name": 7}), json!({"name": "a", "arguments": "x"})]),
        (
            "completion/complete",
            vec![json!({}), json!({"ref": {"type": "ref/prompt"}}), json!({"ref": 7, "argument": 7})],
        ),
        ("logging/setLevel", vec![json!({}), json!({"level": "loud"}), json!({"level": 7})]),
    ];
    for (method, mut invalid) in methods {
        invalid.extend([json!([]), json!([1, 2]), json!("x"), json!(7), json!(true)]);
        let needs_params = !method.ends_with("/list");
        if needs_params {
            invalid.push(Value::Null);
        }
        for params in invalid {
            let response = client.request(method, params.clone()).await;
            let (code, message) = error_of(&response);
            assert!([-32602, -32600].contains(&code), "{method} {params}: {code} {message}");
            assert!(!message.is_empty() && message.len() < 500, "{method} {params}: {message}");
        }
        if needs_params {
            client.send_line(json!({"jsonrpc": "2.0", "id": method, "method": method})).await;
            assert_eq!(error_of(&client.response(method).await).0, -32602, "{method} without parameters");
        }
    }
    // Methods without required parameters accept none.
    for method in
        ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "skills/list", "ping"]
    {
        client.send_line(json!({"jsonrpc": "2.0", "id": method, "method": method})).await;
        assert!(client.response(method).await["result"].is_object(), "{method}");
    }
    for method in
        ["nothing/here", "", "tools", "tasks/get", "sampling/createMessage", "roots/list", "skills/delete"]
    {
        let response = client.request(method, json!({})).await;
        assert_eq!(error_of(&response).0, -32601, "{method}: {response}");
    }
    let response = client.request(&"m".repeat(1_000_000), json!({})).await;
    assert!(error_of(&response).0 == -32601 && error_of(&response).1.len() < 1000);
}

#[tokio::test]
async fn an_id_that_is_in_use_is_rejected() {
    let home = TestHome::with_skills(&["a"]);
    let mut client = StdioTestClient::stateless(&home.server(), NEWEST_VERSION);
    client.result("tools/list", json!({})).await;
    // Both lines arrive before the first response: both are answered, or one of them is rejected.
    let search = |id: i64| {
        let params = crate::support::with_meta(
            json!({"name": "skills_search", "arguments": {"query": "a"}}),
            NEWEST_VERSION,
        );
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    for id in 100..120 {
        client.send(format!("{}\n{}\n", search(id), search(id))).await;
        let (first, second) = (client.next().await.unwrap(), client.next().await.unwrap());
        for response in [first, second] {
            let is_rejected = response["id"].is_null() && error_of(&response).0 == -32600;
            assert!(response["id"] == id || is_rejected, "{response}");
        }
    }
}
