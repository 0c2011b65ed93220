//! Cancelling a turn ends everything that it started, scripts included.
//!
//! The sandbox starts this program again as its helper, so that `main` is our own, and lists and runs tests as the usual
//! one does.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "it/world/mod.rs"]
mod world;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use prowess::policy::Scripts;
use prowess::{Preset, Progress, Registry};
use prowess_chat::End;
use prowess_chat::turn::Agent;
use prowess_config::Provider;
use prowess_testing::model::speech::{answer, call, results, text};
use prowess_testing::model::{Reply, Server};
use prowess_tools::Toolbox;
use serde_json::json;
use world::{Talk, Talks, World};

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
    let wanted: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |name: &str| {
        let is = |want: &&String| if has("--exact") { name == **want } else { name.contains(want.as_str()) };
        wanted.is_empty() || wanted.iter().any(is)
    };
    let mut count = 0;
    for (name, test) in tests.into_iter().filter(|(name, _)| is_wanted(name)) {
        test();
        println!("test {name} ... ok");
        count += 1;
    }
    println!("\ntest result: ok. {count} passed; 0 failed");
}

fn wait(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(work);
}

/// A conversation with a model that runs one script of this text. A script that hangs tells by its lock on a file.
async fn talk(script: &str) -> (World, Talk, Server) {
    let provider = Provider::OpenAiChat;
    let steps =
        [vec![call("c1", "skills_run", json!({"name": "s", "script": "scripts/go.sh"}))], vec![text("done")]];
    let server = Server::start(steps.iter().map(|step| Reply::events(answer(provider, step)))).await;
    let mut world = World::new(Preset::Standard).talking(provider, &server.base);
    world.policy.run.scripts = Scripts::Allowed;
    world.skill("s", "Run it.").file("~/.agents/skills/s/scripts/go.sh", script);
    let path = world.path("~/.agents/skills/s/scripts/go.sh");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let mut surroundings = world.surroundings();
    surroundings.path = std::env::var_os("PATH").unwrap();
    let registry = Registry::open_in(world.policy.clone(), surroundings, &Progress::default());
    let toolbox = Arc::new(Toolbox::new(Arc::new(registry)));
    let model = world.model(&toolbox);
    let talk = Talk::new(Agent::new(toolbox, model, world.chat.limits));
    (world, talk, server)
}

async fn a_script_runs_for_the_model() {
    let (_world, mut talk, server) = talk("#!/bin/sh\necho hello from the script\n").await;
    assert_eq!(talk.say("run it").await.end, Ok(End::Finished));
    let told = results(Provider::OpenAiChat, &server.asked()[1]);
    assert_eq!(told[0].1, "hello from the script\n", "{told:?}");
}

/// How many processes on this machine were started with this word.
fn running(word: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(word.len()).any(|part| part == word.as_bytes())).count()
}

async fn until(what: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if what() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never was");
}

async fn cancelling_ends_a_script() {
    let word = "3141592.6";
    let (_world, mut talk, server) = talk(&format!("#!/bin/sh\nsleep {word} &\nsleep {word}\n")).await;
    let cancel = talk.cancel.clone();
    let later = async {
        until(|| running(word) >= 2).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(talk.say("run it"), later);
    assert_eq!((outcome.end, talk.reason().as_str()), (Ok(End::Cancelled), "cancelled"));
    assert_eq!(running(word), 0, "nothing runs on");
    assert_eq!(talk.results()[0].1, "error", "the call has its result");
    assert_eq!(server.asked().len(), 1, "and the model is not asked again");
}

async fn dropping_a_turn_ends_a_script() {
    let word = "2718281.8";
    let (_world, mut talk, _server) = talk(&format!("#!/bin/sh\nsleep {word}\n")).await;
    tokio::select! {
        _ = talk.say("run it") => panic!("it cannot end"),
        () = until(|| running(word) >= 1) => {}
    }
    until(|| running(word) == 0).await;
}
