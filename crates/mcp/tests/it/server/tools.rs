//! The available tools and their results.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prowess::Preset;
use prowess::policy::ScriptPolicy;
use serde_json::{Value, json};

use crate::support::stdio::StdioTestClient;
use crate::support::{SKILLS_DIR, TestHome, error_of, pretty, schema, skills_dir};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

const PRESETS: [Preset; 6] =
    [Preset::Standard, Preset::App, Preset::SkillTool, Preset::Harness, Preset::Triggers, Preset::Chat];

async fn connected(home: &TestHome) -> StdioTestClient {
    StdioTestClient::connected(&home.server(), "2025-11-25").await
}

fn add_files(home: &TestHome, dir: &str) {
    home.write_skill(dir, "Read references/a.md.");
    home.write_file(&format!("{dir}/references/a.md"), "# A\n\u{1b}[31mred\u{1b}[0m\n");
    home.write_file(&format!("{dir}/assets/dot.png"), PNG);
    home.write_file(&format!("{dir}/assets/data.bin"), b"\xff\0\xfe");
}

#[tokio::test]
async fn each_preset_has_its_own_tools() {
    for preset in PRESETS {
        for scripts in [ScriptPolicy::Ask, ScriptPolicy::Allowed] {
            let mut home = TestHome::new(preset);
            home.policy.run.scripts = scripts;
            home.write_skill(&format!("{}/a", skills_dir(preset)), "Body.");
            let mut client = connected(&home).await;
            let result = client.result("tools/list", json!({})).await;
            let names: Vec<_> =
                result["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
            let has_run = names.iter().any(|name| **name == "skills_run");
            assert_eq!(
                has_run,
                scripts == ScriptPolicy::Allowed && names.contains(&&json!("skills_activate")),
                "{preset}"
            );
            if scripts == ScriptPolicy::Allowed {
                insta::assert_snapshot!(format!("tools_of_{preset}"), pretty(&result));
            }
        }
    }
}

#[tokio::test]
async fn without_skills_there_are_no_tools() {
    let mut client = connected(&TestHome::new(Preset::Standard)).await;
    assert_eq!(client.result("tools/list", json!({})).await["tools"], json!([]));
    let mut home = TestHome::with_skills(&["pdf"]);
    home.policy.enabled = false;
    let mut client = connected(&home).await;
    for (method, list) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("skills/list", "skills"),
    ] {
        assert_eq!(client.result(method, json!({})).await[list], json!([]), "{method}");
    }
    let uri = json!({"uri": "skill://pdf/SKILL.md"});
    for method in ["resources/read", "skills/get", "resources/directory/read"] {
        assert!(client.request(method, uri.clone()).await["error"].is_object(), "{method}");
    }
}

/// Every result matches the schema of its tool, and contains nothing that the schema does not describe.
#[tokio::test]
async fn structured_results_match_their_schemas() {
    let calls: [(Preset, &[(&str, Value)]); 4] = [
        (
            Preset::Standard,
            &[
                ("skills_activate", json!({"name": "a"})),
                ("skills_activate", json!({"name": "a"})),
                ("skills_readResource", json!({"name": "a", "path": "references/a.md"})),
                ("skills_readResource", json!({"name": "a", "path": "assets/dot.png"})),
                ("skills_listResources", json!({"name": "a"})),
                ("skills_search", json!({"query": "does a"})),
                ("skills_search", json!({"query": "zzz", "k": 1})),
            ],
        ),
        (Preset::Chat, &[("skills_activate", json!({"name": "a"}))]),
        (Preset::SkillTool, &[("Skill", json!({"name": "a", "args": "x"})), ("Skill", json!({"name": "a"}))]),
        (Preset::App, &[("ReadFile", json!({"path": ".agents/skills/a/SKILL.md"}))]),
    ];
    for (preset, calls) in calls {
        let home = TestHome::new(preset);
        add_files(&home, &format!("{}/a", skills_dir(preset)));
        let mut client = connected(&home).await;
        let tools = client.result("tools/list", json!({})).await;
        for (index, (tool, arguments)) in calls.iter().enumerate() {
            let listed = tools["tools"]
                .as_array()
                .unwrap()
                .iter()
                .find(|tool_entry| tool_entry["name"] == *tool)
                .unwrap();
            assert_eq!(schema::violation(&listed["inputSchema"], arguments), None);
            let result = client.call(tool, arguments.clone()).await;
            assert_ne!(result["isError"], true, "{result}");
            let problem = schema::violation(&listed["outputSchema"], &result["structuredContent"]);
            assert_eq!(problem, None, "{tool} {arguments}: {result}");
            let shown = home.redact_path(&pretty(&result));
            insta::assert_snapshot!(format!("{preset}_{tool}_{index}"), shown);
        }
    }
}

#[tokio::test]
async fn truncated_results_are_marked() {
    let home = TestHome::with_skills(&[]);
    home.write_skill(&format!("{SKILLS_DIR}/long"), &"word ".repeat(100_000));
    home.write_file(&format!("{SKILLS_DIR}/long/big.md"), "x".repeat(3 * 1024 * 1024));
    let mut client = connected(&home).await;
    let tools = client.result("tools/list", json!({})).await;
    for (tool, arguments) in [
        ("skills_activate", json!({"name": "long"})),
        ("skills_readResource", json!({"name": "long", "path": "big.md"})),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["structuredContent"]["truncated"], true, "{tool}");
        let listed =
            tools["tools"].as_array().unwrap().iter().find(|tool_entry| tool_entry["name"] == *tool).unwrap();
        assert_eq!(schema::violation(&listed["outputSchema"], &result["structuredContent"]), None);
    }
}

#[tokio::test]
async fn an_image_is_returned_as_image_content() {
    let home = TestHome::with_skills(&[]);
    add_files(&home, &format!("{SKILLS_DIR}/a"));
    let mut client = connected(&home).await;
    let result = client.call("skills_readResource", json!({"name": "a", "path": "assets/dot.png"})).await;
    let content = &result["content"];
    assert_eq!(content.as_array().unwrap().len(), 1);
    assert_eq!((&content[0]["type"], &content[0]["mimeType"]), (&json!("image"), &json!("image/png")));
    assert_eq!(BASE64_STANDARD.decode(content[0]["data"].as_str().unwrap()).unwrap(), PNG);
    // Other binary files are rejected.
    let rejected = client.call("skills_readResource", json!({"name": "a", "path": "assets/data.bin"})).await;
    assert_eq!(rejected["isError"], true);
    assert_eq!(rejected["_meta"]["prowess/error"]["code"], "BINARY_FILE");
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_request() {
    let home = TestHome::with_skills(&["a"]);
    let mut client = connected(&home).await;
    let mut report = Vec::new();
    for tool in ["nothing", "skills_activat", "Skill", "ReadFile", "", "\u{1b}[31m\u{202e}"] {
        let response = client.request("tools/call", json!({"name": tool, "arguments": {"name": "a"}})).await;
        let (code, message) = error_of(&response);
        assert_eq!(code, -32602, "{tool}: {message}");
        report.push(message.to_owned());
    }
    insta::assert_snapshot!(report.join("\n"));
    let long = client.request("tools/call", json!({"name": "x".repeat(1_000_000)})).await;
    assert!(error_of(&long).1.len() < 1000, "{} bytes in the message", error_of(&long).1.len());
}

#[tokio::test]
async fn invalid_arguments_are_errors_of_the_tool() {
    let home = TestHome::with_skills(&["a"]);
    let mut client = connected(&home).await;
    let mut report = Vec::new();
    for (tool, arguments) in [
        ("skills_activate", json!({})),
        ("skills_activate", json!({"name": "b"})),
        ("skills_activate", json!({"name": 1})),
        ("skills_activate", json!({"name": "a", "more": 1})),
        ("skills_readResource", json!({"name": "a", "path": "../../x"})),
        ("skills_readResource", json!({"name": "a", "path": "none.md"})),
        ("skills_search", json!({"query": "q", "k": -1})),
        ("skills_search", json!({"query": "q", "k": 10_000})),
        ("skills_run", json!({"name": "a", "script": "x.sh"})),
        ("skills_activate", json!({"name": "x".repeat(100_000)})),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(result.get("structuredContent").is_none());
        let (text, error) = (&result["content"][0]["text"], &result["_meta"]["prowess/error"]);
        assert_eq!(*text, error["message"]);
        assert!(text.as_str().unwrap().len() < 2000, "{} bytes in the message", text.as_str().unwrap().len());
        report.push(format!("{}: {}", error["code"].as_str().unwrap(), text.as_str().unwrap()));
    }
    insta::assert_snapshot!(report.join("\n"));
}
