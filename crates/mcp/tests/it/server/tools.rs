//! The tools that are offered, and what they answer.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prowess::Preset;
use prowess::policy::Scripts;
use serde_json::{Value, json};

use crate::world::stdio::Client;
use crate::world::{ROOT, World, error, pretty, root, schema};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

const PRESETS: [Preset; 6] =
    [Preset::Standard, Preset::App, Preset::SkillTool, Preset::Harness, Preset::Triggers, Preset::Chat];

async fn connected(world: &World) -> Client {
    Client::connected(&world.server(), "2025-11-25").await
}

fn files(world: &World, folder: &str) {
    world.skill(folder, "Read references/a.md.");
    world.file(&format!("{folder}/references/a.md"), "# A\n\u{1b}[31mred\u{1b}[0m\n");
    world.file(&format!("{folder}/assets/dot.png"), PNG);
    world.file(&format!("{folder}/assets/data.bin"), b"\xff\0\xfe");
}

#[tokio::test]
async fn each_preset_offers_its_own_tools() {
    for preset in PRESETS {
        for scripts in [Scripts::Ask, Scripts::Allowed] {
            let mut world = World::new(preset);
            world.policy.run.scripts = scripts;
            world.skill(&format!("{}/a", root(preset)), "Body.");
            let mut client = connected(&world).await;
            let result = client.result("tools/list", json!({})).await;
            let names: Vec<_> =
                result["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
            let runs = names.iter().any(|name| **name == "skills_run");
            assert_eq!(
                runs,
                scripts == Scripts::Allowed && names.contains(&&json!("skills_activate")),
                "{preset}"
            );
            if scripts == Scripts::Allowed {
                insta::assert_snapshot!(format!("tools_of_{preset}"), pretty(&result));
            }
        }
    }
}

#[tokio::test]
async fn nothing_is_offered_where_there_is_nothing() {
    let mut client = connected(&World::new(Preset::Standard)).await;
    assert_eq!(client.result("tools/list", json!({})).await["tools"], json!([]));
    let mut world = World::with(&["pdf"]);
    world.policy.enabled = false;
    let mut client = connected(&world).await;
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

/// What every tool answers is what its own schema says, and nothing that the schema does not speak of.
#[tokio::test]
async fn structured_results_keep_to_their_schemas() {
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
        let world = World::new(preset);
        files(&world, &format!("{}/a", root(preset)));
        let mut client = connected(&world).await;
        let tools = client.result("tools/list", json!({})).await;
        for (at, (tool, arguments)) in calls.iter().enumerate() {
            let listed = tools["tools"].as_array().unwrap().iter().find(|it| it["name"] == *tool).unwrap();
            assert_eq!(schema::wrong(&listed["inputSchema"], arguments), None);
            let result = client.call(tool, arguments.clone()).await;
            assert_ne!(result["isError"], true, "{result}");
            let problem = schema::wrong(&listed["outputSchema"], &result["structuredContent"]);
            assert_eq!(problem, None, "{tool} {arguments}: {result}");
            let shown = world.without_place(&pretty(&result));
            insta::assert_snapshot!(format!("{preset}_{tool}_{at}"), shown);
        }
    }
}

#[tokio::test]
async fn what_is_cut_is_said_to_be() {
    let world = World::with(&[]);
    world.skill(&format!("{ROOT}/long"), &"word ".repeat(100_000));
    world.file(&format!("{ROOT}/long/big.md"), "x".repeat(3 * 1024 * 1024));
    let mut client = connected(&world).await;
    let tools = client.result("tools/list", json!({})).await;
    for (tool, arguments) in [
        ("skills_activate", json!({"name": "long"})),
        ("skills_readResource", json!({"name": "long", "path": "big.md"})),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["structuredContent"]["truncated"], true, "{tool}");
        let listed = tools["tools"].as_array().unwrap().iter().find(|it| it["name"] == *tool).unwrap();
        assert_eq!(schema::wrong(&listed["outputSchema"], &result["structuredContent"]), None);
    }
}

#[tokio::test]
async fn a_picture_is_a_picture() {
    let world = World::with(&[]);
    files(&world, &format!("{ROOT}/a"));
    let mut client = connected(&world).await;
    let picture = client.call("skills_readResource", json!({"name": "a", "path": "assets/dot.png"})).await;
    let content = &picture["content"];
    assert_eq!(content.as_array().unwrap().len(), 1);
    assert_eq!((&content[0]["type"], &content[0]["mimeType"]), (&json!("image"), &json!("image/png")));
    assert_eq!(BASE64_STANDARD.decode(content[0]["data"].as_str().unwrap()).unwrap(), PNG);
    // Other bytes are no text and no picture.
    let refused = client.call("skills_readResource", json!({"name": "a", "path": "assets/data.bin"})).await;
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["_meta"]["prowess/error"]["code"], "BINARY_FILE");
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_an_error_of_the_call() {
    let world = World::with(&["a"]);
    let mut client = connected(&world).await;
    let mut said = Vec::new();
    for tool in ["nothing", "skills_activat", "Skill", "ReadFile", "", "\u{1b}[31m\u{202e}"] {
        let answer = client.request("tools/call", json!({"name": tool, "arguments": {"name": "a"}})).await;
        let (code, message) = error(&answer);
        assert_eq!(code, -32602, "{tool}: {message}");
        said.push(message.to_owned());
    }
    insta::assert_snapshot!(said.join("\n"));
    let long = client.request("tools/call", json!({"name": "x".repeat(1_000_000)})).await;
    assert!(error(&long).1.len() < 1000, "{} bytes are said back", error(&long).1.len());
}

#[tokio::test]
async fn wrong_arguments_are_the_answer_of_the_tool() {
    let world = World::with(&["a"]);
    let mut client = connected(&world).await;
    let mut said = Vec::new();
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
        assert!(text.as_str().unwrap().len() < 2000, "{} bytes are said back", text.as_str().unwrap().len());
        said.push(format!("{}: {}", error["code"].as_str().unwrap(), text.as_str().unwrap()));
    }
    insta::assert_snapshot!(said.join("\n"));
}
