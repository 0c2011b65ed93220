//! What is no message, and what is one with something wrong in it.

use serde_json::{Value, json};

use crate::world::stdio::Client;
use crate::world::{NEWEST, World, error};

async fn connected() -> (World, Client) {
    let world = World::with(&["a"]);
    let client = Client::connected(&world.server(), "2025-11-25").await;
    (world, client)
}

/// The next answer, with nobody's id.
async fn refusal(client: &mut Client) -> (Value, i64, String) {
    let answer = client.next().await.unwrap();
    let (code, message) = error(&answer);
    assert_eq!(answer["jsonrpc"], "2.0");
    (answer["id"].clone(), code, message.to_owned())
}

#[tokio::test]
async fn lines_that_are_no_message_are_answered() {
    let (_world, mut client) = connected().await;
    let mut said = Vec::new();
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
        client.line(line).await;
        let (id, code, message) = refusal(&mut client).await;
        said.push(format!("{line}\n  {code} {message} (to {id})"));
    }
    insta::assert_snapshot!(said.join("\n"));
    // Nothing of it has done any harm.
    assert_eq!(client.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn lines_that_say_nothing_are_passed_over() {
    let (_world, mut client) = connected().await;
    for line in ["", " ", "\t", "\r", "\u{feff}"] {
        client.line(line).await;
    }
    for line in [
        json!({"jsonrpc": "2.0", "id": 7, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "m"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/nobody/knows", "params": [1]}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}),
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
        json!({"jsonrpc": "2.0", "method": "tools/list"}),
    ] {
        client.line(line).await;
    }
    assert_eq!(client.result("ping", json!({})).await, json!({}));
    assert_eq!(client.notes, Vec::<Value>::new());
    // Windows ends its lines with two characters.
    client.say("{\"jsonrpc\":\"2.0\",\"id\":\"w\",\"method\":\"ping\"}\r\n").await;
    assert_eq!(client.answer("w").await["result"], json!({}));
    // The last line needs no end.
    client.say(r#"{"jsonrpc":"2.0","id":"l","method":"ping"}"#).await;
    let (rest, ended) = client.leave().await;
    ended.unwrap();
    assert_eq!(rest, [json!({"jsonrpc": "2.0", "id": "l", "result": {}})]);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_dropped_and_told_of() {
    let (_world, mut client) = connected().await;
    for _ in 0..3 {
        let chunk = vec![b'x'; 1024 * 1024];
        for _ in 0..5 {
            client.say(&chunk).await;
        }
        client.say("\n").await;
        let (id, code, message) = refusal(&mut client).await;
        assert_eq!((id, code, message.as_str()), (Value::Null, -32600, "a line has at most 4194304 bytes"));
    }
    // One that just fits is read.
    let blank = " ".repeat(4 * 1024 * 1024 - 64);
    client.line(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"big\",{blank}\"method\":\"ping\"}}")).await;
    assert_eq!(client.answer("big").await["result"], json!({}));
}

#[tokio::test]
async fn deep_nesting_overflows_nothing() {
    let (_world, mut client) = connected().await;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [100, 127, 1_000, 100_000] {
            let inner = if open == "[" { "" } else { "1" };
            let nested = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
            let call = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"tools/call\",\
                 \"params\":{{\"name\":\"skills_search\",\"arguments\":{{\"query\":{nested}}}}}}}"
            );
            client.line(call).await;
            let answer = client.next().await.unwrap();
            let is_answered = answer["result"]["isError"] == true || error(&answer).0 == -32700;
            assert!(is_answered, "{depth}: {answer}");
        }
    }
}

#[tokio::test]
async fn ids_are_given_back_as_they_came() {
    let (_world, mut client) = connected().await;
    for id in
        [json!(0), json!(-7), json!(i64::MAX), json!("text"), json!(""), json!("7"), json!("\u{1F600}\n")]
    {
        client.line(json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).await;
        assert_eq!(client.answer(id).await["result"], json!({}));
    }
}

/// Every method with parameters of every wrong shape: an error of the parameters, and never anything else.
#[tokio::test]
async fn wrong_parameters_are_named_as_such() {
    let world = World::with(&["a"]);
    let server = world.server();
    let mut client = Client::connected(&server, "2025-11-25").await;
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
    for (method, mut wrong) in methods {
        wrong.extend([json!([]), json!([1, 2]), json!("x"), json!(7), json!(true)]);
        let needs = !method.ends_with("/list");
        if needs {
            wrong.push(Value::Null);
        }
        for params in wrong {
            let answer = client.request(method, params.clone()).await;
            let (code, message) = error(&answer);
            assert!([-32602, -32600].contains(&code), "{method} {params}: {code} {message}");
            assert!(!message.is_empty() && message.len() < 500, "{method} {params}: {message}");
        }
        if needs {
            client.line(json!({"jsonrpc": "2.0", "id": method, "method": method})).await;
            assert_eq!(error(&client.answer(method).await).0, -32602, "{method} without parameters");
        }
    }
    // Where nothing is needed, nothing is missed.
    for method in
        ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "skills/list", "ping"]
    {
        client.line(json!({"jsonrpc": "2.0", "id": method, "method": method})).await;
        assert!(client.answer(method).await["result"].is_object(), "{method}");
    }
    for method in
        ["nothing/here", "", "tools", "tasks/get", "sampling/createMessage", "roots/list", "skills/delete"]
    {
        let answer = client.request(method, json!({})).await;
        assert_eq!(error(&answer).0, -32601, "{method}: {answer}");
    }
    let answer = client.request(&"m".repeat(1_000_000), json!({})).await;
    assert!(error(&answer).0 == -32601 && error(&answer).1.len() < 1000);
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused() {
    let world = World::with(&["a"]);
    let mut client = Client::inline(&world.server(), NEWEST);
    client.result("tools/list", json!({})).await;
    // Both lines are there before the first is answered: one of them is, and the other one is told why not, or both are.
    let search = |id: i64| {
        let params =
            crate::world::with_meta(json!({"name": "skills_search", "arguments": {"query": "a"}}), NEWEST);
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    for id in 100..120 {
        client.say(format!("{}\n{}\n", search(id), search(id))).await;
        let (one, two) = (client.next().await.unwrap(), client.next().await.unwrap());
        for answer in [one, two] {
            let refused = answer["id"].is_null() && error(&answer).0 == -32600;
            assert!(answer["id"] == id || refused, "{answer}");
        }
    }
}
