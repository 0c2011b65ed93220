//! The complete requests to each provider.

use crate::support::{StartConversation, TestEnv};
use prowess::Preset;
use prowess_config::ChatProvider;
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::{PROVIDERS, call, text};
use serde_json::json;

/// Two turns: a mention and two tool calls, one of which fails; then a question.
async fn bodies(provider: ChatProvider, preset: Preset) -> Vec<String> {
    let steps = [
        vec![
            text("Let me see."),
            call("c1", "skills_readResource", json!({"name": "pdf", "path": "a.md"})),
            call("c2", "skills_readResource", json!({"name": "pdf", "path": "../x"})),
        ],
        vec![text("Done.")],
        vec![text("Yes.")],
    ];
    let server = ModelServer::scripted(provider, &steps).await;
    let env = TestEnv::new(preset).with_provider(provider, &server.base);
    env.skill("pdf", "Merge with care. See [a](a.md).").file(&format!("{}/pdf/a.md", env.root()), "AAA\n");
    let mut conversation = env.start();
    conversation.send("/pdf merge these").await;
    conversation.send("was that all?").await;
    let requests = server.requests();
    requests.iter().map(|request| env.redact(&serde_json::to_string_pretty(&request.body).unwrap())).collect()
}

#[tokio::test]
async fn requests_to_each_provider() {
    for provider in PROVIDERS {
        let bodies = bodies(provider, Preset::Chat).await;
        insta::assert_snapshot!(format!("{}_second_step", provider.as_str()), bodies[1]);
        insta::assert_snapshot!(format!("{}_second_turn", provider.as_str()), bodies[2]);
    }
}

#[tokio::test]
async fn the_system_prompt_of_every_preset() {
    let mut prompts = Vec::new();
    for preset in Preset::ALL {
        let provider = ChatProvider::OpenAiChat;
        let server = ModelServer::scripted(provider, &[vec![text("ok")]]).await;
        let env = TestEnv::new(preset).with_provider(provider, &server.base);
        env.skill("pdf", "Merge with care.");
        env.start().send("hello").await;
        let mut off = TestEnv::new(preset).with_provider(provider, &server.base);
        off.skill("pdf", "Merge with care.");
        off.chat.tools = prowess_config::ToolCalling::Off;
        off.start().send("hello").await;
        for (index, env, tools) in [(0, &env, "with tools"), (1, &off, "without tools")] {
            let text = server.requests()[index].body["messages"][0]["content"].as_str().unwrap().to_owned();
            prompts.push(format!("=== {preset}, {tools}\n{}", env.redact(&text)));
        }
    }
    insta::assert_snapshot!(prompts.join("\n\n"));
}

#[tokio::test]
async fn every_step_has_the_same_prefix_so_that_caches_work() {
    for provider in PROVIDERS {
        let bodies = bodies(provider, Preset::Standard).await;
        let value = |index: usize| serde_json::from_str::<serde_json::Value>(&bodies[index]).unwrap();
        let key = match provider {
            ChatProvider::Anthropic => "system",
            ChatProvider::OpenAi => "instructions",
            ChatProvider::OpenAiChat | ChatProvider::Rehearsal => "model",
        };
        assert_eq!(value(0)[key], value(1)[key]);
        assert_eq!(value(0)["tools"], value(1)["tools"]);
        let list = if provider == ChatProvider::OpenAi { "input" } else { "messages" };
        let (before, after) =
            (value(0)[list].as_array().unwrap().clone(), value(1)[list].as_array().unwrap().clone());
        assert_eq!(before[..], after[..before.len()]);
    }
}
