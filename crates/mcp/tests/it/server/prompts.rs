//! Prompts: skills that users call.

use serde_json::json;

use crate::support::stdio::StdioTestClient;
use crate::support::{SKILLS_DIR, TestHome, error_of, pretty};

#[tokio::test]
async fn prompts_are_listed_and_returned() {
    let home = TestHome::with_skills(&["plain"]);
    home.write_skill_with(
        &format!("{SKILLS_DIR}/fix"),
        "argument-hint: \"<file> [mode]\"\n",
        "Fix $ARGUMENTS[0] in $1 mode.",
    );
    home.write_skill_with(&format!("{SKILLS_DIR}/model-only"), "user-invocable: false\n", "Not for people.");
    home.write_skill_with(&format!("{SKILLS_DIR}/quiet"), "disable-model-invocation: true\n", "For people.");
    let mut client = StdioTestClient::connected(&home.server(), "2025-11-25").await;
    insta::assert_snapshot!("prompts_list", pretty(&client.result("prompts/list", json!({})).await));
    let got = client
        .result("prompts/get", json!({"name": "fix", "arguments": {"file": "a b.rs", "mode": "x"}}))
        .await;
    insta::assert_snapshot!("prompts_get", home.redact_path(&pretty(&got)));
    let mut report = Vec::new();
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
        let response = client.request("prompts/get", params).await;
        if response.get("error").is_some() {
            let (code, message) = error_of(&response);
            assert!(message.len() < 1000, "{} bytes in the message", message.len());
            report.push(format!("{code} {message}"));
        } else {
            report.push("ok".to_owned());
        }
    }
    insta::assert_snapshot!("prompts_that_are_wrong", report.join("\n"));
}

#[tokio::test]
async fn arguments_are_quoted() {
    let home = TestHome::with_skills(&[]);
    home.write_skill_with(
        &format!("{SKILLS_DIR}/say"),
        "argument-hint: \"[a] [b]\"\n",
        "A=$0 B=$1 ALL=$ARGUMENTS",
    );
    let mut client = StdioTestClient::connected(&home.server(), "2025-11-25").await;
    let mut texts = Vec::new();
    for arguments in [
        json!({"a": "it's; rm -rf /", "b": "$1 `x` \"y\""}),
        json!({"b": "only"}),
        json!({"args": "one two"}),
        json!({}),
    ] {
        let got = client.result("prompts/get", json!({"name": "say", "arguments": arguments})).await;
        let text = got["messages"][0]["content"]["text"].as_str().unwrap();
        texts.push(home.redact_path(text.lines().find(|line| line.contains("A=")).unwrap_or(text)));
    }
    insta::assert_snapshot!(texts.join("\n"));
}
