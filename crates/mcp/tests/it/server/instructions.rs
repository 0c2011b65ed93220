//! The instructions, for clients that show their models all, the beginning or nothing of them.

use prowess::Preset;
use prowess_mcp::McpServerOptions;
use serde_json::{Value, json};

use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, SKILLS_DIR, TestHome, initialize_params, skills_dir};

/// Creates skills whose catalog is longer than any limit.
fn large_home(description: &str) -> TestHome {
    let home = TestHome::new(Preset::Standard);
    for number in 0..300 {
        let text = format!("---\nname: s-{number:03}\ndescription: {description} {number}.\n---\nx\n");
        home.write_file(&format!("{SKILLS_DIR}/s-{number:03}/SKILL.md"), text);
    }
    home
}

/// Returns the instructions for a client with this name and version.
async fn instructions(home: &TestHome, options: McpServerOptions, name: &str, version: &str) -> String {
    let mut client = StdioTestClient::unconnected(&home.server_with_options(options));
    let mut params = initialize_params("2025-11-25");
    params["clientInfo"] = json!({"name": name, "version": version});
    let response = client.request("initialize", params).await;
    text_of(&response)
}

fn text_of(response: &Value) -> String {
    response["result"]["instructions"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

/// Counts as JavaScript does.
fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

#[tokio::test]
async fn each_client_gets_what_its_model_sees() {
    let home = large_home("Reads and writes files of the kind");
    for (name, version, max) in [
        ("claude-code", "2.1.326", 4_096),
        ("claude-code", "3.0.0", 4_096),
        ("claude-code", "2.0.1", 2_048),
        ("claude-code", "unknown", 2_048),
        ("codex-mcp-client", "0.169.0", 8_000),
        ("gemini-cli-mcp-client", "0.61.0", 8_000),
        ("opencode", "1.18.34", 8_000),
        ("qwen-cli-mcp-client-prowess", "0.0.1", 8_000),
        ("copilot-cli", "1.0.102", 8_000),
        ("factory-cli", "0.225.2", 8_000),
        ("unknown-client", "1", 8_000),
    ] {
        let text = instructions(&home, McpServerOptions::default(), name, version).await;
        assert!(length(&text) <= max && length(&text) > max * 3 / 4, "{name} {version}: {}", length(&text));
        let (rules, list) = text.split_once("<available_skills>").unwrap();
        assert!(
            rules.contains("skills_activate") && rules.contains("left out with skills_search"),
            "{rules}"
        );
        assert!(list.contains("</available_skills>"), "the list is complete");
    }
}

#[tokio::test]
async fn the_rule_and_the_cuts_precede_the_list() {
    let home = large_home("Reads files of the kind");
    let options = McpServerOptions { instructions_chars: Some(900), ..McpServerOptions::default() };
    insta::assert_snapshot!(instructions(&home, options, "test", "1").await);
}

#[tokio::test]
async fn nothing_is_said_about_cuts_if_there_are_none() {
    let home = TestHome::with_skills(&["pdf"]);
    let text = instructions(&home, McpServerOptions::default(), "claude-code", "2.0.1").await;
    assert!(!text.contains("Cut to fit") && !text.contains("skills_search"), "{text}");
}

#[tokio::test]
async fn the_setting_takes_precedence_over_the_client() {
    let home = large_home("Reads files of the kind");
    for max in [1_000, 6_000] {
        let options = McpServerOptions { instructions_chars: Some(max), ..McpServerOptions::default() };
        let text = instructions(&home, options, "claude-code", "2.1.326").await;
        let max = max as usize;
        assert!(length(&text) <= max && length(&text) > max * 3 / 4, "{max}: {}", length(&text));
    }
    let options = McpServerOptions { instructions_chars: Some(0), ..McpServerOptions::default() };
    let mut client = StdioTestClient::unconnected(&home.server_with_options(options));
    let response = client.request("initialize", initialize_params("2025-11-25")).await;
    assert_eq!(response["result"]["instructions"], Value::Null);
}

/// A character outside of the basic plane counts twice.
#[tokio::test]
async fn clients_count_code_units() {
    let home = large_home(&"😀".repeat(60));
    let text = instructions(&home, McpServerOptions::default(), "claude-code", "2.1.326").await;
    assert!(length(&text) <= 4_096 && text.contains("</available_skills>"), "{}", length(&text));
}

#[tokio::test]
async fn clients_without_a_handshake_are_recognized_too() {
    let home = large_home("Reads files of the kind");
    let mut client = StdioTestClient::stateless(&home.server(), NEWEST_VERSION);
    let client_info = json!({"name": "claude-code", "version": "2.1.326"});
    let meta = json!({"_meta": {"io.modelcontextprotocol/clientInfo": client_info}});
    let text = text_of(&client.request("server/discover", meta).await);
    assert!(length(&text) <= 4_096 && length(&text) > 3_000, "{}", length(&text));
}

/// In presets without a search, the note is the same as in the system prompt.
#[tokio::test]
async fn only_tools_that_exist_are_named() {
    for preset in [Preset::App, Preset::SkillTool, Preset::Chat] {
        let home = TestHome::new(preset);
        for number in 0..200 {
            home.write_skill(&format!("{}/s-{number:03}", skills_dir(preset)), "x");
        }
        let options = McpServerOptions { instructions_chars: Some(2_000), ..McpServerOptions::default() };
        let text = instructions(&home, options, "test", "1").await;
        assert!(length(&text) <= 2_000, "{preset}: {}", length(&text));
        assert!(text.contains("Cut to fit") && !text.contains("skills_search"), "{preset}: {text}");
    }
}
