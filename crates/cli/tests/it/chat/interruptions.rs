//! Interrupted turns: Ctrl-C, kill -9, and concurrent processes.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;

use insta::assert_snapshot;
use prowess_config::ChatProvider;
use prowess_testing::model::wire_format::{encode_reply, text};
use prowess_testing::model::{BlockingModelServer, Reply, ReplyPiece};
use prowess_testing::postgres;
use prowess_testing::processes::count_processes;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::chat::support::{bind_filters, configure, env_with_model, hanging_model, latest_chat, messages};
use crate::support::TestEnv;

/// A turn that has printed its first line and hangs.
fn start_turn(env: &TestEnv, args: &[&str]) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = env.spawn(args);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    // The answer is streamed: it is incomplete when this line is printed.
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "one\n");
    (child, out)
}

/// Waits until the partial answer is stored.
fn wait_until_stored(env: &TestEnv, text: &str) {
    while !env.run(&["chats", "export"]).out.contains(text) {}
}

/// A model that sends a line and hangs, and answers the next request.
fn model_hanging_once() -> (BlockingModelServer, TestEnv) {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "one\ntwo"}, "finish_reason": null}]});
    let server = BlockingModelServer::start([
        Reply::events(format!("data: {chunk}\n\n")).then(ReplyPiece::Hang),
        Reply::events(encode_reply(ChatProvider::OpenAiChat, &[text("Back again.")])),
    ]);
    let env = env_with_model(ChatProvider::OpenAiChat, &server);
    (server, env)
}

#[test]
fn ctrl_c_stops_the_turn_and_the_chat_is_saved() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (_server, env) = model_hanging_once();
        let (mut child, mut out) = start_turn(&env, &["chat", "hello"]);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let (mut rest, mut err) = (String::new(), String::new());
        out.read_to_string(&mut rest).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(128 + signal.as_raw()), "{err}");
        assert_eq!((rest.as_str(), err.as_str()), ("two\n", "the turn was cancelled\n"));
        let kept = messages(&env);
        assert_eq!(kept[1]["parts"], json!([{"type": "text", "text": "one\ntwo"}]));
        assert_eq!(kept[1]["reason"], "the turn was cancelled");
        assert_eq!(env.run(&["chat", "--continue", "go on"]).out, "Back again.\n");
    }
}

#[test]
fn a_chat_continues_after_a_kill() {
    let _steady = bind_filters();
    let (server, env) = model_hanging_once();
    let (mut child, _out) = start_turn(&env, &["chat", "hello"]);
    wait_until_stored(&env, "two");
    child.kill().unwrap();
    child.wait().unwrap();
    let result = env.run(&["chat", "--continue", "go on"]);
    assert_eq!((result.out.as_str(), result.code), ("Back again.\n", 0), "{}", result.transcript());
    assert_snapshot!(env.run(&["chats", "show", &latest_chat(&env)]).transcript());
    // The model receives its partial answer.
    let request = server.requests()[1].body["messages"].to_string();
    assert!(request.contains("one\\ntwo"), "{request}");
}

#[test]
fn a_chat_continues_after_a_kill_with_postgresql() {
    let database = postgres::PostgresServer::start();
    let (_server, env) = model_hanging_once();
    let env = env.variable("PROWESS_STORE", &database.url());
    let (mut child, _out) = start_turn(&env, &["chat", "hello"]);
    wait_until_stored(&env, "two");
    child.kill().unwrap();
    child.wait().unwrap();
    // The other process counts as alive until its lease expires.
    let result = loop {
        let result = env.run(&["chat", "--continue", "go on"]);
        if result.code == 0 {
            break result;
        }
        assert!(result.err.contains("a reply is being written in this chat"), "{}", result.transcript());
    };
    assert_eq!(result.out, "Back again.\n");
    assert_eq!(messages(&env)[1]["parts"][0]["text"], "one\ntwo");
}

#[test]
fn one_answer_at_a_time_in_a_chat() {
    let (server, env) = hanging_model("one\n");
    let (mut child, _out) = start_turn(&env, &["chat", "hello"]);
    let result = env.run(&["chat", "--continue", "me too"]);
    assert_eq!(
        (result.err.as_str(), result.code),
        (
            "error: a reply is being written in this chat; wait for it or stop it\n\
             hint: another process is replying in this chat; wait for it, or start a new chat\n",
            1
        )
    );
    assert!(env.run(&["chats"]).out.contains("reply in progress"));
    child.kill().unwrap();
    child.wait().unwrap();
    drop(server);
}

/// Stopping takes long if the store is locked. A second Ctrl-C does not wait.
#[test]
fn a_second_ctrl_c_exits_at_once() {
    let (_server, env) = model_hanging_once();
    let (mut child, _out) = start_turn(&env, &["chat", "hello"]);
    wait_until_stored(&env, "two");
    let holder = rusqlite::Connection::open(env.path("~/.prowess/state/chats.sqlite3")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    while child.try_wait().unwrap().is_none() {
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(env.run(&["chat", "--continue", "go on"]).out, "Back again.\n");
    assert_eq!(messages(&env)[1]["state"], "interrupted");
}

/// Scripts started by the model end with the turn.
#[test]
fn ctrl_c_stops_scripts() {
    let calls = [prowess_testing::model::wire_format::call(
        "1",
        "skills_run",
        json!({"name": "notes", "script": "long.sh"}),
    )];
    let server = crate::chat::support::scripted_model(ChatProvider::OpenAiChat, &[&[text("one\n")], &calls]);
    let env = env_with_model(ChatProvider::OpenAiChat, &server)
        .variable("PROWESS_ALLOW_SCRIPTS", "1")
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    configure(&env, ChatProvider::OpenAiChat, &server.base, "");
    let long = format!("{}.7", 1_000_000 + std::process::id());
    env.file("~/.agents/skills/notes/long.sh", format!("#!/bin/sh\necho started\nsleep {long}\n"));
    assert_eq!(env.run(&["chat", "x"]).out, "one\n");
    let mut child = env.spawn(&["chat", "x"]);
    let sleeping = || count_processes(&format!("sleep\0{long}\0"));
    while sleeping() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it never ran");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(sleeping(), 0);
    assert_eq!(messages(&env)[1]["parts"][1]["status"], "error");
}
