//! What each provider is sent, whole.

use crate::world::{Talks, World};
use prowess::Preset;
use prowess_config::Provider;
use prowess_testing::model::speech::{ALL, answer, call, text};
use prowess_testing::model::{Reply, Server};
use serde_json::json;

/// Two turns: a skill is called by name, two more tools are called at once, one of them in vain; then a question.
async fn bodies(provider: Provider, preset: Preset) -> Vec<String> {
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
    talk.say("/pdf merge these").await;
    talk.say("was that all?").await;
    let asked = server.asked();
    asked.iter().map(|asked| world.filtered(&serde_json::to_string_pretty(&asked.body).unwrap())).collect()
}

#[tokio::test]
async fn what_each_provider_is_sent() {
    for provider in ALL {
        let bodies = bodies(provider, Preset::Chat).await;
        insta::assert_snapshot!(format!("{}_second_step", provider.as_str()), bodies[1]);
        insta::assert_snapshot!(format!("{}_second_turn", provider.as_str()), bodies[2]);
    }
}

#[tokio::test]
async fn what_is_told_before_everything_else_in_every_preset() {
    let mut prompts = Vec::new();
    for preset in Preset::ALL {
        let provider = Provider::OpenAiChat;
        let server = Server::start([Reply::events(answer(provider, &[text("ok")]))]).await;
        let world = World::new(preset).talking(provider, &server.base);
        world.skill("pdf", "Merge with care.");
        world.start().say("hello").await;
        let mut off = World::new(preset).talking(provider, &server.base);
        off.skill("pdf", "Merge with care.");
        off.chat.tools = prowess_config::ToolCalling::Off;
        off.start().say("hello").await;
        for (asked, world, tools) in [(0, &world, "with tools"), (1, &off, "without tools")] {
            let text = server.asked()[asked].body["messages"][0]["content"].as_str().unwrap().to_owned();
            prompts.push(format!("=== {preset}, {tools}\n{}", world.filtered(&text)));
        }
    }
    insta::assert_snapshot!(prompts.join("\n\n"));
}

#[tokio::test]
async fn a_model_is_shown_the_same_beginning_in_every_step_so_that_caches_hold() {
    for provider in ALL {
        let bodies = bodies(provider, Preset::Standard).await;
        let value = |at: usize| serde_json::from_str::<serde_json::Value>(&bodies[at]).unwrap();
        let key = match provider {
            Provider::Anthropic => "system",
            Provider::OpenAi => "instructions",
            Provider::OpenAiChat | Provider::Rehearsal => "model",
        };
        assert_eq!(value(0)[key], value(1)[key]);
        assert_eq!(value(0)["tools"], value(1)["tools"]);
        let list = if provider == Provider::OpenAi { "input" } else { "messages" };
        let (before, after) =
            (value(0)[list].as_array().unwrap().clone(), value(1)[list].as_array().unwrap().clone());
        assert_eq!(before[..], after[..before.len()]);
    }
}
