//! The complete requests to each provider.

use crate::world::{StartConversation, World};
use prowess::Preset;
use prowess_config::ChatProvider;
use prowess_testing::model::speech::{ALL, answer, call, text};
use prowess_testing::model::{Reply, Server};
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
    let server = Server::start(steps.iter().map(|step| Reply::events(answer(provider, step)))).await;
    let world = World::new(preset).talking(provider, &server.base);
    world
        .skill("pdf", "Merge with care. See [a](a.md).")
        .file(&format!("{}/pdf/a.md", world.root()), "AAA\n");
    let mut talk = world.start();
    talk.send("/pdf merge these").await;
    talk.send("was that all?").await;
    let asked = server.asked();
    asked.iter().map(|asked| world.filtered(&serde_json::to_string_pretty(&asked.body).unwrap())).collect()
}

#[tokio::test]
async fn requests_to_each_provider() {
    for provider in ALL {
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
        let server = Server::start([Reply::events(answer(provider, &[text("ok")]))]).await;
        let world = World::new(preset).talking(provider, &server.base);
        world.skill("pdf", "Merge with care.");
        world.start().send("hello").await;
        let mut off = World::new(preset).talking(provider, &server.base);
        off.skill("pdf", "Merge with care.");
        off.chat.tools = prowess_config::ToolCalling::Off;
        off.start().send("hello").await;
        for (asked, world, tools) in [(0, &world, "with tools"), (1, &off, "without tools")] {
            let text = server.asked()[asked].body["messages"][0]["content"].as_str().unwrap().to_owned();
            prompts.push(format!("=== {preset}, {tools}\n{}", world.filtered(&text)));
        }
    }
    insta::assert_snapshot!(prompts.join("\n\n"));
}

#[tokio::test]
async fn every_step_has_the_same_prefix_so_that_caches_work() {
    for provider in ALL {
        let bodies = bodies(provider, Preset::Standard).await;
        let value = |at: usize| serde_json::from_str::<serde_json::Value>(&bodies[at]).unwrap();
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
