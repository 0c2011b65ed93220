//! Requirements of the founding documents about an agent, its turn and its prompt that fit nowhere else.

use crate::support::{StartConversation, TestConversation, TestEnv};
use prowess::Preset;
use prowess_chat::EndReason;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{ReplyPart, call, encode_reply, system_prompt, text, tool_results};
use prowess_testing::model::{ModelServer, Reply};
use serde_json::json;

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

async fn start_conversation(
    preset: Preset,
    steps: &[Vec<ReplyPart>],
) -> (TestEnv, TestConversation, ModelServer) {
    let server = ModelServer::start(steps.iter().map(|step| Reply::events(encode_reply(CHAT, step)))).await;
    let env = TestEnv::new(preset).with_provider(CHAT, &server.base);
    env.skill("report", "The BODY of report.");
    let conversation = env.start();
    (env, conversation, server)
}

#[tokio::test]
async fn s000_04_s000_05_s002_06_the_first_prompt_has_only_names_and_descriptions() {
    for preset in Preset::ALL {
        let (_env, mut conversation, server) = start_conversation(preset, &[vec![text("ok")]]).await;
        conversation.send("hello").await;
        let body = server.requests()[0].body.to_string();
        assert!(body.contains("Does report.") && !body.contains("BODY"), "{preset}: {body}");
    }
}

#[tokio::test]
async fn s000_16_an_added_skill_is_in_the_next_request_after_a_reload() {
    let (env, mut conversation, server) = start_conversation(Preset::App, &[vec![text("ok")]]).await;
    conversation.send("hello").await;
    env.skill("added", "x");
    conversation.send("hello").await;
    // As the server does after a skill is added, deleted or imported.
    let mut reloaded = env.start();
    reloaded.send("hello").await;
    let has: Vec<bool> =
        server.requests().iter().map(|request| system_prompt(CHAT, request).contains("added")).collect();
    assert_eq!(has, [false, false, true]);
}

#[tokio::test]
async fn s003_02_to_s003_05_the_tier_follows_the_message() {
    let server = ModelServer::start([Reply::events(encode_reply(CHAT, &[text("ok")]))]).await;
    let env = TestEnv::new(Preset::Triggers).with_provider(CHAT, &server.base);
    let mut conversation = env.start();
    conversation.send("deploy it").await;
    let trigger = "---\nname: ship\ndescription: Ships it. And more.\ntriggers:\n  keywords: [deploy]\n---\n\nThe BODY of ship.\n";
    env.file(".agent/skills/ship/SKILL.md", trigger);
    let mut conversation = env.start();
    for message in ["hello there", "what can you do?", "deploy it"] {
        conversation.send(message).await;
    }
    let prompts: Vec<String> = server.requests().iter().map(|request| system_prompt(CHAT, request)).collect();
    assert!(!prompts[0].contains("skill"), "tier 0: {}", prompts[0]);
    assert!(prompts[1].contains("[1 skill available]") && !prompts[1].contains("Ships it."), "tier 1");
    assert!(
        prompts[2].contains("- ship: Ships it.") && !prompts[2].contains("BODY"),
        "tier 2: {}",
        prompts[2]
    );
    assert!(prompts[3].contains("The BODY of ship."), "tier 3");
}

#[tokio::test]
async fn s004_11_s004_12_the_prompt_is_json_without_paths_with_rules_and_a_reminder() {
    let (env, mut conversation, server) = start_conversation(Preset::Chat, &[vec![text("ok")]]).await;
    conversation.send("hello").await;
    let prompt = system_prompt(CHAT, &server.requests()[0]);
    assert!(prompt.contains(r#"{"available_skills":[{"name":"report","description":"Does report."}]}"#));
    assert!(
        prompt.contains("skills_activate before you use its instructions") && prompt.contains("only when")
    );
    assert_eq!(env.redact(&prompt), prompt, "no paths");
    assert!(!prompt.contains(".skills"));
}

#[tokio::test]
async fn s004_20_a_card_has_the_name_and_a_truncation_flag_but_no_long_text() {
    let steps = [
        vec![
            call("c1", "skills_activate", json!({"name": "long"})),
            call("c2", "skills_readResource", json!({"name": "long", "path": "big.txt"})),
        ],
        vec![text("ok")],
    ];
    let (mut env, _, server) = start_conversation(Preset::Chat, &steps).await;
    env.policy.limits.skill_md_bytes = 20_000;
    env.policy.limits.resource_bytes = 20_000;
    env.skill("long", &"instruction ".repeat(5_000)).file(".skills/long/big.txt", "line\n".repeat(10_000));
    let mut conversation = env.start();
    conversation.send("go").await;
    let cards = conversation.results();
    assert_eq!((&cards[0].2["name"], &cards[0].2["truncated"]), (&json!("long"), &json!(true)));
    assert_eq!((&cards[1].2["path"], &cards[1].2["truncated"]), (&json!("big.txt"), &json!(true)));
    for (_, status, data) in &cards {
        assert_eq!(status, "partial");
        assert!(data.to_string().len() < 8_000);
        assert_eq!(env.redact(&data.to_string()), data.to_string(), "no paths");
    }
    // The model receives the whole result and a note about what is missing.
    let texts = tool_results(CHAT, &server.requests()[1]);
    assert!(texts.iter().all(|(_, text)| text.len() > 19_000 && text.contains("20000")), "s004_22");
}

#[tokio::test]
async fn s004_21_only_allowed_scripts_run() {
    let steps = [
        vec![
            call("c1", "skills_run", json!({"name": "report", "script": "scripts/x.sh"})),
            call("c2", "bash", json!({"command": "touch /tmp/x"})),
        ],
        vec![text("ok")],
    ];
    let (env, mut conversation, server) = start_conversation(Preset::Chat, &steps).await;
    env.file(".skills/report/scripts/x.sh", "#!/bin/sh\ntouch \"$0.ran\"\n");
    assert_eq!(conversation.send("run it").await.end, Ok(EndReason::Finished));
    let tools = server.requests()[0].body["tools"].to_string();
    assert!(!tools.contains("skills_run"));
    assert!(tool_results(CHAT, &server.requests()[1])[0].1.contains("scripts are not allowed to run"));
    assert!(conversation.results().iter().all(|(_, status, _)| status == "error"));
    assert!(!env.path(".skills/report/scripts/x.sh.ran").exists());
}
