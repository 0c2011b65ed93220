//! Cancelling a turn ends everything that it started, scripts included.
//!
//! The sandbox starts this program again as its helper. The custom `main` handles that, and lists and runs tests like the
//! usual one.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "it/support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use prowess::policy::ScriptPolicy;
use prowess::{Preset, Registry, ScanProgress};
use prowess_chat::EndReason;
use prowess_chat::turn::Agent;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{call, encode_reply, text, tool_results};
use prowess_testing::model::{ModelServer, Reply};
use prowess_tools::Toolbox;
use serde_json::json;
use support::{StartConversation, TestConversation, TestEnv};

fn main() {
    prowess_sandbox::helper_main();
    let tests: [(&str, fn()); 3] = [
        ("a_script_runs_for_the_model", || wait(a_script_runs_for_the_model())),
        ("cancelling_ends_a_script", || wait(cancelling_ends_a_script())),
        ("dropping_a_turn_ends_a_script", || wait(dropping_a_turn_ends_a_script())),
    ];
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--list") {
        let listed = tests.iter().filter(|_| !has("--ignored"));
        return listed.for_each(|(name, _)| println!("{name}: test"));
    }
    let filters: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |name: &str| {
        let is =
            |filter: &&String| if has("--exact") { name == **filter } else { name.contains(filter.as_str()) };
        filters.is_empty() || filters.iter().any(is)
    };
    let mut count = 0;
    for (name, test) in tests.into_iter().filter(|(name, _)| is_wanted(name)) {
        test();
        println!("test {name} ... ok");
        count += 1;
    }
    println!("\ntest result: ok. {count} passed; 0 failed");
}

fn wait(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future);
}

/// Starts a conversation with a model that runs one script with this text.
async fn conversation_with_script(script: &str) -> (TestEnv, TestConversation, ModelServer) {
    let provider = ChatProvider::OpenAiChat;
    let steps =
        [vec![call("c1", "skills_run", json!({"name": "s", "script": "scripts/go.sh"}))], vec![text("done")]];
    let server =
        ModelServer::start(steps.iter().map(|step| Reply::events(encode_reply(provider, step)))).await;
    let mut env = TestEnv::new(Preset::Standard).with_provider(provider, &server.base);
    env.policy.run.scripts = ScriptPolicy::Allowed;
    env.skill("s", "Run it.").file("~/.agents/skills/s/scripts/go.sh", script);
    let path = env.path("~/.agents/skills/s/scripts/go.sh");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let mut host_env = env.host_env();
    host_env.path = std::env::var_os("PATH").unwrap();
    let registry = Registry::open_in(env.policy.clone(), host_env, &ScanProgress::default());
    let toolbox = Arc::new(Toolbox::new(Arc::new(registry)));
    let model = env.model(&toolbox);
    let talk = TestConversation::new(Agent::new(toolbox, model, env.chat.limits));
    (env, talk, server)
}

async fn a_script_runs_for_the_model() {
    let (_env, mut conversation, server) =
        conversation_with_script("#!/bin/sh\necho hello from the script\n").await;
    assert_eq!(conversation.send("run it").await.end, Ok(EndReason::Finished));
    let texts = tool_results(ChatProvider::OpenAiChat, &server.requests()[1]);
    assert_eq!(texts[0].1, "hello from the script\n", "{texts:?}");
}

/// Returns how many processes on this machine were started with this word.
fn count_processes(word: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(word.len()).any(|part| part == word.as_bytes())).count()
}

async fn wait_until(condition: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the condition was never met");
}

async fn cancelling_ends_a_script() {
    let word = "3141592.6";
    let (_env, mut conversation, server) =
        conversation_with_script(&format!("#!/bin/sh\nsleep {word} &\nsleep {word}\n")).await;
    let cancel = conversation.cancel.clone();
    let later = async {
        wait_until(|| count_processes(word) >= 2).await;
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
        () = wait_until(|| count_processes(word) >= 1) => {}
    }
    wait_until(|| count_processes(word) == 0).await;
}
