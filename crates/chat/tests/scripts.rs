//! Cancelling a turn ends everything that it started, scripts included.
//!
//! The sandbox starts this program again as its helper. The custom `main` handles that, and lists and runs tests like the
//! usual one.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "it/support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use prowess::Preset;
use prowess::policy::ScriptPolicy;
use prowess_chat::EndReason;
use prowess_chat::turn::Agent;
use prowess_config::ChatProvider;
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::{call, text, tool_results};
use prowess_testing::processes::count_processes;
use prowess_testing::wait::wait_until;
use serde_json::json;
use support::{StartConversation, TestConversation, TestEnv};

fn main() {
    prowess_testing::test_main::run_tests(&[
        ("a_script_runs_for_the_model", || wait(a_script_runs_for_the_model())),
        ("cancelling_ends_a_script", || wait(cancelling_ends_a_script())),
        ("dropping_a_turn_ends_a_script", || wait(dropping_a_turn_ends_a_script())),
    ]);
}

fn wait(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future);
}

/// Starts a conversation with a model that runs one script with this text.
async fn conversation_with_script(script: &str) -> (TestEnv, TestConversation, ModelServer) {
    let provider = ChatProvider::OpenAiChat;
    let steps =
        [vec![call("c1", "skills_run", json!({"name": "s", "script": "scripts/go.sh"}))], vec![text("done")]];
    let server = ModelServer::scripted(provider, &steps).await;
    let mut env = TestEnv::new(Preset::Standard).with_provider(provider, &server.base);
    env.policy.run.scripts = ScriptPolicy::Allowed;
    env.skill("s", "Run it.").file("~/.agents/skills/s/scripts/go.sh", script);
    let path = env.path("~/.agents/skills/s/scripts/go.sh");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let toolbox = Arc::new(env.toolbox_with_commands());
    let model = env.model(&toolbox);
    let conversation = TestConversation::new(Agent::new(toolbox, model, env.chat.limits));
    (env, conversation, server)
}

async fn a_script_runs_for_the_model() {
    let (_env, mut conversation, server) =
        conversation_with_script("#!/bin/sh\necho hello from the script\n").await;
    assert_eq!(conversation.send("run it").await.end, Ok(EndReason::Finished));
    let texts = tool_results(ChatProvider::OpenAiChat, &server.requests()[1]);
    assert_eq!(texts[0].1, "hello from the script\n", "{texts:?}");
}

async fn cancelling_ends_a_script() {
    let word = "3141592.6";
    let (_env, mut conversation, server) =
        conversation_with_script(&format!("#!/bin/sh\nsleep {word} &\nsleep {word}\n")).await;
    let cancel = conversation.cancel.clone();
    let later = async {
        wait_until(async || count_processes(word) >= 2).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(conversation.send("run it"), later);
    assert_eq!((outcome.end, conversation.end_reason().as_str()), (Ok(EndReason::Cancelled), "cancelled"));
    assert_eq!(count_processes(word), 0, "no process is left");
    assert_eq!(conversation.results()[0].1, "error", "the call has its result");
    assert_eq!(server.requests().len(), 1, "and the model is not asked again");
}

async fn dropping_a_turn_ends_a_script() {
    let word = "2718281.8";
    let (_env, mut conversation, _server) =
        conversation_with_script(&format!("#!/bin/sh\nsleep {word}\n")).await;
    tokio::select! {
        _ = conversation.send("run it") => panic!("the turn ended"),
        () = wait_until(async || count_processes(word) >= 1) => {}
    }
    wait_until(async || count_processes(word) == 0).await;
}
