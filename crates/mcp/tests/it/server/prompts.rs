//! Skills that people call by name.

use serde_json::json;

use crate::world::stdio::Client;
use crate::world::{ROOT, World, error, pretty};

#[tokio::test]
async fn prompts_are_listed_and_got() {
    let world = World::with(&["plain"]);
    world.skill_with(
        &format!("{ROOT}/fix"),
        "argument-hint: \"<file> [mode]\"\n",
        "Fix $ARGUMENTS[0] in $1 mode.",
    );
    world.skill_with(&format!("{ROOT}/model-only"), "user-invocable: false\n", "Not for people.");
    world.skill_with(&format!("{ROOT}/quiet"), "disable-model-invocation: true\n", "For people.");
    let mut client = Client::connected(&world.server(), "2025-11-25").await;
    insta::assert_snapshot!("prompts_list", pretty(&client.result("prompts/list", json!({})).await));
    let got = client
        .result("prompts/get", json!({"name": "fix", "arguments": {"file": "a b.rs", "mode": "x"}}))
        .await;
    insta::assert_snapshot!("prompts_get", world.without_place(&pretty(&got)));
    let mut said = Vec::new();
    for params in [
        json!({"name": "none"}),
        json!({"name": "model-only"}),
        json!({"name": ""}),
        json!({"name": "n".repeat(100_000)}),
        json!({"name": "fix"}),
        json!({"name": "fix", "arguments": {"file": ""}}),
        json!({"name": "fix", "arguments": {"other": "x", "file": "y"}}),
        json!({"name": "fix", "arguments": {"file": 1}}),
        json!({"name": "fix", "arguments": {"file": "x".repeat(10)}, "more": {}}),
        json!({"name": "fix", "arguments": {"file": ["x".repeat(100_000)]}}),
        json!({"name": "fix", "arguments": {"x".repeat(100_000): "y"}}),
        json!({"name": 7}),
        json!({}),
    ] {
        let answer = client.request("prompts/get", params).await;
        if answer.get("error").is_some() {
            let (code, message) = error(&answer);
            assert!(message.len() < 1000, "{} bytes are said back", message.len());
            said.push(format!("{code} {message}"));
        } else {
            said.push("got".to_owned());
        }
    }
    insta::assert_snapshot!("prompts_that_are_wrong", said.join("\n"));
}

#[tokio::test]
async fn what_a_person_typed_stays_one_argument() {
    let world = World::with(&[]);
    world.skill_with(&format!("{ROOT}/say"), "argument-hint: \"[a] [b]\"\n", "A=$0 B=$1 ALL=$ARGUMENTS");
    let mut client = Client::connected(&world.server(), "2025-11-25").await;
    let mut texts = Vec::new();
    for arguments in [
        json!({"a": "it's; rm -rf /", "b": "$1 `x` \"y\""}),
        json!({"b": "only"}),
        json!({"args": "one two"}),
        json!({}),
    ] {
        let got = client.result("prompts/get", json!({"name": "say", "arguments": arguments})).await;
        let text = got["messages"][0]["content"]["text"].as_str().unwrap();
        texts.push(world.without_place(text.lines().find(|line| line.contains("A=")).unwrap_or(text)));
    }
    insta::assert_snapshot!(texts.join("\n"));
}
